"""Decks: a card that is missing shows itself by never being seen, one too many by being seen twice.

A full deck hides one named card through rounds of k cards with odds Π(1 − k/52), any card with at most 52 times that.
Below the house's limit the deck is counted, which takes a minute and accuses nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from audit.statistics import probability
from audit.statistics.round_sample import Alarm, Answer, Played
from casino import cards as deck


class Shown(NamedTuple):
    """What one round showed of its deck: its id, its number, and the set of cards."""

    round: str
    number: int
    cards: int


class Absent(NamedTuple):
    """A card that was not seen from the round ``first`` to ``last``; ``odds`` that a full deck hides it so long, and
    ``any`` that it hides any card."""

    card: int
    rounds: int
    first: Shown
    last: Shown
    odds: float
    any: float


def absent(shown: Sequence[Shown], *, below: float) -> list[Absent]:
    """Return the cards that were absent up to the last of these rounds so long that the odds fall below a limit.

    ``shown`` are rounds of one deck in their order, since it was opened or counted.
    """
    found: list[Absent] = []
    unseen = (1 << probability.CARDS) - 1
    for count, one in enumerate(reversed(shown)):
        found += _long_absent(unseen & one.cards, shown[len(shown) - count :], below)
        unseen &= ~one.cards
        if not unseen:
            return found
    return found + _long_absent(unseen, shown, below)


def _long_absent(cards: int, run: Sequence[Shown], below: float) -> list[Absent]:
    """Those of a set of cards that were absent in a run, where it is long enough."""
    if not cards or not run or probability.CARDS * _product(one.cards.bit_count() for one in run) > 2 * below:
        return []
    found = [_absence(card, run) for card in deck.DECK if cards >> card & 1]
    return [one for one in found if one.any < below]


def _absence(card: int, run: Sequence[Shown]) -> Absent:
    counts = [one.cards.bit_count() for one in run]
    odds = float(probability.hidden(counts))
    return Absent(card, len(run), run[0], run[-1], odds, float(probability.hidden_any(counts)))


def alarm(one: Absent, *, table: str, stopped: bool) -> Alarm:
    """Return an absence as what is flagged: once for each time a card goes missing."""
    card = deck.text(one.card)
    return Alarm(
        "short_deck",
        f"rounds/{one.first.round}#{card}",
        {
            "card": card,
            "rounds": one.rounds,
            "odds": probability.written(one.odds, 1),
            "any": probability.written(one.any, 2),
            "first": one.first.number,
            "last": one.last.number,
            "stopped": int(stopped),
        },
        table=table,
        round=one.last.round,
    )


@dataclass(slots=True)
class _Deck:
    """A deck in play: its rounds so far, and since when each card has not been seen."""

    table: str
    code: str
    shown: list[Shown] = field(default_factory=list)
    last_seen: list[int] = field(default_factory=lambda: [0] * probability.CARDS)


class Tally:
    """Decks of a day, table by table: those named by their id, and where none is named, the session's."""

    def __init__(self, *, below: float) -> None:
        self._below = below
        self._deck: _Deck | None = None
        self._key: tuple[str, str] | None = None
        self._figures: list[dict[str, Any]] = []
        self._found: list[tuple[str, Absent]] = []
        self._expected = 0.0
        self._rounds = self._cards = 0
        self._twice: list[dict[str, Any]] = []

    def add(self, one: Played) -> None:
        """Take a round, a voided one too: what was seen in it was seen."""
        if not one.cards_seen:
            return
        key = (one.table, one.deck or one.session)
        if key != self._key or one.counted or self._deck is None:
            self._end()
            self._deck, self._key = _Deck(one.table, one.deck), key
        self._see(self._deck, Shown(one.id, one.number, one.cards_seen))
        for card in one.duplicates:
            self._twice.append({"table": one.table, "round": one.id, "card": card})

    def _see(self, current: _Deck, shown: Shown) -> None:
        place = len(current.shown)
        for card in deck.DECK:
            if shown.cards >> card & 1:
                self._take(current, card, place)
                current.last_seen[card] = place + 1
        current.shown.append(shown)
        count = shown.cards.bit_count()
        self._rounds += 1
        self._cards += count
        if 0 < count < probability.CARDS:
            until = probability.rounds_until(count, self._below)
            self._expected += 1 / probability.between_alarms(count, until)

    def _take(self, current: _Deck, card: int, until: int) -> None:
        """Note a card's absence up to a round, where it was long enough."""
        run = current.shown[current.last_seen[card] : until]
        self._found += [(current.table, one) for one in _long_absent(1 << card, run, self._below)]

    def _end(self) -> None:
        current = self._deck
        if current is None:
            return
        for card in deck.DECK:
            self._take(current, card, len(current.shown))
        self._figures.append(
            {
                "table": current.table,
                "deck": current.code,
                "rounds": len(current.shown),
                "never_seen": [deck.text(card) for card in deck.DECK if not current.last_seen[card]],
            }
        )
        self._deck = None

    def answer(self, earlier: Sequence[Mapping[str, Any]]) -> Answer:  # noqa: ARG002 - every day's decks by themselves
        """Say which cards were absent longer than the limit lets pass, and which were seen twice in a round."""
        self._end()
        usual = round(self._cards / self._rounds) if self._rounds else 0
        return Answer(
            counts={},
            sample={"rounds": self._rounds, "decks": len(self._figures), "cards_a_round": usual},
            power={
                "limit": probability.written(self._below),
                "rounds": probability.rounds_until(usual, self._below) if 0 < usual < 52 else None,
            },
            expected=probability.written(self._expected, 2),
            tests=self._rounds,
            figures=[*self._figures, *self._twice],
            alarms=[alarm(one, table=table, stopped=False) for table, one in self._found],
        )


def _product(counts: Iterable[int]) -> float:
    """The odds as a float; exact ones are worked out for those few that come near the limit."""
    odds = 1.0
    for count in counts:
        odds *= 1 - count / probability.CARDS
    return odds
