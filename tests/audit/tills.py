"""Cash of the built house, and the keys of its cashier systems: a row of each kind that the books are checked for."""

from __future__ import annotations

from contextlib import AbstractContextManager
from datetime import timedelta

from django.utils import timezone

from casino import events, keys, people
from casino.events import Act, Principal
from casino.keys import Wanted
from casino.models import Person, Table
from settlement import cashier
from settlement.cashier import Cash

LINES = [{"denomination": 100_00, "pieces": 20}]


def write(*, table: str, dealer: Person, manager: Person) -> None:
    """Sell chips at a table and at the cage, redeem some, pay out of A17's wallet under two signatures; make a key,
    put another in its place and revoke the first."""
    with _acting():
        administrator, cashier_one, cashier_two = (
            people.hire(
                badge=badge, display_name=badge, role=role, password="long enough " + badge, pin="123456"
            )
            for badge, role in (("X11", "administrator"), ("C11", "cashier"), ("C12", "cashier"))
        )
    with _acting(people.principal_of(dealer)):
        cashier.buy_in(table=Table.objects.get(code=table), cash=Cash(2_000_00, lines=LINES), key="built")
    with _acting(people.principal_of(cashier_one)):
        cashier.exchange(cage="C1", direction="sell", cash=Cash(2_000_00, lines=LINES), key="built")
        cashier.exchange(cage="C1", direction="redeem", cash=Cash(2_000_00, lines=LINES), key="built")
        cashier.withdraw(ref="A17", amount=1_00, cage="C1", document="W1", approved_by=cashier_two)
    with _acting() as act:
        wanted = Wanted(
            ["move_wallets"], ["127.0.0.0/8"], act.now + timedelta(days=30), tables=[table], cages=["C1"]
        )
        first, _ = keys.make(system="cage_a", wanted=wanted, by=administrator, approved_by=manager)
        keys.rotate(key=first.id, expires_at=wanted.expires_at, by=administrator, approved_by=manager)
        keys.revoke(key=first.id, by=administrator)


def _acting(actor: Principal = events.SERVICE) -> AbstractContextManager[Act]:
    return events.act(actor=actor, request_id="built", now=timezone.now())
