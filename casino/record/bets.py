"""Bets of a story: what is in play is what stood when the terminal did its first other act."""

from collections.abc import Mapping
from typing import Any

from casino.record.told import Story
from casino.record.values import Event, Owner, Wager


def placed(story: Story, event: Event) -> None:
    data = event.data
    wager, hand, stake = data["wager"], data["hand"], data["stake"]
    amount, currency = stake["amount"], stake["currency"]
    if story.bets_closed_ms is not None:
        _late_bet(story, event, ("hand", hand), ("stake", amount), ("currency", currency))
        return
    why = ""
    if wager in story.placed:
        why = "placed_before"
    elif hand == "dealer" or hand.startswith("junk"):
        why = "hand"
    elif currency != story.currency:
        why = "currency"
    story.placed.add(wager)
    if why:
        _not_in_play(story, wager, why, ("hand", hand), ("stake", amount), ("currency", currency))
    else:
        story.bets[wager] = Wager(wager, hand, _owner(data["owner"]), amount)


def changed(story: Story, event: Event) -> None:
    data = event.data
    wager, amount, currency = data["wager"], data["stake"]["amount"], data["stake"]["currency"]
    if story.bets_closed_ms is not None:
        _late_bet(story, event, ("stake", amount), ("currency", currency))
        return
    bet = story.bets.get(wager)
    if bet is None:
        _not_in_play(story, wager, "unknown", ("stake", amount), ("currency", currency))
    elif currency != story.currency:
        _not_in_play(story, wager, "currency", ("stake", amount), ("currency", currency))
    else:
        story.bets[wager] = Wager(wager, bet.hand, bet.owner, amount)


def withdrawn(story: Story, event: Event) -> None:
    wager = event.data["wager"]
    if story.bets_closed_ms is not None:
        _late_bet(story, event)
    elif story.bets.pop(wager, None) is None:
        _not_in_play(story, wager, "unknown")


def _late_bet(story: Story, event: Event, *detail: tuple[str, Any]) -> None:
    wager = event.data["wager"]
    bet = story.bets.get(wager)
    counts = () if bet is None else (("counts", bet.stake),)
    story.find("late_bet", wager, ("event", event.kind), *detail, *counts)


def _not_in_play(story: Story, wager: str, why: str, *detail: tuple[str, Any]) -> None:
    story.find("bet_not_in_play", wager, ("why", why), *detail)


def _owner(data: Mapping[str, Any]) -> Owner:
    if "seat" in data:
        return Owner("seat", str(data["seat"]))
    if "account" in data:
        return Owner("account", data["account"])
    return Owner("person", str(data["person"]))
