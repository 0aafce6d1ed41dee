"""Who may count what, and when it can be counted: an opener at a closed table, a float between rounds, a box that was
carried off."""

from datetime import timedelta
from uuid import UUID

from casino import events, tables
from casino.models import Duty, Person, Role, Round, Standing, Table, TableSession
from casino.platform.refusals import Refusal
from settlement import days
from settlement.models import CountKind, Drop, Float

OF_A_FLOAT = (Role.DEALER, Role.SUPERVISOR, Role.MANAGER)
SECOND = (Role.SUPERVISOR, Role.MANAGER)
"""Who may count a float, and who may do so second or third."""


def session_of(table: Table, kind: str) -> TableSession | None:
    """Return the session that a count of this kind belongs to, locked; None for an opener and for a box, whose
    session its float names."""
    if kind == CountKind.DROP:
        return None
    if kind == CountKind.OPENER:
        if tables.session_of(table.id) is not None:
            raise Refusal("table_open")
        return None
    session = tables.lock_session(table)
    playing = Round.objects.filter(
        session=session, alias_of=None, standing__in=[Standing.PLAYING, Standing.DUE]
    ).order_by("number")
    numbers = list(playing.values_list("number", flat=True))
    if numbers:
        raise Refusal("rounds_unfinished", rounds=numbers)
    if kind == CountKind.ROLLOVER:
        _require_a_start_hour(session)
    return session


def _require_a_start_hour(session: TableSession) -> None:
    """A rollover ends the day before the running one, once."""
    ended = days.running() - timedelta(days=1)
    if (
        days.of(session.opened_at) > ended
        or Float.objects.filter(session=session, kind=CountKind.ROLLOVER, gaming_day=ended).exists()
    ):
        raise Refusal(
            "invalid_value", fields={"kind": "no start hour has passed since the last count of a day"}
        )


def require_role(by: Person, *, kind: str, ordinal: int = 1) -> None:
    """Refuse a role that counts nothing of this kind, whatever there is to count: ``forbidden`` to whoever acts,
    ``second_person_forbidden`` where by badge and PIN somebody else signs. Must run in an act."""
    if kind == CountKind.DROP:
        may = by.role == Role.MANAGER or (by.role == Role.CASHIER and by.has_duty("counter"))
    else:
        may = by.role in (OF_A_FLOAT if ordinal == 1 else SECOND)
    if not may or not by.is_active:
        acts = events.current().actor.person == by.id
        raise Refusal("forbidden" if acts else "second_person_forbidden")


def require_may_count(
    by: Person,
    *,
    kind: str,
    session: TableSession | None,
    ordinal: int,
    carried_by: UUID | None = None,
) -> None:
    require_role(by, kind=kind, ordinal=ordinal)
    if by.has_duty("see_expected") or by.id == carried_by:
        raise Refusal(
            "sod_violation"
        )  # whoever may look at what is expected, or carried the box, is not blind
    if kind == CountKind.DROP:
        return
    on_duty = Duty.objects.filter(session=session, person=by, off_at=None)
    if session is not None and by.role != Role.MANAGER and not on_duty.exists():
        raise Refusal("not_on_duty")


def box_of(table: Table, session: UUID | None) -> Float:
    """Return the count with which the box to be counted now was carried off: that of ``session``, or of the one session
    whose box waits (None).

    Refuses ``box_not_carried`` where no such box waits, and ``session_needed`` with the choices where several do and
    none is named: which of two boxes lies on the counting table, only the people there know.
    """
    waiting = _waiting(table)
    if session is None and len(waiting) > 1:
        raise Refusal(
            "session_needed",
            fields={"session": "whose box is counted"},
            sessions=[
                {
                    "session": str(box.session_id),
                    "opened_at": box.session.opened_at.isoformat(),
                    "closed_at": box.session.closed_at.isoformat() if box.session.closed_at else None,
                    "carried_with": str(box.kind),
                }
                for box in waiting
            ],
        )
    found = [box for box in waiting if session in (None, box.session_id)]
    if not found:
        raise Refusal("box_not_carried")
    return found[0]


def _waiting(table: Table) -> list[Float]:
    """Return the boxes that were carried off and are not counted, one for each session, the oldest first.

    A closed session's is that of its closer; at an open table it is the last count of a shift or a start hour, as the
    counts before it did not take the box or were counted with it.
    """
    counted = Drop.objects.filter(session__table=table, withdrawn_at=None)
    left = Float.objects.filter(session__table=table).exclude(pk__in=counted.values("until"))
    boxes = list(left.filter(kind=CountKind.CLOSER).select_related("session").order_by("accepted_at"))
    between = left.filter(kind__in=[CountKind.SHIFT, CountKind.ROLLOVER], session__closed_at=None)
    last = between.select_related("session").order_by("-bank_version", "-accepted_at").first()
    if last is None:
        return boxes
    later = counted.filter(session=last.session_id, until__drop_version__gt=last.drop_version)
    return boxes if later.exists() else [*boxes, last]
