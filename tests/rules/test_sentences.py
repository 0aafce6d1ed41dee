"""Everything a judgement can say is said in Thai and in English, with its figures and nothing left open."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from casino import cards as deck
from casino.record import Gap, Owner, findings_json, fold
from settlement import explanations
from settlement.explanations import Said, rule_options
from settlement.rules import conduct, doubts, hands, house_rules, payouts, showdown
from settlement.rules.house_rules import HouseRules
from settlement.rules.payouts import BankLine
from tests.rules.given import a_round, case, folded, short_round, told

THAI = re.compile(r"[\u0e01-\u0e3a\u0e40-\u0e5b]")
"""Thai letters, marks and digits; the sign of the baht, U+0E3F, stands in both languages."""
SEED_BASE = house_rules.PRESETS["seed_base"]


def complete(said: Said) -> Said:
    assert THAI.search(said.th), said
    assert said.en, said
    assert not THAI.search(said.en), said
    assert said.en[0].isupper() or not said.en[0].isalpha(), said
    for text in said:
        assert not re.search(r"[{}]|None|\bTrue\b|\bFalse\b|\(\)| {2}|\bp\d|junk\d", text), text
    return said


# -- rule sheets -------------------------------------------------------------------------------------------


def sheets_of_every_value() -> Iterable[HouseRules]:
    for name, values in house_rules.CHOICES.items():
        yield from (replace(SEED_BASE, **{name: value}) for value in values)  # type: ignore[arg-type]
    yield from house_rules.PRESETS.values()
    every: tuple[dict[str, Any], ...] = (
        {"max_deng": 3},
        {"stakes": {"min": 2000, "max": 10_000_000, "step": 1000}},
        {"player_draw": {"must_draw_to": 3}, "dealer_draw": {"must_draw_to": 3, "must_stay_from": 6}},
        {"player_draw": {"must_stay_from": 6}},
        {"requires": {"camera": True}},
        {"requires": {"camera": True, "declared_result": True}},
        *(
            {"commission": {"rate_bp": 125, "rounding": way}}
            for way in house_rules.COMMISSION_CHOICES["rounding"]
        ),
        *(
            {"banker": "player", "commission": {"rate_bp": 500, "side": side, "unit": 500}}
            for side in house_rules.COMMISSION_CHOICES["side"]
        ),
    )
    for options in every:
        yield house_rules.from_options("seed_base", options)


@pytest.mark.parametrize("sheet", list(sheets_of_every_value()), ids=lambda sheet: sheet.sha256[:8])
def test_every_option_of_every_sheet_is_said_in_both_languages(sheet: HouseRules) -> None:
    said = explanations.sheet(sheet, currency="THB")
    assert [name for name, _ in said] == list(house_rules.as_json(sheet))
    for _, sentence in said:
        complete(sentence)


def test_every_value_of_a_choice_has_a_sentence_of_its_own() -> None:
    values = {(name, value) for name, values in house_rules.CHOICES.items() for value in values}
    assert set(rule_options.CHOICE) == values
    for language in (0, 1):
        assert len({said[language] for said in rule_options.CHOICE.values()}) == len(values)


def test_a_sheet_says_its_figures() -> None:
    sheet = house_rules.from_options(
        "thai_app",
        {"stakes": {"min": 2000, "max": 500_000, "step": 1000}, "commission": {"unit": 50}, "max_deng": 3},
    )
    said = dict(explanations.sheet(sheet, currency="THB"))
    assert said["stakes"] == Said("เดิมพัน ฿20 ถึง ฿5,000 ทีละ ฿10", "Stakes are ฿20 to ฿5,000, in steps of ฿10.")
    assert said["commission"] == Said(
        "ค่าต๋ง 5% จากเงินที่ผู้เล่นได้ ปัดครึ่งขึ้นทีละ ฿0.50 เสมอไม่เก็บ",
        "Commission is 5% of a guest's win, rounded half up to ฿0.50, never on a push.",
    )
    assert said["max_deng"].en == "No wager moves more than 3 stakes."


# -- lines -------------------------------------------------------------------------------------------------


def lines_of(sheet: HouseRules = SEED_BASE, **round: Any) -> list[Said]:
    verdict = payouts.judge(a_round(**round), sheet)
    return [complete(explanations.line(line, sheet, sheet="v12", currency="THB")) for line in verdict.lines]


def test_a_line_says_what_beat_what_and_the_sum() -> None:
    said = lines_of(bets={"p3": 1000_00}, cards={"p3": "JS QH KD", "dealer": "5C 7D TH"})
    assert said == [
        Said(
            "ที่นั่ง 3: สามเหลืองชนะไพ่ธรรมดา → 3 เด้ง × ฿1,000 = ฿3,000 (กติกา v12 · ตัดสินที่ชนิดไพ่)",
            "Seat 3: sam lueang beats a normal hand → 3 × ฿1,000 = ฿3,000 (sheet v12 · decided by kind)",
        )
    ]


@pytest.mark.parametrize(
    ("sheet", "cards", "dealer", "thai", "english"),
    [
        (
            {}, "9S 9D", "4C AS",
            "ป๊อก 8 ชนะไพ่ธรรมดา → 2 เด้ง × ฿100 = ฿200",
            "pok 8 beats a normal hand → 2 × ฿100 = ฿200",
        ),
        (
            {}, "KS 2H 2D", "7C 7D 7H",
            "ไพ่ธรรมดาแพ้ตอง → −5 เด้ง × ฿100 = −฿500",
            "a normal hand loses to tong → −5 × ฿100 = −฿500",
        ),
        (
            {}, "5S 2D", "4C TS",
            "ไพ่ธรรมดา 7 แต้ม ชนะ 4 แต้ม → 1 เด้ง",
            "normal hand, 7 beats 4 → 1 × ฿100 = ฿100",
        ),
        (
            {}, "5S 2S", "3C 4D",
            "7 แต้มเท่ากัน 2 เด้งชนะ 1 เด้ง ต่างกัน 1 → 1 เด้ง",
            "both 7, 2 deng beats 1, a difference of 1 → 1 ×",
        ),
        (
            {}, "KS KD KH", "JC QD KC",
            "ตองชนะสามเหลือง ต่างกัน 5 − 3 = 2 → 2 เด้ง",
            "tong beats sam lueang, 5 − 3 = 2 → 2 ×",
        ),
        (
            {}, "5S 2D", "3C 4D",
            "ไพ่ธรรมดา 7 แต้ม 1 เด้งเท่ากัน เสมอ → คืน ฿100 ไม่มีเงินเปลี่ยนมือ",
            "normal hand, both 7 with 1 deng → ฿100 is returned, no money moves",
        ),
        (
            {}, "JS QH KD", "JC QD KC",
            "สามเหลืองเจอสามเหลือง เสมอ",
            "sam lueang against sam lueang pushes",
        ),
        (
            {"tie_rule": "dealer_wins"}, "5S 2D", "3C 4D",
            "7 แต้มเท่ากัน เจ้ามือกิน → −1 เด้ง",
            "both 7, the dealer wins ties → −1 ×",
        ),
        (
            {"tie_rule": "push"}, "5S 2S", "3C 4D",
            "7 แต้มเท่ากัน เสมอ → คืน",
            "both 7, ties push → ฿100 is returned",
        ),
        (
            {"tong_against_tong": "rank_ace_high"}, "AS AD AH", "6C 6D 6H",
            "ตองเจอตอง หน้าไพ่สูงกว่า → 5 เด้ง",
            "tong against tong, higher cards → 5 ×",
        ),
        (
            {"max_deng": 2}, "KS 2H 2D", "7C 7D 7H",
            "ไพ่ธรรมดาแพ้ตอง 5 เด้ง จำกัดที่ 2 → −2 เด้ง",
            "a normal hand loses to tong, 5 deng capped at 2 → −2 ×",
        ),
    ],
)  # fmt: skip
def test_every_step_is_said_with_its_figures(
    sheet: dict[str, Any], cards: str, dealer: str, thai: str, english: str
) -> None:
    rules = house_rules.from_options("seed_base", sheet)
    (said,) = lines_of(rules, bets={"p1": 100_00}, cards={"p1": cards, "dealer": dealer})
    assert thai in said.th
    assert english in said.en


def test_commission_and_what_a_bank_could_not_pay_stand_in_the_sum() -> None:
    rules = house_rules.from_options(
        "seed_base", {"banker": "player", "commission": {"rate_bp": 500, "side": "both"}}
    )
    record = a_round(
        bets={"p1": 1000_00},
        cards={"p1": "JS QH KD", "dealer": "5C 7D TH"},
        opened={"banker": {"account": "player:A17", "limit": {"amount": 2500_50, "currency": "THB"}}},
    )
    verdict = payouts.judge(record, rules)
    said = complete(explanations.line(verdict.lines[0], rules, sheet="v1", currency="THB"))
    assert "3 เด้ง × ฿1,000 = ฿3,000 − จ่ายขาด ฿499.50 − ค่าต๋ง ฿125.03 = ฿2,375.47" in said.th
    assert "3 × ฿1,000 = ฿3,000 − not paid ฿499.50 − commission ฿125.03 = ฿2,375.47" in said.en
    assert verdict.bank is not None
    lost = complete(explanations.bank(verdict.bank, currency="THB"))
    assert lost.en == "The bank of player A17: put up ฿2,500.50, result −฿2,500.50"
    won = complete(explanations.bank(BankLine("player:A17", 5_000, 1_000, 50, 950, 0), currency="THB"))
    assert won.th == "เจ้ามือ (ผู้เล่น A17): วางเงิน ฿50 ผลของเจ้ามือ ฿10 − ค่าต๋ง ฿0.50 = ฿9.50"


def test_a_wallets_line_and_a_bet_on_anothers_hand_say_whose_they_are() -> None:
    bets = [
        {"type": "bet_placed", "data": {"wager": "w1", "hand": "p1", "owner": {"account": "player:A17"},
                                        "stake": {"amount": 100, "currency": "THB"}}},
        {"type": "bet_placed", "data": {"wager": "w2", "hand": "p1", "owner": {"seat": 4},
                                        "stake": {"amount": 100, "currency": "THB"}}},
        {"type": "bet_placed", "data": {"wager": "w3", "hand": "shared", "owner": {"seat": 4},
                                        "stake": {"amount": 100, "currency": "THB"}}},
    ]  # fmt: skip
    said = lines_of(bets=bets, cards={"p1": "5S 2D", "shared": "2S 2C", "dealer": "3C 3D"})
    assert [one.en.partition(":")[0] for one in said] == [
        "Seat 1 (wallet A17)", "Seat 1 (guest of seat 4)", "The shared hand (guest of seat 4)",
    ]  # fmt: skip


def every_known_line() -> Iterable[tuple[HouseRules, payouts.Line]]:
    for known in case("rounds.json")["rounds"]:
        rules = house_rules.from_options(known["sheet"]["preset"], known["sheet"]["options"])
        record = folded(known["events"])
        wallets = known.get("wallets", {})
        bank = min(wallets[record.banker.account], record.banker.limit) if record.banker else None
        for line in payouts.judge(record, rules, bank=bank).lines:
            yield rules, line


def test_every_line_of_the_known_rounds_is_said_and_reads_back_from_how_it_is_stored() -> None:
    steps = set()
    for rules, line in every_known_line():
        complete(explanations.line(line, rules, sheet="v1", currency="THB"))
        stored = {
            "wager": line.wager, "hand": line.hand, "owner_kind": line.owner.kind, "owner_ref": line.owner.ref,
            "stake": line.stake, "cards": [deck.text(card) for card in line.cards],
            "hand_kind": line.guest.kind, "hand_taem": line.guest.taem, "hand_deng": line.guest.deng,
            "dealer_cards": [deck.text(card) for card in line.dealer_cards],
            "dealer_kind": line.dealer.kind, "dealer_taem": line.dealer.taem, "dealer_deng": line.dealer.deng,
            "step": line.step, "multiple": line.multiple, "gross": line.gross, "uncovered": line.uncovered,
            "commission": line.commission, "net": line.net, "rounding_bp": line.rounding_bp,
        }  # fmt: skip
        assert explanations.read_line(stored, rules) == line
        steps.add(line.step)
    assert steps >= {"kind", "taem", "deng"}


def test_every_pair_of_known_hands_is_said_under_every_preset() -> None:
    told_steps = set()
    for known in case("hands.json")["cases"]:
        for preset in house_rules.PRESETS:
            rules = house_rules.PRESETS[preset]
            guest, dealer = (
                hands.classify([deck.parse(card) for card in known[side]], rules)
                for side in ("guest", "dealer")
            )
            multiple, step = showdown.compare(guest, dealer, rules)
            line = payouts.Line(
                "w1", "p1", Owner("seat", "1"), 100, (), guest, (), dealer, step, multiple,
                100 * multiple, 0, 0, 100 * multiple, 0,
            )  # fmt: skip
            complete(explanations.line(line, rules, sheet="v1", currency="THB"))
            told_steps.add(step)
    assert told_steps >= {"kind", "taem", "deng", "push", "rank", "tong_over_sam_lueang"}


# -- reasons to wait ---------------------------------------------------------------------------------------


def test_every_reason_to_hold_a_round_is_said_with_the_places_it_is_about() -> None:
    said: dict[str, list[Said]] = {}
    for known in [*case("rounds.json")["rounds"], *case("two-terminals.json")["rounds"]]:
        rules = house_rules.from_options(known["sheet"]["preset"], known["sheet"]["options"])
        _, gaps = told(known["events"])
        record = folded(known["events"])
        reasons = payouts.judge(record, rules).reasons
        for reason, sentence in explanations.held(record, rules, reasons, gaps=tuple(gaps)):
            said.setdefault(reason, []).append(complete(sentence))
    record = a_round(bets={"p1": 100}, cards={"p1": "5S 2D", "dealer": "3C 3D"})
    for options in ({"banker": "player"}, {"requires": {"declared_result": True}}):
        rules = house_rules.from_options("seed_base", options)
        ((reason, sentence),) = explanations.held(record, rules, payouts.judge(record, rules).reasons)
        said.setdefault(reason, []).append(complete(sentence))
    events, _ = told(short_round(bets={"p1": 100}, cards={"p1": "5S 2D", "dealer": "3C 3D"}))
    record = fold([replace(events[0], jumped_from=12), *events[1:]])
    ((reason, sentence),) = explanations.held(record, rules, ("number_jump",))
    said.setdefault(reason, []).append(complete(sentence))
    assert set(said) == set(doubts.REASONS)


def test_a_doubled_card_is_named_with_both_its_places() -> None:
    record = a_round(bets={"p1": 100, "p6": 100}, cards={"p1": "9S 2D", "p6": "3C 9S", "dealer": "3S 3D"})
    ((reason, said),) = explanations.held(record, SEED_BASE, payouts.judge(record, SEED_BASE).reasons)
    assert reason == "duplicate_card"
    assert said == Said(
        "9♠ อยู่สองที่ (ที่นั่ง 1 ใบที่ 1 และที่นั่ง 6 ใบที่ 2) — หัวหน้าดูไพ่จริงแล้วชี้ใบที่ผิด",
        "9♠ is in two places (seat 1, card 1 and seat 6, card 2)"
        " — a supervisor looks at the cards and rules which is wrong",
    )


def test_missing_numbers_name_the_device() -> None:
    record = a_round(bets={"p1": 100}, cards={"p1": "9S 2D", "dealer": "3S 3D"})
    gap = Gap("PD01-tablet", 412, 415)
    ((_, said),) = explanations.held(record, SEED_BASE, ("sequence_gap",), gaps=(gap,))
    assert said.en.startswith("Missing numbers: PD01-tablet 412–415 — ")
    ((_, unnamed),) = explanations.held(record, SEED_BASE, ("sequence_gap",))
    complete(unnamed)


# -- findings ----------------------------------------------------------------------------------------------

FIGURES: Mapping[str, tuple[tuple[str, dict[str, Any]], ...]] = {
    "bank_short": (("w1", {"hand": "p3", "uncovered": 200_00}),),
    "banker_bet_on_guest": (("w2", {"hand": "p2", "stake": 100_00}),),
    "bet_not_in_play": (
        *(("w2", {"why": why, "stake": 500_00, "currency": "THB"}) for why in ("placed_before", "hand", "currency")),
        ("w2", {"why": "unknown"}),
        ("w2", {"why": "no_wallet"}),
    ),
    "bet_on_other_hand": (("w2", {"hand": "p2"}),),
    "bet_ruled": (
        ("w1", {"hand": "p3", "before": 500_00, "stake": 1_000_00, "currency": "THB"}),
        ("w1", {"hand": "p3", "before": 500_00, "stake": 0}),
        ("w1", {"hand": "p3", "stake": 500_00}),
    ),
    "camera_gap": (
        ("88-90", {"device": "PD01-camera", "first": 88, "last": 90}),
        ("", {"source": "PD01-camera", "first": 88, "last": 90}),
    ),
    "card_after_stay": (("p6", {}),),
    "cards_uneven": tuple(
        ("taem", {"who": who, "test": test, "hands": 9_000, "class": 2, "seen": 700, "usual": 840, "p": "0.00001"})
        for who, test in (("house", "taem"), ("tables/PD01", "pairs"), ("people/01a2", "poks"))
    ),
    "cash_across_days": tuple(
        (f"2026-03-01.{way}", {"person": "A17", "gaming_day": "2026-03-01", "direction": way, "amount": 600_00,
                               "day_before": 600_00, "limit": 1_000_00, "currency": "THB"})
        for way in ("in", "out")
    ),
    "check_after_dealer_drew": (("p4", {}),),
    "check_against_dealer_pok": (("p4", {}),),
    "check_not_allowed": (("p4", {"cards": 2, "allowed": "three_card_hands"}), ("p4", {"cards": 3, "allowed": "none"})),
    "checked_twice": (("p4", {}),),
    "chips_exceed_outstanding": tuple(
        ("", {"cage": "C1", "amount": 9_000_000_00, "outside": outside, "currency": "THB"})
        for outside in (120_000_00, -500_00)
    ),
    "clock_drift_burst": (("2026-11-29T12:00Z", {"device": "PD01-tablet", "events": 60}),),
    "closed_too_fast": (("", {"took_ms": 4000}), ("", {"took_ms": 4250})),
    "count_variance": tuple(
        ("", {"kind": kind, "grade": grade, "gaming_day": "2026-03-01", "difference": -200_00, "currency": "THB"})
        for kind in ("opener", "closer", "shift", "rollover", "drop")
        for grade in ("incident", "notify")
    ),
    "ctr_due": tuple(
        (f"2026-03-01.{way}", {"person": "A17", "gaming_day": "2026-03-01", "direction": way, "amount": 1_000_01,
                               "limit": 1_000_00, "currency": "THB"})
        for way in ("in", "out")
    ),
    "dealer_bet_on_guest": (("w2", {"hand": "p2", "stake": 100_00}),),
    "declared_differs": (("w3", {"declared": 2, "judged": 3}), ("w3", {"declared": -1, "judged": 0})),
    "device_clock_off": (("", {}),),
    "draw_missed": (("p6", {"taem": 3, "must_draw_to": 4}), ("dealer", {"taem": 3, "must_draw_to": 4})),
    "drew_after_check": (("p4", {}),),
    "duplicate_card": (("p6.2", {"card": "9S", "slots": ["p1.1", "p6.2"]}),),
    "hand_not_offered": (("shared", {}), ("junk1", {})),
    "hold_band": (
        (
            "",
            {"who": "sessions/01a2", "rounds": 480, "brought": -50_000_00, "expected": 1_00, "band": 20_000_00,
             "currency": "THB", "p": "0.00001"},
        ),
    ),
    "junk_deng_four": (("junk1", {"taem": 4, "drew": True}), ("junk1", {"taem": 4, "drew": False})),
    "junk_drew_against_rule": (("junk1", {"taem": 5, "drew": True}),),
    "junk_stayed_against_rule": (("junk1", {"taem": 3, "drew": False}),),
    "late_bet": (
        ("w3", {"event": "bet_changed", "stake": 1000_00, "currency": "THB", "counts": 500_00}),
        ("w3", {"event": "bet_placed", "hand": "p3", "stake": 1000_00, "currency": "THB"}),
        ("w3", {"event": "bet_withdrawn", "counts": 500_00}),
    ),
    "late_bet_wins": tuple(
        ("raised", {"who": who, "side": side, "hits": 9, "of": 10, "p": "0.001"})
        for who, side in (("owners/player:A17", "raised"), ("owners/01a2 seat:3", "lowered"))
    ),
    "late_event": (("", {"events": 2}),),
    "mark_differs": (("p4", {"mark": "pok_shown"}), ("p4", {"mark": "hand_stayed"})),
    "mispay": (("w3", {"paid": 300_00, "due": 200_00, "currency": "THB"}),),
    "mispay_rate": tuple(
        ("rate", {"what": what, "who": "people/01a2", "errors": 11, "of": 900, "p": "0.001", "guest": "player:A17"})
        for what in ("rate", "direction", "lean")
    ),
    "number_jump": (("", {"number": 9_001, "last": 14}),),
    "off_duty": (("01a2", {"badge": "D-07", "table": "PD04"}),),
    "out_of_order_event": (("", {"event": "hand_drew", "source": "PD01-tablet", "seq": 41}),),
    "out_of_turn": (("p6", {"before": "p5"}), ("dealer", {"before": "p5"})),
    "pace": (
        *(
            ("21", {"table": "PD01", "hour": 21, "ms": 300_000, "least_ms": 20_000, "most_ms": 60_500} | by)
            for by in ({"days": 7, "fixed": 0}, {"days": 1, "fixed": 1})
        ),
        ("", {"idle_ms": 2_700_000, "limit_minutes": 45, "number": 31}),
    ),
    "pok_drew": (("p2", {}), ("dealer", {})),
    "reads_differ": tuple(
        ("p5.1", {"reads": [["PD01-tablet", first], ["PD01-camera", "7S"]], "counts": counts, "by": by})
        for first in ("7C", "")
        for by, counts in (
            ("terminal", ""), ("terminal", "7C"), ("camera", "7S"), ("ruled", "7S"), ("removed", ""), ("", ""),
        )
    ),
    "reconstructed": (("", {}),),
    "sequence_reused": (("412", {"device": "PD01-tablet", "number": 412, "sha256": "00"}),),
    "sequence_too_far": (("9223372036854775807", {"device": "PD01-tablet", "number": 2**63 - 1, "highest": 412}),),
    "shared_hand_misplaced": (("shared", {"belongs": "before_dealer"}), ("shared", {"belongs": "after_dealer"})),
    "short_deck": tuple(
        ("KD", {"card": "KD", "rounds": 20, "odds": "0.0002"} | more)
        for more in ({}, {"stopped": 1}, {"stopped": 0})
    ),
    "shortfall": (("player:A17:wallet", {"missing": 150_00}),),
    "signin_failures": (("", {"origin": "192.0.2.7", "failures": 5}), ("", {"origin": "PD01-tablet", "failures": 5})),
    "stake_outside_limits": (("w1", {"stake": 15_00, "min": 20_00, "max": 100_00, "step": 10_00}),),
    "stay_missed": (("p6", {"taem": 6, "must_stay_from": 6}),),
    "stray_read": (("p9", {"leader": "terminal"}), ("p9", {"leader": "camera"})),
    "too_many_cards": (("p4", {}),),
    "too_many_hands": (("", {"hands": 18, "most": 17}),),
    "unchecked_hands": (
        (
            "",
            {"who": "people/01a2", "guest": "player:A17", "left": 60, "regret": 3_000_00, "currency": "THB",
             "p": "0.00005"},
        ),
    ),
    "uncomputable": (("", {"what": "statement-lines/812", "work": "statement matching"}),),
    "uncovered": tuple(
        ("w1", {"reason": reason, "exposure": 500_00}) for reason in ("offline", "refused", "changed")
    ),
    "unsigned_ruling": (("p5.1", {"event": "card_ruled"}), ("", {"event": "round_voided"})),
    "wrong_sheet_shown": (("", {"shown": "a" * 64, "in_force": "b" * 64}),),
}  # fmt: skip


def test_every_kind_of_flag_has_its_sentence_and_its_figures_here() -> None:
    assert set(FIGURES) == set(explanations.KINDS)
    assert explanations.KINDS >= conduct.KINDS
    complete(explanations.FLAGGED)


@pytest.mark.parametrize("kind", sorted(FIGURES))
def test_a_flag_is_said_in_both_languages_with_every_figure_it_has(kind: str) -> None:
    for subject, detail in FIGURES[kind]:
        complete(explanations.finding(kind, subject, detail, currency="THB"))


def test_a_flag_of_a_kind_without_a_sentence_is_refused() -> None:
    with pytest.raises(KeyError):
        explanations.finding("card_marked", "p1", {}, currency="THB")


def test_every_finding_of_the_known_rounds_is_said() -> None:
    kinds = set()
    for known in case("rounds.json")["rounds"]:
        rules = house_rules.from_options(known["sheet"]["preset"], known["sheet"]["options"])
        record = folded(known["events"])
        for finding in conduct.breaches(record, rules, payouts.judge(record, rules)):
            (written,) = findings_json([finding])
            detail = written.get("detail", {})
            complete(explanations.finding(finding.kind, finding.subject, detail, currency="THB"))
            assert explanations.finding(
                finding.kind, finding.subject, dict(finding.detail), currency="THB"
            ) == explanations.finding(finding.kind, finding.subject, detail, currency="THB")
            kinds.add(finding.kind)
    assert len(kinds) >= 12


def test_a_junk_four_with_deng_and_a_differing_read_are_said_plainly() -> None:
    junk = explanations.finding("junk_deng_four", "junk1", {"taem": 4, "drew": True}, currency="THB")
    assert junk.en == (
        "Junk hand 1 had four with deng and drew — no answer is right and quarrels start here; note who objected"
    )
    detail = {"reads": [["PD01-tablet", "7C"], ["PD01-camera", "7S"]], "counts": "7S", "by": "ruled"}
    read = explanations.finding("reads_differ", "p5.1", detail, currency="THB")
    assert read.en == (
        "Seat 5, card 1: PD01-tablet 7♣, PD01-camera 7♠; the ruled card counts: 7♠ — look at the picture"
    )


@pytest.mark.parametrize(
    ("amount", "currency", "written"),
    [
        (0, "THB", "฿0"),
        (5, "THB", "฿0.05"),
        (-123_450, "THB", "−฿1,234.50"),
        (10**14 + 1, "THB", "฿1,000,000,000,000.01"),
        (250_00, "USD", "USD 250"),
    ],
)
def test_money_is_written_to_the_satang_and_without_a_fraction_where_there_is_none(
    amount: int, currency: str, written: str
) -> None:
    assert explanations.money(amount, currency) == written
