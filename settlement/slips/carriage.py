"""Chips on their way between cage and table, step by step; each step is signed and none is skipped.

    requested ──► issued ──► in_transit ──► received ──► deposited        void: from the first two, by the cashier

Who asks (the supervisor on duty, or a manager) does not issue; who issues (a cashier) does not receive; who carries (a
runner) does neither and does not count. A fill is counted in by the dealer and the supervisor on duty, a credit by a
cashier. A session's row is locked first, so a slip is asked for, issued and sent over an open session or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from casino import cages, events, people, tables
from casino.events import Fact
from casino.models import Person, Role, Table, TableSession
from casino.platform import refusals, values
from casino.platform.refusals import Refusal
from casino.platform.values import Between
from settlement import breaks, days, ledger, webhooks
from settlement.breaks import NewBreak
from settlement.ledger import NewJournal, Posting
from settlement.models import SeriesKind, Slip, SlipState, SlipStep
from settlement.slips import numbers
from settlement.webhooks import Owed

refusals.register("slip_not_there", 409, "The slip is not at that step.", "ใบนี้ไม่ได้อยู่ในขั้นตอนนั้น")
refusals.register(
    "slip_lines_differ", 422, "These are not the pieces on the slip.", "จำนวนชิปไม่ตรงกับที่เขียนไว้ในใบ"
)
refusals.register("manual_number_used", 409, "That paper slip was entered before.", "ใบกระดาษเลขนี้บันทึกไว้แล้ว")

Lines = list[dict[str, int]]

RUNNERS = (Role.DEALER, Role.SUPERVISOR, Role.CASHIER)
"""Who may hold the permission ``runner``: nobody who only looks, grants rights or manages."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What an act on a slip came to: ``receipt`` is its entry's leaf hash, and ``mismatch`` the break of a count that
    differed, which left the slip in transit."""

    slip: Slip
    receipt: bytes
    mismatch: UUID | None = None


@dataclass(slots=True)
class _Underway:
    """A slip under our lock, and who signed what so far."""

    slip: Slip
    session: TableSession
    signed: dict[str, UUID]
    steps: int

    def require_open(self) -> None:
        if self.session.closed_at is not None:
            raise Refusal("table_closed")

    def require_at(self, *states: SlipState) -> None:
        """Refuse ``slip_not_there``; asked only of who may take the step, so that nobody else learns where it is."""
        if self.slip.state not in states:
            raise Refusal("slip_not_there", state=self.slip.state)

    def require_apart(self, *signing: UUID | None, steps: Sequence[str]) -> None:
        """Refuse ``sod_violation`` where one of those who sign now signed one of these steps, or signs twice."""
        people.different(*signing, *{self.signed[step] for step in steps if step in self.signed})


def lines_of(pieces: Mapping[int, int]) -> Lines:
    """Return pieces by denomination as slips list them, the largest first; of what there is none, nothing is said.
    Refuses ``invalid_value`` for more than any paper is of."""
    amount = sum(denomination * count for denomination, count in pieces.items())
    refusals.require_within(Between(0, values.MOST_COUNTED), amount, "lines")
    return [
        {"denomination": denomination, "pieces": count}
        for denomination, count in sorted(pieces.items(), reverse=True)
        if count
    ]


def request(*, table: Table, kind: str, pieces: Mapping[int, int], manual_number: str, by: Person) -> Taken:
    """Ask for a ``fill`` or a ``credit`` of these pieces; it has an id, and a number once it is issued.

    ``manual_number`` is that of a paper slip entered afterwards ("": none). Refuses ``table_closed``, ``not_on_duty``
    (for all but the supervisor on duty and managers), ``invalid_value`` for no pieces, ``manual_number_used``.
    """
    act = events.current()
    today = days.running()
    ledger.share_day([today])
    session = tables.lock_session(table)
    if not people.may_rule(by, session):
        raise Refusal("not_on_duty")
    if not lines_of(pieces):
        raise Refusal("invalid_value", fields={"lines": "nothing is asked for"})
    slip = Slip(
        id=events.uuid7(act.now),
        kind=kind,
        table=table,
        session=session,
        lines=lines_of(pieces),
        currency=table.currency,
        manual_number=manual_number,
        gaming_day=today,
        requested_at=act.now,
    )
    try:
        with transaction.atomic():
            slip.save(force_insert=True)
    except IntegrityError as fault:
        if "slip_of_a_paper_once" in str(fault):
            raise Refusal("manual_number_used") from None
        raise
    under_way = _Underway(slip, session, {}, 0)
    return _sign(under_way, action="slip.requested", step=SlipStep.Step.REQUESTED, by=by)


def issue(*, slip: UUID, by: Person, cage: str, pieces: Mapping[int, int] | None = None) -> Taken:
    """Give the slip its number, from ``cage`` or for it. ``pieces``, where given, must be those asked for."""
    _require(by, Role.CASHIER)
    ours = _locked(slip)
    ours.require_apart(by.id, steps=["requested"])
    ours.require_at(SlipState.REQUESTED)
    ours.require_open()
    _require_lines(ours.slip, pieces)
    cages.require_open(cage)
    number = numbers.take(SeriesKind(ours.slip.kind), gaming_day=days.running())
    _move(ours.slip, SlipState.ISSUED, series_id=number.series, number=number.number, cage=cage)
    return _sign(ours, action="slip.issued", step=SlipStep.Step.ISSUED, by=by, told="slip.issued")


def dispatch(*, slip: UUID, by: Person, pieces: Mapping[int, int] | None = None) -> Taken:
    """Send the chips off in a runner's hands: from here on they are in ``suspense:transit:{table}``."""
    _require(by, *RUNNERS)
    if not by.has_duty("runner"):
        raise Refusal("forbidden")
    ours = _locked(slip)
    ours.require_apart(by.id, steps=["requested", "issued"])
    ours.require_at(SlipState.ISSUED)
    ours.require_open()
    _require_lines(ours.slip, pieces)
    _move(ours.slip, SlipState.IN_TRANSIT)
    source = _vault(ours.slip) if ours.slip.kind == Slip.Kind.FILL else _bank(ours.slip)
    journal = _journal(ours.slip, SlipState.IN_TRANSIT, source=source, target=_transit(ours.slip))
    return _sign(ours, action="slip.dispatched", step=SlipStep.Step.IN_TRANSIT, by=by, journal=journal)


