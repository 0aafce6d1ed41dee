"""What a round is worth where the house banks, and what keeps it from being worth anything yet. Money in
satang."""

from typing import Any

import pytest

from casino.record import Owner, RoundRecord
from settlement.rules import doubts, house_rules, payouts
from settlement.rules.hands import Hand
from settlement.rules.house_rules import PRESETS
from settlement.rules.payouts import Line
from tests.rules.given import a_bet, a_card, a_round, an_act, answers, folded, hand, short_round

SEED_BASE = PRESETS["seed_base"]
SEVEN, SIX = "KS 7D", "KC 6D"
"""A guest's seven against the dealer's six wins one stake."""


def with_options(**options: Any) -> house_rules.HouseRules:
    return house_rules.from_options("seed_base", options)


def a_win(stake: int) -> RoundRecord:
    return a_round(bets={"p1": stake}, cards={"p1": SEVEN, "dealer": SIX})


def test_a_line_tells_the_whole_reason_of_its_amount() -> None:
    [line] = payouts.judge(a_win(10_000), SEED_BASE).lines
    assert line == Line(
        wager="w1",
        hand="p1",
        owner=Owner("seat", "1"),
        stake=10_000,
        cards=hand(SEVEN),
        guest=Hand("normal", 7, 1),
        dealer_cards=hand(SIX),
        dealer=Hand("normal", 6, 1),
        step="taem",
        multiple=1,
        gross=10_000,
        uncovered=0,
        commission=0,
        net=10_000,
        rounding_bp=0,
    )


def test_a_dealers_tong_takes_five_stakes_from_the_guest() -> None:
    record = a_round(bets={"p1": 100_00}, cards={"p1": "KS 5H 2D", "dealer": "7C 7D 7H"})
    assert [line.net for line in payouts.judge(record, SEED_BASE).lines] == [-500_00]


def test_a_hand_checked_early_meets_two_cards_and_the_rest_meet_three() -> None:
    """The dealer's K-4 (4) beats p1's 3, then draws a 5 and loses with 9 to nobody, but beats p2's 7."""
    record = a_round(
        bets={"p1": 1_000, "p2": 1_000},
        cards={"p1": "KS 3D", "p2": "KH 7D", "dealer": "KC 4H 5S"},
        checks=[["p1"]],
    )
    lines = payouts.judge(record, SEED_BASE).lines
    assert [(line.dealer_cards, line.net) for line in lines] == [
        (hand("KC 4H"), -1_000),
        (hand("KC 4H 5S"), -1_000),
    ]


def test_a_push_has_a_line_without_money() -> None:
    """Seven against seven, one deng each; five per cent of nothing is nothing."""
    record = a_round(bets={"p1": 10_000}, cards={"p1": SEVEN, "dealer": "KC 7H"})
    verdict = payouts.judge(record, PRESETS["thai_app"])
    assert [(line.step, line.multiple, line.commission, line.net) for line in verdict.lines] == [
        ("push", 0, 0, 0)
    ]
    assert verdict.house_net == 0


# -- commission --------------------------------------------------------------------------------------------


@answers("commission", "none", "rate", "unit", "side guest")
@pytest.mark.parametrize(
    ("commission", "taken", "rounding_bp"),
    [
        ({}, 0, 0),
        # 300 bp of 1,050 are 31.5: rounded half up to whole satang, half a satang too much
        ({"rate_bp": 300}, 32, 5_000),
        # and to whole ten satang, 1.5 too little
        ({"rate_bp": 300, "unit": 10}, 30, -15_000),
    ],
)
def test_commission_is_taken_from_a_guests_win(
    commission: dict[str, Any], taken: int, rounding_bp: int
) -> None:
    verdict = payouts.judge(a_win(1_050), with_options(commission=commission))
    [line] = verdict.lines
    assert (line.gross, line.commission, line.net, line.rounding_bp) == (
        1_050,
        taken,
        1_050 - taken,
        rounding_bp,
    )
    assert verdict.house_net == taken - 1_050


