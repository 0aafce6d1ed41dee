"""The screens on play of known honesty: fair play raises no more alarms than it should, a thumb on it is found."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import date

import pytest

from audit.statistics import cards, checks, decks, hold_bands, late_bets, mispays, odds, pace, probability
from audit.statistics.round_sample import Played, Steps
from casino import cards as deck
from settlement.rules import hands, lookup
from settlement.rules.house_rules import PRESETS, Commission, DrawRule, HouseRules
from tests.audit.shoes import (
    NO_TIME,
    RULES,
    Shoe,
    flagged,
    seen_by,
    shuffled,
    with_errors,
    with_late_raises,
)

DAY = date(2026, 3, 1).isoformat()


# -- cards -------------------------------------------------------------------------------------------------


def few_poks(chance: random.Random) -> list[int]:
    """A deck whose dealer loses two poks in five: 12 % instead of 19 %."""
    dealt = shuffled(chance)
    while hands.is_pok(dealt[:2]) and chance.random() < 0.4:
        dealt = shuffled(chance)
    return dealt


def test_a_fair_shoe_raises_no_more_alarms_than_one_in_a_hundred_days() -> None:
    """Of forty fair days two with an alarm come once in fifteen times, three once in a hundred and thirty."""
    noted = [
        bool(flagged(seen_by(cards.Tally(), Shoe(guests=1).rounds(400, seed=seed)))) for seed in range(40)
    ]
    assert sum(noted) <= 2


def test_a_shoe_of_few_poks_is_found_at_the_sample_that_shows_it() -> None:
    rate = 0.6 * cards.POK_RATE / (0.6 * cards.POK_RATE + 1 - cards.POK_RATE)
    enough = round(
        probability.sample_for_rate(cards.POK_RATE, rate, alpha=0.001, power=0.9) * 1.6  # BH asks for more
    )
    found = flagged(seen_by(cards.Tally(), Shoe(guests=1, deal=few_poks).rounds(enough, seed=5)))
    assert {"house#poks", "people/honest#poks", "tables/PD01#poks"} <= {alarm.subject for alarm in found}
    alarm = next(alarm for alarm in found if alarm.subject == "people/honest#poks")
    assert (alarm.kind, alarm.detail["hands"], alarm.detail["test"]) == ("cards_uneven", enough, "poks")
    too_few = seen_by(cards.Tally(), Shoe(guests=1, deal=few_poks).rounds(120, seed=5))
    assert flagged(too_few) == []
    assert too_few.power["pok_bp"]["people/honest"] > 3_000, "and it says how little it could have shown"


def test_days_add_up_for_who_played_on_this_one() -> None:
    rounds = list(Shoe(guests=1, deal=few_poks).rounds(1_500, seed=5))
    first, second = cards.Tally(), cards.Tally()
    for one in rounds[:800]:
        first.add(one)
    for one in rounds[800:]:
        second.add(one)
    whole = seen_by(cards.Tally(), rounds)
    together = second.answer([first.answer([]).counts])
    assert together.figures == whole.figures
    assert together.sample == {"hands": 700, "over_days": 1_500}


def test_a_voided_round_says_nothing_of_the_cards() -> None:
    voided = (replace(one, voided=True) for one in Shoe(guests=1).rounds(200, seed=1))
    assert seen_by(cards.Tally(), voided).sample == {"hands": 0, "over_days": 0}


# -- decks -------------------------------------------------------------------------------------------------


def test_a_card_that_left_the_deck_is_named_and_a_fair_deck_alarms_as_often_as_it_says() -> None:
    without_king = Shoe(
        deal=lambda chance: chance.sample([c for c in deck.DECK if c != deck.parse("KD")], 51)
    )
    answer = seen_by(decks.Tally(below=0.02), without_king.rounds(60, seed=2))
    assert [alarm.detail["card"] for alarm in answer.alarms if alarm.detail["rounds"] == 60] == ["KD"]
    assert answer.figures[0]["never_seen"] == ["KD"]

    fair = seen_by(decks.Tally(below=0.02), Shoe().rounds(6_000, seed=3))
    expected = float(fair.expected)
    assert 15 < expected < 60
    assert abs(len(fair.alarms) - expected) < 4 * expected**0.5
    assert fair.power["rounds"] == probability.rounds_until(fair.sample["cards_a_round"], 0.02)


def test_once_counted_a_deck_begins_anew() -> None:
    without_king = Shoe(
        deal=lambda chance: chance.sample([c for c in deck.DECK if c != deck.parse("KD")], 51)
    )
    rounds = list(without_king.rounds(24, seed=2))
    rounds[12] = replace(rounds[12], counted=True)
    answer = seen_by(decks.Tally(below=0.02), rounds)
    assert [alarm.detail["card"] for alarm in answer.alarms] == []
    assert answer.sample["decks"] == 2


def test_a_card_seen_twice_in_a_round_is_listed() -> None:
    one = next(iter(Shoe().rounds(1, seed=1)))
    answer = seen_by(decks.Tally(below=0.02), [replace(one, duplicates=("7S",))])
    assert answer.figures[1:] == [{"table": "PD01", "round": "PD01-1", "card": "7S"}]


# -- hold --------------------------------------------------------------------------------------------------


def test_sessions_of_fair_play_leave_their_band_once_in_twenty() -> None:
    scores = []
    for seed in range(60):
        answer = seen_by(hold_bands.Tally(), Shoe().rounds(200, seed=seed))
        scores.append(float(next(row["z"] for row in answer.figures if row["group"] == "house")))
    assert sum(abs(score) > hold_bands.Z for score in scores) <= 8
    assert 0.7 < (sum(score**2 for score in scores) / len(scores)) ** 0.5 < 1.3


def test_a_leak_is_found_and_one_session_says_how_little_it_could_have_shown() -> None:
    def leaking(rounds: int) -> list[Played]:
        return [
            replace(one, stakes=tuple(stake._replace(brought=stake.brought + 1_500) for stake in one.stakes))
            for one in Shoe().rounds(rounds, seed=9)
        ]

    variance = float(probability.variance_of_round([1] * 6, own=odds.own(RULES), shared=odds.shared(RULES)))
    enough = round(2.5 * probability.rounds_for_leak(variance, 0.9, alpha=0.05, power=0.8))
    found = seen_by(hold_bands.Tally(), leaking(enough))
    assert {alarm.subject for alarm in flagged(found)} == {"house", "sessions/S-PD01", "tables/PD01"}
    assert found.power["leak_bp"]["house"] < 1_500
    assert found.expected == "0.15", "three tests at 0.05"


def test_six_equal_hands_of_480_rounds_have_a_band_of_239_stakes() -> None:
    answer = seen_by(hold_bands.Tally(), Shoe().rounds(480, seed=4))
    (house,) = [row for row in answer.figures if row["group"] == "house"]
    assert round(house["band"] / 10_000 / hold_bands.Z * 2) == 239
    assert (house["stakes"], house["expected"]) == (480 * 6 * 10_000, 0)


def test_what_is_to_be_expected_follows_from_the_thresholds_that_were_seen() -> None:
    answer = seen_by(hold_bands.Tally(), Shoe(draws_to=(4, 5)).rounds(300, seed=4))
    (house,) = [row for row in answer.figures if row["group"] == "house"]
    mean = odds.moments(hold_bands.paying(RULES), 4, 5).mean
    assert house["expected"] == round(-mean * 300 * 6 * 10_000)
    assert hold_bands.threshold([(4, True), (5, False), (3, True), (5, True), (5, False)]) == 4
    assert hold_bands.threshold([]) is None


def test_a_round_that_a_player_banked_is_no_hold() -> None:
    rounds = [replace(one, banked=True) for one in Shoe().rounds(150, seed=4)]
    answer = seen_by(hold_bands.Tally(), rounds)
    assert answer.sample == {"rounds": 0, "sessions": 0, "banked_by_players": 150}


def test_sheets_that_pay_alike_are_one() -> None:
    other = HouseRules(
        commission=Commission(rate_bp=500), player_draw=DrawRule(must_draw_to=4), early_check="none"
    )
    assert hold_bands.paying(other) == hold_bands.paying(RULES)
    assert hold_bands.paying(PRESETS["seed_table"]) != hold_bands.paying(RULES)


# -- mispays -----------------------------------------------------------------------------------------------


def test_honest_errors_of_several_dealers_raise_nothing() -> None:
    noted = 0
    for seed in range(20):
        played = [
            with_errors(
                Shoe(dealer=f"D{dealer}").rounds(150, seed=seed), seed=100 * seed + dealer, rate=0.004
            )
            for dealer in range(4)
        ]
        noted += bool(flagged(seen_by(mispays.Tally(), *played)))
    assert noted <= 2


def test_who_errs_three_times_as_often_is_found_and_nobody_is_ranked_below_500_lines() -> None:
    others = [
        with_errors(Shoe(dealer=f"D{dealer}").rounds(300, seed=dealer), seed=dealer, rate=0.005)
        for dealer in range(4)
    ]
    bad = with_errors(Shoe(dealer="bad").rounds(300, seed=9), seed=9, rate=0.02)
    new = with_errors(Shoe(dealer="new").rounds(80, seed=9), seed=9, rate=0.05)
    answer = seen_by(mispays.Tally(), *others, bad, new)
    assert "people/bad#rate" in {alarm.subject for alarm in flagged(answer)}
    figures = {row["group"]: row for row in answer.figures if "group" in row}
    assert (figures["people/new"]["least_ppm"], figures["people/new"]["most_ppm"]) == (None, None)
    assert figures["people/bad"]["least_ppm"] > figures["people/D0"]["least_ppm"]
    assert answer.power["rate_ppm"]["people/new"] is None
    assert answer.power["rate_ppm"]["people/bad"] is not None


def test_errors_that_all_favour_one_guest_are_found_in_direction_and_lean() -> None:
    leaning = with_errors(
        Shoe(dealer="kind").rounds(400, seed=1), seed=2, rate=0.006, over=1.0, guest="player:G3"
    )
    answer = seen_by(mispays.Tally(), leaning)
    assert {"people/kind#direction", "people/kind#player:G3#lean"} <= {
        alarm.subject for alarm in flagged(answer)
    }
    lean = next(alarm for alarm in answer.alarms if alarm.subject.endswith("#lean"))
    assert (lean.detail["guest"], lean.detail["errors"]) == ("player:G3", lean.detail["of"])


# -- late bets ---------------------------------------------------------------------------------------------


def test_late_raises_of_who_knows_nothing_win_like_the_rest() -> None:
    noted = sum(
        bool(
            flagged(
                seen_by(
                    late_bets.Tally(),
                    with_late_raises(Shoe().rounds(300, seed=seed), seed=seed, rate=0.02, knowing=False),
                )
            )
        )
        for seed in range(20)
    )
    assert noted <= 2


def test_late_raises_of_who_knows_the_cards_are_found() -> None:
    knowing = with_late_raises(Shoe().rounds(300, seed=1), seed=1, rate=0.03, knowing=True)
    answer = seen_by(late_bets.Tally(), knowing)
    found = {alarm.subject: alarm.detail for alarm in flagged(answer)}
    assert {"house#raised", "tables/PD01#raised"} <= found.keys()
    late = found["house#raised"]
    shown = answer.power["win_rate_bp"]
    assert 10_000 * late["hits"] / late["of"] > shown > answer.power["usual_bp"]
    assert answer.sample["after_ms"] == [900, 900, 900]


# -- checks ------------------------------------------------------------------------------------------------


def test_a_dealer_who_checks_by_chance_favours_nobody() -> None:
    noted = sum(
        bool(
            flagged(
                seen_by(
                    checks.Tally(seed=DAY),
                    Shoe(checks=lambda chance, _: chance.random() < 0.5).rounds(80, seed=seed),
                )
            )
        )
        for seed in range(8)
    )
    assert noted <= 1


def test_one_guest_who_is_never_checked_is_found() -> None:
    kind = Shoe(dealer="kind", checks=lambda chance, guest: guest != 3 and chance.random() < 0.6)
    answer = seen_by(checks.Tally(seed=DAY), kind.rounds(250, seed=6))
    (alarm,) = flagged(answer)
    assert (alarm.kind, alarm.subject) == ("unchecked_hands", "people/kind#player:G3")
    assert alarm.detail["regret"] > answer.power["regret"]["people/kind#player:G3"] / 3
    again = seen_by(checks.Tally(seed=DAY), kind.rounds(250, seed=6))
    assert again == answer, "exchanges have a fixed seed"


def test_where_the_dealer_may_not_check_nobody_is_favoured() -> None:
    rules = replace(RULES, early_check="none")
    answer = seen_by(checks.Tally(seed=DAY), Shoe(rules=rules).rounds(50, seed=1))
    assert answer.sample["hands"] == 0


@pytest.mark.parametrize(
    ("low", "high", "suited", "count"), [(3, 4, False, 2), (0, 2, False, 3), (9, 12, True, 3)]
)
def test_what_a_check_is_worth_is_what_dealing_comes_to(
    low: int, high: int, suited: bool, count: int
) -> None:
    """Dealt out: a guest who draws up to four against the dealer's two cards, and against them and a third."""
    chance, two = random.Random(1), (4 * low, 4 * high if suited else 4 * high + 1)
    table = lookup.of(RULES)
    now: list[int] = []
    drawn: list[int] = []
    while len(now) < 40_000:
        a, b, c, third = chance.sample([card for card in deck.DECK if card not in two], 4)
        taem = hands.taem((a, b))
        if (taem <= 4) is not (count == 3) or hands.is_pok((a, b)):
            continue
        guest = table.class_of((a, b, c) if count == 3 else (a, b))
        now.append(-table.outcomes[guest][table.class_of(two)][0])
        drawn.append(-table.outcomes[guest][table.class_of((*two, third))][0])
    worth = checks.worth_of(hold_bands.paying(RULES), low, high, suited, count, None)
    assert worth[0] / 1e6 == pytest.approx(sum(now) / len(now), abs=0.03)
    assert worth[1] / 1e6 == pytest.approx(sum(drawn) / len(drawn), abs=0.04)