def receive(*, slip: UUID, by: Person, second: Person | None, pieces: Mapping[int, int]) -> Taken:
    """Count the chips in: a fill by the dealer and the supervisor on duty, a credit by a cashier alone.

    A count that differs moves nothing: it is kept, the slip stays in transit, and the break ``COUNT_MISMATCH`` is open
    in the same act. The slip is received by a count that agrees.
    """
    ours = _locked(slip)
    is_fill = ours.slip.kind == Slip.Kind.FILL
    _require(by, *((Role.DEALER, Role.SUPERVISOR) if is_fill else (Role.CASHIER,)))
    ours.require_apart(by.id, second.id if second else None, steps=["issued", "in_transit"])
    if not is_fill:
        ours.require_apart(by.id, steps=["requested"])
    ours.require_at(SlipState.IN_TRANSIT)
    if is_fill:
        ours.require_open()
        on_duty = people.on_duty(ours.session)
        if {by.id, second.id if second else None} != {on_duty.dealer, on_duty.supervisor}:
            raise Refusal("not_on_duty")
    elif second is not None:
        raise Refusal("invalid_value", fields={"badge": "a credit is received by one cashier"})
    counted = lines_of(pieces)
    if counted != ours.slip.lines:
        return _mismatch(ours, counted, by=by, second=second)
    _move(ours.slip, SlipState.RECEIVED)
    target = _bank(ours.slip) if ours.slip.kind == Slip.Kind.FILL else _vault(ours.slip)
    journal = _journal(ours.slip, SlipState.RECEIVED, source=_transit(ours.slip), target=target)
    return _sign(
        ours,
        action="slip.received",
        step=SlipStep.Step.RECEIVED,
        by=by,
        second=second,
        journal=journal,
        told="slip.received",
    )


def deposit(*, slip: UUID, by: Person, pieces: Mapping[int, int] | None = None) -> Taken:
    """The dealer on duty drops the slip into the table's box."""
    ours = _locked(slip)
    ours.require_apart(by.id, steps=["issued", "in_transit"])
    ours.require_at(SlipState.RECEIVED)
    ours.require_open()
    if people.on_duty(ours.session).dealer != by.id:
        raise Refusal("not_on_duty")
    _require_lines(ours.slip, pieces)
    _move(ours.slip, SlipState.DEPOSITED)
    return _sign(ours, action="slip.deposited", step=SlipStep.Step.DEPOSITED, by=by)


def void(*, slip: UUID, by: Person, reason: str) -> Taken:
    """Give the slip up before its chips left, by a cashier with a reason. A number that it has it keeps."""
    _require(by, Role.CASHIER)
    ours = _locked(slip)
    ours.require_at(SlipState.REQUESTED, SlipState.ISSUED)
    if not reason:
        raise Refusal("invalid_value", fields={"reason": "says why"})
    _move(ours.slip, SlipState.VOID)
    return _sign(
        ours, action="slip.voided", step=SlipStep.Step.VOID, by=by, reason=reason, told="slip.voided"
    )


def compare(*, slip: UUID, by: Person) -> Taken:
    """Say that a slip entered afterwards is what its paper says: a manager with the permission ``accounting`` who
    signed none of it. Refuses ``slip_not_there`` for one without a paper and for one that was compared."""
    _require(by, Role.MANAGER)
    if not by.has_duty("accounting"):
        raise Refusal("forbidden")
    ours = _locked(slip)
    if SlipStep.objects.filter(slip=ours.slip, second=by).exists():
        raise Refusal("sod_violation")
    ours.require_apart(by.id, steps=[step for step in ours.signed if step != "compared"])
    if not ours.slip.manual_number or "compared" in ours.signed:
        raise Refusal("slip_not_there", state=ours.slip.state)
    return _sign(ours, action="slip.compared", step=SlipStep.Step.COMPARED, by=by)


