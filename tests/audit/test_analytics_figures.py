"""The figures behind the screens, against answers that are known."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations
from statistics import NormalDist

import pytest

from audit.statistics import cards, odds, pace, probability
from audit.statistics.probability import FourFold
from casino import cards as deck
from settlement.rules import hands, lookup
from settlement.rules.house_rules import PRESETS, HouseRules

V, C = Fraction(17_415, 10_000), Fraction(647, 1_000)
POK = 42 / 221


def test_the_first_two_cards_of_1326_fall_as_their_weights_say() -> None:
    counted = {test: [0] * len(weights) for test, weights in cards.WEIGHTS.items()}
    for two in combinations(deck.DECK, 2):
        for test, place in cards.classes(two).items():
            counted[test][place] += 1
    assert {test: tuple(counts) for test, counts in counted.items()} == dict(cards.WEIGHTS)
    assert (counted["taem"][0], counted["taem"][1], counted["taem"][2]) == (190, 128, 124)
    assert (counted["pairs"], counted["poks"]) == ([78, 312, 936], [124, 128, 1_074])


@pytest.mark.parametrize(
    ("statistic", "degrees", "tail"),
    [
        (16.919, 9, 0.05),
        (21.666, 9, 0.01),
        (27.877, 9, 0.001),
        (5.991, 2, 0.05),
        (3.325, 9, 0.95),
        (0.0, 2, 1.0),
    ],
)
def test_a_chi_square_has_the_tail_of_the_printed_tables(statistic: float, degrees: int, tail: float) -> None:
    assert probability.chi_square_tail(statistic, degrees) == pytest.approx(tail, rel=1e-3)


def test_two_degrees_of_freedom_are_an_exponential() -> None:
    for statistic in (0.1, 1, 3, 8, 30, 200):
        assert probability.chi_square_tail(statistic, 2) == pytest.approx(
            2.718281828459045 ** (-statistic / 2)
        )


def test_where_a_class_expects_fewer_than_five_nothing_is_tested() -> None:
    assert probability.fit([5, 20, 58], cards.PAIRS) is None  # 83 hands expect 4.9 pairs
    assert probability.fit([5, 20, 60], cards.PAIRS) is not None


def test_eleven_errors_one_way_and_none_the_other_reach_a_thousandth() -> None:
    assert probability.binomial_two_sided(11, 11) == Fraction(1, 1_024)
    assert probability.binomial_two_sided(10, 10) > Fraction(1, 1_000)
    assert probability.binomial_two_sided(5, 10) == 1
    assert probability.binomial_two_sided(2, 3, Fraction(1, 4)) == Fraction(10, 64)
    assert probability.binomial_at_least(2, 3, Fraction(1, 4)) == Fraction(10, 64)


def test_the_lady_who_tasted_tea_has_seventeen_in_seventy() -> None:
    assert probability.fisher_at_least(FourFold(3, 1, 1, 3)) == Fraction(17, 70)
    assert probability.fisher_two_sided(FourFold(3, 1, 1, 3)) == Fraction(34, 70)
    assert float(probability.fisher_two_sided(FourFold(1, 9, 11, 3))) == pytest.approx(0.002759, abs=1e-6)
    assert probability.fisher_at_least(FourFold(0, 4, 30_000, 40_000)) == 1


def test_six_errors_in_8400_lie_between_three_and_sixteen_in_ten_thousand() -> None:
    low, high = probability.wilson(6, 8_400)
    assert (round(low * 100, 2), round(high * 100, 2)) == (0.03, 0.16)
    assert probability.wilson(0, 500)[0] == 0.0


def test_of_many_tests_those_are_noted_that_chance_hardly_gives() -> None:
    assert probability.rejected([0.001, 0.5, 0.004, 0.2, 0.9]) == {0, 2}  # 0.004 ≤ 2 · 0.01/5
    assert probability.rejected([0.0021, 0.5, 0.0041, 0.2, 0.9]) == set()
    assert probability.rejected([0.0021, 0.5, 0.004, 0.2, 0.9]) == {0, 2}, "the second carries the first"
    assert probability.rejected([0.001], tests=11) == set()
    assert probability.rejected([]) == set()


def test_a_full_deck_hides_some_card_for_twenty_rounds_of_eighteen_once_in_a_hundred() -> None:
    assert round(float(probability.hidden_any([18] * 20)), 4) == 0.0106
    assert round(float(probability.hidden([18] * 20)), 4) == 0.0002
    assert probability.rounds_until(18, 0.01) == 21
    assert probability.rounds_until(23, 0.01) == 15
    assert probability.hidden_any([18] * 21) < Fraction(1, 100) < probability.hidden_any([18] * 20)


def test_watched_without_end_a_full_deck_alarms_now_and_then() -> None:
    assert round(probability.between_alarms(18, 20)) == 272
    assert round(probability.between_alarms(18, 32), -3) == 45_000


def test_a_fifth_of_poks_takes_32800_hands_to_tell_and_a_little_more_far_fewer() -> None:
    assert round(probability.sample_for_rate(POK, 0.20, alpha=0.001, power=0.9), -2) == 32_800
    assert round(probability.sample_for_rate(POK, 0.21, alpha=0.001, power=0.9), -2) == 8_300
    shown = probability.detectable_rate(POK, 32_827, alpha=0.001, power=0.9)
    assert shown == pytest.approx(0.20, abs=1e-4)
    assert probability.detectable_rate(POK, 1, alpha=0.001, power=0.9) is None


def test_six_equal_hands_move_together() -> None:
    round_ = probability.variance_of_round([1] * 6, own=V, shared=C)
    alone = 6 * V
    assert round(float(round_) ** 0.5, 2) == 5.46
    assert round(2 * (480 * float(round_)) ** 0.5) == 239
    assert round(2 * (480 * float(alone)) ** 0.5) == 142


def test_a_leak_of_one_stake_in_a_hundred_takes_65000_rounds_to_show() -> None:
    variance = float(probability.variance_of_round([1] * 6, own=V, shared=C))
    assert round(probability.rounds_for_leak(variance, 0.06, alpha=0.05, power=0.8), -3) == 65_000
    assert round(probability.rounds_for_leak(variance, 0.18, alpha=0.05, power=0.8), -2) == 7_200


@pytest.mark.parametrize(
    ("preset", "variance", "common"), [("seed_base", 1.7415, 0.647), ("seed_table", 1.9116, 0.713)]
)
def test_a_wagers_variance_follows_from_the_rules(preset: str, variance: float, common: float) -> None:
    rules = PRESETS[preset]
    assert round(float(odds.own(rules)), 4) == variance
    assert round(float(odds.shared(rules)), 3) == common


@pytest.mark.parametrize(
    ("preset", "guest", "dealer", "mean"),
    [
        ("seed_base", 4, 5, Fraction(158_152, 38_172_225)),
        ("seed_base", 5, 4, Fraction(-158_152, 38_172_225)),
        ("seed_table", 4, 5, Fraction(-176_083, 30_537_780)),
        ("seed_base", 4, 4, Fraction(0)),
    ],
)
def test_what_a_guest_may_expect_is_exact(preset: str, guest: int, dealer: int, mean: Fraction) -> None:
    assert odds.moments(PRESETS[preset], guest, dealer).mean == mean


def test_where_ties_go_to_the_dealer_the_sides_are_not_alike() -> None:
    rules = HouseRules(tie_rule="dealer_wins")
    assert odds.moments(rules, 4, 4).mean < 0
    assert odds.moments(rules, 5, 4).mean != -odds.moments(rules, 4, 5).mean


@pytest.mark.full
@pytest.mark.timeout(600)
@pytest.mark.parametrize("preset", ["seed_base", "seed_table", "thai_app"])
def test_two_guests_share_as_much_as_when_rounds_are_dealt(preset: str) -> None:
    """A million rounds of two guests against one dealer."""
    rules, chance, rounds = PRESETS[preset], random.Random(20_260_301), 1_000_000
    table = lookup.of(rules)
    both = squares = 0
    for _ in range(rounds):
        dealt = chance.sample(deck.DECK, 9)
        one, other, dealer = (_final(table, dealt[first : first + 3]) for first in (0, 3, 6))
        ours, theirs = table.outcomes[one][dealer][0], table.outcomes[other][dealer][0]
        both += ours * theirs
        squares += ours * ours + theirs * theirs
    mean = float(odds.moments(rules, 4, 4).mean)
    assert both / rounds - mean**2 == pytest.approx(float(odds.shared(rules)), rel=0.012)
    assert squares / (2 * rounds) - mean**2 == pytest.approx(float(odds.own(rules)), rel=0.008)


def _final(table: lookup.Table, three: list[int]) -> int:
    two = (three[0], three[1])
    return table.class_of(two if hands.taem(two) > odds.USUAL else (*two, three[2]))


def test_a_band_of_few_days_is_left_by_chance_as_often_as_it_says() -> None:
    chance = random.Random(7)
    for days, expected in pace.BY_CHANCE.items():
        left = 0
        for _ in range(4_000):
            values = [round(chance.gauss(100_000, 1_000)) for _ in range(days)]
            usual = probability.band(values, least_spread=0)
            left += not usual.holds(chance.gauss(100_000, 1_000))
        assert left / 4_000 == pytest.approx(expected, abs=0.03)


def test_a_band_is_the_median_and_three_deviations() -> None:
    usual = probability.band([10, 12, 14, 11, 13, 90, 12], least_spread=0)
    assert usual.middle == 12
    assert usual.spread == pytest.approx(3 * 1.4826)
    assert probability.band([12, 12, 12], least_spread=2) == probability.Band(12.0, 2)
    assert (usual.holds(16), usual.holds(17)) == (True, False)


def test_a_probability_is_written_to_four_digits() -> None:
    assert [probability.written(p) for p in (0.0106051, Fraction(1, 1_024), 1.0)] == [
        "0.01061",
        "0.0009766",
        "1",
    ]
    assert NormalDist().cdf(-1.96) == pytest.approx(probability.normal_tail(1.96))
    assert probability.normal_two_sided(-1.96) == pytest.approx(0.05, abs=1e-4)
