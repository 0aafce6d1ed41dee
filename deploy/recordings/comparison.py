"""What a recording came to, told table by table and held against what was expected of it. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from deploy.recordings.player import Played

COMPARED = frozenset(
    {
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
)
"""Findings that an expected file lists; the house may raise others besides."""


@dataclass(slots=True)
class Tally:
    """One table in figures; ``house_net`` in minor units, over its settled rounds."""

    settled: int = 0
    held: int = 0
    voided: int = 0
    unfinished: int = 0
    wagers: int = 0
    house_net: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    findings: Counter[str] = field(default_factory=Counter)


def tally(played: Played) -> Tally:
    """Return the table's figures."""
    found = Tally()
    for shown in played.rounds.values():
        standing = shown["standing"]
        found.settled += standing == "settled"
        found.held += standing == "held"
        found.voided += standing == "voided"
        found.unfinished += standing not in ("settled", "held", "voided")
        found.reasons.update(shown["reasons"])
        found.wagers += len((shown["record"] or {}).get("wagers", ()))
        found.findings.update(_kinds(shown))
        if shown["settlement"]:
            found.house_net += shown["settlement"]["house_net"]["amount"]
    return found


def outcome(shown: Mapping[str, Any]) -> dict[str, Any]:
    """Return a round, as the house shows it, in the words of an expected file."""
    found: dict[str, Any] = {
        "table": shown["table"],
        "number": shown["number"],
        "outcome": shown["standing"],
        "flags": [],
    }
    if shown["standing"] in ("settled", "held"):
        found["flags"] = sorted(set(_kinds(shown)) & COMPARED)
    if shown["standing"] == "held":
        found["because"] = list(shown["reasons"])
    settlement = shown["settlement"]
    if shown["standing"] == "settled" and settlement:
        lines = [line for line in settlement["lines"] if line["wager"] != "bank"]
        found["lines"] = {line["wager"]: line["net"]["amount"] for line in lines}
        found["revision"] = settlement["revision"]
        found["house_net"] = settlement["house_net"]["amount"]
        unpaid = {line["wager"]: line["uncovered"]["amount"] for line in lines}
        found["unpaid"] = {wager: amount for wager, amount in unpaid.items() if amount}
        if settlement.get("bank"):
            found["bank"] = settlement["bank"]["net"]["amount"]
    return found


def differences(played: Sequence[Played], expected: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for every table or round that is not as expected; only what the file says is compared."""
    rounds = {round_id: shown for table in played for round_id, shown in table.rounds.items()}
    for round_id, known in expected["rounds"].items():
        name = f"{known['table']} round {known['number']} ({round_id})"
        if round_id not in rounds:
            yield f"{name}: not played"
            continue
        came = outcome(rounds[round_id])
        for key in came.keys() & known.keys() | {"outcome"}:
            if came[key] != known[key]:
                yield f"{name}: {key} is {came[key]}, expected {known[key]}"
        for key in ("lines", "because", "bank"):
            if key in known and key not in came and known["outcome"] == came["outcome"]:
                yield f"{name}: no {key}, expected {known[key]}"
    for round_id in rounds.keys() - expected["rounds"].keys():
        yield f"{round_id}: played, but not expected"
    for table in played:
        wanted, figures = expected["tables"][table.table], tally(table)
        for key in ("settled", "held", "voided", "wagers", "house_net"):
            if key in wanted and getattr(figures, key) != wanted[key]:
                yield f"{table.table}: {key} is {getattr(figures, key)}, expected {wanted[key]}"
    yield from _uncovered(played, expected)


def _uncovered(played: Sequence[Played], expected: Mapping[str, Any]) -> Iterator[str]:
    for table in played:
        for round_id, wagers in table.uncovered.items():
            known = expected["rounds"].get(round_id, {}).get("uncovered")
            if known is not None and wagers != known:
                yield f"{round_id}: cover left out {wagers}, expected {known}"


def accounts(shown: Mapping[str, int], expected: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for every account whose balance, in minor units, is not as expected."""
    for code, balance in expected.get("accounts", {}).items():
        if shown.get(code) != balance:
            yield f"{code}: {shown.get(code)}, expected {balance}"


def _kinds(shown: Mapping[str, Any]) -> list[str]:
    return [breach["kind"] for breach in shown["breaches"]]