# -- pace --------------------------------------------------------------------------------------------------


def paced(milliseconds: int, *, rounds: int = 8, hour: int = 21) -> list[Played]:
    """Rounds of so long, a second apart."""
    return [
        replace(
            one, hour=hour, steps=Steps(4_000, 5_000, 6_000, 7_000, milliseconds),
            opened_ms=place * (milliseconds + 1_000), closed_ms=place * (milliseconds + 1_000) + milliseconds,
        )
        for place, one in enumerate(Shoe().rounds(rounds, seed=1))
    ]  # fmt: skip


def days_of(*medians: int) -> list[dict[str, dict[str, int]]]:
    return [{"medians": {"PD01 21": median}} for median in medians]


def paced_on(milliseconds: int, earlier: list[dict[str, dict[str, int]]]) -> list[dict[str, object]]:
    tally = pace.Tally()
    for one in paced(milliseconds):
        tally.add(one)
    return [dict(alarm.detail) for alarm in tally.answer(earlier).alarms]


def test_an_hour_is_compared_with_the_same_hour_of_seven_days() -> None:
    usual = days_of(60_000, 61_000, 59_000, 60_500, 59_500, 62_000, 60_000)
    assert paced_on(61_000, usual) == []
    (slow,) = paced_on(90_000, usual)
    assert (slow["ms"], slow["days"], slow["fixed"]) == (90_000, 7, 0)


