"""What a hand wins or loses against the dealer's: the known-good pairs, under the presets and away from
them."""

import pytest

from settlement.rules import house_rules, lookup, payouts
from settlement.rules.house_rules import PRESETS
from tests.rules.given import case, hand


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_every_known_pair_of_hands_comes_out_under_the_preset(preset: str) -> None:
    sheet = PRESETS[preset]
    for pair in case("hands.json")["cases"]:
        guest, dealer, answer = hand(pair["guest"]), hand(pair["dealer"]), pair[preset]
        assert [
            list(lookup.of(sheet).classify(guest)[:3]),
            list(lookup.of(sheet).classify(dealer)[:3]),
            payouts.compare(guest, dealer, sheet),
        ] == [answer["guest"], answer["dealer"], (answer["multiple"], answer["step"])], pair


@pytest.mark.parametrize("changed", case("options.json")["sheets"], ids=lambda sheet: str(sheet["options"]))
def test_an_option_changes_the_answer_where_it_should_and_nowhere_else(changed: dict) -> None:
    sheet = house_rules.from_options("seed_base", changed["options"])
    for pair in changed["cases"]:
        guest, dealer = hand(pair["guest"]), hand(pair["dealer"])
        kinds = [list(lookup.of(sheet).classify(cards)[:3]) for cards in (guest, dealer)]
        assert (kinds, payouts.compare(guest, dealer, sheet)) == (
            pair["kinds"],
            (pair["multiple"], pair["step"]),
        ), pair
