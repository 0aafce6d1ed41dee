"""What the reports of a round say, before anything is weighed: ``tell(events) -> Story``.

The recorder's events are told in its own order: bets, the lock, marks, checks, the dealer's draw, the
close. Reads of every feed are collected by slot, and what supervisors did is kept apart, so that the
record can be made with it and without it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, NamedTuple

from casino import cards
from casino.record import feeds
from casino.record.values import HANDS, Banker, Event, Finding, Gap, Owner, Read, Wager

BASE = {hand: place * 8 for place, hand in enumerate(HANDS)}
"""A slot's key is its hand's base + its position (1–6), so that sorted keys are slots in
the record's order.
"""

AFTER_ALL = 1 << 62
"""The turn of an act that follows the whole story: one from a page, a decision, or another terminal."""

_CARD = {cards.text(card): card for card in cards.DECK}
_WHILE_BETS_ARE_OPEN = frozenset({"round_opened", "bet_placed", "bet_changed", "bet_withdrawn", "note"})


class Act(NamedTuple):
    """A card ``ruled`` or ``removed``, or a draw mark without a face taken back (``unmarked``), at its
    ``turn`` of the story. ``own``: the terminal's own act, which stands without any supervisor too.
    """

    kind: str
    key: int
    card: int
    turn: int
    place: int
    own: bool = False


@dataclass(slots=True)
class Story:
    """Everything told, gathered event by event by the handlers below; ``standing`` makes the record of it.

    ``marks`` are draw marks with their turn, ``drawn`` the hands that drew by mark or by third card,
    ``checked`` every hand checked at all, ``checks`` those whose check counted, with its place; ``dead``
    the positions of a hand that died in the story; ``supervised`` says that a supervisor's act changed
    something.
    """

    currency: str
    recorders: frozenset[str]
    holed: bool
    opened: Event | None = None
    closed: Event | None = None
    bets_closed_ms: int | None = None
    direction: str = ""
    order: tuple[str, ...] = ()
    banker: Banker | None = None
    deck: str = ""
    sheet_shown: str = ""
    bets: dict[str, Wager] = field(default_factory=dict)
    placed: set[str] = field(default_factory=set)
    reads: dict[int, list[Read]] = field(default_factory=dict)
    read_by_camera: set[int] = field(default_factory=set)
    marks: dict[str, int] = field(default_factory=dict)
    stayed: set[str] = field(default_factory=set)
    overstayed: set[str] = field(default_factory=set)
    pok_shown: set[str] = field(default_factory=set)
    drawn: set[str] = field(default_factory=set)
    dead: dict[str, set[int]] = field(default_factory=dict)
    dealer_drew: bool = False
    checked: set[str] = field(default_factory=set)
    checks: dict[str, int] = field(default_factory=dict)
    turns: dict[str, None] = field(default_factory=dict)
    dealt: dict[str, None] = field(default_factory=dict)
    declared: Mapping[str, int] = field(default_factory=dict)
    acts: list[Act] = field(default_factory=list)
    voided: bool = False
    waived: set[str] = field(default_factory=set)
    supervised: bool = False
    findings: list[Finding] = field(default_factory=list)
    turn: int = 0

    def find(self, kind: str, subject: str, *detail: tuple[str, Any]) -> None:
        self.findings.append(Finding(kind, subject, detail))


def tell(events: Sequence[Event], *, unknown: Sequence[Gap], currency: str) -> Story:
    """Gather what ``events`` say; raises ValueError for a kind of event that does not exist."""
    told = feeds.parted(events, unknown=unknown)
    story = Story(currency, told.recorders, told.holed)
    for event in told.cameras:
        _camera_read(story, event)
    for event in told.others:
        _from_another_terminal(story, event)
    _from_the_recorder(story, told.story)
    story.turn = AFTER_ALL
    for event in told.pages:
        _act(story, event)
    for wager in story.bets.values():
        if wager.owner.kind == "person":
            story.find("dealer_bet_on_guest", wager.id, ("hand", wager.hand), ("stake", wager.stake))
    for gap in unknown:
        if gap.feed == "camera":
            story.find("camera_gap", "", ("source", gap.source), ("first", gap.first), ("last", gap.last))
    return story


def _from_the_recorder(story: Story, told: list[Event]) -> None:
    others = len(story.acts)
    for turn, event in enumerate(told):
        story.turn = turn
        kind = event.kind
        if story.bets_closed_ms is None and kind not in _WHILE_BETS_ARE_OPEN:
            story.bets_closed_ms = event.instant_ms
        if kind == "card_dealt":
            _card_dealt(story, event)
        else:
            _handler(kind)(story, event)
    if others and len(story.acts) > others:
        # Each terminal's acts keep its own order; among terminals goes what was recorded first.
        recorded = list(accumulate((event.place for event in told), max))
        story.acts[others:] = [act._replace(place=recorded[act.turn]) for act in story.acts[others:]]
    if others:
        story.acts.sort(key=lambda act: act.place)


def _handler(kind: str) -> "Callable[[Story, Event], None]":
    try:
        return _HANDLERS[kind]
    except KeyError:
        raise ValueError(f"not a kind of event: {kind!r}") from None


def _camera_read(story: Story, event: Event) -> None:
    """A camera only reads; its second read of a slot replaces its first."""
    if event.kind != "card_dealt":
        return
    data = event.data
    key = BASE[data["hand"]] + data["position"]
    read = Read(event.source, "camera", _CARD[data["card"]])
    story.read_by_camera.add(key)
    seen = story.reads.get(key)
    if seen is None:
        story.reads[key] = [read]
        return
    if event.source in [other.source for other in seen]:
        seen[:] = [other for other in seen if other.source != event.source]
    seen.append(read)


def _from_another_terminal(story: Story, event: Event) -> None:
    """Its cards are reads, a supervisor's act signed there counts; its bets, marks and close are evidence
    only.
    """
    kind = event.kind
    if kind == "card_dealt":
        _terminal_read(story, event)
    elif kind == "card_corrected":
        _corrected_read(story, event)
    elif kind in _ACTS:
        story.turn = AFTER_ALL
        _act(story, event)
    else:
        _handler(kind)


def _terminal_read(story: Story, event: Event) -> bool:
    """Add a terminal's read and say whether it is its first of the slot; another card does not
    replace that.
    """
    data = event.data
    key = BASE[data["hand"]] + data["position"]
    read = Read(event.source, "terminal", _CARD[data["card"]])
    seen = story.reads.get(key)
    if seen is None:
        story.reads[key] = [read]
        return True
    first = True
    for other in seen:
        if other.source == read.source:
            first = False
            if other.card == read.card:
                return False
    seen.append(read)
    return first


def _corrected_read(story: Story, event: Event) -> bool:
    data = event.data
    key = BASE[data["hand"]] + data["position"]
    seen = story.reads.setdefault(key, [])
    others = [other for other in seen if other.source != event.source]
    first = len(others) == len(seen)
    seen[:] = [*others, Read(event.source, "terminal", _CARD[data["card"]])]
    return first


def _card_dealt(story: Story, event: Event) -> None:
    if _terminal_read(story, event):
        hand, position = event.data["hand"], event.data["position"]
        story.dealt[hand] = None
        if position > 2:
            _third_card(story, hand, position)


def _card_corrected(story: Story, event: Event) -> None:
    if _corrected_read(story, event):
        data = event.data
        story.dealt[data["hand"]] = None
        if data["position"] > 2:
            _third_card(story, data["hand"], data["position"])


def _third_card(story: Story, hand: str, position: int) -> None:
    if hand in story.dead and (position in story.dead[hand] or _rank(story, hand, position) < 3):
        return  # it is dead itself, or stands in for a dead card
    if hand in story.stayed and hand not in story.overstayed:
        story.overstayed.add(hand)
        story.find("card_after_stay", hand)
    _drew(story, hand)


def _rank(story: Story, hand: str, position: int) -> int:
    """Which card of the hand a position is once the order closes up over cards that died before."""
    return position - sum(1 for dead in story.dead.get(hand, ()) if dead < position)


def _drew(story: Story, hand: str) -> None:
    if hand == "dealer":
        story.dealer_drew = True
    elif hand in story.checked and hand not in story.drawn:
        story.find("drew_after_check", hand)
    story.drawn.add(hand)


def _round_opened(story: Story, event: Event) -> None:
    if story.opened is not None:
        _out_of_order(story, event)
        return
    if story.turn:
        _out_of_order(story, event)
    data = event.data
    story.opened = event
    if not story.direction:
        story.direction = data["direction"]
    banker = data.get("banker")
    if banker is not None and banker["limit"]["currency"] == story.currency:
        story.banker = Banker(banker["account"], banker["limit"]["amount"])
    story.deck = data.get("deck", "")
    story.sheet_shown = data.get("sheet_shown", "")


def _out_of_order(story: Story, event: Event) -> None:
    story.find("out_of_order_event", "", ("event", event.kind), ("source", event.source), ("seq", event.seq))


def _owner(data: Mapping[str, Any]) -> Owner:
    if "seat" in data:
        return Owner("seat", str(data["seat"]))
    if "account" in data:
        return Owner("account", data["account"])
    return Owner("person", str(data["person"]))


def _bet_placed(story: Story, event: Event) -> None:
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


def _bet_changed(story: Story, event: Event) -> None:
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


def _bet_withdrawn(story: Story, event: Event) -> None:
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


def _bets_locked(story: Story, event: Event) -> None:
    _after_the_close(story, event)
    data = event.data
    if data.get("direction"):
        story.direction = data["direction"]
    if data.get("order"):
        story.order = tuple(data["order"])


def _after_the_close(story: Story, event: Event) -> None:
    """A mark, check or lock that its device numbered after the close; a face may be entered late without a
    word.
    """
    if story.closed is not None:
        _out_of_order(story, event)


def _pok_shown(story: Story, event: Event) -> None:
    _after_the_close(story, event)
    hand = event.data["hand"]
    story.turns[hand] = None
    story.pok_shown.add(hand)


def _hand_stayed(story: Story, event: Event) -> None:
    _after_the_close(story, event)
    hand = event.data.get("hand", "dealer")
    story.turns[hand] = None
    story.stayed.add(hand)


def _hand_drew(story: Story, event: Event) -> None:
    _after_the_close(story, event)
    hand = event.data.get("hand", "dealer")
    story.turns[hand] = None
    story.marks[hand] = story.turn
    _drew(story, hand)


def _hand_checked(story: Story, event: Event) -> None:
    _after_the_close(story, event)
    for hand in event.data["hands"]:
        if hand == "dealer":
            continue
        if hand in story.checked:
            story.find("checked_twice", hand)
        story.checked.add(hand)
        if story.dealer_drew:
            story.find("check_after_dealer_drew", hand)
        elif hand not in story.checks:
            story.checks[hand] = len(story.checks)


def _result_declared(story: Story, event: Event) -> None:
    story.declared = event.data["multiples"]


def _round_closed(story: Story, event: Event) -> None:
    if story.closed is None:
        story.closed = event


def _act(story: Story, event: Event) -> None:
    """What a supervisor does, at the terminal or from a page: without a signature it changes nothing."""
    handler = _ACTS.get(event.kind)
    if handler is None:
        raise ValueError(f"not an act of a {event.feed}: {event.kind!r}")
    handler(story, event)


def _unsigned(story: Story, event: Event) -> bool:
    if event.signed:
        return False
    data = event.data
    subject = f"{data['hand']}.{data['position']}" if "position" in data else data.get("wager", "")
    story.find("unsigned_ruling", subject, ("event", event.kind))
    return True


def _card_ruled(story: Story, event: Event) -> None:
    if _unsigned(story, event):
        return
    data = event.data
    key = BASE[data["hand"]] + data["position"]
    story.acts.append(Act("ruled", key, _CARD[data["card"]], story.turn, event.place))
    story.supervised = True


def _card_removed(story: Story, event: Event) -> None:
    """Take a card away, or a draw mark that has no face: the latter is the terminal's own, signed or not.

    Where only another feed saw a face, the terminal may take back its mark, which leaves the two at odds; the
    card itself goes by signature alone.
    """
    hand, position = event.data["hand"], event.data["position"]
    key = BASE[hand] + position
    reads = story.reads.get(key, ())
    ruled = any(act.kind == "ruled" and act.key == key for act in story.acts)
    faced = ruled or any(event.signed or read.source in story.recorders for read in reads)
    if not faced and 3 in (position, _rank(story, hand, position)):
        by_a_page = event.feed != "terminal"
        if by_a_page or event.source in story.recorders:
            story.acts.append(Act("unmarked", key, -1, story.turn, event.place, own=not by_a_page))
            story.supervised |= by_a_page
    elif _unsigned(story, event):
        return
    else:
        story.acts.append(Act("removed", key, -1, story.turn, event.place))
        story.supervised = True
        story.dead.setdefault(hand, set()).add(position)
    if position >= 3:
        story.drawn.discard(hand)
        if hand == "dealer":
            story.dealer_drew = False


def _hold_waived(story: Story, event: Event) -> None:
    if not _unsigned(story, event):
        story.waived.add(event.data["reason_code"])
        story.supervised = True


def _round_voided(story: Story, event: Event) -> None:
    if not _unsigned(story, event):
        story.voided = True
        story.supervised = True


def _recorder_changed(story: Story, event: Event) -> None:
    _unsigned(story, event)


def _mispay_put_right(story: Story, event: Event) -> None:
    data = event.data
    _unsigned(story, event)
    paid, due = data["paid"], data["due"]
    story.find(
        "mispay",
        data["wager"],
        ("paid", paid["amount"]),
        ("due", due["amount"]),
        ("currency", due["currency"]),
    )


def _note(story: Story, event: Event) -> None:
    if event.data.get("kind") == "reconstructed":
        story.find("reconstructed", "", ("text", event.data.get("text", "")))


_ACTS: dict[str, Callable[[Story, Event], None]] = {
    "card_ruled": _card_ruled,
    "card_removed": _card_removed,
    "hold_waived": _hold_waived,
    "round_voided": _round_voided,
    "recorder_changed": _recorder_changed,
    "mispay_put_right": _mispay_put_right,
    "note": _note,
}

_HANDLERS: dict[str, Callable[[Story, Event], None]] = {
    "round_opened": _round_opened,
    "bet_placed": _bet_placed,
    "bet_changed": _bet_changed,
    "bet_withdrawn": _bet_withdrawn,
    "bets_locked": _bets_locked,
    "card_dealt": _card_dealt,
    "pok_shown": _pok_shown,
    "hand_stayed": _hand_stayed,
    "hand_drew": _hand_drew,
    "hand_checked": _hand_checked,
    "dealer_drew": _hand_drew,
    "dealer_stayed": _hand_stayed,
    "result_declared": _result_declared,
    "card_corrected": _card_corrected,
    "round_closed": _round_closed,
    **_ACTS,
}
