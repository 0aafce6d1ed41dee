"""A wallet is covered while its round is settled: nothing stays set aside for a round that is over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from settlement import settling
from settlement.models import Hold
from tests.races import together
from tests.races.together import Unlocked, act
from tests.settlement.floor import a_table, a_wallet, holds, money

pytestmark = pytest.mark.django_db(transaction=True)

PLAYED = """
    bet w1 p1 100 account=player:A17
    lock
    p1 3S 4D
    dealer KC 6D
    dealer stays
    close
"""
ROUND_UNLOCKED = Unlocked(("casino_round r",))


def cover_against_settlement(*, cover_first: bool, unlocked: Unlocked | None) -> list[Any]:
    """The terminal asks for cover of a round that the sweep settles. The first of them has read the holds of the round
    when the second begins."""
    table = a_table()
    a_wallet("A17", 1_000)
    round_id = table.tell(PLAYED)
    cover = act(lambda: len(settling.cover(round_id).covered))
    settlement = act(lambda: settling.settle_rounds([round_id])[0].outcome)
    first, second = (cover, settlement) if cover_first else (settlement, cover)
    return together.at_once(first, second, behind="FROM settlement_hold h", unlocked=unlocked)


def stuck() -> dict[str, int]:
    """What is set aside for rounds that are over."""
    return dict(Hold.objects.filter(ended_at=None, round__standing="settled").values_list("wager", "amount"))


def test_control_without_the_lock_of_the_round_money_stays_set_aside_for_a_settled_round() -> None:
    assert cover_against_settlement(cover_first=False, unlocked=ROUND_UNLOCKED) == ["settled", 1]

    assert stuck() == {"w1": 500_00}


def test_control_the_other_way_round_it_stays_set_aside_too() -> None:
    assert cover_against_settlement(cover_first=True, unlocked=ROUND_UNLOCKED) == [1, "settled"]

    assert stuck() == {"w1": 500_00}


def test_a_cover_that_waited_for_the_settlement_is_refused() -> None:
    assert cover_against_settlement(cover_first=False, unlocked=None) == ["settled", "round_finished"]

    assert (stuck(), holds(), money()["player:A17:wallet"]) == ({}, {}, 1_100_00)


def test_a_settlement_that_waited_for_the_cover_gives_it_back() -> None:
    assert cover_against_settlement(cover_first=True, unlocked=None) == [1, "settled"]

    assert (stuck(), holds(), money()["player:A17:wallet"]) == ({}, {}, 1_100_00)


def one_wallet_at_two_tables(*, unlocked: Unlocked | None) -> list[Any]:
    """600 baht in one wallet, 500 asked for at each of two tables. The first has read it when the second begins."""
    bet = "bet w1 p1 100 account=player:A17"
    a_wallet("A17", 600)
    asked = [a_table(code).tell(bet) for code in ("PD01", "PD02")]
    first, second = map(asking, asked)
    return together.at_once(first, second, behind="settlement_hold h WHERE h.id", time=2, unlocked=unlocked)


def asking(round_id: UUID) -> Callable[[], Any]:
    """How many wagers were covered, and how many not."""

    def do() -> list[int]:
        cover = settling.cover(round_id)
        return [len(cover.covered), len(cover.refused)]

    return act(do)


def test_control_without_the_lock_of_the_wallet_its_money_is_set_aside_twice() -> None:
    """Both are promised 500; what the wallet's row says is set aside is what the last of them wrote."""
    answers = one_wallet_at_two_tables(unlocked=Unlocked(("settlement_account",)))

    assert answers == [[1, 0], [1, 0]]
    assert sum(Hold.objects.filter(ended_at=None).values_list("amount", flat=True)) == 1_000_00
    assert holds() == {"player:A17:wallet": 500_00}


def test_one_wallet_asked_at_two_tables_at_once_covers_one_of_them() -> None:
    answers = one_wallet_at_two_tables(unlocked=None)

    assert answers == [[1, 0], [0, 1]]
    assert holds() == {"player:A17:wallet": 500_00}
