"""A cage that is being ended while somebody comes to its window: either the money moves, or the cage has ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from casino import cages
from settlement import cashier
from settlement.models import Account
from tests.races import together
from tests.races.together import Unlocked, act
from tests.settlement.floor import a_person, a_wallet
from tests.settlement.floor import act as acting

pytestmark = pytest.mark.django_db(transaction=True)

UNLOCKED = Unlocked(("casino_cage",), ((" FOR KEY SHARE", ""),))


@pytest.fixture
def two() -> dict[str, Any]:
    """A manager and an administrator, a guest's wallet, and a cage at which money moved before."""
    people = {"by": a_person("M01", "manager"), "approved_by": a_person("X01", "administrator")}
    with acting():
        cages.add(code="C9", **people)
    a_wallet("A17")
    for amount, do in ((100_00, cashier.deposit), (100_00, cashier.withdraw)):
        with acting():
            do(ref="A17", amount=amount, cage="C9", document="D", key=do.__name__)
    return people


def ended(two: dict[str, Any]) -> Callable[[], Any]:
    return act(lambda: cashier.end_cage(cage=cages.of_code("C9"), **two).code)


def paid_in() -> Callable[[], Any]:
    return act(
        lambda: cashier.deposit(ref="A17", amount=70_00, cage="C9", document="D", key="race").account.balance
    )


def in_the_wallet() -> int:
    return Account.objects.get(code="player:A17:wallet").balance


def test_a_cage_waits_for_a_deposit_that_came_first(two: dict[str, Any]) -> None:
    assert together.at_once(paid_in(), ended(two), behind="FROM casino_cage WHERE code") == [70_00, "C9"]
    assert in_the_wallet() == 70_00


def test_a_deposit_that_comes_while_the_cage_ends_is_refused(two: dict[str, Any]) -> None:
    answers = together.at_once(ended(two), paid_in(), behind='FROM "casino_cage"', time=2)

    assert answers == ["C9", "cage_ended"]
    assert in_the_wallet() == 0


def test_control_without_the_locks_the_database_alone_refuses_and_nobody_is_told_why(
    two: dict[str, Any],
) -> None:
    answers = together.at_once(paid_in(), ended(two), behind="FROM casino_cage WHERE code", unlocked=UNLOCKED)

    assert answers == ["IntegrityError", "C9"]
    assert in_the_wallet() == 0
