"""The rundown as arithmetic: what counts, slips and the drop say, and what cannot be known."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from settlement.days import formula
from settlement.days.formula import Figures, rundown
from settlement.table_floats.variance_thresholds import Limit, in_force, read

DAY = date(2026, 3, 1)

# | opener  | fills  | credits | buy-ins = drop | takes   | pays    | commission | closer  |
NIGHT = Figures(
    opener=250_000_00, fills=60_000_00, credits=15_000_00, buy_ins=142_000_00, drop=142_000_00,
    takes=618_000_00, pays=577_000_00, commission=4_500_00, closer=198_500_00,
)  # fmt: skip


@pytest.mark.parametrize(
    ("closer", "win", "rate", "variance"),
    [(198_500_00, 45_500_00, 3204, 0), (198_300_00, 45_300_00, 3190, -200_00)],
)
def test_the_night_of_the_book_to_the_baht(closer: int, win: int, rate: int, variance: int) -> None:
    """Expected tray 250,000 + 60,000 − 15,000 − 142,000 + 618,000 − 577,000 + 4,500 = 198,500."""
    found = rundown(replace(NIGHT, closer=closer), on=DAY)

    assert found.expected_tray == 198_500_00
    assert (found.win, found.hold_rate_bp, found.variance) == (win, rate, variance)
    assert NIGHT.tray_win == 618_000_00 - 577_000_00 + 4_500_00 == 45_500_00
    assert (found.formula, found.unknown, found.by_lines) == (2, {}, False)


def test_a_guest_who_wins_by_slip_costs_the_house_what_the_slip_pays() -> None:
    """Opener 60,000, 475 won by slip, closer 60,000: win −475, expected tray 60,000, variance 0."""
    figures = Figures(opener=60_000_00, closer=60_000_00, drop=0, pays=475_00, slips=475_00)
    found = rundown(figures, on=DAY)

    assert (found.win, found.estimated_win) == (-475_00, -475_00)
    assert (found.expected_tray, found.variance) == (60_000_00, 0)


def test_a_house_that_had_days_before_counts_by_the_second_formula_from_its_day_on() -> None:
    since = date(2026, 3, 2)
    assert [
        formula.in_force(on, second_from=since).version
        for on in (date(2025, 1, 1), DAY, since, date(2027, 1, 1))
    ] == [1, 1, 2, 2]
    assert [formula.in_force(on, second_from=None).version for on in (date(2025, 1, 1), DAY)] == [2, 2]


def test_while_the_drop_is_uncounted_win_is_unknown_and_stands_beside_as_an_estimate() -> None:
    found = rundown(replace(NIGHT, drop=None, unknown={"drop": "drop_uncounted"}), on=DAY)

    assert (found.win, found.hold_rate_bp, found.estimated_win) == (None, None, 45_500_00)
    assert found.unknown == {
        "drop": "drop_uncounted", "win": "drop_uncounted", "hold_rate_bp": "drop_uncounted",
    }  # fmt: skip


def test_an_open_table_has_an_expected_tray_and_an_estimate_by_its_lines() -> None:
    found = rundown(
        replace(NIGHT, closer=None, drop=None, unknown={"closer": "open", "drop": "open"}), on=DAY
    )

    assert (found.win, found.variance, found.expected_tray) == (None, None, 198_500_00)
    assert (found.estimated_win, found.by_lines) == (45_500_00, True)
    assert found.unknown["variance"] == found.unknown["win"] == "open"


def test_without_a_first_count_nothing_is_expected() -> None:
    found = rundown(replace(NIGHT, opener=None, unknown={"opener": "start_hour_uncounted"}), on=DAY)

    assert (found.expected_tray, found.win, found.variance) == (None, None, None)
    assert {found.unknown[name] for name in ("expected_tray", "win", "variance")} == {"start_hour_uncounted"}
    assert found.estimated_win == 45_500_00


def test_a_rate_over_no_drop_is_unknown_and_not_zero() -> None:
    found = rundown(Figures(opener=0, closer=0, drop=0), on=DAY)

    assert (found.win, found.hold_rate_bp, found.unknown) == (0, None, {"hold_rate_bp": "no_drop"})


@pytest.mark.parametrize(
    ("win", "drop", "rate"), [(1, 8_000, 1), (1, 20_001, 0), (1, 20_000, 1), (-1, 8_000, -1), (-1, 20_000, 0)]
)
def test_a_rate_is_rounded_a_half_upwards(win: int, drop: int, rate: int) -> None:
    """1 ÷ 20,000 is half a basis point."""
    found = rundown(Figures(opener=0, closer=win - drop, drop=drop), on=DAY)

    assert (found.win, found.hold_rate_bp) == (win, rate)


def test_what_earlier_counts_put_right_is_expected_afterwards() -> None:
    found = rundown(replace(NIGHT, counted_off=-200_00, closer=198_300_00), on=DAY)

    assert (found.expected_tray, found.variance, found.win) == (198_300_00, 0, 45_300_00)


def test_several_stretches_are_summed_and_one_unknown_makes_the_sum_unknown() -> None:
    whole, open_ = rundown(NIGHT, on=DAY), rundown(replace(NIGHT, closer=None, drop=None), on=DAY)

    assert formula.summed([whole, whole]) == {"win": 91_000_00, "estimated_win": 91_000_00, "variance": 0}
    assert formula.summed([whole, open_]) == {"win": None, "estimated_win": 91_000_00, "variance": None}


# -- the ladder --------------------------------------------------------------------------------------------

RULES = [
    {"from": "2026-01-01", "note": ">=100", "incident": ">2500", "notify": ">=10000"},
    {"from": "2026-07-01", "note": ">=500", "incident": ">5000", "notify": ">=20000"},
]


@pytest.mark.parametrize(
    ("difference", "grade"),
    [(0, ""), (99, "quiet"), (100, "note"), (-100, "note"), (2_500, "note"), (2_501, "incident"), (-9_999, "incident"),
     (10_000, "notify"), (-10_000, "notify")],
)  # fmt: skip
def test_each_limit_is_compared_as_it_is_written(difference: int, grade: str) -> None:
    assert in_force(read(RULES), DAY).grade(difference) == grade


@pytest.mark.parametrize(
    ("day", "grade"), [("2026-06-30", "note"), ("2026-07-01", "quiet"), ("2020-01-01", "note")]
)
def test_the_limits_are_those_of_the_day(day: str, grade: str) -> None:
    assert in_force(read(RULES), date.fromisoformat(day)).grade(499) == grade


@pytest.mark.parametrize("written", ["100", ">=-1", "> 100", "=>100", ">1.5", ""])
def test_what_is_no_limit_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="no limit"):
        Limit.read(written)


@pytest.mark.parametrize("rows", [[], [{}], [{"from": "2026-01-01"}], [7]])
def test_limits_that_are_not_whole_are_refused(rows: list[dict[str, str]]) -> None:
    with pytest.raises(ValueError, match="limits"):
        read(rows)
