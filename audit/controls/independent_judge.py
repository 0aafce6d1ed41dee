"""A round judged and posted the slow way: each hand classified, each pair compared, each amount worked out by itself.

It shares the rules with settlement (what a hand is worth, who wins, what is in doubt) and nothing of how settlement
applies them: no tables worked out before, no lines, postings or roundings of its making. So a fault in one does not
hide itself in the other.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from casino import cards, record
from casino.record import RoundRecord, Wager
from settlement.rules import doubts, hands, showdown
from settlement.rules.hands import Hand
from settlement.rules.house_rules import HouseRules

BANK = "bank"
"""Wager and hand of the line that carries the result of a player who banks."""

Move = tuple[str, str, int]
"""An account, a wager ("" for the whole round), an amount in minor units."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What a round comes to: ``lines`` as they are stored, by the names of their columns, a banker's last."""

    outcome: str
    reasons: tuple[str, ...]
    lines: tuple[dict[str, Any], ...] = ()
    house_net: int = 0

    def moves(self, *, table: str) -> Counter[Move]:
        """Return what a settlement posts: every wager's net, and the other side of bank and commission."""
        if self.outcome != "settled":
            return Counter()
        bank = f"table:{table}:bank"
        guests = [line for line in self.lines if line["wager"] != BANK]
        found = [(line["account"], line["wager"], line["net"]) for line in self.lines]
        found.append((bank, "", sum(line["uncovered"] - line["gross"] for line in guests)))
        found += [(bank, BANK, -line["gross"]) for line in self.lines if line["wager"] == BANK]
        found.append((f"table:{table}:commission", "", sum(line["commission"] for line in self.lines)))
        return Counter(move for move in found if move[2])


def judge(folded: RoundRecord, house: HouseRules | None, *, inputs: Mapping[str, Any], table: str) -> Judged:
    """Return what the record comes to under the sheet and the stored inputs: a bank's limit, wagers without a wallet,
    whose wallets live in which cashier system. Without a sheet a round is void or open, or held for missing numbers."""
    if folded.state == "voided":
        return Judged("voided", ())
    if house is None:
        missing = tuple(doubt for doubt in folded.doubts if doubt == "sequence_gap")
        return Judged("held" if missing else "open", missing)
    if folded.banker is not None and inputs.get("bank") is None:
        folded = replace(folded, banker=None)  # a bank without a wallet is no bank
    outside: Collection[str] = inputs.get("not_in_play", ())
    led = record.led(folded, lead=house.feed_lead, without=frozenset(outside))
    reasons = doubts.reasons(led, house)
    if reasons:
        waits = led.state == "closed" or "sequence_gap" in reasons
        return Judged("held" if waits else "open", reasons)
    lines = [_line(wager, led, house, table=table) for wager in led.wagers]
    if house.banker == "player" and led.banker is not None:
        lines = _paid_by_player(led, house, lines, most=inputs["bank"])
    elsewhere = inputs.get("elsewhere", {})
    for line in lines:
        if line["owner_kind"] == "account" and line["owner_ref"] in elsewhere:
            line["account"] = f"external:{elsewhere[line['owner_ref']]}:{table}"
    outcome = "settled" if led.state == "closed" else "open"
    return Judged(outcome, (), tuple(lines), -sum(line["net"] for line in lines))


def _line(wager: Wager, led: RoundRecord, house: HouseRules, *, table: str) -> dict[str, Any]:
    (hand,) = [one for one in led.hands if one.name == wager.hand]
    met = led.dealer.cards[:2] if hand.met == "two" else led.dealer.cards
    ours, theirs = hands.classify(hand.cards, house), hands.classify(met, house)
    multiple, step = showdown.compare(ours, theirs, house)
    owner = wager.owner
    line = {
        "wager": wager.id,
        "hand": wager.hand,
        "owner_kind": owner.kind,
        "owner_ref": owner.ref,
        "account": f"{owner.ref}:wallet" if owner.kind == "account" else f"table:{table}:guests",
        "stake": wager.stake,
        **_hand("hand", hand.cards, ours),
        **_hand("dealer", met, theirs),
        "step": step,
        "multiple": multiple,
        "gross": wager.stake * multiple,
    }
    return line | _paid(wager.stake * multiple, wager.stake * multiple, house, by="guest")


def _hand(whose: str, dealt: Collection[int], worth: Hand) -> dict[str, Any]:
    return {
        "cards" if whose == "hand" else "dealer_cards": [cards.text(card) for card in dealt],
        f"{whose}_kind": worth.kind,
        f"{whose}_taem": worth.taem,
        f"{whose}_deng": worth.deng,
    }


def _paid(gross: int, covered: int, house: HouseRules, *, by: str) -> dict[str, int]:
    """Return what is left of a result after commission, owed by whichever sides the sheet names."""
    terms = house.commission
    charged = rounding = 0
    if covered > 0 and terms.rate_bp and terms.side in (by, "both"):
        owed = Fraction(covered * terms.rate_bp, 10_000)
        charged = min(covered, _rounded(owed / terms.unit, terms.rounding) * terms.unit)
        rounding = int((charged - owed) * 10_000)
    return {
        "uncovered": gross - covered,
        "commission": charged,
        "net": covered - charged,
        "rounding_bp": rounding,
    }


def _rounded(units: Fraction, rounding: str) -> int:
    return {
        "half_up": math.floor(units + Fraction(1, 2)),
        "half_even": round(units),
        "up": math.ceil(units),
        "down": math.floor(units),
    }[rounding]


def _paid_by_player(
    led: RoundRecord, house: HouseRules, lines: list[dict[str, Any]], *, most: int
) -> list[dict[str, Any]]:
    """Losses come in first; then wins are paid as long as the bank lasts, checked hands in the order of their checks,
    the others in the order of the hands."""
    assert led.banker is not None
    put_up = min(most, led.banker.limit)
    left = put_up + sum(-line["gross"] for line in lines if line["gross"] < 0)
    places = {
        hand.name: (hand.check_place is None, hand.check_place or 0, place)
        for place, hand in enumerate(led.hands)
    }
    for line in sorted(lines, key=lambda line: places[line["hand"]]):
        if line["gross"] > 0:
            covered = min(left, line["gross"])
            left -= covered
            line.update(_paid(line["gross"], covered, house, by="guest"))
    nobody: dict[str, Any] = {"kind": "", "taem": None, "deng": None}
    bank = {
        "wager": BANK, "hand": BANK, "owner_kind": "account", "owner_ref": led.banker.account,
        "account": f"{led.banker.account}:wallet", "stake": put_up, "cards": [], "dealer_cards": [],
        **{f"{whose}_{name}": nobody[name] for whose in ("hand", "dealer") for name in ("kind", "taem", "deng")},
        "step": "", "multiple": 0, "gross": left - put_up,
    }  # fmt: skip
    return [*lines, bank | _paid(left - put_up, left - put_up, house, by="banker")]
