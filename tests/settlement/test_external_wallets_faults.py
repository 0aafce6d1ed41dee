"""A cashier system that fails in every way a receiver can: once it is well again, both books agree, and nothing
happened twice."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from settlement.external_wallets import calls
from settlement.models import ExternalCall, ExternalHold, Uncovered
from tests.settlement import floor
from tests.settlement.books import NOW
from tests.settlement.cashier_system import WAYS, Asked, StandIn, covered, keeping, let_in, told
from tests.settlement.floor import AtTable, a_table, outcome
from tests.settlement.telling import at_home
from tests.settlement.test_external_wallets import SIX, TONG, answered, in_step, owed

pytestmark = pytest.mark.django_db(transaction=True)

GUESTS = ("A17", "B08", "C21")
BET = "bet w1 p1 100 account=player:royal-A17"


@pytest.fixture(autouse=True)
def quick(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait one second for an answer, in place of three and five."""
    at_home(settings)
    settings.CASHIER_SYSTEMS = settings.CASHIER_SYSTEMS | {"answer_seconds": 1}
    monkeypatch.setattr(calls, "SECONDS", 1.0)


@pytest.fixture(params=["holds", "bet_win_rollback"])
def royal(request: pytest.FixtureRequest) -> Iterator[StandIn]:
    with keeping({f"royal-{guest}": 100_000_00 for guest in GUESTS}) as stand_in:
        let_in(stand_in, dialect=request.param)
        yield stand_in


def well_again(stand_in: StandIn, *, after: timedelta = timedelta(hours=2)) -> None:
    """The system is well; hour by hour everything owed goes out."""
    stand_in.behaves("ok")
    for hour in range(1, 6):
        if owed():
            told(at=NOW + after * hour)
    assert in_step(stand_in)
    assert not ExternalHold.objects.filter(ended_at=None).exists()


@pytest.mark.parametrize("way", WAYS)
def test_a_hold_that_failed_is_released_and_the_round_is_told_all_the_same(royal: StandIn, way: str) -> None:
    table = a_table()
    round_id = table.tell(BET)
    royal.behaves(way)

    assert answered(covered(round_id)) == {"w1": (500_00, None, "cashier_system_silent")}
    table.tell(TONG, round=round_id)
    assert outcome(round_id) == "settled"
    told()
    assert owed() == [("release", 0), ("hold", 1), ("settle", 1)]

    well_again(royal)
    assert royal.books.wallets["royal-A17"] == 99_500_00


@pytest.mark.parametrize("way", WAYS)
def test_a_settle_that_failed_is_told_until_it_is_acknowledged(royal: StandIn, way: str) -> None:
    table = a_table()
    round_id = table.tell(BET)
    covered(round_id)
    table.tell(SIX, round=round_id)
    outcome(round_id)
    royal.behaves(way)

    told()
    assert owed() == [("settle", 1)]
    royal.behaves("500")
    told(at=NOW + timedelta(minutes=1))
    call = ExternalCall.objects.get()
    assert (call.attempts, call.failures, call.last_result) == (2, 2, "http_500")

    well_again(royal)
    assert royal.books.wallets["royal-A17"] == 100_100_00
    assert [royal.books.effects[request.key] for request in royal.asked] == [1, 1, 1, 1]
    assert len({request.key for request in royal.asked}) == 2


def test_a_system_that_nobody_can_reach_is_told_once_it_is_there_again() -> None:
    table = a_table()
    with keeping({"royal-A17": 10_000_00}) as before:
        let_in(before)
    round_id = table.tell(f"{BET}\n{SIX}")

    assert answered(covered(table.tell(BET))) == {"w1": (500_00, None, "cashier_system_silent")}
    outcome(round_id)
    told()
    assert set(ExternalCall.objects.values_list("last_result", flat=True)) == {"not_reached", ""}

    with keeping({}, after=before) as again:
        well_again(again)


