"""What is flagged and never repriced: each question asked of a round that raises it and of one that does
not."""

from typing import Any

import pytest

from casino.record import Finding, RoundRecord
from settlement.rules import conduct, house_rules, payouts
from tests.rules.given import a_bet, a_card, a_round, an_act, answers, folded, short_round, thb

SEVEN, SIX = "KS 7D", "KC 6D"
NO_PACE = {"closed_too_fast"}
"""Rounds of these tests take a second an event, which is faster than people play."""


def findings(record: RoundRecord, **options: Any) -> tuple[Finding, ...]:
    sheet = house_rules.from_options("seed_base", options)
    found = conduct.breaches(record, sheet, payouts.judge(record, sheet))
    assert {finding.kind for finding in found} <= conduct.KINDS
    return tuple(finding for finding in found if finding.kind not in NO_PACE)


def found(record: RoundRecord, **options: Any) -> list[tuple[str, str]]:
    return [(finding.kind, finding.subject) for finding in findings(record, **options)]


def a_table(p1: str = SEVEN, dealer: str = SIX, **told: Any) -> RoundRecord:
    return a_round(bets=told.pop("bets", {"p1": 10_000}), cards={"p1": p1, "dealer": dealer}, **told)


def test_a_round_played_by_the_sheet_raises_nothing() -> None:
    assert found(a_table()) == []


# -- drawing and staying -----------------------------------------------------------------------------------

TO_FOUR, FROM_SIX = {"must_draw_to": 4}, {"must_stay_from": 6}


@answers("player_draw", "free", "must_draw_to", "must_stay_from")
@pytest.mark.parametrize(
    ("rule", "cards", "raised"),
    [
        ("free", "KS 3D", []),
        ("free", "KS 7D 2C", []),
        (TO_FOUR, "KS 4D", [("draw_missed", "p1")]),
        (TO_FOUR, "2S 2D", [("draw_missed", "p1")]),  # deng is not looked at
        (TO_FOUR, "KS 5D", []),
        (TO_FOUR, "KS 4D 9C", []),
        (TO_FOUR, "KS 7D 2C", []),
        (FROM_SIX, "KS 6D 2C", [("stay_missed", "p1")]),
        (FROM_SIX, "KS 5D 2C", []),
        (FROM_SIX, "KS 6D", []),
        (FROM_SIX, "KS 3D", []),
        (FROM_SIX, "KS 9D", []),  # a pok has no choice
    ],
)
def test_a_guest_who_does_not_play_as_the_sheet_forces_is_flagged(
    rule: Any, cards: str, raised: list[tuple[str, str]]
) -> None:
    assert found(a_table(p1=cards, dealer="KC 6H"), player_draw=rule) == raised


@answers("dealer_draw", "free", "must_draw_to", "must_stay_from")
@pytest.mark.parametrize(
    ("rule", "cards", "raised"),
    [
        ("free", "KC 3H", []),
        (TO_FOUR, "KC 4H", [("draw_missed", "dealer")]),
        (TO_FOUR, "KC 5H", []),
        (FROM_SIX, "KC 6H 2C", [("stay_missed", "dealer")]),
        (FROM_SIX, "KC 5H 2C", []),
    ],
)
def test_a_dealer_who_does_not_play_as_the_sheet_forces_is_flagged(
    rule: Any, cards: str, raised: list[tuple[str, str]]
) -> None:
    """The rule for guests is another one: p1 stays on nothing."""
    assert found(a_table(p1="KS QD", dealer=cards), dealer_draw=rule) == raised


def test_a_flag_tells_the_points_and_the_limit() -> None:
    [missed] = findings(a_table(p1="KS 4D"), player_draw=TO_FOUR)
    assert missed == Finding("draw_missed", "p1", (("taem", 4), ("must_draw_to", 4)))


