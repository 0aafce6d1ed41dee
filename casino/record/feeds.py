"""Who tells a round: its recorder's events in order, and beside them what other feeds sent.

The recorder is the terminal whose opening was recorded first; ``recorder_changed``, signed, hands the
story to another, from that event on. Events past a gap of their terminal are left out: nobody knows what
they follow.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from operator import attrgetter
from typing import NamedTuple

from casino.record.values import Event, Gap

_by_seq = attrgetter("seq")
_by_place = attrgetter("place")


class Feeds(NamedTuple):
    """``story`` is the recorder's in its order (with a new recorder: the old one's, then the new one's);
    ``others`` other terminals' by device and number; ``pages`` acts from pages and decisions in the order
    of recording; ``holed`` whether a terminal's gap may hide something.
    """

    story: list[Event]
    recorders: frozenset[str]
    others: list[Event]
    cameras: list[Event]
    pages: list[Event]
    holed: bool


def before(events: Sequence[Event], act: Event) -> list[Event]:
    """Return the events that an act follows in the fold.

    Of its own device those with lower numbers, of everybody else what was recorded before it; of a terminal's act also
    every camera's, which have no order. A terminal's event counts as recorded with the last of those it follows.
    """
    recorded = {(event.source, event.seq): place for place, event in as_recorded(events)}
    by_a_page = act.feed != "terminal"
    place = act.place if by_a_page else recorded[act.source, act.seq]
    found = []
    for event in events:
        if event.feed != "terminal":
            follows = event.place < place or (event.feed == "camera" and not by_a_page)
        elif event.source == act.source:
            follows = event.seq < act.seq
        else:
            follows = recorded[event.source, event.seq] < place
        if follows:
            found.append(event)
    return found


def as_recorded(events: Sequence[Event]) -> list[tuple[int, Event]]:
    """Return terminals' events by device and number, each with the place at which everything it follows was there."""
    sent: dict[str, list[Event]] = {}
    for event in events:
        if event.feed == "terminal":
            sent.setdefault(event.source, []).append(event)
    found: list[tuple[int, Event]] = []
    for source in sorted(sent):
        in_order = sorted(sent[source], key=_by_seq)
        found += zip(accumulate((event.place for event in in_order), max), in_order, strict=True)
    return found


class _Stint(NamedTuple):
    """One terminal as recorder: its numbers from ``first`` on, of what was recorded before
    place ``until``.
    """

    source: str
    first: int
    until: int | None


def parted(events: Sequence[Event], *, unknown: Sequence[Gap]) -> Feeds:
    """Sort the events of a round by who sent them; the order in which they are given does not matter."""
    terminals: dict[str, list[Event]] = {}
    cameras: list[Event] = []
    pages: list[Event] = []
    for event in events:
        feed = event.feed
        if feed == "terminal":
            sent = terminals.get(event.source)
            if sent is None:
                sent = terminals[event.source] = []
            sent.append(event)
        elif feed == "camera":
            cameras.append(event)
        else:
            pages.append(event)
    for sent in terminals.values():
        sent.sort(key=_by_seq)
    cameras.sort(key=_by_seq)
    pages.sort(key=_by_place)
    gaps = [gap for gap in unknown if gap.feed == "terminal"]
    if len(terminals) == 1:
        [(source, story)] = terminals.items()
        if gaps:
            story = _believed(source, story, gaps)
        return Feeds(story, frozenset((source,)), [], cameras, pages, bool(gaps))
    story, recorders, others = _shared(terminals, gaps)
    return Feeds(story, recorders, others, cameras, pages, bool(gaps))


def _believed(source: str, sent: list[Event], gaps: Sequence[Gap]) -> list[Event]:
    """A terminal is believed up to its first missing number. A gap may name the device by the end of its
    path.
    """
    code = source.rpartition("/")[2]
    missing = [gap.first for gap in gaps if gap.source.rpartition("/")[2] == code]
    return [event for event in sent if event.seq < min(missing)] if missing else sent


def _shared(
    terminals: dict[str, list[Event]], gaps: Sequence[Gap]
) -> tuple[list[Event], frozenset[str], list[Event]]:
    """Split what several terminals sent into the story and the rest."""
    opener = _opener(terminals)
    terminals = {source: _believed(source, sent, gaps) for source, sent in terminals.items()}
    stints = list(_stints(terminals, opener)) if opener else []
    recorders = frozenset(stint.source for stint in stints)
    story: list[Event] = []
    for place, stint in enumerate(stints):
        last = next((later.first for later in stints[place + 1 :] if later.source == stint.source), None)
        story += [
            event
            for event in terminals[stint.source]
            if stint.first <= event.seq
            and (last is None or event.seq < last)
            and (stint.until is None or event.place < stint.until)
        ]
    told = {(event.source, event.seq) for event in story}
    others = [
        event
        for source in sorted(terminals)
        for event in terminals[source]
        if (source, event.seq) not in told and not (source in recorders and _is_late(event, stints))
    ]
    return story, recorders, others


def _opener(terminals: dict[str, list[Event]]) -> str:
    """The first recorder; while no opening is there, who sent the first event recorded. Empty:
    no terminal.
    """
    every = [event for sent in terminals.values() for event in sent]
    openings = [event for event in every if event.kind == "round_opened"]
    return min(openings or every, key=_by_place).source if every else ""


def _stints(terminals: dict[str, list[Event]], opener: str) -> Iterator[_Stint]:
    source, first = opener, 0
    changes = (
        event
        for sent in terminals.values()
        for event in sent
        if event.kind == "recorder_changed" and event.signed
    )
    for change in sorted(changes, key=_by_place):
        if change.source != source:
            yield _Stint(source, first, change.place)
            source, first = change.source, change.seq
    yield _Stint(source, first, None)


def _is_late(event: Event, stints: list[_Stint]) -> bool:
    """Whether a terminal that is no longer recorder sent it after it was replaced."""
    ended = [stint.until for stint in stints if stint.source == event.source]
    return None not in ended and event.place > max(until for until in ended if until is not None)
