"""A rule sheet as a value: its defaults, its bytes, and what is refused by name."""

import dataclasses
import json
from dataclasses import fields
from typing import Any

import pytest

from settlement.rules import conduct, house_rules, payouts
from settlement.rules.house_rules import (
    PRESETS,
    Commission,
    ContradictorySheet,
    HouseRules,
    InvalidSheet,
    Stakes,
)
from tests.rules.given import a_round

A_PLAYER_BANKS = {"banker": "player"}
OLD = PRESETS["seed_base"]


def test_the_first_named_choice_of_an_option_is_its_default() -> None:
    assert {name: names[0] for name, names in house_rules.CHOICES.items()} == {
        name: getattr(HouseRules(), name) for name in house_rules.CHOICES
    }


def test_a_sheet_names_itself_by_bytes_that_never_change() -> None:
    assert {name: sheet.sha256[:16] for name, sheet in PRESETS.items()} == {
        "seed_base": "e2f91db554453a3c",
        "seed_sam_deng": "55a6f70d0e721ddd",
        "seed_table": "78b4b2acec1e80fb",
        "thai_app": "5e4d583e11588a47",
    }


def test_the_bytes_of_a_sheet_write_out_every_option() -> None:
    sheet = json.loads(PRESETS["thai_app"].canonical)
    assert sheet.keys() == {field.name for field in fields(HouseRules)}
    assert sheet["commission"] == {
        "rate_bp": 500,
        "on": "net_win",
        "rounding": "half_up",
        "unit": 1,
        "side": "guest",
    }
    assert (sheet["max_deng"], sheet["stakes"], sheet["player_draw"]) == (None, None, "free")
    assert PRESETS["thai_app"].canonical == json.dumps(sheet, sort_keys=True, separators=(",", ":")).encode()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"max_deng": 3, "stakes": {"min": 2000, "max": 100_000, "step": 1000}, "max_hands": 9},
        {"player_draw": {"must_draw_to": 4}, "dealer_draw": {"must_draw_to": 4, "must_stay_from": 6}},
        {"banker": "player", "commission": {"rate_bp": 300, "side": "both", "rounding": "half_even"}},
        {"requires": {"camera": True}, "deng": {"tong": 8}},
    ],
)
def test_a_sheet_read_back_from_its_bytes_is_the_same_sheet(options: dict[str, Any]) -> None:
    sheet = house_rules.from_options("thai_app", options)
    again = house_rules.parse(sheet.canonical)
    assert (again, again.sha256) == (sheet, sheet.sha256)


def test_an_option_put_in_as_its_default_makes_no_other_sheet() -> None:
    spelt_out = house_rules.from_options(
        "seed_base", {"tie_rule": "deng_difference", "max_deng": "none", "stakes": None}
    )
    assert spelt_out.sha256 == PRESETS["seed_base"].sha256


def test_the_order_in_which_options_are_written_does_not_matter() -> None:
    options = {"straights": "special", "max_deng": 2, "tie_rule": "push"}
    backwards = dict(reversed(options.items()))
    assert (
        house_rules.from_options("seed_base", options).sha256
        == house_rules.from_options("seed_base", backwards).sha256
    )


def test_parts_left_out_keep_the_value_of_the_preset() -> None:
    sheet = house_rules.from_options("thai_app", {"commission": {"unit": 100}, "deng": {"tong": 6}})
    assert sheet.commission == Commission(rate_bp=500, unit=100)
    assert (sheet.deng.tong, sheet.deng.straight_flush) == (6, 5)


def test_limits_are_kept_as_given() -> None:
    sheet = house_rules.from_options("seed_base", {"stakes": {"min": 2000, "max": 100_000, "step": 1000}})
    assert sheet.stakes == Stakes(min=2000, max=100_000, step=1000)


