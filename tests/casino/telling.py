"""Rounds written as a dealer would tell them, one act a line.

    bet w1 p1 100            the seat of p1 stakes 100 baht
    lock
    p1 9S KD                 its first two cards; ``p1.3 5H`` is one slot
    camera: p1.1 9S          another device; also ``camera2:``, ``tablet2:``, ``page:``, ``decision:``
    p1 draws                 or stays, or pok; ``dealer draws``
    check p1 p4
    page: rule p1.2 7D       or ``remove p1.3``, ``waive awaiting_camera``, ``void``; a page signs by itself,
    rule p1.2 7D signed      a terminal's act counts where a supervisor signed it
    skip 2                   two numbers of the terminal that never came
    close

The round is opened by the first line unless that says ``open`` or names another device.
"""

from collections.abc import Callable
from typing import Any

from casino import cards, record
from casino.record import Event, Gap, Lead, RoundRecord

TWO_HANDS = """
    bet w1 p1 100
    lock
    p1 3S 4D
    dealer KC 6D
    p1 stays
    dealer stays
"""
"""A round in which nothing is in doubt: 7 against 6."""

_WORDS = {
    "stays": ("hand_stayed", "dealer_stayed"),
    "draws": ("hand_drew", "dealer_drew"),
    "pok": ("pok_shown", "pok_shown"),
}


def thb(baht: str | int, currency: str = "THB") -> dict[str, Any]:
    return {"amount": int(baht) * 100, "currency": currency}


def events_of(text: str) -> tuple[list[Event], list[Gap]]:
    """Return the events in the order of their lines, numbered by device and recorded in that order."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    if "open" not in text:
        lines.insert(0, "open")
    told: list[Event] = []
    gaps: list[Gap] = []
    last: dict[str, int] = {}
    for line in lines:
        who, _, said = line.rpartition(": ")
        source = who or "tablet"
        words = said.split()
        signed = words[-1] == "signed"
        words = words[:-1] if signed else words
        if words[0] == "skip":
            missing, first = int(words[1]), last.get(source, 0) + 1
            feed: Any = "camera" if source.startswith("camera") else "terminal"
            gaps.append(Gap(source, first, first + missing - 1, feed))
            last[source] = first + missing - 1
            continue
        for kind, data in _acts(words):
            told.append(_event(kind, data, source, last, place=len(told) + 1, signed=signed))
    return told, gaps


def told(text: str, *, lead: Lead = "none") -> RoundRecord:
    """Return the record of ``text`` under a lead. The events are handed over last first: their order is theirs."""
    events, gaps = events_of(text)
    return record.led(record.fold(events[::-1], unknown=gaps), lead=lead)


def _event(
    kind: str, data: dict[str, Any], source: str, last: dict[str, int], *, place: int, signed: bool
) -> Event:
    at = 1_000 * place
    if source in ("page", "decision"):
        office: Any = source
        return Event(kind, data, f"{source}/7", office, 0, place, True, at, at)
    last[source] = last.get(source, 0) + 1
    feed: Any = "camera" if source.startswith("camera") else "terminal"
    return Event(kind, data, source, feed, last[source], place, signed, at, at)


def _acts(words: list[str]) -> list[tuple[str, dict[str, Any]]]:
    first, *rest = words
    if first in _TOLD:
        return [(_TOLD[first][0], _TOLD[first][1](*rest))]
    if rest[0] in _WORDS:
        guests, dealers = _WORDS[rest[0]]
        return [(dealers, {})] if first == "dealer" and rest[0] != "pok" else [(guests, {"hand": first})]
    hand, _, position = first.partition(".")
    return [
        ("card_dealt", {"hand": hand, "position": place, "card": card})
        for place, card in enumerate(rest, int(position or 1))
    ]


def _slot(slot: str, **more: Any) -> dict[str, Any]:
    hand, _, position = slot.partition(".")
    return {"hand": hand, "position": int(position), **more}


def _bet(wager: str, hand: str, baht: str, owner: str = "", currency: str = "THB") -> dict[str, Any]:
    kind, _, ref = (owner or f"seat={hand[1:] if hand[1:].isdigit() else 1}").partition("=")
    whose = {kind: int(ref) if kind == "seat" else ref}
    return {"wager": wager, "hand": hand, "owner": whose, "stake": thb(baht, currency)}


def _open(number: str = "1", direction: str = "clockwise", banker: str = "") -> dict[str, Any]:
    data: dict[str, Any] = {"number": int(number), "direction": direction}
    if banker:
        account, baht, *currency = banker.split("/")
        data["banker"] = {"account": account, "limit": thb(baht, *currency)}
    return data


_TOLD: dict[str, tuple[str, Callable[..., dict[str, Any]]]] = {
    "open": ("round_opened", _open),
    "bet": ("bet_placed", _bet),
    "change": ("bet_changed", lambda wager, baht, *c: {"wager": wager, "stake": thb(baht, *c)}),
    "withdraw": ("bet_withdrawn", lambda wager: {"wager": wager}),
    "lock": ("bets_locked", lambda direction="", *order: _lock(direction, order)),
    "check": ("hand_checked", lambda *hands: {"hands": list(hands)}),
    "declare": (
        "result_declared",
        lambda *said: {"multiples": {one.split("=")[0]: int(one.split("=")[1]) for one in said}},
    ),
    "correct": ("card_corrected", lambda slot, card: _slot(slot, card=card, reason="slip")),
    "rule": ("card_ruled", lambda slot, card: _slot(slot, card=card, reason="seen on video")),
    "remove": ("card_removed", lambda slot: _slot(slot, reason="dead")),
    "rule-bet": (
        "bet_ruled",
        lambda wager, hand, baht, *more: {**_bet(wager, hand, baht, *more), "reason": "seen on video"},
    ),
    "waive": ("hold_waived", lambda code: {"reason_code": code, "reason": "seen"}),
    "close": ("round_closed", dict),
    "void": ("round_voided", lambda: {"reason": "misdeal"}),
    "takes-over": ("recorder_changed", dict),
    "mispay": (
        "mispay_put_right",
        lambda wager, paid, due: {"wager": wager, "paid": thb(paid), "due": thb(due)},
    ),
    "found": (
        "mispay_found",
        lambda wager, paid, due: {
            "wager": wager,
            "paid": thb(paid),
            "due": thb(due),
            "reason": "seen on video",
        },
    ),
    "note": ("note", lambda kind="": {"text": "two witnesses"} | ({"kind": kind} if kind else {})),
}


def _lock(direction: str, order: tuple[str, ...]) -> dict[str, Any]:
    return ({"direction": direction} if direction else {}) | ({"order": list(order)} if order else {})


def faces(hand: record.Hand) -> str:
    """Return a hand's effective cards as they are written: ``"9S KD"``."""
    return " ".join(cards.text(card) for card in hand.cards)


def hand_of(found: RoundRecord, name: str) -> record.Hand:
    [hand] = [hand for hand in (*found.hands, found.dealer) if hand.name == name]
    return hand


def slot_of(found: RoundRecord, name: str) -> record.Slot:
    [slot] = [slot for slot in found.slots if f"{slot.hand}.{slot.position}" == name]
    return slot


def flagged(found: RoundRecord) -> list[str]:
    """Return what is flagged, each as ``kind subject`` (``kind`` alone where it is the round)."""
    return [f"{finding.kind} {finding.subject}".strip() for finding in record.flags(found)]
