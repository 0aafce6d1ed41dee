"""Bets of a story: what stood when the terminal did its first other act, and over it what was ruled."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from casino.record.fold_state import Ruling, Story
from casino.record.values import BetsApart, Event, Finding, Owner, Wager

WHILE_OPEN = frozenset(
    {
        "round_opened",
        "bet_placed",
        "bet_changed",
        "bet_withdrawn",
        "bet_ruled",
        "hold_waived",
        "note",
        "recorder_changed",
    }
)
"""Kinds that do not close a terminal's bets; its first of any other kind does."""


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
        Ruling(
            data["wager"],
            data["hand"],
            _owner(data["owner"]),
            stake["amount"],
            stake["currency"],
            story.place,
        )
    )


def apart(story: Story, sent: Mapping[str, Sequence[Event]]) -> list[BetsApart]:
    """Return where other terminals' bets (their events in order, by source) are not the recorder's.

    Compared by hand and owner, as they stood when each terminal closed its bets. A bet that the recorder alone has is
    no difference: the other terminal need not know of it.
    """
    ours = _sums(story)
    found = []
    for source in sorted(sent):
        theirs = Story(story.currency, frozenset((source,)), False)
        for event in sent[source]:
            if event.kind not in WHILE_OPEN:
                break
            if event.kind in _TOLD:
                _TOLD[event.kind](theirs, event)
        found += [
            BetsApart(source, hand, owner, stake, ours.get((hand, owner), 0))
            for (hand, owner), stake in _sums(theirs).items()
            if stake != ours.get((hand, owner), 0)
        ]
    return sorted(found)


def still_apart(story: Story, *, acts: bool) -> tuple[BetsApart, ...]:
    """Return the differences of ``story.apart`` that no counting ruling of a bet answers."""
    last = {ruling.wager: ruling for ruling in story.rulings} if acts else {}
    ruled = {(ruling.hand, ruling.owner) for ruling in last.values()}
    return tuple(one for one in story.apart if (one.hand, one.owner) not in ruled)


def _sums(story: Story) -> dict[tuple[str, Owner], int]:
    found: dict[tuple[str, Owner], int] = {}
    for bet in story.bets.values():
        found[bet.hand, bet.owner] = found.get((bet.hand, bet.owner), 0) + bet.stake
    return found


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


_TOLD: Mapping[str, Callable[[Story, Event], None]] = {
    "bet_placed": placed,
    "bet_changed": changed,
    "bet_withdrawn": withdrawn,
}
