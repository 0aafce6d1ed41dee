"""How a pay slip is taken back: by a person with a reason, or by a later revision of its round.

What it took from the guests is theirs again. Where its table closed since it was issued, the close has cleared its
amount with the cage, and that comes back by a journal of its own: ``slip_clearing``, from the bank.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db import connection

from casino import events
from casino.events import Fact
from casino.models import Person
from settlement import days, ledger, webhooks
from settlement.ledger import NewJournal, Posting
from settlement.models import PaySlip, PaySlipState, SeriesKind
from settlement.slips import numbers
from settlement.webhooks import Owed


@dataclass(frozen=True, slots=True)
class Claim:
    """A pay slip after an act on it; ``receipt`` is the leaf hash of the act's entry."""

    pay_slip: PaySlip
    receipt: bytes


def in_force(round: UUID) -> list[PaySlip]:
    """Return the pay slips of a round that were neither paid nor voided, locked. The round is locked before. One
    statement."""
    found = PaySlip.objects.select_related("table", "series").select_for_update(of=("self",), no_key=True)
    return list(found.filter(round=round, state=PaySlipState.ISSUED).order_by("id"))


def moved_by(slips: Collection[PaySlip]) -> set[str]:
    """Return the accounts that taking these back may move, for those who lock accounts before they do."""
    return {
        code
        for slip in slips
        for code in (
            f"table:{slip.table.code}:bank",
            f"table:{slip.table.code}:guests",
            f"suspense:slips:{slip.table.code}",
            f"suspense:clearing:{slip.table.code}",
        )
    }


def supersede(slips: Sequence[PaySlip], *, by: UUID) -> None:
    """Take back the pay slips of a round that was settled anew by the revision ``by``, in that revision's own act: what
    is owed now, the next pay slip says."""
    for slip in slips:
        take_back(slip, superseded_by=by)


def take_back(
    slip: PaySlip,
    *,
    by: Person | None = None,
    reason: str = "",
    paid_in_chips: bool = False,
    superseded_by: UUID | None = None,
) -> Claim:
    """Void a pay slip that is locked and in force, and tell it."""
    act = events.current()
    today = days.running()
    ledger.ensure_accounts(sorted(moved_by([slip])), currency=slip.currency)
    (reversal,) = ledger.reversal_of([slip.issue_journal_id], gaming_day=today)
    journals = [replace(reversal, kind="pay_slip_void", key=key(slip, "pay_slip_void"))]
    if _was_cleared(slip):
        code = slip.table.code
        back = (
            Posting(f"table:{code}:bank", -slip.amount),
            Posting(f"suspense:clearing:{code}", slip.amount),
        )
        journals.append(
            NewJournal(
                kind="slip_clearing",
                key=key(slip, "slip_clearing"),
                gaming_day=today,
                currency=slip.currency,
                postings=back,
                round=slip.round_id,
            )
        )
    posted = ledger.post(journals)
    cleared = posted[1] if len(posted) > 1 else None
    changes: dict[str, Any] = {
        "state": PaySlipState.VOID,
        "voided_by": by,
        "voided_at": act.now,
        "void_reason": reason,
        "void_in_chips": paid_in_chips,
        "void_journal_id": posted[0],
        "void_clearing_id": cleared,
        "superseded_by_id": superseded_by,
    }
    change(slip, changes)
    more: dict[str, Any] = {"paid_in_chips": int(paid_in_chips)}
    if superseded_by:
        more["superseded_by"] = str(superseded_by)
    if cleared:
        more["journals"] = [journals[1].described(cleared)]
    if reason:
        more["reason"] = {"code": "void", "text": reason}
    return tell(slip, PaySlipState.VOID, journals[0], posted[0], more)


# By the versions of the guests' account, whose row is locked: no close comes in between.
_CLEARED = """
SELECT EXISTS (
    SELECT FROM settlement_float f JOIN casino_tablesession s ON s.id = f.session_id
     WHERE s.table_id = %(table)s AND f.kind = 'closer' AND f.guests_version >= (
           SELECT e.version FROM settlement_entry e JOIN settlement_account a
               ON a.id = e.account_id AND a.kind = 'guests' WHERE e.journal_id = %(issued)s))
   AND %(day)s >= coalesce((SELECT from_day FROM settlement_formuladate WHERE version = 2), '-infinity')
"""


def _was_cleared(slip: PaySlip) -> bool:
    """Say whether a close cleared the pay slip with the cage. One statement; the table's accounts are locked."""
    with connection.cursor() as cursor:
        cursor.execute(
            _CLEARED, {"table": slip.table_id, "issued": slip.issue_journal_id, "day": slip.gaming_day}
        )
        (cleared,) = cursor.fetchone()
    return bool(cleared)


# -- what every act on a pay slip does ---------------------------------------------------------------------


def number_of(slip: PaySlip) -> str:
    """Return the pay slip's number as it is written."""
    return numbers.written(kind=SeriesKind.PAY_SLIP, year=slip.series.year, number=slip.number)


def key(slip: PaySlip, kind: str) -> str:
    """Return the name of a journal of this pay slip."""
    return f"pay_slip:{slip.id}:{kind}"


def change(slip: PaySlip, changes: dict[str, Any]) -> None:
    """Write what an act changed of a pay slip, here and in its row."""
    PaySlip.objects.filter(pk=slip.pk).update(**changes)
    for name, value in changes.items():
        setattr(slip, name, value)


ACTIONS = {
    PaySlipState.ISSUED: "pay_slip.issued",
    PaySlipState.PAID: "pay_slip.paid",
    PaySlipState.VOID: "pay_slip.voided",
}
"""What the log calls the act by which a pay slip came to a state."""


def tell(
    slip: PaySlip, state: PaySlipState, journal: NewJournal, posted: UUID, more: dict[str, Any]
) -> Claim:
    """Witness the act by which it came to a state, and owe its message, which is of the act's own type."""
    action = ACTIONS[state]
    number, code = number_of(slip), slip.table.code
    data = {"number": number, "wager": slip.wager, "journal": journal.described(posted), **more}
    (receipt,) = events.announce(
        [Fact(action, f"pay-slips/{slip.id}", data, table=code, round=slip.round_id)]
    )
    message = {
        "pay_slip": str(slip.id),
        "number": number,
        "table": code,
        "wager": slip.wager,
        "cage": slip.cage,
        "amount": {"amount": slip.amount, "currency": slip.currency},
        "receipt": receipt.hex(),
    }
    webhooks.owe([Owed(action, message, subject=f"pay-slips/{slip.id}", table=code, round=slip.round_id)])
    return Claim(slip, receipt)
