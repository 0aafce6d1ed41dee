"""Two corrections of one round at once, a ruling against a void: one follows the other and knows both."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest

from casino.models import RoundEvent
from settlement import settling
from settlement.models import Journal, Settlement
from tests.casino.telling import TWO_HANDS
from tests.races import together
from tests.races.together import Unlocked, act
from tests.settlement import floor
from tests.settlement.floor import LATER, AtTable, a_table, money, outcome

pytestmark = pytest.mark.django_db(transaction=True)


def a_settled_round(*late: str) -> tuple[AtTable, UUID, list[int]]:
    """A settled round with late acts; their ids in order."""
    table = a_table()
    round_id = table.tell(TWO_HANDS + "close")
    assert outcome(round_id) == "settled"
    for text in late:
        table.tell(text, round=round_id, at=LATER)
    return (
        table,
        round_id,
        list(RoundEvent.objects.filter(late=True).order_by("id").values_list("id", flat=True)),
    )


def a_correction(round_id: UUID, cited: int) -> Any:
    def do() -> str:
        settlement = settling.correct(round_id, cites=[cited], because=uuid4())
        return f"{settlement.revision} {settlement.outcome}"

    return act(do)


def a_ruling_against_a_void(
    *, void_first: bool, unlocked: Unlocked | None = None
) -> tuple[list[Any], AtTable, UUID]:
    """The first has read the settlement that stands when the second begins."""
    table, round_id, (ruled, void) = a_settled_round("rule dealer.2 8D", "void")
    acts = [a_correction(round_id, ruled), a_correction(round_id, void)]
    first, second = acts[::-1] if void_first else acts
    answers = together.at_once(first, second, behind='FROM "settlement_settlement"', unlocked=unlocked)
    return answers, table, round_id


def test_control_without_the_lock_of_the_round_one_of_two_corrections_fails() -> None:
    """Both take revision 1 for the one that stands, and both want to take it back."""
    answers, _, _ = a_ruling_against_a_void(void_first=False, unlocked=Unlocked(("casino_round r",)))

    assert answers == ["IntegrityError", "2 voided"]


@pytest.mark.parametrize(
    ("void_first", "came"), [(False, ["2 settled", "3 voided"]), (True, ["2 voided", "3 voided"])]
)
def test_a_ruling_against_a_void_at_once_ends_voided_whichever_was_first(
    void_first: bool, came: list[str]
) -> None:
    answers, _, round_id = a_ruling_against_a_void(void_first=void_first)

    assert answers == came
    assert (money(), floor.standing(round_id)) == ({}, "voided")
    effective = settling.effective(round_id)
    assert effective is not None
    assert len(effective.cites) == 2


def test_two_corrections_at_once_are_two_revisions_and_the_last_counts_both() -> None:
    """The dealer is ruled to hold a pok of 8, the guest a pok of 9 in one suit: together that wins double."""
    table, round_id, (dealers, guests) = a_settled_round("rule dealer.2 8D", "rule p1.2 6S")

    answers = together.at_once(
        a_correction(round_id, dealers),
        a_correction(round_id, guests),
        behind='FROM "settlement_settlement"',
    )

    assert answers == ["2 settled", "3 settled"]
    assert money() == {table.bank: -200_00, table.guests: 200_00}
    reversed_ = Journal.objects.exclude(reverses=None).values_list("reverses", flat=True)
    assert len(set(reversed_)) == len(reversed_) == 2
    assert sorted(Settlement.objects.values_list("revision", flat=True)) == [1, 2, 3]
