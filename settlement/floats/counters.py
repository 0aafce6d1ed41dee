"""Who may count what, and when it can be counted: an opener at a closed table, a float between rounds, a box that was
carried off."""

from datetime import timedelta
from uuid import UUID

from casino import events, tables
from casino.models import Duty, Person, Role, Round, Standing, Table, TableSession
from casino.refusals import Refusal
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


def next_box(table: Table) -> Float | None:
    """Return the count with which the box to be counted now was carried off, None where no box waits.

    Boxes of closed sessions come first, the oldest first; at an open table it is the last count of a shift or a
    start hour, as the counts before it did not take the box or were counted with it.
    """
    counted = Drop.objects.filter(session__table=table).values("until")
    waiting = Float.objects.filter(session__table=table).exclude(pk__in=counted)
    closer = waiting.filter(kind=CountKind.CLOSER).order_by("accepted_at").first()
    if closer is not None:
        return closer
    between = waiting.filter(kind__in=[CountKind.SHIFT, CountKind.ROLLOVER], session__closed_at=None)
    last = between.order_by("-bank_version", "-accepted_at").first()
    if last is None:
        return None
    later = Drop.objects.filter(session=last.session_id, until__drop_version__gt=last.drop_version)
    return None if later.exists() else last
