"""Counting chips, blind: who asks for a count, who makes it, and when it is taken as true.

Two people count; where they differ in any denomination a third does, who made neither, and decides. Nobody learns
from here what is expected or what another wrote. Whether the two agree is all that an answer says.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import IntegrityError, transaction

from casino import cages, events
from casino.events import Fact
from casino.models import Person, Role, Table, TableSession
from casino.platform import refusals, values
from casino.platform.refusals import Refusal
from casino.platform.values import Between
from settlement import breaks, ledger, webhooks
from settlement.breaks import NewBreak
from settlement.models import BreakCode, Count, Counting, CountKind, Float, MessageType
from settlement.table_floats import count_commitment, count_permissions
from settlement.webhooks import Owed

refusals.register(
    "count_running", 409, "Something else is being counted at this table.", "โต๊ะนี้กำลังนับรายการอื่นอยู่"
)
refusals.register(
    "count_missing",
    422,
    "The float was not counted, or not accepted yet.",
    "ยังไม่ได้นับเงินประจำโต๊ะ หรือผลนับยังไม่ได้รับการยืนยัน",
)
refusals.register("count_not_asked", 409, "Nothing is being counted here.", "ยังไม่มีการนับที่นี่")
refusals.register(
    "count_overtaken",
    409,
    "Chips moved at the table since this count began; withdraw it and count again.",
    "มีชิปเคลื่อนไหวหลังเริ่มนับ ให้ยกเลิกการนับนี้แล้วนับใหม่",
)
refusals.register("count_not_yours", 409, "Your count can no longer be corrected.", "แก้ผลนับของคุณไม่ได้แล้ว")
refusals.register(
    "session_needed",
    422,
    "Boxes of more than one session wait to be counted; say whose this is.",
    "มีกล่องเงินรอการนับมากกว่าหนึ่งรอบการเปิดโต๊ะ ให้ระบุว่าเป็นของรอบใด",
)
refusals.register(
    "box_not_carried", 409, "No box of this table waits to be counted.", "โต๊ะนี้ไม่มีกล่องเงินรอการนับ"
)

COUNT_OPEN = "count_open"
"""The reason given in the place of a figure while its table is being counted."""


@dataclass(frozen=True, slots=True)
class BlindCount:
    """Pieces by denomination (minor units) as one person counted them, without the figures of anybody
    else."""

    by: Person
    pieces: dict[int, int]

    @property
    def lines(self) -> list[dict[str, int]]:
        """Return what was there, the largest denomination first; none of a kind is the same as not naming
        it."""
        return [
            {"denomination": denomination, "pieces": pieces}
            for denomination, pieces in sorted(self.pieces.items(), reverse=True)
            if pieces
        ]

    @property
    def amount(self) -> int:
        return sum(denomination * pieces for denomination, pieces in self.pieces.items())


@dataclass(frozen=True, slots=True)
class Box:
    """How a drop box came to be counted: who carried it, and the cage whose vault gets what is in it."""

    carried_by: Person
    cage: str


@dataclass(frozen=True, slots=True)
class Saved:
    """What may be said of a counting: ``count`` is the one just saved, ``needs`` says who counts next (``first``,
    ``second``, ``third``), nobody ("") once it is accepted."""

    counting: Counting
    count: Count | None
    needs: str


def ask(
    *, table: Table, kind: str, by: Person, box: Box | None = None, named: UUID | None = None
) -> Counting:
    """Begin a counting, or join the one of this kind that is open. From here until it ends, what should come of it is
    in no answer.

    An opener is counted at a closed table, a closer, a shift and a rollover at an open one between rounds
    (``table_open``, ``table_closed``, ``rounds_unfinished``); a box was carried off with a count and not counted yet
    (``box_not_carried``), and where several wait the session is ``named`` (``session_needed``). Another kind of count
    may name its session too, and it must be the one that is open (``invalid_value``). Refuses ``count_running`` while
    another float is counted there, and ``forbidden``, ``not_on_duty`` and ``sod_violation`` as to whoever counts. Must
    run in an act.
    """
    count_permissions.require_role(by, kind=kind)
    session = count_permissions.session_of(table, kind)
    until: Float | None = None
    running = _running(table, kind)
    if kind == CountKind.DROP and (running is None or named is None):
        until = count_permissions.box_of(table, named)
        session = until.session
    if named is not None and kind != CountKind.DROP and (session is None or session.id != named):
        raise Refusal("invalid_value", fields={"session": "not the session that is open at this table"})
    if running is not None:
        if running.kind != kind or (kind == CountKind.DROP and named not in (None, running.session_id)):
            raise Refusal("count_running")
        return running
    count_permissions.require_may_count(by, kind=kind, session=session, ordinal=1)
    return _begin(table, kind=kind, session=session, by=by, box=box, until=until)


def keep(
    *,
    table: Table,
    kind: str,
    count: BlindCount,
    box: Box | None = None,
    supersedes: UUID | None = None,
    named: UUID | None = None,
) -> Saved:
    """Save one person's blind count, and say whether a second or a third is needed.

    Begins the counting where none is open. ``supersedes`` names the person's own count that this one corrects, which
    is possible until somebody else counted (``count_not_yours``). A count taken after chips moved is refused
    (``count_overtaken``). Refuses what ``ask`` refuses. Must run in an act.
    """
    act = events.current()
    counting = ask(table=table, kind=kind, by=count.by, box=box, named=named)
    made = list(_effective(counting))
    before = made[-1] if supersedes is not None and made else None
    if supersedes is not None and (
        before is None or before.id != supersedes or before.counted_by_id != count.by.id
    ):
        raise Refusal("count_not_yours")
    ordinal = before.ordinal if before is not None else len(made) + 1
    count_permissions.require_may_count(
        count.by, kind=kind, session=counting.session, ordinal=ordinal, carried_by=counting.carried_by_id
    )
    if before is None and any(one.counted_by_id == count.by.id for one in made):
        raise Refusal("sod_violation")
    if any(denomination < 1 or pieces < 0 for denomination, pieces in count.pieces.items()):
        raise Refusal(
            "invalid_value", fields={"lines": "denominations and pieces are whole and not negative"}
        )
    refusals.require_within(Between(0, values.MOST_COUNTED), count.amount, "lines")
    version = _bank_version(table, kind)
    if any(one.bank_version != version for one in made):
        raise Refusal("count_overtaken")
    row = Count(
        id=events.uuid7(act.now),
        counting=counting,
        ordinal=ordinal,
        lines=count.lines,
        currency=table.currency,
        counted_by=count.by,
        counted_at=act.now,
        supersedes=before,
        bank_version=version,
        salt=count_commitment.salt(),
    )
    row.save(force_insert=True)
    events.announce([_counted(row, counting=counting, table=table)])
    webhooks.owe([_owed(row, counting=counting, table=table)])
    made = [*(one for one in made if one is not before), row]
    return Saved(counting, row, _needs(made, counting=counting, table=table))


def asked(counting: Counting) -> Saved:
    """Return where an open counting stands."""
    made = len(_effective(counting))
    return Saved(counting, None, ("first", "second", "third")[made])


def withdraw(*, table: Table, kind: str, by: Person) -> Counting:
    """End the open counting of this kind without a result; its counts stay. Refuses ``count_not_asked``. Must run in
    an act."""
    counting = _running(table, kind)
    if counting is None or counting.kind != kind:
        raise Refusal("count_not_asked")
    _end(counting, state=Counting.State.WITHDRAWN, accepted=None)
    events.announce(
        [
            Fact(
                "counting.withdrawn",
                f"countings/{counting.id}",
                {"kind": counting.kind},
                table=table.code,
                person=by.id,
            )
        ]
    )
    return counting


def hidden_from(person: Person | None) -> set[str]:
    """Return the codes of the tables of which this person is shown no balance, journal, net or win now: those where
    something is being counted. An auditor who may see expected figures goes on seeing them; None is a device or a
    system. One statement, none for such an auditor."""
    if person is not None and person.role == Role.AUDITOR and person.has_duty("see_expected"):
        return set()
    return set(Counting.objects.filter(state=Counting.State.OPEN).values_list("table__code", flat=True))


def accepted(*, table: Table, kind: str, session: TableSession | None = None) -> Count:
    """Return the count that opens or closes: of the newest counting of this kind, which nothing used yet. Refuses
    ``count_missing``."""
    found = (
        Counting.objects.filter(table=table, kind=kind, session=session)
        .exclude(state=Counting.State.WITHDRAWN)
        .select_related("accepted")
        .order_by("-asked_at", "-id")
        .first()
    )
    if found is None or found.accepted is None or Float.objects.filter(count=found.accepted).exists():
        raise Refusal("count_missing")
    return found.accepted


def _running(table: Table, kind: str) -> Counting | None:
    """Return the open counting at the table, locked; a box is counted beside a float."""
    found = Counting.objects.select_for_update(of=("self",)).filter(table=table, state=Counting.State.OPEN)
    if kind == CountKind.DROP:
        return found.filter(kind=CountKind.DROP).first()
    return found.exclude(kind=CountKind.DROP).first()


# -- rows --------------------------------------------------------------------------------------------------


def _begin(
    table: Table,
    *,
    kind: str,
    session: TableSession | None,
    by: Person,
    box: Box | None,
    until: Float | None,
) -> Counting:
    act = events.current()
    if until is not None:
        if box is None or not box.cage:
            raise Refusal("missing_field", fields={"carried_by": "who carried the box, and to which cage"})
        cages.require_open(box.cage)
        carrier = box.carried_by
        if not carrier.is_active or not (carrier.role == Role.SUPERVISOR or carrier.has_duty("runner")):
            raise Refusal("invalid_value", fields={"carried_by": "a supervisor or a runner"})
        if carrier.id == by.id:
            raise Refusal("sod_violation")
    counting = Counting(
        id=events.uuid7(act.now),
        table=table,
        session=session,
        kind=kind,
        asked_by=by,
        asked_at=act.now,
        box=until,
        carried_by=box.carried_by if until is not None and box is not None else None,
        cage=box.cage if until is not None and box is not None else "",
    )
    try:
        with transaction.atomic():
            counting.save(force_insert=True)
    except IntegrityError as fault:
        raise Refusal("count_running") from fault  # somebody else asked at this very moment
    events.announce(
        [
            Fact(
                "counting.asked",
                f"countings/{counting.id}",
                {
                    "kind": kind,
                    "session": str(session.id) if session else None,
                    "box": str(until.id) if until else None,
                    "carried_by": str(counting.carried_by_id) if counting.carried_by_id else None,
                    "cage": counting.cage,
                },
                table=table.code,
                person=by.id,
            )
        ]
    )
    return counting


def _effective(counting: Counting) -> Sequence[Count]:
    """Return each person's last count, in the order in which people counted."""
    made = list(Count.objects.filter(counting=counting).order_by("ordinal", "counted_at", "id"))
    superseded = {one.supersedes_id for one in made}
    return [one for one in made if one.id not in superseded]


