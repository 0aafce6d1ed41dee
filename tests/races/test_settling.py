"""Two requests settle one round at once: it is paid once, and both hear so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from settlement import settling
from settlement.models import Journal, Settlement
from tests.casino.telling import TWO_HANDS
from tests.races import together
from tests.races.together import Unlocked, act
from tests.settlement import floor
from tests.settlement.floor import a_table, money

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS_UNLOCKED = Unlocked(("casino_round r",))


def two_requests_settle_one_round(*, unlocked: Unlocked | None) -> tuple[list[Any], floor.AtTable]:
    """The first has read the round when the second begins."""
    table = a_table()
    round_id = table.tell(TWO_HANDS + "close")
    ask = act(lambda: outcome_of(round_id))
    return together.at_once(
        ask, ask, behind="FROM casino_round r JOIN casino_table", unlocked=unlocked
    ), table


def outcome_of(round_id: UUID) -> str:
    (answer,) = settling.settle_rounds([round_id])
    return answer.outcome


def test_control_without_the_lock_of_the_round_one_of_two_requests_fails() -> None:
    """Both find the round unsettled. The ledger's key keeps the money right, and one guest's dealer sees a fault."""
    answers, table = two_requests_settle_one_round(unlocked=ROUNDS_UNLOCKED)

    assert answers == ["IntegrityError", "settled"]
    assert money() == {table.bank: -100_00, table.guests: 100_00}


def test_two_requests_that_settle_one_round_at_once_pay_once_and_both_hear_so() -> None:
    answers, table = two_requests_settle_one_round(unlocked=None)

    assert answers == ["settled", "settled"]
    assert money() == {table.bank: -100_00, table.guests: 100_00}
    assert (Settlement.objects.count(), Journal.objects.count()) == (1, 1)


def test_eight_requests_at_once_pay_three_rounds_once() -> None:
    """Some ask for one round, some for a batch that holds it too, in whatever order."""
    table = a_table()
    ids = [table.tell(TWO_HANDS + "close") for _ in range(3)]
    asked = [[ids[0]], ids, [ids[2]], ids[::-1], [ids[1]], ids, [ids[2], ids[0]], ids]

    def asking(some: list[UUID]) -> Callable[[], Any]:
        return act(lambda: {one.outcome for one in settling.settle_rounds(some)})

    answers = together.all_at_once([asking(some) for some in asked])

    assert answers == [{"settled"}] * 8
    assert money() == {table.bank: -300_00, table.guests: 300_00}
    assert (Settlement.objects.count(), Journal.objects.count()) == (3, 3)
