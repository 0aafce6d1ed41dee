"""What the reports of a round say, before anything is weighed: ``tell(events) -> Story``.

The recorder's events are told in its own order: bets, the lock, marks, checks, the dealer's draw, the
close. Reads of every feed are collected by slot, and what supervisors did is kept apart, so that the
record can be made with it and without it.
"""

from bisect import bisect_left
from collections.abc import Callable, Container, Sequence
from itertools import accumulate

from casino.record import bets, feeds, supervisor_acts
from casino.record.fold_state import AFTER_ALL, BASE, CARD, Check, Story
from casino.record.values import Banker, Event, Gap, Read

_OF_CARDS = frozenset({"card_ruled", "card_removed"})


def tell(events: Sequence[Event], *, unknown: Sequence[Gap], currency: str) -> Story:
    """Gather what ``events`` say; raises ValueError for a kind of event that does not exist."""
    told = feeds.parted(events, unknown=unknown)
    story = Story(currency, told.recorders, told.holed)
    for event in told.cameras:
        _camera_read(story, event)
    others = [(place, event) for place, event in feeds.as_recorded(told.others) if not _is_read(story, event)]
    aside = [*others, *((event.place, event) for event in told.pages)]
    recorded = list(accumulate((event.place for event in told.story), max)) if aside else []
    _from_the_recorder(story, told.story, recorded, aside)
    for place, event in others:
        _aside(story, event, place=place, recorded=recorded)
    if others:
        # Each terminal's acts keep its own order; among terminals goes what was recorded first.
        story.acts.sort(key=lambda act: act.place)
        story.rulings.sort(key=lambda ruling: ruling.place)
    for event in told.pages:
        _aside(story, event, place=event.place, recorded=recorded)
    if told.others and not told.holed:
        story.apart = bets.apart(story, _by_source(told.others, but=told.recorders))
    for gap in unknown:
        if gap.feed == "camera":
            story.find("camera_gap", "", ("source", gap.source), ("first", gap.first), ("last", gap.last))
    return story


def _from_the_recorder(
    story: Story, told: list[Event], recorded: Sequence[int], aside: Sequence[tuple[int, Event]]
) -> None:
    """Tell the story. What others did to cards while it went on (``aside``, with the place of recording) shows in it
    from there on.
    """
    ahead = [one for one in aside if one[1].signed and one[1].kind in _OF_CARDS]
    ahead.sort(key=lambda one: one[0])
    ahead.reverse()
    for turn, event in enumerate(told):
        story.turn = story.at = turn
        if recorded:
            story.place = recorded[turn]
        while ahead and ahead[-1][0] < recorded[turn]:
            supervisor_acts.foresee(story, ahead.pop()[1])
        kind = event.kind
        if story.bets_closed_ms is None and kind not in bets.WHILE_OPEN:
            story.bets_closed_ms = event.instant_ms
        if kind == "card_dealt":
            _card_dealt(story, event)
        else:
            _handler(kind)(story, event)


def _aside(story: Story, event: Event, *, place: int, recorded: Sequence[int]) -> None:
    """Take an act of another terminal, a page or a decision; of another terminal's own story there is only evidence."""
    story.turn, story.at, story.place = AFTER_ALL, bisect_left(recorded, place), place
    if event.feed != "terminal" or event.kind in supervisor_acts.HANDLERS:
        supervisor_acts.take(story, event)
    else:
        _handler(event.kind)


def _by_source(events: Sequence[Event], *, but: Container[str]) -> dict[str, list[Event]]:
    """Events by the terminal that sent them; who became recorder is not another terminal."""
    found: dict[str, list[Event]] = {}
    for event in events:
        if event.source not in but:
            found.setdefault(event.source, []).append(event)
    return found


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
    read = Read(event.source, "camera", CARD[data["card"]])
    story.read_by_camera.add(key)
    seen = story.reads.get(key)
    if seen is None:
        story.reads[key] = [read]
        return
    if event.source in [other.source for other in seen]:
        seen[:] = [other for other in seen if other.source != event.source]
    seen.append(read)


def _is_read(story: Story, event: Event) -> bool:
    """Take a read of another terminal, and say whether it was one."""
    if event.kind == "card_dealt":
        _terminal_read(story, event)
    elif event.kind == "card_corrected":
        _corrected_read(story, event)
    else:
        return False
    return True


def _terminal_read(story: Story, event: Event) -> bool:
    """Add a terminal's read and say whether it is its first of the slot; another card does not
    replace that.
    """
    data = event.data
    key = BASE[data["hand"]] + data["position"]
    read = Read(event.source, "terminal", CARD[data["card"]])
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
    seen[:] = [*others, Read(event.source, "terminal", CARD[data["card"]])]
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
    if hand in story.dead and (position in story.dead[hand] or story.rank(hand, position) < 3):
        return  # it is dead itself, or stands in for a dead card
    if hand in story.stayed and hand not in story.overstayed:
        story.overstayed.add(hand)
        story.find("card_after_stay", hand)
    _drew(story, hand)


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
    if event.jumped_from is not None:
        story.jumped = True
        story.find("number_jump", "", ("number", data["number"]), ("last", event.jumped_from))
    if not story.direction:
        story.direction = data["direction"]
    banker = data.get("banker")
    if banker is not None and banker["limit"]["currency"] == story.currency:
        story.banker = Banker(banker["account"], banker["limit"]["amount"])
    story.deck = data.get("deck", "")
    story.sheet_shown = data.get("sheet_shown", "")


def _out_of_order(story: Story, event: Event) -> None:
    story.find("out_of_order_event", "", ("event", event.kind), ("source", event.source), ("seq", event.seq))


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
            dead = story.dead.get("dealer", ())
            met = tuple([position for position in range(1, 7) if position not in dead][:2])
            cards = 3 if hand in story.drawn else 2
            story.checks[hand] = Check(len(story.checks), story.turn, met, cards)


def _result_declared(story: Story, event: Event) -> None:
    story.declared = event.data["multiples"]


def _round_closed(story: Story, event: Event) -> None:
    if story.closed is None:
        story.closed = event


_HANDLERS: dict[str, Callable[[Story, Event], None]] = {
    "round_opened": _round_opened,
    "bet_placed": bets.placed,
    "bet_changed": bets.changed,
    "bet_withdrawn": bets.withdrawn,
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
    **supervisor_acts.HANDLERS,
}
