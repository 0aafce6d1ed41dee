"""Outside lines against our entries: what each pass finds, what it leaves, and that nothing is guessed or lost."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from settlement.statements import matching_passes
from settlement.statements.matching_passes import Difference, Match, Ours, Outcome, Rule
from settlement.statements.statement_values import OutsideLine

DAY = date(2026, 3, 1)
NEXT = DAY + timedelta(days=1)


def a_line(number: int, amount: int, **given: Any) -> OutsideLine:
    usual: dict[str, Any] = {
        "currency": "THB",
        "booked": DAY,
        "played": DAY,
        "code": "DEP",
        "journal": "",
        "reference": "",
        "reversal": False,
        "pending": False,
    }
    return OutsideLine(number=number, amount=amount, **usual | given)


def an_entry(entry: int, amount: int, **given: Any) -> Ours:
    usual: dict[str, Any] = {
        "journal": f"{entry:032x}",
        "references": (),
        "code": "DEP",
        "currency": "THB",
        "gaming_day": DAY,
    }
    return Ours(entry=entry, amount=amount, **usual | given)


def test_a_line_that_names_our_journal_matches_by_key() -> None:
    outcome = matching_passes.compare([a_line(1, 500, journal=f"{7:032x}", code="?")], [an_entry(7, 500)])
    assert outcome == Outcome(matches=[Match("key", (1,), (7,), 500)])


def test_a_line_that_names_our_paper_matches_by_key_also_where_the_paper_has_a_long_name() -> None:
    long = "k" * 200
    lines = [a_line(1, 500, reference="CR-1"), a_line(2, 600, reference=matching_passes.short(long))]
    entries = [an_entry(7, 500, references=("CR-1",)), an_entry(8, 600, references=(long, "CR-2"))]
    assert [match.ours for match in matching_passes.compare(lines, entries).matches] == [(7,), (8,)]


def test_the_same_key_with_another_amount_is_a_difference_and_no_match() -> None:
    outcome = matching_passes.compare(
        [a_line(1, 501, reference="CR-1")], [an_entry(7, 500, references=("CR-1",))]
    )
    assert outcome == Outcome(differences=[Difference("AMOUNT", (1,), (7,), 1)])


def test_the_same_key_in_another_currency_is_a_difference() -> None:
    line = a_line(1, 500, reference="CR-1", currency="USD")
    outcome = matching_passes.compare([line], [an_entry(7, 500, references=("CR-1",))])
    assert outcome == Outcome(differences=[Difference("CURRENCY", (1,), (7,), 500)])


def test_a_line_that_says_again_what_was_matched_is_one_too_many() -> None:
    lines = [a_line(number, 500, reference="CR-1") for number in (1, 2)]
    outcome = matching_passes.compare(lines, [an_entry(7, 500, references=("CR-1",))])
    assert outcome.matches == [Match("key", (1,), (7,), 500)]
    assert outcome.differences == [Difference("DUPLICATE", (2,), (), 500)]


def test_a_line_that_says_again_what_another_file_said_is_one_too_many() -> None:
    entry = an_entry(7, 500, references=("CR-1",))
    outcome = matching_passes.compare([a_line(2, 500, reference="CR-1")], [], explained=[entry])
    assert outcome == Outcome(differences=[Difference("DUPLICATE", (2,), (), 500)])


def test_one_line_may_stand_for_all_wagers_of_a_journal() -> None:
    entries = [an_entry(7, -300, journal="ab", code="PAY"), an_entry(8, 500, journal="ab", code="TAKE")]
    outcome = matching_passes.compare([a_line(1, 200, journal="ab")], entries)
    assert outcome == Outcome(matches=[Match("key", (1,), (7, 8), 200)])


def test_lines_without_a_key_match_by_currency_amount_code_and_day() -> None:
    lines = [a_line(1, 500), a_line(2, 500), a_line(3, 500, code="WDL")]
    outcome = matching_passes.compare(lines, [an_entry(7, 500), an_entry(8, 500)])
    assert [match.by for match in outcome.matches] == ["fields", "fields"]
    assert outcome.pending_theirs == (3,)


def test_one_line_may_be_the_total_of_a_round_or_of_a_code_and_day() -> None:
    entries = [
        an_entry(7, 100, code="TAKE", round="r1"),
        an_entry(8, 200, code="TAKE", round="r1"),
        an_entry(9, 50, code="BUYIN"),
        an_entry(10, 60, code="BUYIN"),
    ]
    outcome = matching_passes.compare([a_line(1, 300, code="TAKE"), a_line(2, 110, code="BUYIN")], entries)
    assert outcome.matches == [Match("total", (1,), (7, 8), 300), Match("total", (2,), (9, 10), 110)]


def test_two_lines_of_that_total_are_not_guessed_between() -> None:
    entries = [an_entry(7, 100, code="TAKE"), an_entry(8, 200, code="TAKE")]
    outcome = matching_passes.compare([a_line(1, 300, code="TAKE"), a_line(2, 300, code="TAKE")], entries)
    assert (outcome.matches, outcome.pending_theirs, outcome.pending_ours) == ([], (1, 2), (7, 8))


def test_one_entry_of_ours_may_be_the_total_of_their_lines() -> None:
    outcome = matching_passes.compare([a_line(1, 100), a_line(2, 200)], [an_entry(7, 300)])
    assert outcome == Outcome(matches=[Match("total", (1, 2), (7,), 300)])


FEE = Rule("fee-2026", "EXT_FEE", 150, DAY, DAY, code="FEE")
ROUNDING = Rule("rounding-2026", "EXT_ROUNDING", 2, DAY)


def test_a_fee_that_was_agreed_to_matches_by_its_rule_and_says_so() -> None:
    outcome = matching_passes.compare([a_line(1, -150, code="FEE")], [], rules=[FEE])
    assert outcome.matches == [Match("rule", (1,), (), -150, "fee-2026")]
    assert outcome.differences == [Difference("EXT_FEE", (1,), (), 150, "fee-2026")]


def test_a_fee_above_the_rule_of_another_code_or_on_another_day_is_not_agreed_to() -> None:
    lines = [
        a_line(1, -151, code="FEE"),
        a_line(2, -10, code="OTHER"),
        a_line(3, -10, code="FEE", booked=NEXT),
    ]
    assert matching_passes.compare(lines, [], rules=[FEE]).pending_theirs == (1, 2, 3)
    assert matching_passes.compare([a_line(1, 150, code="FEE")], [], rules=[FEE]).pending_theirs == (1,)


def test_a_rounding_that_was_agreed_to_matches_lines_that_name_each_other_and_no_others() -> None:
    named = [an_entry(7, 500, references=("CR-1",))]
    outcome = matching_passes.compare([a_line(1, 502, reference="CR-1")], named, rules=[ROUNDING])
    assert outcome.matches == [Match("rule", (1,), (7,), 502, "rounding-2026")]
    assert outcome.differences == [Difference("EXT_ROUNDING", (1,), (7,), 2, "rounding-2026")]
    assert matching_passes.compare([a_line(1, 503, reference="CR-1")], named, rules=[ROUNDING]).matches == []
    assert matching_passes.compare([a_line(1, 502)], [an_entry(7, 500)], rules=[ROUNDING]).matches == []


def test_the_right_amount_on_the_day_before_or_after_is_a_matter_of_the_start_hour() -> None:
    outcome = matching_passes.compare([a_line(1, 500, booked=NEXT)], [an_entry(7, 500)])
    assert outcome == Outcome(
        matches=[Match("cutoff", (1,), (7,), 500)], differences=[Difference("CUTOFF", (1,), (7,), 500)]
    )
    late = matching_passes.compare([a_line(1, 500, booked=NEXT + timedelta(days=1))], [an_entry(7, 500)])
    assert (late.differences, late.pending_theirs, late.pending_ours) == ([], (1,), (7,))


def test_what_is_only_announced_is_neither_matched_nor_missing() -> None:
    outcome = matching_passes.compare([a_line(1, 500, pending=True)], [an_entry(7, 500)])
    assert (outcome.matches, outcome.pending_theirs, outcome.pending_ours) == ([], (), (7,))


SIDES = st.tuples(
    st.lists(
        st.builds(
            a_line,
            number=st.just(0),
            amount=st.sampled_from([-150, -100, 100, 200, 300]),
            code=st.sampled_from(["DEP", "FEE"]),
            booked=st.sampled_from([DAY, NEXT]),
            reference=st.sampled_from(["", "CR-1", "CR-2"]),
            currency=st.sampled_from(["THB", "THB", "USD"]),
        ),
        max_size=7,
    ),
    st.lists(
        st.builds(
            an_entry,
            entry=st.just(0),
            amount=st.sampled_from([-100, 100, 200, 300]),
            references=st.sampled_from([(), ("CR-1",), ("CR-2",)]),
            journal=st.sampled_from(["a", "b"]),
            round=st.sampled_from(["", "r"]),
            gaming_day=st.sampled_from([DAY, NEXT]),
        ),
        max_size=7,
    ),
    st.randoms(use_true_random=False),
)


@given(SIDES)
def test_everything_is_somewhere_once_amounts_agree_and_the_order_does_not_matter(
    sides: tuple[list[OutsideLine], list[Ours], random.Random],
) -> None:
    theirs = [replace(line, number=number) for number, line in enumerate(sides[0], start=1)]
    ours = [replace(entry, entry=entry_id) for entry_id, entry in enumerate(sides[1], start=101)]
    outcome = matching_passes.compare(theirs, ours, rules=[FEE, ROUNDING])
    open_differences = [found for found in outcome.differences if not found.cleared]
    placed = Counter(
        [n for match in outcome.matches for n in match.theirs]
        + [n for found in open_differences for n in found.theirs]
        + list(outcome.pending_theirs)
    )
    assert placed == Counter(line.number for line in theirs)
    held = Counter(
        [n for match in outcome.matches for n in match.ours]
        + [n for found in open_differences for n in found.ours]
        + list(outcome.pending_ours)
    )
    assert held == Counter(entry.entry for entry in ours)
    worth = {entry.entry: entry.amount for entry in ours}
    said = {line.number: line.amount for line in theirs}
    for match in outcome.matches:
        if match.by != "rule":
            assert sum(said[n] for n in match.theirs) == sum(worth[n] for n in match.ours) == match.amount
    sides[2].shuffle(theirs)
    sides[2].shuffle(ours)
    assert matching_passes.compare(theirs, ours, rules=[ROUNDING, FEE]) == outcome


def three_deposits() -> list[Ours]:
    return [an_entry(number, 100, references=(f"CR-{number}",)) for number in (1, 2, 3)]


def test_a_line_for_three_deposits_matches_all_three_whatever_they_are_worth() -> None:
    line = a_line(1, 300, names=("CR-1", "CR-2", f"{3:032x}"))
    assert matching_passes.compare([line], three_deposits()) == Outcome(
        matches=[Match("key", (1,), (1, 2, 3), 300)]
    )


def test_a_line_for_three_deposits_of_which_one_is_missing_is_another_amount() -> None:
    line = a_line(1, 300, names=("CR-1", "CR-2", "CR-9"))
    outcome = matching_passes.compare([line], three_deposits())
    assert outcome.differences == [Difference("AMOUNT", (1,), (1, 2), 100)]
    assert outcome.pending_ours == (3,)


def test_a_line_that_says_three_deposits_again_is_one_too_many() -> None:
    lines = [a_line(number, 300, names=("CR-1", "CR-2", "CR-3")) for number in (1, 2)]
    outcome = matching_passes.compare(lines, three_deposits())
    assert outcome.matches == [Match("key", (1,), (1, 2, 3), 300)]
    assert outcome.differences == [Difference("DUPLICATE", (2,), (), 300)]
    again = matching_passes.compare([lines[1]], [], explained=three_deposits())
    assert again.differences == [Difference("DUPLICATE", (2,), (), 300)]
