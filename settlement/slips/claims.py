"""Pay slips: what a guest is owed for a wager that the table did not pay in chips, paid at the cage.

A later revision of the round takes back what was not paid (``voiding``), and an open dispute stops it. The round's row
is locked first, and what is its last revision and whether it is in dispute are read under that lock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from django.db.models import Exists, OuterRef

from casino import cages, events, people
from casino.models import Person, Role, Round
from casino.platform import refusals
from casino.platform.refusals import Refusal
from settlement import days, ledger, settling
from settlement.cashier import cash_acts
from settlement.cashier.cash_acts import Booking, Cash
from settlement.ledger import NewJournal, Posting
from settlement.models import CashKind, Line, PaySlip, PaySlipState, SeriesKind, Settlement
from settlement.slips import numbers, voiding
from settlement.slips.voiding import Claim

refusals.register(
    "round_in_dispute", 409, "The round is in dispute; its pay slips wait.", "รอบนี้มีข้อพิพาท ใบจ่ายต้องรอ"
)
refusals.register(
    "pay_slip_not_due", 422, "The cage owes nothing for that wager.", "เดิมพันนี้ไม่มียอดที่ต้องจ่ายที่แคชเชียร์"
)
refusals.register("pay_slip_in_force", 409, "That wager has a pay slip in force.", "เดิมพันนี้มีใบจ่ายที่ยังใช้ได้อยู่")
refusals.register(
    "pay_slip_superseded",
    409,
    "The round was settled anew since; the pay slip can only be voided.",
    "รอบนี้คิดเงินใหม่แล้ว ใบจ่ายนี้ทำได้แค่ยกเลิก",
)
refusals.register("slip_paid", 409, "The pay slip was paid.", "ใบจ่ายนี้จ่ายไปแล้ว")
refusals.register("slip_void", 409, "The pay slip is void.", "ใบจ่ายนี้ยกเลิกแล้ว")


def issue(*, round: UUID, wager: str, by: Person) -> Claim:
    """Issue a pay slip for what the guest is still owed of a wager, by the round's last revision.

    Refuses ``round_in_dispute``, ``round_not_settled``, ``invalid_value`` for a wager it does not have,
    ``pay_slip_in_force``, and ``pay_slip_not_due`` for a wallet's wager and where nothing is owed.
    """
    act = events.current()
    ledger.share_day([days.running()])
    stands = _locked_round(round)
    last = settling.effective(round)
    if last is None or last.outcome != Settlement.Outcome.SETTLED:
        raise Refusal("round_not_settled")
    lines = {line.settlement.revision: line for line in _lines(round, wager)}
    line = lines.get(last.revision)
    if line is None:
        raise Refusal("invalid_value", fields={"wager": "not one of this round"})
    earlier = list(
        PaySlip.objects.select_related("settlement")
        .filter(round=round, wager=wager)
        .order_by("series__year", "number")
    )
    if any(one.state == PaySlipState.ISSUED for one in earlier):
        raise Refusal("pay_slip_in_force")
    guests = f"table:{stands.table.code}:guests"
    nets = {revision: one.net for revision, one in lines.items() if one.account == guests}
    before = settled_before(nets=nets, slips=earlier, last=last.revision)
    if line.account != guests or line.net <= before:
        raise Refusal("pay_slip_not_due")
    number = numbers.take(SeriesKind.PAY_SLIP, gaming_day=days.running())
    slip = PaySlip(
        id=events.uuid7(act.now),
        series_id=number.series,
        number=number.number,
        table=stands.table,
        round=stands,
        wager=wager,
        settlement=last,
        line=line,
        settled_before=before,
        amount=line.net - before,
        currency=last.currency,
        gaming_day=days.running(),
        issued_by=by,
        issued_at=act.now,
    )
    journal = _journal(slip, "pay_slip_issued", [(guests, -slip.amount), (_slips(slip), slip.amount)])
    (slip.issue_journal_id,) = ledger.post([journal])
    slip.save(force_insert=True)
    more = {
        "settlement": str(last.id),
        "revision": last.revision,
        "settled_before": before,
        "amount": slip.amount,
        "currency": slip.currency,
        "gaming_day": slip.gaming_day.isoformat(),
    }
    return voiding.tell(slip, PaySlipState.ISSUED, journal, slip.issue_journal_id, more)


def settled_before(*, nets: Mapping[int, int], slips: Sequence[PaySlip], last: int) -> int:
    """Return what a guest has of a wager already: its net in the revision that was last settled, in minor units.

    ``nets`` are the wager's in chips, by revision. A revision without a pay slip was settled at the table, unless an
    earlier one was never paid at all (its slip is void): then whatever came since was left to slips. A slip that was
    paid, or is void because the table paid after all, settles its revision.
    """
    had, left_to_slips = 0, False
    of_revision = {slip.settlement.revision: slip for slip in slips}  # the last one of each
    for revision in range(1, last + 1):
        slip = of_revision.get(revision)
        if slip is None:
            if revision < last and not left_to_slips:
                had = nets.get(revision, 0)
        elif slip.state == PaySlipState.PAID or slip.void_in_chips:
            had, left_to_slips = nets.get(revision, 0), False
        else:
            left_to_slips = True
    return had


def pay(
    *,
    pay_slip: UUID,
    cage: str,
    by: Person | None,
    second: Person | None = None,
    key: UUID | None = None,
    person: str = "",
) -> Claim:
    """Pay the claim at ``cage``, once, to ``person`` (the cage's opaque reference): by a cashier, above the property's
    limit with a second one, or by a cashier system by its ``key`` (``by`` is None then) up to that limit.

    It is an act of cash. The vault pays for the table, whose tray kept the chips, so what was claimed waits in
    ``suspense:clearing`` until the table closes. Refuses ``slip_paid``, ``slip_void``, ``round_in_dispute``,
    ``pay_slip_superseded``, ``second_person_needed``, ``person_needed`` from the log's limit on.
    """
    act = events.current()
    today = days.running()
    ledger.share_day([today])
    for signer, code in ((by, "forbidden"), (second, "second_person_forbidden")):
        if signer is not None and (signer.role != Role.CASHIER or not signer.is_active):
            raise Refusal(code)
    slip = _locked(pay_slip)
    people.different(slip.issued_by_id, by.id if by else None, second.id if second else None)
    _require_in_force(slip)
    if slip.round.in_dispute:
        raise Refusal("round_in_dispute")
    if superseded([slip]):
        raise Refusal("pay_slip_superseded")
    cash_acts.require_second(
        amount=slip.amount, actor=by.id if by else None, second=second, limit="second_person"
    )
    cages.require_open(cage)
    handed = Cash(amount=slip.amount, person=person, document=voiding.number_of(slip))
    cash_acts.require_named(handed)
    vault, outside = f"cage:{cage}:vault", f"external:cash:{cage}"
    # One issued by the old formula stands in no clearing: its table found it as a surplus in its tray.
    pays_for = f"suspense:clearing:{slip.table.code}" if days.counts_in_the_tray(slip.gaming_day) else vault
    moves = [
        (_slips(slip), -slip.amount),
        (pays_for, slip.amount),
        (vault, -slip.amount),
        (outside, slip.amount),
    ]
    journal = _journal(slip, "pay_slip_paid", moves)
    locked = ledger.ensure_accounts(sorted({code for code, _ in moves}), currency=slip.currency)
    booking = Booking(
        kind=CashKind.PAY_SLIP_PAID,
        key=journal.key,
        cash=handed,
        postings=journal.postings,
        account=vault,
        cage=cage,
        actor=by.id if by else None,
        approved_by=second,
        round=slip.round_id,
    )
    posted = cash_acts.book(booking, day=today, locked=locked).journal
    changes = {
        "state": PaySlipState.PAID,
        "cage": cage,
        "paid_by": by,
        "paid_second": second,
        "paid_key_id": key,
        "paid_at": act.now,
        "payment_journal_id": posted,
    }
    voiding.change(slip, changes)
    more = {"cage": cage, "second": str(second.id) if second else None, "key": str(key) if key else None}
    return voiding.tell(slip, PaySlipState.PAID, journal, posted, more)


def void(*, pay_slip: UUID, by: Person, reason: str, paid_in_chips: bool = False) -> Claim:
    """Take the claim back, so that the amount is the guests' again; ``paid_in_chips`` says that the table paid after
    all. It keeps its number. Refuses ``slip_paid``, ``slip_void``."""
    ledger.share_day([days.running()])
    slip = _locked(pay_slip)
    _require_in_force(slip)
    if not reason:
        raise Refusal("invalid_value", fields={"reason": "says why"})
    return voiding.take_back(slip, by=by, reason=reason, paid_in_chips=paid_in_chips)


def superseded(slips: Sequence[PaySlip]) -> set[UUID]:
    """Return the pay slips (by id) whose round was settled anew since they were issued, with other lines. One
    statement."""
    later = Settlement.objects.filter(
        round=OuterRef("round"), revision__gt=OuterRef("settlement__revision"), changes_nothing=False
    )
    found = PaySlip.objects.filter(Exists(later), pk__in=[slip.id for slip in slips])
    return set(found.values_list("id", flat=True))


# -- the steps of an act -----------------------------------------------------------------------------------


def _locked_round(id: UUID) -> Round:
    found = Round.objects.select_related("table").select_for_update(of=("self",), no_key=True)
    stands = found.filter(pk=id, alias_of=None).first()
    if stands is None:
        raise Refusal("not_found")
    if stands.in_dispute:
        raise Refusal("round_in_dispute")
    return stands


def _lines(round: UUID, wager: str) -> list[Line]:
    return list(Line.objects.select_related("settlement").filter(settlement__round=round, wager=wager))


def _locked(id: UUID) -> PaySlip:
    """Lock the pay slip behind its round; the round comes as it stands under our lock. Three statements."""
    round_id = PaySlip.objects.values_list("round", flat=True).filter(pk=id).first()
    if round_id is None:
        raise Refusal("not_found")
    stands = Round.objects.select_for_update(no_key=True).get(pk=round_id)
    found = PaySlip.objects.select_related("table", "series").select_for_update(of=("self",), no_key=True)
    slip = found.get(pk=id)
    slip.round = stands
    return slip


def _require_in_force(slip: PaySlip) -> None:
    if slip.state == PaySlipState.PAID:
        raise Refusal("slip_paid")
    if slip.state == PaySlipState.VOID:
        raise Refusal("slip_void")


def _slips(slip: PaySlip) -> str:
    return f"suspense:slips:{slip.table.code}"


def _journal(slip: PaySlip, kind: str, moves: Sequence[tuple[str, int]]) -> NewJournal:
    return NewJournal(
        kind=kind,
        key=voiding.key(slip, kind),
        gaming_day=days.running(),
        currency=slip.currency,
        postings=tuple(Posting(code, amount, slip.wager) for code, amount in moves),
        round=slip.round_id,
    )
