"""A round as its events tell it: ``fold(events) -> RoundRecord``.

The terminal tells the story (bets, lock, marks, checks, close), cameras only read cards. The same reports give
the same record in whatever order they arrived. Nothing here knows a house's rules: where a rule sheet decides how
contradicting reads are taken (the feed that leads), ``led(record, lead=…)`` gives the record under that sheet.

Read in order: the values, then ``fold``, then its steps.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Feed = Literal["terminal", "camera", "page", "decision"]
Lead = Literal["none", "terminal", "camera"]


@dataclass(frozen=True, slots=True)
class Event:
    """One report, as recorded. ``seq`` is the device's own number (0 for pages and decisions), ``place`` the
    order in which it was recorded (unique in the whole service), ``signed`` whether a supervisor's sign-off counts
    for it, ``time_ms`` the device's word (pace only) and ``instant_ms`` the same put right (UTC, since 1970)."""

    kind: str
    data: Mapping[str, Any]
    source: str
    feed: Feed
    seq: int
    place: int
    signed: bool = False
    time_ms: int = 0
    instant_ms: int = 0


@dataclass(frozen=True, slots=True)
class Gap:
    """Numbers ``first``..``last`` of the device ``source`` that never arrived and that could touch the round."""

    source: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose wager it is: ``seat`` ("1".."16"), ``account`` ("player:A17"), or ``person`` (a dealer's own)."""

    kind: Literal["seat", "account", "person"]
    ref: str


@dataclass(frozen=True, slots=True)
class Wager:
    """A stake (minor units) in play on one hand; the tuple of a record lists them in order of placement."""

    id: str
    hand: str
    owner: Owner
    stake: int


@dataclass(frozen=True, slots=True)
class Read:
    """What one feed saw in a slot; ``source`` is the device."""

    source: str
    feed: Feed
    card: int


@dataclass(frozen=True, slots=True)
class Slot:
    """Everything reported of one (hand, position). ``card`` is the effective one, None while there is none;
    a removed slot's card is dead: it takes part in nothing but was seen."""

    hand: str
    position: int
    reads: tuple[Read, ...]
    ruled: int | None
    removed: bool
    card: int | None
    contested: bool


@dataclass(frozen=True, slots=True)
class Hand:
    """A hand in play. ``cards`` are the effective cards in order, ``met`` the dealer cards it is compared with
    ("two": checked in time, the dealer's first two, for good; "final": whatever the dealer ends with),
    ``check_place`` its turn among the checks that counted (None: not checked)."""

    name: str
    cards: tuple[int, ...]
    drew: bool
    stayed: bool
    pok_shown: bool
    met: Literal["two", "final"]
    check_place: int | None


@dataclass(frozen=True, slots=True)
class Finding:
    """A question about play, never about money: its kind, its subject ("" the round, "p1" a hand, "p1.3" a slot,
    "w2" a wager) and the figures its sentence needs."""

    kind: str
    subject: str
    detail: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Banker:
    """The player who holds the bank: wallet account, and the most he puts up (minor units)."""

    account: str
    limit: int


@dataclass(frozen=True, slots=True)
class RoundRecord:
    """One round, folded.

    ``wagers`` are those in play, ``hands`` every hand in play but the dealer's, by number, then shared, then junk;
    ``doubts`` the reasons to hold that need no rule sheet, in the order the service lists them;
    ``findings`` what conduct shows without a rule sheet; ``bare`` the record as it would stand without any
    supervisor's act (None where that is the same), which flags are read from.
    """

    number: int | None
    direction: str
    order: tuple[str, ...]
    banker: Banker | None
    deck: str
    sheet_shown: str
    state: Literal["open", "closed", "voided"]
    opened_ms: int | None
    bets_closed_ms: int | None
    closed_ms: int | None
    took_ms: int | None
    wagers: tuple[Wager, ...]
    hands: tuple[Hand, ...]
    dealer: Hand
    slots: tuple[Slot, ...]
    cards_seen: int
    unread_by_camera: tuple[tuple[str, int], ...]
    declared: Mapping[str, int]
    waived: frozenset[str]
    doubts: tuple[str, ...]
    findings: tuple[Finding, ...]
    bare: "RoundRecord | None" = None


def fold(events: Sequence[Event], *, unknown: Sequence[Gap] = (), currency: str = "THB") -> RoundRecord:
    raise NotImplementedError


def led(record: RoundRecord, *, lead: Lead) -> RoundRecord:
    raise NotImplementedError