def test_a_pok_that_drew_is_flagged_for_that_alone_also_once_it_is_ruled() -> None:
    dead = an_act("card_removed", hand="p1", position=3, reason="extra") | {"from": "supervisor"}
    assert found(a_table(p1="9S KD 2C", extra=[dead]), player_draw=FROM_SIX) == [("pok_drew", "p1")]


def a_junk_round(junk: str) -> RoundRecord:
    return a_round(bets={"p1": 10_000}, cards={"p1": SEVEN, "junk1": junk, "dealer": SIX})


@answers("junk_draw", "dealer_decides", "forced")
@pytest.mark.parametrize(
    ("junk", "dealer_decides", "forced"),
    [
        ("2S 2H 9C", "junk_deng_four", "junk_deng_four"),  # a four of a pair draws
        ("3S AS 9C", "junk_deng_four", "junk_deng_four"),  # of one suit
        ("2S 2H", "", "junk_deng_four"),  # and stays
        ("3S AH 9C", "", ""),
        ("3S AH", "", "junk_stayed_against_rule"),
        ("2S AS", "", "junk_stayed_against_rule"),  # three, deng or not
        ("2S AS 9C", "", ""),
        ("2S 3H 9C", "", "junk_drew_against_rule"),
        ("2S 3H", "", ""),
        ("9S KH", "", ""),  # a pok
        ("9S KH 2C", "pok_drew", "pok_drew"),
    ],
)
def test_a_junk_hand_is_flagged_by_its_four_with_deng_and_by_what_is_forced(
    junk: str, dealer_decides: str, forced: str
) -> None:
    record = a_junk_round(junk)
    assert [kind for kind, _ in found(record)] == ([dealer_decides] if dealer_decides else [])
    assert [kind for kind, _ in found(record, junk_draw="forced")] == ([forced] if forced else [])


def test_a_junk_hand_has_no_turn_after_a_dealers_pok_that_ends_the_play() -> None:
    """A three and a four with deng stay, for nobody asks them any more."""
    record = a_round(
        bets={"p1": 100},
        cards={"p1": SEVEN, "junk1": "2S AS", "junk2": "2D 2H", "dealer": "KC 9D"},
        turns=["p1", "dealer"],
    )
    assert found(record, junk_draw="forced", dealer_pok="at_once") == []
    assert found(record, junk_draw="forced") == [
        ("junk_deng_four", "junk2"),
        ("junk_stayed_against_rule", "junk1"),
    ]


def test_a_junk_hands_four_has_deng_by_pair_or_suit_whatever_that_multiplies() -> None:
    assert found(a_junk_round("2S 2H 9C"), deng={"song": 1}) == [("junk_deng_four", "junk1")]


def test_nothing_is_said_of_a_choice_made_on_cards_nobody_is_sure_of() -> None:
    """The terminal read junk1 as 2-3 and then a four, the camera an ace for the three: a five drew, or a
    three. The two cards that are sure, 2 and 4, were never its first two."""
    record = a_round(
        bets={"p1": 100},
        cards={"p1": SEVEN, "junk1": "2S 3H 4C", "dealer": SIX},
        extra=[a_card("junk1", 2, "AH", by="camera")],
    )
    assert found(record, junk_draw="forced", player_draw=TO_FOUR) == [("reads_differ", "junk1.2")]


def test_a_choice_is_judged_by_the_two_cards_that_are_sure_while_the_third_is_contested() -> None:
    record = a_round(
        bets={"p1": 100},
        cards={"p1": SEVEN, "junk1": "2S 3H 9C", "dealer": SIX},
        extra=[a_card("junk1", 3, "9S", by="camera")],
    )
    assert found(record, junk_draw="forced") == [
        ("junk_drew_against_rule", "junk1"),
        ("reads_differ", "junk1.3"),
    ]


# -- turns -------------------------------------------------------------------------------------------------


def two_guests(turns: list[str], p1: str = SEVEN, dealer: str = SIX, **told: Any) -> RoundRecord:
    return a_round(
        bets={"p1": 100, "p2": 100}, cards={"p1": p1, "p2": "QS 7H", "dealer": dealer}, turns=turns, **told
    )


