"""Chips for cash and cash for chips, at a cage.

What the cage sells leaves its vault for the hands of guests (``suspense:chips:{cage}``), what it redeems comes back;
the cash goes the other way. So a vault holds as much after as before, and over all cages and tables these accounts add
up to the chips outside.
"""

from __future__ import annotations

from typing import Literal

from settlement import days, ledger
from settlement.cashier import cash as cashed
from settlement.cashier.cash import Booking, Cash, Taken
from settlement.ledger import Posting
from settlement.models import CashKind

Direction = Literal["sell", "redeem"]


def exchange(*, cage: str, direction: Direction, cash: Cash, key: str) -> Taken:
    """Sell chips to a guest for cash, or redeem them.

    ``cash.lines`` are the chips and must come to the amount; from the log's limit on ``cash`` names the person.
    Refuses ``invalid_value`` and ``person_needed``. Must run in an act.
    """
    cashed.require_counted(cash)
    cashed.require_named(cash)
    day = days.running()
    ledger.share_day([day])
    vault, chips, outside = f"cage:{cage}:vault", f"suspense:chips:{cage}", f"external:{cash.means}:{cage}"
    locked = ledger.ensure_accounts([vault, chips, outside], currency=cashed.currency())
    sells = direction == "sell"
    amount = cash.amount if sells else -cash.amount
    kind = CashKind.CHIP_SALE if sells else CashKind.CHIP_REDEMPTION
    booking = Booking(
        kind=kind,
        key=f"{kind}:{key}",
        cash=cash,
        postings=(
            Posting(outside, -amount),
            Posting(vault, amount),
            Posting(vault, -amount),
            Posting(chips, amount),
        ),
        account=vault,
        cage=cage,
    )
    return cashed.book(booking, day=day, locked=locked)
