"""Bets of a story: what stood when the terminal did its first other act, and over it what was ruled."""

from collections.abc import Mapping
from typing import Any

from casino.record.told import Ruling, Story
from casino.record.values import Event, Finding, Owner, Wager


def placed(story: Story, event: Event) -> None:
    data = event.data
    wager, hand, stake = data["wager"], data["hand"], data["stake"]
    amount, currency = stake["amount"], stake["currency"]
    placed_before = wager in story.placed
    story.placed[wager] = None
    if story.bets_closed_ms is not None:
        _late_bet(story, event, ("hand", hand), ("stake", amount), ("currency", currency))
        return
    why = "placed_before" if placed_before else _why_not(story, hand, currency)
    if why:
        story.findings.append(_not_in_play(wager, why, hand, amount, currency))
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
        story.findings.append(_not_in_play(wager, "unknown", None, amount, currency))
    elif currency != story.currency:
        story.findings.append(_not_in_play(wager, "currency", None, amount, currency))
    else:
        story.bets[wager] = Wager(wager, bet.hand, bet.owner, amount)


def withdrawn(story: Story, event: Event) -> None:
    wager = event.data["wager"]
    if story.bets_closed_ms is not None:
        _late_bet(story, event)
    elif story.bets.pop(wager, None) is None:
        story.find("bet_not_in_play", wager, ("why", "unknown"))


def ruled(story: Story, event: Event) -> None:
    """Take a ruling of a bet that counts."""
    data = event.data
    stake = data["stake"]
    story.rulings.append(
        Ruling(data["wager"], data["hand"], _owner(data["owner"]), stake["amount"], stake["currency"])
    )


def in_play(story: Story, *, acts: bool) -> tuple[tuple[Wager, ...], list[Finding]]:
    """Return the wagers in play, in order of placement, and what is found of those that were ruled.

    Of a wager the last ruling counts. One that was ever placed, if too late, keeps that place; those that never
    were come after all others, in the order of their first ruling. ``acts=False`` leaves rulings out.
    """
    if not (acts and story.rulings):
        return tuple(story.bets.values()), []
    last = {ruling.wager: ruling for ruling in story.rulings}
    wagers, findings = [], []
    for wager in (*story.placed, *(wager for wager in last if wager not in story.placed)):
        bet, ruling = story.bets.get(wager), last.get(wager)
        if ruling is not None:
            findings.append(_bet_ruled(bet, ruling))
            why = _why_not(story, ruling.hand, ruling.currency) if ruling.stake else ""
            if why:
                findings.append(_not_in_play(wager, why, ruling.hand, ruling.stake, ruling.currency))
            plays = ruling.stake and not why
            bet = Wager(wager, ruling.hand, ruling.owner, ruling.stake) if plays else None
        if bet is not None:
            wagers.append(bet)
    return tuple(wagers), findings


def _why_not(story: Story, hand: str, currency: str) -> str:
    """Why a bet cannot be in play, whoever says so; empty: it can."""
    if hand == "dealer" or hand.startswith("junk"):
        return "hand"
    return "currency" if currency != story.currency else ""


def _bet_ruled(bet: Wager | None, ruling: Ruling) -> Finding:
    """``before`` is the stake by the recorder's word, where there was a bet."""
    before = () if bet is None else (("before", bet.stake),)
    detail = (("hand", ruling.hand), *before, ("stake", ruling.stake), ("currency", ruling.currency))
    return Finding("bet_ruled", ruling.wager, detail)


def _late_bet(story: Story, event: Event, *detail: tuple[str, Any]) -> None:
    wager = event.data["wager"]
    bet = story.bets.get(wager)
    counts = () if bet is None else (("counts", bet.stake),)
    story.find("late_bet", wager, ("event", event.kind), *detail, *counts)


def _not_in_play(wager: str, why: str, hand: str | None, stake: int, currency: str) -> Finding:
    where = () if hand is None else (("hand", hand),)
    return Finding("bet_not_in_play", wager, (("why", why), *where, ("stake", stake), ("currency", currency)))


def _owner(data: Mapping[str, Any]) -> Owner:
    if "seat" in data:
        return Owner("seat", str(data["seat"]))
    if "account" in data:
        return Owner("account", data["account"])
    return Owner("person", str(data["person"]))