@pytest.mark.parametrize(
    ("turns", "raised"),
    [
        (["p1", "p2", "dealer"], []),
        (["p2", "p1", "dealer"], [("out_of_turn", "p2")]),
        (["p1", "dealer", "p2"], [("out_of_turn", "dealer")]),
    ],
)
def test_a_hand_that_plays_before_its_turn_is_flagged(
    turns: list[str], raised: list[tuple[str, str]]
) -> None:
    assert found(two_guests(turns)) == raised


def test_the_order_the_terminal_gave_goes_before_the_numbers() -> None:
    dealt = {"order": ["p2", "p1", "dealer"]}
    assert found(two_guests(["p2", "p1", "dealer"], lock=dealt)) == []
    assert found(two_guests(["p1", "p2", "dealer"], lock=dealt)) == [("out_of_turn", "p1")]


def test_a_pok_is_shown_at_once_whosever_turn_it_is() -> None:
    record = a_round(
        bets={"p1": 100, "p2": 100},
        cards={"p1": SEVEN, "p2": "QS 9H", "dealer": SIX},
        turns=["p2", "p1", "dealer"],
    )
    assert found(record) == []


def test_a_junk_hand_without_a_place_is_never_out_of_turn() -> None:
    record = a_round(
        bets={"p1": 100},
        cards={"p1": SEVEN, "junk1": "2S 5C", "dealer": SIX},
        turns=["junk1", "p1", "dealer"],
    )
    assert found(record) == []
    placed = a_round(
        bets={"p1": 100},
        cards={"p1": SEVEN, "junk1": "2S 5C", "dealer": SIX},
        turns=["junk1", "p1", "dealer"],
        lock={"order": ["p1", "junk1", "dealer"]},
    )
    assert found(placed) == [("out_of_turn", "junk1")]


@answers("dealer_pok", "on_turn", "at_once")
@pytest.mark.parametrize(
    ("turns", "on_turn", "at_once"),
    [
        (["p1", "p2", "dealer"], [], []),
        (["dealer", "p1", "p2"], [("out_of_turn", "dealer")], [("out_of_turn", "p1"), ("out_of_turn", "p2")]),
        (["dealer"], [("draw_missed", "p1")], []),  # nobody else had a turn any more
    ],
)
def test_a_dealers_pok_waits_for_its_turn_or_ends_the_play(
    turns: list[str], on_turn: list[tuple[str, str]], at_once: list[tuple[str, str]]
) -> None:
    """p1 has four points and would have to draw, where there is a turn to draw in; p2 has seven."""
    record = two_guests(turns, p1="KS 4D" if turns == ["dealer"] else SEVEN, dealer="KC 9D")
    assert found(record, player_draw=TO_FOUR) == on_turn
    assert found(record, player_draw=TO_FOUR, dealer_pok="at_once") == at_once
    nets = [
        [
            line.net
            for line in payouts.judge(
                record, house_rules.from_options("seed_base", {"dealer_pok": when})
            ).lines
        ]
        for when in ("on_turn", "at_once")
    ]
    assert nets == [[-100, -100]] * 2


# -- shared and junk hands ---------------------------------------------------------------------------------


def with_shared(order: list[str] | None) -> RoundRecord:
    return a_round(
        bets={"p1": 100, "shared": 100},
        cards={"p1": SEVEN, "shared": "2S 3H", "dealer": SIX},
        lock={"order": order} if order else {},
    )


MISPLACED = [("shared_hand_misplaced", "shared")]