SAM_LUEANG_FIRST = ["pok", "sam_lueang", "tong", "straight_flush", "straight", "normal"]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"type_order": SAM_LUEANG_FIRST}, ("type_order", "tong_over_sam_lueang")),
        ({"deng": {"tong": 3}}, ("deng", "tong_over_sam_lueang")),
        ({"commission": {"side": "banker"}}, ("commission", "banker")),
        ({"commission": {"side": "both"}}, ("commission", "banker")),
        (
            {"player_draw": {"must_draw_to": 4, "must_stay_from": 4}},
            ("player_draw.must_draw_to", "player_draw.must_stay_from"),
        ),
        (
            {"dealer_draw": {"must_draw_to": 5, "must_stay_from": 3}},
            ("dealer_draw.must_draw_to", "dealer_draw.must_stay_from"),
        ),
        ({"stakes": {"min": 500, "max": 400, "step": 100}}, ("stakes.min", "stakes.max")),
        ({"stakes": {"min": 50, "max": 400, "step": 100}}, ("stakes.min", "stakes.max", "stakes.step")),
    ],
)
def test_a_sheet_that_contradicts_itself_is_refused_with_the_options_at_odds(
    options: dict[str, Any], named: tuple[str, ...]
) -> None:
    with pytest.raises(ContradictorySheet) as refused:
        house_rules.from_options("seed_base", options)
    assert refused.value.options == named


@pytest.mark.parametrize(
    ("preset", "options"),
    [
        ("seed_base", {"type_order": SAM_LUEANG_FIRST, "tong_over_sam_lueang": "winner_deng"}),
        ("seed_base", {"deng": {"tong": 3}, "tong_over_sam_lueang": "winner_deng"}),
        ("seed_base", {"commission": {"side": "both"}, **A_PLAYER_BANKS}),
        ("seed_base", {"player_draw": {"must_draw_to": 4, "must_stay_from": 5}}),
        ("seed_base", {"stakes": {"min": 400, "max": 400, "step": 100}}),
    ],
)
def test_the_nearest_sheet_that_can_be_played_is_taken(preset: str, options: dict[str, Any]) -> None:
    assert house_rules.from_options(preset, options).sha256 != PRESETS[preset].sha256


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"straight": "off"}, ("straight",)),
        ({"straights": "on"}, ("straights",)),
        ({"straights": True}, ("straights",)),
        ({"zz": 1, "aa": 2}, ("aa", "zz")),
        ({"deng": {"flush": 4}}, ("deng.flush",)),
        ({"deng": {"tong": 11}}, ("deng.tong",)),
        ({"deng": {"tong": 0}}, ("deng.tong",)),
        ({"deng": {"tong": 5.0}}, ("deng.tong",)),
        ({"deng": {"tong": True}}, ("deng.tong",)),
        ({"deng": 5}, ("deng",)),
        (
            {"type_order": ["tong", "pok", "straight_flush", "straight", "sam_lueang", "normal"]},
            ("type_order",),
        ),
        (
            {"type_order": ["pok", "tong", "straight_flush", "straight", "normal", "sam_lueang"]},
            ("type_order",),
        ),
        (
            {"type_order": ["pok", "straight", "tong", "straight_flush", "sam_lueang", "normal"]},
            ("type_order",),
        ),
        ({"type_order": ["pok", "tong", "tong", "straight", "sam_lueang", "normal"]}, ("type_order",)),
        ({"type_order": "pok"}, ("type_order",)),
        ({"max_deng": 0}, ("max_deng",)),
        ({"max_hands": 18}, ("max_hands",)),
        ({"max_hands": 1}, ("max_hands",)),
        ({"commission": {"rate_bp": -1}}, ("commission.rate_bp",)),
        ({"commission": {"rate_bp": 10_001}}, ("commission.rate_bp",)),
        ({"commission": {"unit": 0}}, ("commission.unit",)),
        ({"commission": {"unit": 2**63}}, ("commission.unit",)),
        ({"stakes": {"min": 1, "max": 2**63, "step": 1}}, ("stakes.max",)),
        ({"commission": {"rounding": "floor"}}, ("commission.rounding",)),
        ({"commission": {"on": "turnover"}}, ("commission.on",)),
        ({"stakes": {"min": 100, "max": 200}}, ("stakes.step",)),
        ({"stakes": {"min": 0, "max": 200, "step": 1}}, ("stakes.min",)),
        ({"player_draw": "never"}, ("player_draw",)),
        ({"player_draw": {}}, ("player_draw",)),
        ({"player_draw": {"must_draw_to": 8}}, ("player_draw.must_draw_to",)),
        ({"dealer_draw": {"must_fold": 3}}, ("dealer_draw.must_fold",)),
        ({"stakes": {"min": 10**12 + 1, "max": 10**12 + 1, "step": 1}}, ("stakes.min",)),
        ({"stakes": {"min": 1, "max": 10**12 + 1, "step": 1}}, ("stakes.max",)),
        ({"commission": {"unit": 10**12 + 1}}, ("commission.unit",)),
        ({"max_deng": 11}, ("max_deng",)),
        ({"player_draw": {"must_stay_from": 9}}, ("player_draw.must_stay_from",)),
        ({"dealer_draw": {"must_draw_to": 4, "must_stay_from": 9}}, ("dealer_draw.must_stay_from",)),
        ({"requires": {"camera": 1}}, ("requires.camera",)),
        ({"requires": {"video": True}}, ("requires.video",)),
    ],
)
def test_an_unknown_option_or_value_is_refused_by_name(
    options: dict[str, Any], named: tuple[str, ...]
) -> None:
    with pytest.raises(InvalidSheet) as refused:
        house_rules.from_options("seed_base", options)
    assert (refused.value.options, type(refused.value)) == (named, InvalidSheet)


