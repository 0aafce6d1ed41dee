"""Every value of every option has an answer worked out by hand, and the sheet gives it."""

from dataclasses import fields
from typing import Any

import pytest

from settlement.rules import house_rules, lookup, payouts
from settlement.rules.house_rules import DengTable, DrawRule, HouseRules
from tests.rules import test_banks, test_conduct, test_judge
from tests.rules.given import ANSWERED, case, hand

OTHER_VALUES: dict[str, tuple[str, ...]] = {
    "type_order": ("default", "sam_lueang moved", "sam_lueang above tong", "straight_flush moved"),
    "deng": tuple(field.name for field in fields(DengTable)),
    "max_deng": ("none", "number"),
    "commission": (
        "none",
        "rate",
        "unit",
        *(f"rounding {mode}" for mode in house_rules.COMMISSION_CHOICES["rounding"]),
        *(f"side {side}" for side in house_rules.COMMISSION_CHOICES["side"]),
    ),
    "stakes": ("none", "limits"),
    "max_hands": ("seventeen", "fewer"),
    "player_draw": ("free", *(field.name for field in fields(DrawRule))),
    "dealer_draw": ("free", *(field.name for field in fields(DrawRule))),
    "requires": ("nothing", "camera", "declared_result"),
}
"""What there is to say of options that are no choice among names."""


@pytest.mark.parametrize(
    "worked",
    case("options-worked.json")["sheets"],
    ids=lambda worked: f"{worked['option']}: {worked['value']}",
)
def test_the_answer_worked_by_hand_comes_out(worked: dict[str, Any]) -> None:
    sheet = house_rules.from_options(worked["sheet"]["preset"], worked["sheet"]["options"])
    for pair in worked["cases"]:
        guest, dealer = hand(pair["guest"]), hand(pair["dealer"])
        kinds = [list(lookup.of(sheet).classify(cards)[:3]) for cards in (guest, dealer)]
        assert (kinds, payouts.compare(guest, dealer, sheet)) == (
            pair["kinds"],
            (pair["multiple"], pair["step"]),
        ), (worked["says"], pair)


def test_no_value_of_any_option_is_left_without_an_answer() -> None:
    assert {test_banks, test_conduct, test_judge}  # importing them fills ANSWERED
    values = {**house_rules.CHOICES, **OTHER_VALUES}
    assert values.keys() == {field.name for field in fields(HouseRules)}
    answered = ANSWERED | {
        (worked["option"], worked["value"]) for worked in case("options-worked.json")["sheets"]
    }
    assert {(option, value) for option, named in values.items() for value in named} - answered == set()
