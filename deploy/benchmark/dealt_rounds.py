"""Rounds of nine hands, dealt from a shuffled deck, as a terminal tells them. Pure; a seed gives the same rounds."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from casino import cards
from casino.record import Event

GUESTS = 8
DRAWS_BELOW = 5
STAKES = (10_000, 20_000, 50_000, 100_000)
START = datetime(2026, 1, 1, 12, tzinfo=UTC)

Told = list[tuple[str, dict[str, Any]]]


def dealt(chance: random.Random, *, count: int) -> list[tuple[int, ...]]:
    """Return ``count`` hands of two or three cards."""
    return [tuple(chance.sample(cards.DECK, chance.choice((2, 3)))) for _ in range(count)]


def nine_hands(chance: random.Random, *, number: int) -> Told:
    """Return the events of one round, kind and data: eight guests, each with a wager, and the dealer."""
    deck = chance.sample(cards.DECK, 3 * (GUESTS + 1))
    names = [*(f"p{hand}" for hand in range(1, GUESTS + 1)), "dealer"]
    told: Told = [("round_opened", {"number": number, "direction": "clockwise"})]
    for hand, name in enumerate(names[:-1], 1):
        stake = {"amount": chance.choice(STAKES), "currency": "THB"}
        told.append(
            ("bet_placed", {"wager": f"w{hand}", "hand": name, "owner": {"seat": hand}, "stake": stake})
        )
    told.append(("bets_locked", {}))
    faces, drawn = [], []
    for name in names:
        first, second, third = deck.pop(), deck.pop(), deck.pop()
        faces += [_card(name, 1, first), _card(name, 2, second)]
        taem = sum(min(cards.rank(card) + 1, 10) for card in (first, second)) % 10
        if taem >= 8 and name != "dealer":
            told.append(("pok_shown", {"hand": name}))
        elif name != "dealer":
            told.append(("hand_drew" if taem < DRAWS_BELOW else "hand_stayed", {"hand": name}))
        else:
            told.append(("dealer_drew" if taem < DRAWS_BELOW else "dealer_stayed", {}))
        if taem < DRAWS_BELOW:
            drawn.append(_card(name, 3, third))
    return [*told, *faces, *drawn, ("round_closed", {})]


def _card(hand: str, position: int, card: int) -> tuple[str, dict[str, Any]]:
    return "card_dealt", {"hand": hand, "position": position, "card": cards.text(card)}


def as_recorded(told: Told) -> list[Event]:
    """Return a round's events as the record has them."""
    return [
        Event(kind, data, "BN01-terminal", "terminal", place, place, False, 1_000 * place, 1_000 * place)
        for place, (kind, data) in enumerate(told, 1)
    ]


def as_sent(
    chance: random.Random, *, device: str, numbers: range, first: int = 1
) -> Iterator[tuple[str, list[str]]]:
    """Yield, for each round number, its id and its CloudEvents as text, numbered from ``first`` on."""
    sequence = first
    for number in numbers:
        round_id = str(uuid.UUID(int=chance.getrandbits(128), version=4))
        events = []
        for kind, data in nine_hands(chance, number=number):
            events.append(
                json.dumps(
                    {
                        "specversion": "1.0",
                        "id": f"{device}-{sequence}",
                        "source": f"/devices/{device}",
                        "type": f"pokdeng.{kind}.v1",
                        "time": (START + timedelta(milliseconds=500 * sequence)).isoformat(),
                        "subject": f"rounds/{round_id}",
                        "sequence": str(sequence),
                        "data": data,
                    }
                )
            )
            sequence += 1
        yield round_id, events