def _bank_version(table: Table, kind: str) -> int | None:
    """Return the version of the table's bank now; None where chips may not have moved since (a box, a closed
    table)."""
    if kind in (CountKind.DROP, CountKind.OPENER):
        return None
    bank = f"table:{table.code}:bank"
    found = ledger.balances([bank])
    return found[bank].version if bank in found else 0


def _needs(made: Sequence[Count], *, counting: Counting, table: Table) -> str:
    """Accept what may be accepted; return who is needed otherwise."""
    if len(made) == 1:
        return "second"
    if len(made) == 2 and made[0].lines != made[1].lines:
        breaks.found(
            [
                NewBreak(
                    code=BreakCode.COUNT_MISMATCH,
                    subject=f"countings/{counting.id}",
                    fingerprint="first and second",
                    detail={
                        "table": table.code,
                        "kind": counting.kind,
                        "counts": [str(one.id) for one in made],
                    },
                    currency=table.currency,
                )
            ]
        )
        return "third"
    last = made[-1]
    _end(counting, state=Counting.State.ACCEPTED, accepted=last)
    events.announce(
        [
            Fact(
                "counting.accepted",
                f"countings/{counting.id}",
                {"kind": counting.kind, "count": str(last.id), "counts": [str(one.id) for one in made]},
                table=table.code,
            )
        ]
    )
    return ""


def _end(counting: Counting, *, state: str, accepted: Count | None) -> None:
    counting.state, counting.accepted, counting.ended_at = state, accepted, events.current().now
    counting.save(update_fields=["state", "accepted", "ended_at"])


def _counted(row: Count, *, counting: Counting, table: Table) -> Fact:
    """The entry of a count holds what its figures hash to, not the figures: whoever reads the log while others still
    count stays blind."""
    return Fact(
        "count.recorded",
        f"counts/{row.id}",
        {
            "counting": str(counting.id),
            "kind": counting.kind,
            "ordinal": row.ordinal,
            "pieces_sha256": count_commitment.sha256_of(row.lines, salt=row.salt),
            "currency": row.currency,
            "supersedes": str(row.supersedes_id) if row.supersedes_id else None,
            "bank_version": row.bank_version,
        },
        table=table.code,
        person=row.counted_by_id,
    )


def _owed(row: Count, *, counting: Counting, table: Table) -> Owed:
    """That somebody counted is told; what, is not, as others may still count."""
    return Owed(
        MessageType.COUNT_RECORDED,
        {"count": str(row.id), "counting": str(counting.id), "kind": counting.kind, "ordinal": row.ordinal},
        subject=f"counts/{row.id}",
        table=table.code,
    )