@answers("shared_hand", "none", "before_dealer", "after_dealer")
@pytest.mark.parametrize(
    ("order", "before_dealer", "after_dealer"),
    [
        (None, [], []),
        (["p1", "shared", "dealer"], [], MISPLACED),
        (["p1", "dealer", "shared"], MISPLACED, []),
        (
            ["shared", "p1", "dealer"],
            [("out_of_turn", "p1"), *MISPLACED],
            [("out_of_turn", "p1"), *MISPLACED],
        ),
        (["p1", "dealer", "junk1", "shared"], MISPLACED, []),
    ],
)
def test_the_shared_hand_has_its_place_beside_the_dealers(
    order: list[str] | None, before_dealer: list[tuple[str, str]], after_dealer: list[tuple[str, str]]
) -> None:
    record = with_shared(order)
    assert found(record, shared_hand="before_dealer") == before_dealer
    assert found(record, shared_hand="after_dealer") == after_dealer


def test_a_shared_hand_the_sheet_does_not_have_is_judged_and_flagged() -> None:
    """Five against six loses the stake, offered or not."""
    record = with_shared(None)
    assert found(record) == [("hand_not_offered", "shared")]
    assert payouts.judge(record, house_rules.PRESETS["seed_base"]).lines[1].net == -100


@answers("junk_hands", "allowed", "none")
def test_a_junk_hand_the_sheet_does_not_have_is_flagged() -> None:
    assert found(a_junk_round("2S 5H")) == []
    assert found(a_junk_round("2S 5H"), junk_hands="none") == [("hand_not_offered", "junk1")]


# -- checks ------------------------------------------------------------------------------------------------


@answers("early_check", "any_hands", "three_card_hands", "none")
@pytest.mark.parametrize(
    ("early_check", "raised"),
    [
        ("any_hands", []),
        ("three_card_hands", [("check_not_allowed", "p1")]),
        ("none", [("check_not_allowed", "p1"), ("check_not_allowed", "p2")]),
    ],
)
def test_a_check_of_a_hand_the_sheet_does_not_allow_is_flagged(
    early_check: str, raised: list[tuple[str, str]]
) -> None:
    record = a_round(
        bets={"p1": 100, "p2": 100},
        cards={"p1": SEVEN, "p2": "2S 2H AC", "dealer": "KC 4D 5S"},
        checks=[["p1", "p2"]],
    )
    assert found(record, early_check=early_check) == raised


@pytest.mark.parametrize(
    ("before", "after", "early_check", "cards"),
    [
        (["p1.draws", "p1.3"], [], "three_card_hands", None),
        (["p1.draws"], ["p1.3"], "three_card_hands", None),  # the face is shown later
        ([], ["p1.draws", "p1.3"], "three_card_hands", 2),  # it had two cards when it was checked
        ([], [], "three_card_hands", 2),
        (["p1.draws", "p1.3"], [], "none", 3),
        (["p1.draws", "p1.3"], ["p1.gone"], "three_card_hands", None),
    ],
)
def test_a_check_is_judged_by_the_hand_as_it_stood_at_the_check(
    before: list[str], after: list[str], early_check: str, cards: int | None
) -> None:
    acts = {
        "p1.draws": an_act("hand_drew", hand="p1"),
        "p1.3": a_card("p1", 3, "2C"),
        "p1.gone": an_act("card_removed", hand="p1", position=3, reason="dead"),
    }
    events = short_round(bets={"p1": 100}, cards={"p1": "KS 4D", "dealer": SIX}, turns=[])
    events[-1:] = [
        *(acts[one] for one in before),
        an_act("hand_checked", hands=["p1"]),
        *(acts[one] for one in after),
        events[-1],
    ]
    sheet = house_rules.from_options("seed_base", {"early_check": early_check})
    raised = [one for one in conduct.breaches(folded(events), sheet) if one.kind == "check_not_allowed"]
    detail = (("cards", cards), ("allowed", early_check))
    assert raised == ([] if cards is None else [Finding("check_not_allowed", "p1", detail)])


def test_a_check_against_the_dealers_pok_is_flagged_for_that_alone() -> None:
    record = a_table(dealer="KC 9D", checks=[["p1"]])
    assert found(record, early_check="none") == [("check_against_dealer_pok", "p1")]


# -- wagers ------------------------------------------------------------------------------------------------