def test_a_redirect_is_not_followed_and_a_slow_system_delays_no_other(royal: StandIn) -> None:
    """Of two systems one is slow; what is owed to the other goes out meanwhile."""
    with keeping({"silver-D30": 10_000_00}) as silver:
        let_in(silver, code="silver", prefix="silver-")
        royal.elsewhere = f"{silver.url}/wallets/silver-D30/holds"
        royal.behaves("redirect")
        table = a_table()
        assert answered(covered(table.tell(BET)))["w1"][2] == "cashier_system_silent"
        assert silver.asked == []

        rounds = [
            table.tell(f"bet w1 p1 100 account=player:{ref}\n{SIX}") for ref in ("royal-B08", "silver-D30")
        ]
        for round_id in rounds:
            outcome(round_id)
        royal.behaves("slow")
        told()

        assert silver.books.won == 100_00
        assert {verb for verb, _ in owed()} == {"release", "hold", "settle"}


# -- what happens between the two acts of a cover ---------------------------------------------------------------


def once(do: Callable[[], object]) -> Callable[[Asked], str]:
    """Behave well, and let something happen while the first request waits for its answer."""
    waiting = [do]

    def behave(_: Asked) -> str:
        if waiting:
            try:
                waiting.pop()()
            finally:
                connection.close()  # the server's thread has one of its own
        return "ok"

    return behave


@pytest.fixture
def patient(settings: Any) -> None:
    settings.CASHIER_SYSTEMS = settings.CASHIER_SYSTEMS | {"answer_seconds": 10}


def test_a_round_settled_while_its_hold_is_asked_for_keeps_nothing_set_aside(
    royal: StandIn, patient: None
) -> None:
    round_id = a_table().tell(f"{BET}\n{TONG}")
    royal.behaves(once(lambda: outcome(round_id)))

    assert answered(covered(round_id)) == {"w1": (500_00, None, "changed")}

    well_again(royal)
    assert royal.books.wallets["royal-A17"] == 99_500_00


def test_of_two_who_cover_at_once_one_hold_stands(royal: StandIn, patient: None) -> None:
    """The later one lets go of what the earlier asked for, and the earlier learns that it has nothing."""
    table = a_table()
    round_id = table.tell(BET)
    later: list[Any] = []
    royal.behaves(once(lambda: later.append(answered(covered(round_id)))))

    assert answered(covered(round_id)) == {"w1": (500_00, None, "changed")}
    assert later == [{"w1": 500_00}]

    table.tell(SIX, round=round_id)
    outcome(round_id)
    well_again(royal)
    assert not Uncovered.objects.exists()


def test_a_bet_changed_while_it_is_asked_for_is_named_at_the_settlement(
    royal: StandIn, patient: None
) -> None:
    table = a_table()
    round_id = table.tell(BET)
    royal.behaves(once(lambda: table.tell("change w1 200", round=round_id)))

    assert answered(covered(round_id)) == {"w1": 500_00}
    table.tell(TONG, round=round_id)
    outcome(round_id)

    assert list(Uncovered.objects.values_list("exposure", "reason")) == [(1_000_00, "changed_since")]
    well_again(royal)


# -- whatever happens ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_however_it_fails_both_books_agree_in_the_end(royal: StandIn, seed: int) -> None:
    """Rounds are covered, changed, settled, voided and corrected while every second request fails somehow."""
    chance = random.Random(seed)
    ways = [way for way in WAYS if way != "slow"]

    def behave(_: Asked) -> str:
        return "ok" if chance.random() < 0.5 else chance.choice(ways)

    royal.behaves(behave)
    table = a_table()
    for minute in range(5):
        a_round(table, chance)
        told(at=NOW + timedelta(minutes=5 * minute, seconds=10))

    well_again(royal)


def a_round(table: AtTable, chance: random.Random) -> UUID:
    """A round of one to three guests, with whatever may happen to it."""
    guests = chance.sample(GUESTS, chance.randint(1, len(GUESTS)))
    bets = [
        f"bet w{place} p1 {100 * place} account=player:royal-{guest}" for place, guest in enumerate(guests, 1)
    ]
    round_id = table.tell("\n".join(bets))
    for _ in range(chance.randint(0, 2)):
        covered(round_id)
        if chance.random() < 0.4:
            table.tell(f"change w1 {chance.choice((50, 150, 300))}", round=round_id)
    cards = chance.choice((SIX, SIX, TONG, "void"))
    table.tell(cards, round=round_id)
    assert outcome(round_id) in ("settled", "voided")
    if chance.random() < 0.5:
        told()
    if cards == SIX and chance.random() < 0.6:
        table.tell(chance.choice(("page: rule dealer.2 8D", "page: void")), round=round_id)
        floor.corrected(round_id)
    return round_id
