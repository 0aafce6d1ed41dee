"""What a recording came to is held against what was expected, round by round, and the first differences are named."""

from __future__ import annotations

from typing import Any

from deploy.recordings import comparison
from deploy.recordings.player import Played


def thb(amount: int) -> dict[str, Any]:
    return {"amount": amount, "currency": "THB"}


def a_round(**changes: Any) -> dict[str, Any]:
    """A settled round as the house shows it: one wager won 100 baht; a finding that files list, and one they do not."""
    shown = {
        "table": "PD01",
        "number": 1,
        "standing": "settled",
        "reasons": [],
        "record": {"wagers": [{"id": "w1"}]},
        "breaches": [{"kind": "late_bet", "subject": "w2"}, {"kind": "closed_too_fast", "subject": ""}],
        "settlement": {
            "revision": 1,
            "house_net": thb(-100_00),
            "lines": [{"wager": "w1", "net": thb(100_00), "uncovered": thb(0)}],
            "bank": None,
        },
    }
    return shown | changes


def held(*reasons: str) -> dict[str, Any]:
    return a_round(standing="held", reasons=list(reasons), settlement=None)


KNOWN = {"table": "PD01", "number": 1, "outcome": "settled", "flags": ["late_bet"], "lines": {"w1": 100_00}}
FIGURES = {"settled": 1, "held": 0, "voided": 0, "wagers": 1, "house_net": -100_00}


def told(shown: dict[str, Any], *, known: dict[str, Any] = KNOWN, **figures: Any) -> list[str]:
    expected = {"tables": {"PD01": FIGURES | figures}, "rounds": {"r1": known}}
    return list(comparison.differences([Played("PD01", rounds={"r1": shown})], expected))


def test_what_came_out_as_expected_is_no_difference() -> None:
    assert told(a_round()) == []


def test_a_net_that_differs_is_named_with_its_round() -> None:
    assert told(a_round(), known=KNOWN | {"lines": {"w1": 0}}) == [
        "PD01 round 1 (r1): lines is {'w1': 10000}, expected {'w1': 0}"
    ]


def test_a_finding_that_is_missing_is_named_and_others_besides_are_not() -> None:
    (sentence,) = told(a_round(breaches=[{"kind": "closed_too_fast", "subject": ""}]))
    assert sentence == "PD01 round 1 (r1): flags is [], expected ['late_bet']"


def test_a_held_round_is_held_for_its_reasons() -> None:
    known = {name: value for name, value in KNOWN.items() if name != "lines"} | {
        "outcome": "held",
        "because": ["reads_differ"],
    }
    counts = {"settled": 0, "held": 1, "house_net": 0}
    assert told(held("reads_differ"), known=known, **counts) == []
    (sentence,) = told(held("duplicate_card"), known=known, **counts)
    assert sentence == "PD01 round 1 (r1): because is ['duplicate_card'], expected ['reads_differ']"


def test_a_round_that_is_held_instead_of_settled_is_named() -> None:
    assert "PD01 round 1 (r1): outcome is held, expected settled" in told(held("missing_card"))


def test_a_table_whose_figures_differ_is_named() -> None:
    assert told(a_round(), house_net=0, wagers=2) == [
        "PD01: wagers is 1, expected 2",
        "PD01: house_net is -10000, expected 0",
    ]


def test_a_round_that_was_not_played_and_one_that_was_not_expected_are_named() -> None:
    expected = {"tables": {"PD01": {}}, "rounds": {"r2": KNOWN}}
    found = list(comparison.differences([Played("PD01", rounds={"r1": a_round()})], expected))
    assert found == ["PD01 round 1 (r2): not played", "r1: played, but not expected"]


def test_an_account_is_compared_by_its_balance() -> None:
    expected = {"accounts": {"player:A17:wallet": 5, "player:B08:wallet": 0}}
    assert list(comparison.accounts({"player:A17:wallet": 5}, expected)) == [
        "player:B08:wallet: None, expected 0"
    ]
