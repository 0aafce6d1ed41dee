"""Cash of the built house, and the keys of its cashier systems: a row of each kind that the books are checked for."""

from __future__ import annotations

from contextlib import AbstractContextManager
from datetime import timedelta

from django.utils import timezone

from casino import events, keys, people
from casino.events import Act, Principal
from casino.keys import Wanted
from casino.models import Person, Table
from settlement import cashier, days, statements
from settlement.cashier import Cash
from settlement.models import Account
from settlement.statements import statement_values

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
    _a_file_of_others(taken_by=cashier_one, manager=manager)


def _a_file_of_others(*, taken_by: Person, manager: Person) -> None:
    """The wallet's withdrawal as somebody else has it, with a fee that two people agreed to."""
    with _acting() as act:
        second = people.hire(
            badge="M11", display_name="M11", role="manager", password="long enough M11", pin="123456"
        )
        today = days.of(act.now)
        statements.add_rule(
            id="fee", kind="EXT_FEE", accounts="player:", code="FEE", most=50, first_day=today, last_day=None,
            by=manager, approved_by=second,
        )  # fmt: skip
        begins, ends = days.bounds(today)
        lines = [
            statement_values.Line(
                gaming_day=today, played=today, kind=kind, code="", journal="", entry=0, counter_account="", slip_no="",
                round="", revision=None, reverses="", amount=amount, balance_after=0, happened_at=begins,
                recorded_at=begins, reference=reference,
            )
            for kind, amount, reference in (("withdrawal", -1_00, "W1"), ("fee", -50, ""))
        ]  # fmt: skip
        theirs = statement_values.Statement(
            id="built", account="player:A17:wallet", currency="THB", number=1, gaming_day=today, begins=begins,
            ends=ends, made_at=act.now, opening=1_50, closing=0, lines=tuple(lines),
        )  # fmt: skip
        statements.take(statements.csv_format.written(theirs), form="csv", by=taken_by)
        wallet = Account.objects.get(code="player:A17:wallet")
        matched = statements.match(wallet, first_day=today, last_day=today)
        assert (matched.matched, matched.pending) == (2, 0), matched


def _acting(actor: Principal = events.SERVICE) -> AbstractContextManager[Act]:
    return events.act(actor=actor, request_id="built", now=timezone.now())