@pytest.mark.parametrize(
    ("rounding", "taken"), [("half_up", 40), ("up", 40), ("down", 30), ("half_even", 40)]
)
@answers("commission", "rounding half_up", "rounding up", "rounding down", "rounding half_even")
def test_each_rounding_settles_three_and_a_half_chips_its_way(rounding: str, taken: int) -> None:
    """Five per cent of 700 are 35: three and a half chips of ten. Half to even goes to four here, and down
    to two from two and a half (500: 25)."""
    sheet = with_options(commission={"rate_bp": 500, "unit": 10, "rounding": rounding})
    assert payouts.judge(a_win(700), sheet).lines[0].commission == taken
    from_500 = {"half_up": 30, "up": 30, "down": 20, "half_even": 20}
    assert payouts.judge(a_win(500), sheet).lines[0].commission == from_500[rounding]


def test_commission_is_worked_out_wager_by_wager() -> None:
    """Two wagers of 110 on one hand owe 5.5 each, so 6 each; together they would have owed 11."""
    record = a_round(
        bets=[a_bet("w1", "p1", 110, by=1), a_bet("w2", "p1", 110, by=2)],
        cards={"p1": SEVEN, "dealer": SIX},
    )
    verdict = payouts.judge(record, with_options(commission={"rate_bp": 500}))
    assert ([line.commission for line in verdict.lines], verdict.house_net) == ([6, 6], 12 - 220)


# -- exposure ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "stakes"),
    [
        ({}, 5),
        ({"max_deng": 2}, 2),
        ({"deng": {"tong": 4}}, 4),
        ({"deng": {"tong": 4, "sam": 7}}, 7),
        ({"deng": {"straight_flush": 9}}, 5),  # no such hand while straights are off
        ({"deng": {"straight_flush": 9}, "straights": "special"}, 9),
        ({"deng": {"song": 8}}, 8),
        ({"deng": {"song": 1, "sam": 1, "sam_lueang": 1, "tong": 2}, "pok_multiplier": "nine_3_eight_2"}, 3),
    ],
)
def test_exposure_is_the_most_stakes_a_guest_can_lose(options: dict[str, Any], stakes: int) -> None:
    assert payouts.exposure(100_00, with_options(**options)) == stakes * 100_00


# -- what holds a round ------------------------------------------------------------------------------------


def judged(record: RoundRecord, **options: Any) -> tuple[str, tuple[str, ...]]:
    verdict = payouts.judge(record, with_options(**options))
    assert verdict.outcome in ("settled", "open") or not verdict.lines
    return verdict.outcome, verdict.reasons


def waive(reason: str) -> dict[str, Any]:
    return an_act("hold_waived", reason_code=reason, reason="seen") | {"from": "supervisor"}


@answers("max_hands", "seventeen", "fewer")
@pytest.mark.parametrize(
    ("max_hands", "outcome"),
    [(17, ("settled", ())), (4, ("settled", ())), (3, ("held", ("too_many_hands",)))],
)
def test_the_dealers_and_junk_hands_count_among_the_hands(max_hands: int, outcome: object) -> None:
    """Two guests, a junk hand and the dealer are four."""
    record = a_round(
        bets={"p1": 100, "p2": 100},
        cards={"p1": SEVEN, "p2": "2S 4D", "junk1": "AS 9C", "dealer": SIX},
    )
    assert judged(record, max_hands=max_hands) == outcome


CAMERA = {"camera": True}


@answers("requires", "nothing", "camera")
@pytest.mark.parametrize(
    ("read_by_camera", "requires", "outcome"),
    [
        (["p1"], {}, ("settled", ())),
        (["p1", "dealer"], CAMERA, ("settled", ())),
        (["p1"], CAMERA, ("held", ("awaiting_camera",))),
    ],
)
def test_a_sheet_that_needs_the_camera_waits_for_every_face(
    read_by_camera: list[str], requires: dict[str, bool], outcome: object
) -> None:
    record = a_round(bets={"p1": 100}, cards={"p1": SEVEN, "dealer": SIX}, camera=read_by_camera)
    assert judged(record, requires=requires) == outcome


@answers("requires", "declared_result")
@pytest.mark.parametrize(
    ("declared", "outcome"),
    [
        (None, ("held", ("missing_declaration",))),
        ({"w1": 1}, ("held", ("missing_declaration",))),
        ({"w1": 1, "w2": -1}, ("settled", ())),
        ({"w1": 1, "w2": -1, "w9": 5}, ("settled", ())),  # nobody's wager
        ({"w1": 2, "w2": -1}, ("held", ("declared_differs",))),
    ],
)
def test_a_sheet_that_needs_declared_results_wants_one_for_each_wager(
    declared: dict[str, int] | None, outcome: object
) -> None:
    record = a_round(
        bets={"p1": 100, "p2": 100},
        cards={"p1": SEVEN, "p2": "2S 3D", "dealer": SIX},
        extra=[an_act("result_declared", multiples=declared)] if declared else [],
    )
    assert judged(record, requires={"declared_result": True}) == outcome


