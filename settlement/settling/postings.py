"""From a verdict to journals: who is paid from where. Pure.

Guests' chips move between ``table:{code}:guests`` and ``table:{code}:bank``, a wallet's money between the wallet and
the bank, what the house keeps of a win goes to ``table:{code}:commission``. A player's bank passes through the
table's bank, so that the formula of the tray holds whoever banks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from uuid import UUID

from settlement.ledger import NewJournal, Posting
from settlement.rules.payouts import Verdict
from settlement.settling.line_rows import BANK, HERE, account_of


def postings_of(verdict: Verdict, *, table: str, elsewhere: Mapping[str, str] = HERE) -> tuple[Posting, ...]:
    """Return the postings of a settled verdict: one for each wager that moves, then bank and commission.

    ``elsewhere`` names the cashier systems of guests whose wallets are not kept here: their mirrors move instead.
    Their sum is zero. Empty where every wager pushed.
    """
    postings = [
        Posting(
            account_of(line.owner.kind, line.owner.ref, table=table, elsewhere=elsewhere),
            line.net,
            line.wager,
        )
        for line in verdict.lines
        if line.net
    ]
    taken = -sum(line.gross - line.uncovered for line in verdict.lines)
    commission = sum(line.commission for line in verdict.lines)
    bank = f"table:{table}:bank"
    postings.extend(_moving(Posting(bank, taken)))
    if verdict.bank is not None:
        commission += verdict.bank.commission
        postings.extend(_moving(Posting(bank, -verdict.bank.result, BANK)))
        banker = account_of("account", verdict.bank.account, table=table, elsewhere=elsewhere)
        postings.extend(_moving(Posting(banker, verdict.bank.net, BANK)))
    postings.extend(_moving(Posting(f"table:{table}:commission", commission)))
    return tuple(postings)


def _moving(posting: Posting) -> Iterable[Posting]:
    return (posting,) if posting.amount else ()


def shortfalls(
    journals: Sequence[NewJournal],
    *,
    available: Mapping[str, int],
    given: Mapping[str, int],
    table: str,
    key: str,
    round: UUID,
    currency: str,
    gaming_day: date,
) -> NewJournal | None:
    """Return the journal that lends wallets what they cannot pay of ``journals``, None where they can.

    ``available`` is what each wallet can give, its holds for this round among it; ``given`` what a wallet gave that was
    short for an earlier revision. The loan stands in ``suspense:shortfall:{table}`` until somebody pays it: no wallet
    goes below zero, nothing is clamped, and a correction does not collect from a wallet what was lent to it before.
    """
    moved = dict.fromkeys(given, 0)
    anew = dict.fromkeys(given, 0)
    for journal in journals:
        for posting in journal.postings:
            if posting.account in available:
                moved[posting.account] = moved.get(posting.account, 0) + posting.amount
                if posting.account in given and journal.reverses is None:
                    anew[posting.account] += posting.amount
    lent = []
    for account, amount in moved.items():
        missing = -(available[account] + amount)
        if account in given:
            missing = max(missing, -(given[account] + anew[account]))
        if missing > 0:
            lent.append(Posting(account, missing))
    if not lent:
        return None
    total = -sum(posting.amount for posting in lent)
    return NewJournal(
        kind="hold_shortfall",
        key=key,
        gaming_day=gaming_day,
        currency=currency,
        postings=(Posting(f"suspense:shortfall:{table}", total), *lent),
        round=round,
    )