def test_an_unknown_preset_is_refused() -> None:
    with pytest.raises(InvalidSheet) as refused:
        house_rules.from_options("macau", {})
    assert refused.value.options == ("preset",)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", ("sheet",)),
        ("[]", ("sheet",)),
        ('{"max_deng": 2, "max_deng": 3}', ("max_deng",)),
        ('{"max_deng": 2.0}', ("max_deng",)),
        ('{"max_deng": NaN}', ("max_deng",)),
        (b"\xff", ("sheet",)),
        ("[" * 100_000, ("sheet",)),
    ],
)
def test_text_that_is_no_sheet_is_refused(text: str | bytes, named: tuple[str, ...]) -> None:
    with pytest.raises(InvalidSheet) as refused:
        house_rules.parse(text)
    assert refused.value.options == named


@pytest.mark.parametrize(
    "options",
    [
        {"stakes": {"min": 10**12, "max": 10**12, "step": 10**12}},
        {"commission": {"unit": 10**12}},
        {"max_deng": 10},
        {"player_draw": {"must_draw_to": 7, "must_stay_from": 8}},
    ],
)
def test_the_widest_bounds_that_something_can_meet_are_taken(options: dict[str, Any]) -> None:
    assert house_rules.from_options("seed_base", options).sha256 != PRESETS["seed_base"].sha256


def test_a_bound_that_nothing_can_meet_is_refused_of_a_proposal_and_read_in_what_was_agreed_on() -> None:
    """A sheet of before 10^12 was the largest stake: two people agreed on it, and rounds were judged by it."""
    text = '{"stakes":{"max":9000000000000,"min":100,"step":100}}'
    with pytest.raises(InvalidSheet):
        house_rules.parse(text)
    assert house_rules.stored(text).stakes == house_rules.Stakes(min=100, max=9_000_000_000_000, step=100)


# -- a later release -----------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class LaterRules(house_rules.HouseRules):
    """The rules with an option more, as a later release may have it."""

    side_bets: str = "none"


@pytest.fixture
def a_later_release(monkeypatch: pytest.MonkeyPatch) -> None:
    later = {name: LaterRules(**{field.name: getattr(sheet, field.name) for field in dataclasses.fields(sheet)})
             for name, sheet in PRESETS.items()}  # fmt: skip
    monkeypatch.setattr(house_rules, "HouseRules", LaterRules)
    monkeypatch.setattr(house_rules, "CHOICES", {**house_rules.CHOICES, "side_bets": ("none", "allowed")})
    monkeypatch.setattr(house_rules, "PRESETS", later)


@pytest.mark.usefixtures("a_later_release")
@pytest.mark.parametrize("name", PRESETS)
def test_a_stored_sheet_keeps_its_bytes_and_its_hash_when_an_option_is_added(name: str) -> None:
    old = PRESETS[name]  # made before the option was
    again = house_rules.stored(old.canonical.decode())
    assert (again.canonical, again.sha256) == (old.canonical, old.sha256)
    assert getattr(again, "side_bets") == "none"  # noqa: B009
    assert house_rules.from_options(name, {}).sha256 != old.sha256  # proposed today, it says the option too


@pytest.mark.usefixtures("a_later_release")
def test_an_old_round_is_judged_the_same_by_its_old_sheet_when_an_option_is_added() -> None:
    record = a_round(
        bets={"p1": 100}, cards={"p1": "KS 7D", "dealer": "KC 6D"}, opened={"sheet_shown": OLD.sha256}
    )
    again = house_rules.stored(OLD.canonical)
    assert payouts.judge(record, again) == payouts.judge(record, OLD)
    assert conduct.breaches(record, again) == ()  # the sheet on display is the one in force