@answers("stakes", "none", "limits")
@pytest.mark.parametrize(
    ("stake", "raised"),
    [(1_900, True), (2_000, False), (2_500, True), (50_000, False), (51_000, True)],
)
def test_a_stake_outside_the_limits_is_flagged(stake: int, raised: bool) -> None:
    record = a_table(bets={"p1": stake})
    assert found(record) == []
    limits = {"min": 2_000, "max": 50_000, "step": 1_000}
    assert found(record, stakes=limits) == ([("stake_outside_limits", "w1")] if raised else [])


@answers("bets_on_other_hands", "allowed", "none")
def test_a_bet_on_anothers_hand_is_flagged_where_the_sheet_has_none() -> None:
    """w1 made p1 seat 1's hand. Its owner may raise by a second wager; the shared hand is everybody's."""
    record = a_round(
        bets=[
            a_bet("w1", "p1", 100, by=1),
            a_bet("w2", "p1", 100, by=2),
            a_bet("w3", "p1", 100, by=1),
            a_bet("w4", "shared", 100, by=1),
            a_bet("w5", "shared", 100, by=2),
        ],
        cards={"p1": SEVEN, "shared": "2S 3H", "dealer": SIX},
    )
    assert found(record, shared_hand="before_dealer") == []
    raised = found(record, shared_hand="before_dealer", bets_on_other_hands="none")
    assert raised == [("bet_on_other_hand", "w2")]


def test_a_wager_without_a_wallet_is_flagged() -> None:
    record = a_table(bets=[a_bet("w1", "p1", 100, by="player:NOBODY")])
    raised = conduct.breaches(record, house_rules.PRESETS["seed_base"], not_in_play={"w1"})
    assert ("bet_not_in_play", "w1") in [(finding.kind, finding.subject) for finding in raised]


def test_a_bank_that_ran_dry_is_flagged_on_each_line_it_could_not_pay() -> None:
    sheet = house_rules.from_options("seed_base", {"banker": "player"})
    record = a_table(opened={"banker": {"account": "player:B1", "limit": thb(300)}})
    raised = conduct.breaches(record, sheet, payouts.judge(record, sheet))
    assert Finding("bank_short", "w1", (("hand", "p1"), ("uncovered", 9_700))) in raised


# -- the sheet, the pace, what was held --------------------------------------------------------------------


def test_a_sheet_on_display_that_is_not_in_force_is_flagged() -> None:
    in_force = house_rules.PRESETS["seed_base"].sha256
    assert found(a_table(opened={"sheet_shown": in_force})) == []
    assert found(a_table(opened={"sheet_shown": "00" * 32})) == [("wrong_sheet_shown", "")]


@pytest.mark.parametrize(
    ("took_ms", "raised"), [(4_999, True), (5_000, False), (60_000, False), (-1_000, False)]
)
def test_a_round_closed_faster_than_people_play_is_flagged(took_ms: int, raised: bool) -> None:
    events = short_round(bets={"p1": 100}, cards={"p1": SEVEN, "dealer": SIX})
    record = folded(events, took_ms=took_ms)
    kinds = {finding.kind for finding in conduct.breaches(record, house_rules.PRESETS["seed_base"])}
    assert ("closed_too_fast" in kinds) == raised


def test_too_many_hands_stay_flagged_once_the_hand_without_a_wager_is_removed() -> None:
    away = [an_act("card_removed", hand="junk1", position=n, reason="not dealt") for n in (1, 2)]
    events = short_round(bets={"p1": 100}, cards={"p1": SEVEN, "junk1": "2S 5H", "dealer": SIX}, extra=away)
    sheet = house_rules.from_options("seed_base", {"max_hands": 2})
    verdict = payouts.judge(folded(events), sheet)
    assert (verdict.outcome, found(folded(events), max_hands=2)) == ("settled", [("too_many_hands", "")])


