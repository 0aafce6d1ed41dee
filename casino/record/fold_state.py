"""A story as it is being told: everything gathered, nothing weighed yet."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from casino import cards
from casino.record.values import HANDS, Banker, BetsApart, Event, Finding, Owner, Read, Wager

BASE = {hand: place * 8 for place, hand in enumerate(HANDS)}
"""A slot's key is its hand's base + its position (1–6), so that sorted keys are slots in
the record's order.
"""

AFTER_ALL = 1 << 62
"""The turn of an act that follows the whole story: one from a page, a decision, or another terminal."""

CARD = {cards.text(card): card for card in cards.DECK}
"""Cards by their text, which was checked when the event was accepted."""


class Act(NamedTuple):
    """A card ``ruled`` or ``removed``, or a draw mark without a face taken back (``unmarked``), at its
    ``turn`` of the story. ``own``: the terminal's own act, which stands without any supervisor too.

    ``at`` is its place in the story by what was recorded: it follows all events of lower turns.
    """

    kind: str
    key: int
    card: int
    turn: int
    at: int
    place: int
    own: bool = False


class Ruling(NamedTuple):
    """A supervisor's word, or a decision's, of what a wager is; a ``stake`` of 0 is no bet."""

    wager: str
    hand: str
    owner: Owner
    stake: int
    currency: str
    place: int


class Check(NamedTuple):
    """A check that counted: its place among them, its ``turn`` of the story, the dealer's two positions that it met,
    and how many cards the hand had.
    """

    place: int
    turn: int
    met: tuple[int, ...]
    cards: int


@dataclass(slots=True)
class Story:
    """Everything told, gathered event by event; ``slots`` makes the record of it.

    ``marks`` are draw marks with their turn, ``drawn`` the hands that drew by mark or by third card,
    ``checked`` every hand checked at all, ``checks`` those whose check counted; ``apart`` where another terminal's
    bets are not the recorder's; ``waived`` the signed waivers; ``dead``
    the positions of a hand that died in the story; ``supervised`` says that a supervisor's act changed
    something. ``bets`` are those in play by the recorder's word, ``placed`` every wager it ever placed, in order;
    ``rulings`` of bets are in the order in which they count.
    """

    currency: str
    recorders: frozenset[str]
    holed: bool
    opened: Event | None = None
    jumped: bool = False
    closed: Event | None = None
    bets_closed_ms: int | None = None
    direction: str = ""
    order: tuple[str, ...] = ()
    banker: Banker | None = None
    deck: str = ""
    sheet_shown: str = ""
    bets: dict[str, Wager] = field(default_factory=dict)
    placed: dict[str, None] = field(default_factory=dict)
    rulings: list[Ruling] = field(default_factory=list)
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
    checks: dict[str, Check] = field(default_factory=dict)
    turns: dict[str, None] = field(default_factory=dict)
    dealt: dict[str, None] = field(default_factory=dict)
    declared: Mapping[str, int] = field(default_factory=dict)
    acts: list[Act] = field(default_factory=list)
    voided: bool = False
    waived: list[Event] = field(default_factory=list)
    apart: list[BetsApart] = field(default_factory=list)
    supervised: bool = False
    findings: list[Finding] = field(default_factory=list)
    turn: int = 0
    at: int = 0
    place: int = 0

    def find(self, kind: str, subject: str, *detail: tuple[str, Any]) -> None:
        self.findings.append(Finding(kind, subject, detail))

    def rank(self, hand: str, position: int) -> int:
        """Which card of the hand a position is, once the order closes up over cards that died before."""
        return position - sum(1 for dead in self.dead.get(hand, ()) if dead < position)
