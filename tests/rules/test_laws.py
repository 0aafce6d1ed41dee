"""What holds for every round under every sheet."""

import hashlib
import os
import subprocess
import sys
from dataclasses import replace
from itertools import product
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from casino import cards as deck
from casino.record import RoundRecord
from settlement.rules import commission, conduct, house_rules, lookup, payouts
from settlement.rules.house_rules import CHOICES, COMMISSION_CHOICES, PRESETS, ContradictorySheet, HouseRules
from settlement.rules.payouts import Verdict
from tests.rules.given import a_bet, a_round, case, folded, thb

quickly = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None
)

SIDES = {"house": ("guest",), "player": COMMISSION_CHOICES["side"]}


@st.composite
def sheets(draw: st.DrawFn, /, **fixed: Any) -> HouseRules:
    """Any sheet that can be played."""
    options: dict[str, Any] = {name: draw(st.sampled_from(names)) for name, names in CHOICES.items()}
    options["tong_over_sam_lueang"] = draw(st.sampled_from(CHOICES["tong_over_sam_lueang"]))
    middle = draw(st.permutations(["sam_lueang", "straight_flush"]))
    order = ["tong", "straight"]
    for kind in middle:
        order.insert(draw(st.integers(0, len(order))), kind)
    options["type_order"] = ["pok", *order, "normal"]
    options["deng"] = {
        name: draw(st.integers(1, 10))
        for name in ("song", "sam", "sam_lueang", "straight", "straight_flush", "tong")
    }
    options["max_deng"] = draw(st.none() | st.integers(1, 10))
    options |= fixed
    options["commission"] = {
        "rate_bp": draw(st.sampled_from([0, 1, 300, 500, 10_000])),
        "rounding": draw(st.sampled_from(COMMISSION_CHOICES["rounding"])),
        "unit": draw(st.sampled_from([1, 10, 100, 500])),
        "side": draw(st.sampled_from(SIDES[options["banker"]])),
    }
    try:
        return house_rules.from_options("seed_base", options)
    except ContradictorySheet:
        options["tong_over_sam_lueang"] = "winner_deng"
        return house_rules.from_options("seed_base", options)


@st.composite
def rounds(draw: st.DrawFn) -> RoundRecord:
    """A round without a doubt: up to six guests' hands and a shared one, some checked early, pok hands
    standing."""
    pack = draw(st.randoms(use_true_random=False)).sample(deck.DECK, 52)
    names = [f"p{n}" for n in range(1, draw(st.integers(1, 6)) + 1)] + draw(st.sampled_from([[], ["shared"]]))
    cards: dict[str, str] = {}
    for name in [*names, "dealer"]:
        two = pack[:2]
        pok = lookup.of(PRESETS["seed_base"]).classify(tuple(two)).kind == "pok"
        size = 2 if pok else draw(st.integers(2, 3))
        cards[name], pack = " ".join(map(deck.text, pack[:size])), pack[size:]
    bets = [
        a_bet(
            f"w{n}", draw(st.sampled_from(names)), draw(st.integers(1, 100_000)), by=draw(st.integers(1, 16))
        )
        for n in range(1, draw(st.integers(1, 8)) + 1)
    ]
    checked = draw(st.lists(st.sampled_from(names), unique=True, max_size=3))
    limit = draw(st.integers(0, 300_000))
    return a_round(
        opened={"banker": {"account": "player:B1", "limit": thb(limit)}},
        bets=bets,
        cards=cards,
        checks=[[name] for name in checked],
    )


def sign(number: int) -> int:
    return (number > 0) - (number < 0)


# -- sheets ------------------------------------------------------------------------------------------------


@quickly
@given(sheets())
def test_a_sheet_is_what_its_bytes_say(sheet: HouseRules) -> None:
    again = house_rules.parse(sheet.canonical)
    assert (again, again.canonical) == (sheet, sheet.canonical)


