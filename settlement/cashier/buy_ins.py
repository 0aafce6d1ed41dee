"""Buy-ins: a guest's cash into the table's box, chips out of its tray."""

from __future__ import annotations

from casino import events, people, tables
from casino.models import Person, Table
from casino.platform.refusals import Refusal
from settlement import days, ledger
from settlement.cashier import cash_acts as cashed
from settlement.cashier.cash_acts import Booking, Cash, Taken
from settlement.ledger import Posting
from settlement.models import CashKind


def buy_in(*, table: Table, cash: Cash, key: str, signed_by: Person | None = None) -> Taken:
    """Sell chips at an open table: cash goes into its box, chips of the same worth from the tray to the guest.

    Done by whoever acts, and at a terminal by the dealer on duty there. ``cash.lines`` must come to the amount; from
    the log's limit on it names the person; above the limit for sign-off a supervisor on duty there or a manager
    signs, who is not who acts. Refuses ``table_closed``, ``not_on_duty``, ``invalid_value``, ``person_needed``,
    ``second_person_needed`` and ``sod_violation``. Must run in an act.
    """
    act = events.current()
    cashed.require_counted(cash)
    cashed.require_named(cash)
    day = days.running()
    ledger.share_day([day])
    session = tables.lock_session(table)
    session.table = table  # known already: no statement for its code
    duty = people.on_duty(session)
    actor = act.actor.person or duty.dealer
    if actor not in (duty.dealer, duty.supervisor) or actor is None:
        raise Refusal("not_on_duty")
    if signed_by is not None:
        people.require_ruler(signed_by, session)
    cashed.require_second(amount=cash.amount, actor=actor, second=signed_by, limit="sign_off")
    box, bank, guests = (f"table:{table.code}:{name}" for name in ("drop", "bank", "guests"))
    outside = f"external:{cash.means}:{table.code}"
    locked = ledger.ensure_accounts([outside, box, bank, guests], currency=cashed.currency())
    booking = Booking(
        kind=CashKind.BUY_IN,
        key=f"buy_in:{key}",
        cash=cash,
        postings=(
            Posting(outside, -cash.amount),
            Posting(box, cash.amount),
            Posting(bank, -cash.amount),
            Posting(guests, cash.amount),
        ),
        account=box,
        session=session,
        actor=actor,
        approved_by=signed_by,
    )
    return cashed.book(booking, day=day, locked=locked)