def test_a_declaration_that_differed_stays_flagged_once_it_is_waived() -> None:
    record = a_table(
        extra=[
            an_act("result_declared", multiples={"w1": 3}),
            an_act("hold_waived", reason_code="declared_differs", reason="a slip"),
        ]
    )
    assert findings(record) == (Finding("declared_differs", "w1", (("declared", 3), ("judged", 1))),)


@answers("feed_lead", "none", "terminal", "camera")
@pytest.mark.parametrize(
    ("feed_lead", "outcome", "nets"),
    [("none", "held", []), ("terminal", "settled", [10_000]), ("camera", "settled", [-10_000])],
)
def test_reads_that_differ_are_flagged_whoever_leads(feed_lead: str, outcome: str, nets: list[int]) -> None:
    """The terminal read p1's seven, the camera a five, against the dealer's six."""
    record = a_table(extra=[a_card("p1", 2, "5D", by="camera")])
    verdict = payouts.judge(record, house_rules.from_options("seed_base", {"feed_lead": feed_lead}))
    assert (verdict.outcome, [line.net for line in verdict.lines]) == (outcome, nets)
    assert found(record, feed_lead=feed_lead) == [("reads_differ", "p1.2")]


def test_a_hand_only_the_camera_saw_is_a_stray_read_where_the_terminal_leads() -> None:
    record = a_table(extra=[a_card("p9", 1, "2S", by="camera"), a_card("p9", 2, "3S", by="camera")])
    assert found(record, feed_lead="terminal") == [("stray_read", "p9")]
    assert found(record) == []


def test_a_stray_hand_is_not_kept_in_play_by_a_wager_that_is_not() -> None:
    """The camera alone saw p9, on which only a wallet that does not exist has bet; its king is p1's too."""
    stray = [a_card("p9", 1, "KS", by="camera"), a_card("p9", 2, "3S", by="camera")]
    bets = [a_bet("w1", "p1", 100, by=1), a_bet("w2", "p9", 100, by="player:NOBODY")]
    record = a_round(bets=bets, cards={"p1": SEVEN, "dealer": SIX}, extra=stray)
    sheet = house_rules.from_options("seed_base", {"feed_lead": "terminal"})
    nobody = frozenset({"w2"})
    assert payouts.judge(record, sheet).reasons == ("duplicate_card",)
    verdict = payouts.judge(record, sheet, not_in_play=nobody)
    assert (verdict.outcome, [line.wager for line in verdict.lines]) == ("settled", ["w1"])
    raised = conduct.breaches(record, sheet, verdict, not_in_play=nobody)
    assert [(one.kind, one.subject) for one in raised] == [("bet_not_in_play", "w2"), ("stray_read", "p9")]


@pytest.mark.parametrize(("banker", "raised"), [("player", ["w2"]), ("house", [])])
def test_a_bet_of_the_banker_against_his_own_bank_is_flagged(banker: str, raised: list[str]) -> None:
    record = a_round(
        opened={"banker": {"account": "player:B1", "limit": thb(500)}},
        bets=[
            a_bet("w1", "p1", 100, by="player:A17"),
            a_bet("w2", "p1", 100, by="player:B1"),
            a_bet("w3", "p1", 100, by=1),
        ],
        cards={"p1": SEVEN, "dealer": SIX},
    )
    sheet = house_rules.from_options("seed_base", {"banker": banker})
    findings = [one for one in conduct.breaches(record, sheet) if one.kind == "banker_bet_on_guest"]
    assert findings == [
        Finding("banker_bet_on_guest", wager, (("hand", "p1"), ("stake", 100))) for wager in raised
    ]


def test_nothing_is_found_in_a_round_that_is_open_or_void() -> None:
    events = short_round(bets={"p1": 100}, cards={"p1": "9S KD 2C", "dealer": SIX})
    void = [*events, an_act("round_voided", reason="misdeal")]
    assert [found(folded(told)) for told in (events[:-1], void)] == [[], []]
    assert found(folded(events)) == [("pok_drew", "p1")]