@quickly
@given(sheets(tie_rule="deng_difference") | sheets(tie_rule="push"))
def test_guest_and_dealer_trade_places_and_the_amount_its_sign(sheet: HouseRules) -> None:
    table = lookup.of(sheet).outcomes
    for mine, his in product(range(len(table)), repeat=2):
        (won, step), (lost, step_back) = table[mine][his], table[his][mine]
        assert (won, step) == (-lost, step_back)


@quickly
@given(sheets(tie_rule="deng_difference") | sheets(tie_rule="push"))
def test_hands_can_be_put_in_one_order_of_strength(sheet: HouseRules) -> None:
    """Whoever beats more hands beats whoever beats fewer, and only equals push: a total preorder."""
    table = lookup.of(sheet).outcomes
    beaten = [sum(multiple > 0 for multiple, _ in row) for row in table]
    for mine, his in product(range(len(table)), repeat=2):
        assert sign(table[mine][his][0]) == sign(beaten[mine] - beaten[his])


@quickly
@given(sheets())
def test_a_better_type_never_loses_to_a_worse_one(sheet: HouseRules) -> None:
    known = lookup.of(sheet)
    place = {kind: place for place, kind in enumerate(sheet.type_order)}
    for ours, row in zip(known.hands, known.outcomes, strict=True):
        for theirs, (multiple, _) in zip(known.hands, row, strict=True):
            if place[ours.kind] < place[theirs.kind]:
                assert multiple > 0


def test_no_preset_ever_moves_four_stakes() -> None:
    for sheet in PRESETS.values():
        multiples = {multiple for row in lookup.of(sheet).outcomes for multiple, _ in row}
        assert multiples <= {0, 1, -1, 2, -2, 3, -3, 5, -5}
        assert payouts.exposure(1, sheet) == 5


# -- rounds ------------------------------------------------------------------------------------------------


@quickly
@given(rounds(), sheets())
def test_every_satang_is_somewhere(record: RoundRecord, sheet: HouseRules) -> None:
    """Guests, banker and house sum to zero; what the house keeps of a banked round is the commission alone;
    what was charged, less what rounding added, is the rate exactly."""
    verdict = payouts.judge(record, sheet)
    assert verdict.outcome == "settled"
    bank = verdict.bank
    assert sum(line.net for line in verdict.lines) + (bank.net if bank else 0) + verdict.house_net == 0
    if bank:
        assert verdict.house_net == sum(line.commission for line in verdict.lines) + bank.commission
    terms = sheet.commission
    for line in verdict.lines:
        assert line.gross == line.stake * line.multiple
        paid = line.gross - line.uncovered
        assert line.net == paid - line.commission
        owed = 0 if terms.side == "banker" else max(paid, 0) * terms.rate_bp
        assert line.commission * commission.WHOLE - line.rounding_bp == owed
    if bank:
        owed = 0 if terms.side == "guest" else max(bank.result, 0) * terms.rate_bp
        assert bank.commission * commission.WHOLE - bank.rounding_bp == owed


@quickly
@given(rounds(), sheets())
def test_no_line_moves_more_than_its_exposure_and_a_push_moves_nothing(
    record: RoundRecord, sheet: HouseRules
) -> None:
    for line in payouts.judge(record, sheet).lines:
        assert abs(line.gross) <= payouts.exposure(line.stake, sheet)
        assert 0 <= line.commission <= max(line.gross - line.uncovered, 0)
        if line.multiple == 0:
            assert (line.gross, line.uncovered, line.commission, line.net) == (0, 0, 0, 0)