def test_under_three_days_fixed_limits_stand_in_and_say_so() -> None:
    assert paced_on(90_000, days_of(60_000, 60_000)) == []
    (fast,) = paced_on(9_000, days_of(60_000, 60_000))
    assert (fast["fixed"], fast["least_ms"], fast["most_ms"]) == (1, pace.FASTEST_MS, pace.SLOWEST_MS)


def test_play_that_stood_still_for_twenty_minutes_is_listed_and_for_fortyfive_it_is_of_note() -> None:
    rounds = paced(60_000, rounds=3)
    for place, minutes in ((1, 21), (2, 46)):
        rounds[place] = replace(
            rounds[place], opened_ms=(rounds[place - 1].closed_ms or 0) + minutes * 60_000
        )
        rounds[place] = replace(rounds[place], closed_ms=(rounds[place].opened_ms or 0) + 60_000)
    alarms = [alarm for alarm in seen_by(pace.Tally(), rounds).alarms if "idle_ms" in alarm.detail]
    assert [(alarm.detail["limit_minutes"], alarm.flagged) for alarm in alarms] == [(20, False), (45, True)]


def test_a_step_without_its_times_is_unknown_and_never_zero() -> None:
    answer = seen_by(pace.Tally(), [replace(one, steps=NO_TIME) for one in paced(60_000)])
    assert answer.sample == {"rounds": 8, "hours": 0, "untimed": 8}
    assert [row for row in answer.figures if "step" in row] == []


def test_steps_are_told_by_the_number_of_hands() -> None:
    answer = seen_by(pace.Tally(), paced(60_000))
    steps = {row["step"]: (row["hands"], row["ms"]) for row in answer.figures if "step" in row}
    assert steps["deal"] == (7, [4_000, 4_000, 4_000])
    assert steps["whole"] == (7, [60_000, 60_000, 60_000])
