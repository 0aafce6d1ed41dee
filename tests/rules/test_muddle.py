"""Whatever is reported of a round, in whatever muddle, it is judged, open or held: nothing makes judging
fail."""

import random
from typing import Any

import pytest

from casino import cards as deck
from settlement.rules import conduct, house_rules, payouts
from tests.rules.given import Short, a_bet, an_act, folded, short_round, thb

HANDS = ("p1", "p2", "p3", "shared", "junk1", "dealer")
KINDS = (
    *("card_dealt",) * 14,
    *("hand_drew", "hand_stayed", "pok_shown", "dealer_drew", "dealer_stayed", "hand_checked", "bets_locked"),
    *(
        "result_declared",
        "card_corrected",
        "card_removed",
        "card_ruled",
        "hold_waived",
        "bet_placed",
        "bet_changed",
    ),
)
SHEETS = [
    house_rules.from_options("seed_base", options)
    for options in (
        {"feed_lead": "terminal", "junk_draw": "forced", "player_draw": {"must_draw_to": 4}, "max_hands": 4},
        {"feed_lead": "camera", "banker": "player", "requires": {"camera": True, "declared_result": True}},
        {"early_check": "three_card_hands", "bets_on_other_hands": "none", "dealer_pok": "at_once"},
    )
]


def a_report(chance: random.Random) -> Short:
    kind, hand = chance.choice(KINDS), chance.choice(HANDS)
    slot: dict[str, Any] = {"hand": hand, "position": chance.choice((1, 1, 2, 2, 3, 4))}
    face = {"card": deck.text(chance.choice(deck.DECK))}
    why = {"reason": "seen on video"}
    data: dict[str, Any] = {
        "card_dealt": slot | face,
        "hand_checked": {"hands": chance.sample(HANDS, 2)},
        "result_declared": {"multiples": {wager: chance.randint(-5, 5) for wager in ("w1", "w2", "w3")}},
        "card_corrected": slot | face | why,
        "card_ruled": slot | face | why,
        "card_removed": slot | why,
        "hold_waived": {"reason_code": chance.choice(("awaiting_camera", "missing_banker"))} | why,
        "bet_changed": {"wager": "w1", "stake": thb(300)},
    }.get(kind, {"hand": hand})
    if kind in ("bets_locked", "dealer_drew", "dealer_stayed"):
        data = {}
    if kind == "bet_placed":
        return a_bet(f"w{chance.randint(1, 5)}", hand, 100, by=chance.choice((1, 2, "player:A17")))
    feeds = {"card_dealt": ("terminal", "terminal", "camera"), "card_ruled": ("terminal", "supervisor")}
    report = an_act(kind, **data) | {"from": chance.choice(feeds.get(kind, ("terminal",)))}
    return report | ({"gap": 2} if report["from"] == "terminal" and chance.random() < 0.01 else {})


def a_muddle(chance: random.Random) -> list[Short]:
    banker = {"banker": {"account": "player:B1", "limit": thb(500)}} if chance.random() < 0.5 else {}
    bets = [a_bet(f"w{n}", chance.choice(HANDS), 100, by=n) for n in range(1, chance.randint(1, 4))]
    told = short_round(opened=banker, bets=bets, cards={"p1": "KS 7D", "p2": "2S 3D", "dealer": "KC 6D"})
    for _ in range(chance.choice((0, 3, 8, 25))):
        told.insert(chance.randint(1, len(told)), a_report(chance))
    return told if chance.random() < 0.8 else told[:-1]


@pytest.mark.parametrize("seed", range(60))
def test_a_muddled_round_is_judged_open_or_held(seed: int) -> None:
    chance = random.Random(seed)
    record = folded(a_muddle(chance))
    not_in_play = frozenset(chance.sample(["w1", "w2"], chance.randint(0, 2)))
    for sheet in SHEETS:
        verdict = payouts.judge(record, sheet, bank=chance.choice((None, 0, 150)), not_in_play=not_in_play)
        found = conduct.breaches(record, sheet, verdict, not_in_play=not_in_play)
        assert {finding.kind for finding in found} <= conduct.KINDS
        if verdict.outcome == "settled":
            played = [wager.id for wager in record.wagers if wager.id not in not_in_play]
            assert [line.wager for line in verdict.lines] == played
            assert not verdict.reasons
        elif verdict.outcome == "held":
            assert verdict.reasons
            assert (verdict.lines, verdict.bank, verdict.house_net) == ((), None, 0)
