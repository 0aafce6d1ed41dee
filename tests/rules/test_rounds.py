"""Whole rounds and a whole night: what the table reported, folded and judged, against the known-good
answers."""

import gzip
import json
import random
from collections import Counter, defaultdict
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from casino import cards as deck
from casino.record import Event, RoundRecord, fold
from settlement.rules import conduct, house_rules, payouts
from settlement.rules.house_rules import HouseRules
from settlement.rules.payouts import Verdict
from tests.rules.given import CASES, SIGNED, case, folded

COMPARED = {
    "junk_deng_four",
    "junk_drew_against_rule",
    "junk_stayed_against_rule",
    "late_bet",
    "reads_differ",
    "pok_drew",
    "duplicate_card",
    "too_many_cards",
    "too_many_hands",
    "declared_differs",
    "check_after_dealer_drew",
    "check_against_dealer_pok",
    "checked_twice",
    "bet_ruled",
}


def sheet_of(written: dict[str, Any]) -> HouseRules:
    return house_rules.from_options(written["preset"], written["options"])


def found(record: RoundRecord, sheet: HouseRules, verdict: Verdict) -> list[str]:
    kinds = {finding.kind for finding in conduct.breaches(record, sheet, verdict)}
    assert kinds <= conduct.KINDS
    return sorted(kinds & COMPARED) if verdict.outcome in ("settled", "held") else []


def outcome(record: RoundRecord, sheet: HouseRules, *, bank: int | None, banked: bool) -> dict[str, Any]:
    """Return the verdict in the words of the cases."""
    verdict = payouts.judge(record, sheet, bank=bank)
    answer: dict[str, Any] = {"flags": found(record, sheet, verdict), "outcome": verdict.outcome}
    if verdict.outcome == "held":
        return answer | {"because": list(verdict.reasons)}
    lines: dict[str, Any] = {}
    for line in verdict.lines:
        lines[line.wager] = {
            "hand": list(line.guest[:3]),
            "dealer": list(line.dealer[:3]),
            "dealer_cards": [deck.text(card) for card in line.dealer_cards],
            "step": line.step,
            "multiple": line.multiple,
            "gross": line.gross,
            "commission": line.commission,
            "net": line.net,
        }
        if banked:
            lines[line.wager]["uncovered"] = line.uncovered
    answer |= {"lines": lines, "house_net": verdict.house_net}
    if verdict.bank is not None:
        answer["bank"] = {
            name: getattr(verdict.bank, name) for name in ("account", "held", "result", "commission", "net")
        }
    return answer


KNOWN = [*case("rounds.json")["rounds"], *case("two-terminals.json")["rounds"]]


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known["name"])
def test_every_known_round_comes_out(known: dict[str, Any]) -> None:
    wallets = known.get("wallets", {})
    record = folded(known["events"])
    bank = min(wallets[record.banker.account], record.banker.limit) if record.banker else None
    expected = known["expect"] | {"flags": sorted(known["expect"]["flags"])}
    assert outcome(record, sheet_of(known["sheet"]), bank=bank, banked=bool(wallets)) == expected


# -- the night ---------------------------------------------------------------------------------------------


def night() -> dict[str, list[Event]]:
    """Return the events of each round, each once, in the order in which they arrived."""
    rounds: dict[str, list[Event]] = defaultdict(list)
    known = set()
    with gzip.open(CASES / "night.jsonl.gz", "rt") as lines:
        for place, line in enumerate(lines, 1):
            event = json.loads(line)["event"]
            key = event["source"], event["sequence"]
            if key in known:
                continue
            known.add(key)
            source = event["source"].removeprefix("/devices/")
            kind = event["type"].removeprefix("pokdeng.").removesuffix(".v1")
            at = round(datetime.fromisoformat(event["time"]).timestamp() * 1000)
            rounds[event["subject"].removeprefix("rounds/")].append(
                Event(
                    kind,
                    event["data"],
                    source,
                    "camera" if source.endswith("camera") else "terminal",
                    int(event["sequence"]),
                    place,
                    kind in SIGNED,
                    at,
                    at,
                )
            )
    return rounds


def ruled(events: list[Event], hand: str, position: int, card: str) -> list[Event]:
    data = {"hand": hand, "position": position, "card": card, "reason": "seen on video"}
    place = max(event.place for event in events) + 1
    return [*events, Event("card_ruled", data, "people/supervisor", "page", 0, place, True)]


def in_words(verdict: Verdict) -> dict[str, Any]:
    if verdict.outcome == "held":
        return {"held": list(verdict.reasons)}
    return {line.wager: line.net for line in verdict.lines}


def night_round(events: list[Event], known: dict[str, Any], sheet: HouseRules) -> dict[str, Any]:
    record = fold(events)
    verdict = payouts.judge(record, sheet)
    answer = {
        "table": known["table"],
        "number": record.number,
        "outcome": verdict.outcome,
        "flags": found(record, sheet, verdict),
    }
    if verdict.outcome == "settled":
        answer["lines"] = in_words(verdict)
    if verdict.outcome == "held":
        answer["because"] = list(verdict.reasons)
        [slot] = [slot for slot in record.slots if slot.contested]
        answer |= {"hand": slot.hand, "position": slot.position}
        answer["if_ruled"] = {
            card: in_words(payouts.judge(fold(ruled(events, slot.hand, slot.position, card)), sheet))
            for card in sorted({deck.text(read.card) for read in slot.reads})
        }
    return answer


def test_the_recorded_night_comes_out_to_the_satang() -> None:
    rounds, expected = night(), case("night.expected.json")
    sheets = {table: sheet_of(known["sheet"]) for table, known in expected["tables"].items()}
    assert rounds.keys() == expected["rounds"].keys()
    differing = {}
    for round_id, known in expected["rounds"].items():
        answer = night_round(rounds[round_id], known, sheets[known["table"]])
        if answer != known:
            differing[round_id] = (answer, known)
    assert differing == {}


def test_the_nights_tables_add_up() -> None:
    rounds, expected = night(), case("night.expected.json")
    tables: dict[str, Counter[str]] = defaultdict(Counter)
    for round_id, known in expected["rounds"].items():
        table = expected["tables"][known["table"]]
        record = fold(rounds[round_id])
        verdict = payouts.judge(record, sheet_of(table["sheet"]))
        tables[known["table"]].update(
            {
                verdict.outcome: 1,
                "house_net": verdict.house_net,
                "wagers": len(record.wagers),
                "camera": any(event.feed == "camera" for event in rounds[round_id]),
            }
        )
    assert {
        name: {key: count[key] for key in ("house_net", "settled", "held", "voided", "wagers")}
        | {"camera": count["camera"] > 0}
        for name, count in tables.items()
    } == {
        name: {key: value for key, value in known.items() if key != "sheet"}
        for name, known in expected["tables"].items()
    }


def test_the_night_is_the_same_in_whatever_order_its_reports_arrive() -> None:
    expected = case("night.expected.json")
    sheets = {table: sheet_of(known["sheet"]) for table, known in expected["tables"].items()}
    chance = random.Random(20261128)
    for round_id, events in night().items():
        known = expected["rounds"][round_id]
        shuffled = chance.sample(events, len(events))
        again = [replace(event, place=place) for place, event in enumerate(shuffled, 1)]
        record = fold(again)
        verdict = payouts.judge(record, sheets[known["table"]])
        assert verdict.outcome == known["outcome"], round_id
        assert {line.wager: line.net for line in verdict.lines} == known.get("lines", {}), round_id
        assert found(record, sheets[known["table"]], verdict) == known["flags"], round_id