# -- the steps of a step -----------------------------------------------------------------------------------


def _locked(id: UUID) -> _Underway:
    """Lock the slip behind its session; refuse ``not_found``. Five statements."""
    ledger.share_day([days.running()])
    session_id = Slip.objects.values_list("session", flat=True).filter(pk=id).first()
    if session_id is None:
        raise Refusal("not_found")
    session = TableSession.objects.select_for_update().get(pk=session_id)
    slip = (
        Slip.objects.select_related("table", "series").select_for_update(of=("self",), no_key=True).get(pk=id)
    )
    steps = list(SlipStep.objects.filter(slip=slip).values_list("step", "by"))
    return _Underway(slip, session, dict(steps), len(steps))


def _require(person: Person, *roles: Role) -> None:
    if person.role not in roles or not person.is_active:
        raise Refusal("forbidden")


def _require_lines(slip: Slip, pieces: Mapping[int, int] | None) -> None:
    if pieces is not None and lines_of(pieces) != slip.lines:
        raise Refusal("slip_lines_differ")


def _move(slip: Slip, state: SlipState, **more: Any) -> None:
    Slip.objects.filter(pk=slip.pk).update(state=state, **more)
    slip.state = state
    if more:
        slip.refresh_from_db(fields=["series", "number", "cage"])


def _bank(slip: Slip) -> str:
    return f"table:{slip.table.code}:bank"


def _vault(slip: Slip) -> str:
    return f"cage:{slip.cage}:vault"


def _transit(slip: Slip) -> str:
    return f"suspense:transit:{slip.table.code}"


def _journal(slip: Slip, state: SlipState, *, source: str, target: str) -> NewJournal:
    return NewJournal(
        kind=slip.kind,
        key=f"slip:{slip.id}:{state}",
        gaming_day=days.running(),
        currency=slip.currency,
        postings=(Posting(source, -slip.amount), Posting(target, slip.amount)),
    )


def _mismatch(ours: _Underway, counted: Lines, *, by: Person, second: Person | None) -> Taken:
    slip = ours.slip
    taken = _sign(
        ours, action="slip.counted", step=SlipStep.Step.COUNTED, by=by, second=second, lines=counted
    )
    (mismatch,) = breaks.found(
        [
            NewBreak(
                code="COUNT_MISMATCH",
                subject=f"slips/{slip.id}",
                fingerprint=breaks.fingerprint(counted),
                detail={"table": slip.table.code, "listed": slip.lines, "counted": counted},
                amount=_value(counted) - slip.amount,
                currency=slip.currency,
            )
        ]
    )
    return Taken(slip, taken.receipt, mismatch)


def _value(lines: Lines) -> int:
    return sum(line["denomination"] * line["pieces"] for line in lines)


def number_of(slip: Slip) -> str | None:
    """Return the slip's number as it is written, None before the issue."""
    if slip.series is None or slip.number is None:
        return None
    return numbers.written(kind=slip.kind, year=slip.series.year, number=slip.number)


def _sign(
    ours: _Underway,
    *,
    action: str,
    step: SlipStep.Step,
    by: Person,
    second: Person | None = None,
    lines: Lines | None = None,
    reason: str = "",
    journal: NewJournal | None = None,
    told: str = "",
) -> Taken:
    """Post what the step moves, write who signed it, witness it, and owe the message ``told`` ("": none)."""
    act, slip = events.current(), ours.slip
    lines = slip.lines if lines is None else lines
    (posted,) = ledger.post([journal]) if journal is not None else (None,)
    SlipStep.objects.create(
        slip=slip,
        ordinal=ours.steps,
        step=step,
        by=by,
        second=second,
        lines=lines,
        reason=reason,
        journal_id=posted,
        taken_at=act.now,
    )
    data: dict[str, Any] = {
        "step": str(step),
        "ordinal": ours.steps,
        "kind": slip.kind,
        "session": str(slip.session_id),
        "number": number_of(slip),
        "manual_number": slip.manual_number,
        "cage": slip.cage,
        "lines": lines,
        "amount": _value(lines),
        "currency": slip.currency,
        "second": str(second.id) if second else None,
        "journal": journal.described(posted) if journal is not None and posted is not None else None,
    }
    if reason:
        data["reason"] = {"code": "void", "text": reason}
    (receipt,) = events.announce(
        [Fact(action, f"slips/{slip.id}", data, table=slip.table.code, person=by.id)]
    )
    if told:
        webhooks.owe([Owed(told, _message(slip, receipt), subject=f"slips/{slip.id}", table=slip.table.code)])
    return Taken(slip, receipt)


def _message(slip: Slip, receipt: bytes) -> dict[str, Any]:
    return {
        "slip": str(slip.id),
        "kind": slip.kind,
        "number": number_of(slip),
        "manual_number": slip.manual_number,
        "table": slip.table.code,
        "cage": slip.cage,
        "amount": {"amount": slip.amount, "currency": slip.currency},
        "lines": slip.lines,
        "receipt": receipt.hex(),
    }