@pytest.mark.parametrize(
    ("reason", "extra", "options"),
    [
        ("awaiting_camera", [], {"requires": {"camera": True}}),
        ("missing_declaration", [], {"requires": {"declared_result": True}}),
        ("missing_banker", [], {"banker": "player"}),
        ("declared_differs", [an_act("result_declared", multiples={"w1": 3})], {}),
    ],
)
def test_a_supervisor_may_waive_what_only_procedure_wants(
    reason: str, extra: list[dict[str, Any]], options: dict[str, Any]
) -> None:
    """The judgement stands as it is: one stake won."""
    told = {"bets": {"p1": 100}, "cards": {"p1": SEVEN, "dealer": SIX}}
    assert judged(a_round(**told, extra=extra), **options) == ("held", (reason,))
    waived = payouts.judge(a_round(**told, extra=[*extra, waive(reason)]), with_options(**options))
    assert (waived.outcome, [line.net for line in waived.lines], waived.bank) == ("settled", [100], None)


def test_where_the_house_banks_for_want_of_a_banker_his_commission_falls_away() -> None:
    """The sheet takes five per cent from the banker alone; the guest who wins 1,000 keeps all of it."""
    record = a_round(bets={"p1": 1_000}, cards={"p1": SEVEN, "dealer": SIX}, extra=[waive("missing_banker")])
    sheet = with_options(banker="player", commission={"rate_bp": 500, "side": "banker"})
    verdict = payouts.judge(record, sheet)
    assert ([line.net for line in verdict.lines], verdict.house_net) == ([1_000], -1_000)


def test_a_doubt_about_cards_cannot_be_waived() -> None:
    record = a_round(
        bets={"p1": 100}, cards={"p1": "KS", "dealer": SIX}, turns=["dealer"], extra=[waive("missing_card")]
    )
    assert judged(record) == ("held", ("missing_card",))


def test_the_list_of_reasons_is_whole_and_in_its_order() -> None:
    """p1's pok got a third card, which is p2's first; p2 lacks one; nothing was declared, nobody banks, no
    camera."""
    record = a_round(
        bets={"p1": 100, "p2": 100},
        cards={"p1": "9S KD 2C", "p2": "2C", "dealer": SIX},
        turns=["p1", "dealer"],
    )
    assert judged(
        record,
        max_hands=2,
        banker="player",
        requires={"camera": True, "declared_result": True},
    ) == (
        "held",
        (
            "too_many_hands",
            "pok_drew",
            "duplicate_card",
            "missing_card",
            "awaiting_camera",
            "missing_banker",
            "missing_declaration",
        ),
    )


def test_what_was_declared_is_compared_only_where_the_cards_are_known() -> None:
    """p1's second card is contested: nothing is judged against its declaration; p2's is known and differs."""
    record = a_round(
        bets={"p1": 100, "p2": 100},
        cards={"p1": SEVEN, "p2": "2S 3D", "dealer": SIX},
        extra=[a_card("p1", 2, "8D", by="camera"), an_act("result_declared", multiples={"w1": 5, "w2": 5})],
    )
    assert [apart.wager for apart in doubts.declared_apart(record, SEED_BASE)] == ["w2"]
    assert judged(record) == ("held", ("reads_differ", "declared_differs"))


@pytest.mark.parametrize(
    ("p1", "extra", "reason"),
    [
        ("KS 3D 2C", [a_card("p1", 3, "2D", by="camera")], "reads_differ"),  # its third card
        ("KS 3D", [an_act("hand_drew", hand="p1")], "missing_card"),  # drew a card nobody saw
        ("KS 6D", [], "duplicate_card"),  # the dealer has the 6 of diamonds
        ("KS 9D 2C", [], "pok_drew"),
    ],
)
def test_nothing_is_judged_against_the_declaration_of_a_hand_in_doubt(
    p1: str, extra: list[dict[str, Any]], reason: str
) -> None:
    record = a_round(
        bets={"p1": 100},
        cards={"p1": p1, "dealer": SIX},
        extra=[*extra, an_act("result_declared", multiples={"w1": 5})],
    )
    assert judged(record) == ("held", (reason,))


