"""Chips for cash and cash for chips, at a cage.

What the cage sells leaves its vault for the hands of guests (``suspense:chips:{cage}``), what it redeems comes back;
the cash goes the other way. So a vault holds as much after as before, and over all cages and tables these accounts add
up to the chips outside, with what guests hold at open tables (``table:{code}:guests``).

More chips may come back than were outside: that happened, so it is recorded, and flagged. Acts at all cages come one
after the other for this, so that no two of them each see the chips that only one can have had.
"""

from __future__ import annotations

from typing import Literal

from django.db import connection

from casino import cages, events
from casino.models import Person
from settlement import days, ledger
from settlement.cashier import cash_acts as cashed
from settlement.cashier.cash_acts import Booking, Cash, Taken
from settlement.ledger import Posting
from settlement.models import CashKind

Direction = Literal["sell", "redeem"]

_ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(hashtextextended('chips outside', 0))"
_OUTSIDE = """
SELECT coalesce(sum(balance), 0)::bigint FROM settlement_account
 WHERE currency = %s AND (kind = 'guests' OR (kind = 'suspense' AND code LIKE 'suspense:chips:%%'))
"""


def exchange(
    *, cage: str, direction: Direction, cash: Cash, key: str, approved_by: Person | None = None
) -> Taken:
    """Sell chips to a guest for cash, or redeem them.

    ``cash.lines`` are the chips and must come to the amount; from the log's limit on ``cash`` names the person, above
    the limit for a second person ``approved_by`` is another. The act's row and entry say how many chips are outside
    behind it. Refuses ``invalid_value``, ``person_needed``, ``second_person_needed``, ``sod_violation``,
    ``unknown_cage`` and ``cage_ended``. Must run in an act.
    """
    cages.require_open(cage)
    cashed.require_counted(cash)
    cashed.require_named(cash)
    actor = events.current().actor
    if actor != events.SERVICE:  # which furnishes a house, and has no colleague
        cashed.require_second(
            amount=cash.amount, actor=actor.person, second=approved_by, limit="second_person"
        )
    day = days.running()
    ledger.share_day([day])
    before = _chips_outside()
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
        approved_by=approved_by,
        chips_outside=before + amount,
    )
    return cashed.book(booking, day=day, locked=locked)


def _chips_outside() -> int:
    """Return what the chips outside are worth, in minor units; exchanges wait for each other. Two statements."""
    with connection.cursor() as cursor:
        cursor.execute(_ONE_AT_A_TIME)
        cursor.execute(_OUTSIDE, [cashed.currency()])
        (outside,) = cursor.fetchone()
    return int(outside)