@quickly
@given(rounds(), sheets(banker="player"), st.integers(0, 400_000))
def test_a_bank_is_never_overdrawn_and_stops_only_when_it_is_empty(
    record: RoundRecord, sheet: HouseRules, put_up: int
) -> None:
    assert record.banker is not None
    verdict = payouts.judge(record, sheet, bank=put_up)
    assert verdict.bank is not None
    held = min(put_up, record.banker.limit)
    short = sum(line.uncovered for line in verdict.lines)
    assert all(0 <= line.uncovered <= max(line.gross, 0) for line in verdict.lines)
    assert (verdict.bank.held, verdict.bank.result >= -held) == (held, True)
    assert short == 0 or verdict.bank.result == -held


@quickly
@given(rounds(), sheets(banker="house"), st.data())
def test_a_line_depends_on_its_own_hand_and_the_dealers_and_on_no_other_wager(
    record: RoundRecord, sheet: HouseRules, data: st.DataObject
) -> None:
    lines = payouts.judge(record, sheet).lines
    alone = data.draw(st.sampled_from(lines))
    wagers = tuple(wager for wager in record.wagers if wager.id == alone.wager)
    hands = tuple(hand for hand in record.hands if hand.name == alone.hand)
    assert payouts.judge(replace(record, wagers=wagers, hands=hands), sheet).lines == (alone,)


@quickly
@given(rounds(), sheets(banker="house"), st.randoms(use_true_random=False))
def test_the_order_in_which_wagers_are_listed_changes_no_line(
    record: RoundRecord, sheet: HouseRules, chance: Any
) -> None:
    wagers = list(record.wagers)
    chance.shuffle(wagers)
    shuffled = payouts.judge(replace(record, wagers=tuple(wagers)), sheet)
    in_order = payouts.judge(record, sheet)
    assert (sorted(shuffled.lines), shuffled.house_net) == (sorted(in_order.lines), in_order.house_net)


@quickly
@given(rounds(), sheets())
def test_when_a_dealers_pok_is_shown_moves_no_money(record: RoundRecord, sheet: HouseRules) -> None:
    verdicts = [payouts.judge(record, replace(sheet, dealer_pok=when)) for when in ("on_turn", "at_once")]
    assert verdicts[0] == verdicts[1]


@quickly
@given(rounds(), sheets())
def test_conduct_moves_no_money_and_is_said_once(record: RoundRecord, sheet: HouseRules) -> None:
    verdict = payouts.judge(record, sheet)
    found = conduct.breaches(record, sheet, verdict)
    keys = [(finding.kind, finding.subject) for finding in found]
    assert keys == sorted(set(keys))
    assert {finding.kind for finding in found} <= conduct.KINDS
    assert payouts.judge(record, sheet) == verdict


@quickly
@given(rounds(), sheets(), st.integers(-5, 5))
def test_a_declaration_holds_exactly_where_it_is_not_the_judged_one(
    record: RoundRecord, sheet: HouseRules, declared: int
) -> None:
    lines = payouts.judge(record, sheet).lines
    assume(lines)
    verdict: Verdict = payouts.judge(replace(record, declared={lines[0].wager: declared}), sheet)
    held = declared != lines[0].multiple
    assert (verdict.outcome, verdict.reasons) == (
        ("held", ("declared_differs",)) if held else ("settled", ())
    )


# -- the same bytes for ever -------------------------------------------------------------------------------


def fingerprint() -> str:
    """Return the hash of everything that the known rounds come to."""
    said = hashlib.sha256()
    for known in case("rounds.json")["rounds"]:
        sheet = house_rules.from_options(known["sheet"]["preset"], known["sheet"]["options"])
        record = folded(known["events"])
        verdict = payouts.judge(record, sheet)
        said.update(repr((sheet.canonical, verdict, conduct.breaches(record, sheet, verdict))).encode())
    return said.hexdigest()


def test_the_same_rounds_give_the_same_bytes_in_every_process() -> None:
    other_seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    elsewhere = subprocess.run(
        [sys.executable, "-c", "from tests.rules.test_laws import fingerprint; print(fingerprint())"],
        env={**os.environ, "PYTHONHASHSEED": other_seed, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert elsewhere.stdout.strip() == fingerprint()
