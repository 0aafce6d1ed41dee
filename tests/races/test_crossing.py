"""Two acts that need the same accounts in opposite order: neither is lost, and nobody is told of a deadlock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from casino import events
from settlement import ledger
from tests.races import together
from tests.races.together import act
from tests.settlement import books
from tests.settlement.books import a_table, a_wallet, journal

pytestmark = pytest.mark.django_db(transaction=True)


def once(do: Callable[[], Any]) -> Callable[[], Any]:
    """An act that nobody starts over."""

    def acted() -> Any:
        with events.act(actor=events.SERVICE, request_id="race", now=books.NOW):
            return do()

    return acted


def two_acts_that_lock_one_by_one(run: Callable[[Callable[[], Any]], Callable[[], Any]]) -> list[Any]:
    """Each locks one wallet, then the other's, as no act of the house does by itself; the first has locked its own when
    the second begins."""
    nok, lek = a_wallet("A17", 1_000_00), a_wallet("B08", 1_000_00)

    def moving(source: str, target: str) -> Callable[[], Any]:
        def do() -> str:
            ledger.lock([source], currency="THB")
            ledger.lock([target], currency="THB")
            ledger.post([journal("break_resolved", {source: -10_00, target: 10_00})])
            return "posted"

        return do

    return together.at_once(
        run(moving(nok, lek)), run(moving(lek, nok)), behind="UNION ALL\nSELECT id, code, currency"
    )


def test_control_an_act_that_is_not_started_over_is_lost_to_a_deadlock() -> None:
    assert sorted(two_acts_that_lock_one_by_one(once)) == ["OperationalError", "posted"]


def test_an_act_that_the_database_ended_for_anothers_sake_is_started_over() -> None:
    assert two_acts_that_lock_one_by_one(act) == ["posted", "posted"]

    assert books.balances("player:A17:wallet", "player:B08:wallet") == {
        "player:A17:wallet": 1_000_00,
        "player:B08:wallet": 1_000_00,
    }


def deadlocks() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        return int(cursor.fetchone()[0])


def test_posts_that_name_the_same_accounts_in_opposite_order_wait_and_do_not_lock_each_other_out() -> None:
    """Forty posts to four accounts of two tables and two wallets, each in its own order, none of them started over."""
    for code in ("PD01", "PD02"):
        a_table(code)
    wallets = [a_wallet("A17", 1_000_00), a_wallet("B08", 1_000_00)]
    accounts = [*wallets, "table:PD01:bank", "table:PD02:bank"]

    def posting(place: int) -> Callable[[], Any]:
        turned = accounts[place % 4 :] + accounts[: place % 4]
        named = turned if place % 2 else turned[::-1]

        def do() -> str:
            moves = dict(zip(named, (1_00, -2_00, 3_00, -2_00), strict=True))
            for _ in range(5):
                ledger.post([journal("break_resolved", moves)])
            return "posted"

        return once(do)

    answers = together.all_at_once([posting(place) for place in range(8)])

    assert answers == ["posted"] * 8
    assert deadlocks() == 0
    assert sum(books.balances(*accounts).values()) == 2_000_00