def test_a_hand_checked_early_is_known_while_the_dealers_third_card_is_in_doubt() -> None:
    """p1's 3 met the dealer's K-4 and lost one stake; what p2 meets is contested."""
    record = a_round(
        bets={"p1": 100, "p2": 100},
        cards={"p1": "KS 3D", "p2": "KH 7D", "dealer": "KC 4H 5S"},
        checks=[["p1"]],
        extra=[
            a_card("dealer", 3, "6S", by="camera"),
            an_act("result_declared", multiples={"w1": 1, "w2": 1}),
        ],
    )
    assert doubts.declared_apart(record, SEED_BASE) == (doubts.Apart("w1", 1, -1),)


def test_a_gap_of_the_terminal_holds_the_round_though_its_close_is_behind_the_gap() -> None:
    events = short_round(bets={"p1": 100}, cards={"p1": SEVEN, "dealer": SIX})
    events[-2] = events[-2] | {"gap": 1}
    assert judged(folded(events)) == ("held", ("sequence_gap",))


def test_past_a_gap_nothing_is_said_of_hands_whose_cards_may_be_in_it() -> None:
    """The terminal declared p1 and p2 and then lost numbers; p2's second card may be among them."""
    events = short_round(
        bets={"p1": 100, "p2": 100}, cards={"p1": SEVEN, "p2": "2S", "dealer": SIX}, turns=[]
    )
    events.insert(-1, an_act("result_declared", multiples={"w1": 1, "w2": 5}))
    events[-1] = events[-1] | {"gap": 3}
    assert judged(folded(events)) == ("held", ("sequence_gap",))


def test_a_checked_hand_meets_nothing_known_while_the_dealers_second_card_is_contested() -> None:
    record = a_round(
        bets={"p1": 100},
        cards={"p1": SEVEN, "dealer": "KC 4H 5S"},
        checks=[["p1"]],
        extra=[a_card("dealer", 2, "3H", by="camera"), an_act("result_declared", multiples={"w1": 5})],
    )
    assert judged(record) == ("held", ("reads_differ",))


def test_an_open_round_is_previewed_as_soon_as_nothing_is_in_doubt() -> None:
    events = short_round(bets={"p1": 100}, cards={"p1": SEVEN, "dealer": SIX})[:-1]
    verdict = payouts.judge(folded(events), SEED_BASE)
    assert (verdict.outcome, [line.net for line in verdict.lines]) == ("open", [100])
    faces_missing = payouts.judge(folded(events[:4]), SEED_BASE)
    assert (faces_missing.outcome, faces_missing.reasons, faces_missing.lines) == (
        "open",
        ("missing_card",),
        (),
    )


def test_a_void_judges_nothing_and_releases_every_hold() -> None:
    events = short_round(bets={"p1": 100}, cards={"p1": "9S KD 2C", "dealer": SIX})
    events.append(an_act("round_voided", reason="misdeal"))
    assert payouts.judge(folded(events), SEED_BASE) == payouts.Verdict("voided", ())


def test_a_wager_without_a_wallet_gets_no_line_and_holds_nothing() -> None:
    """Only the unknown wallet bet on p2, which got no cards: p2 is not in play and lacks none."""
    record = a_round(
        bets=[a_bet("w1", "p1", 100, by=1), a_bet("w2", "p2", 100, by="player:NOBODY")],
        cards={"p1": SEVEN, "dealer": SIX},
    )
    assert judged(record) == ("held", ("missing_card",))
    verdict = payouts.judge(record, SEED_BASE, not_in_play={"w2"})
    assert (verdict.outcome, [line.wager for line in verdict.lines]) == ("settled", ["w1"])


def test_a_wager_without_a_wallet_leaves_another_hands_missing_card_missing() -> None:
    record = a_round(
        bets=[a_bet("w1", "p1", 100, by=1), a_bet("w2", "p2", 100, by="player:NOBODY")],
        cards={"p1": "KS", "dealer": SIX},
        turns=["dealer"],
    )
    assert payouts.judge(record, SEED_BASE, not_in_play={"w2"}).reasons == ("missing_card",)
