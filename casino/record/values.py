"""The values of a round's record: what was reported, and what the fold makes of it.

Amounts are minor units (satang) of the one currency the fold was given; instants are milliseconds since
1970, UTC. The small values are named tuples: thousands are made each second, and they unpack in the order
of their fields.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Feed = Literal["terminal", "camera", "page", "decision"]
Lead = Literal["none", "terminal", "camera"]

HANDS = (
    *(f"p{number}" for number in range(1, 17)),
    "shared",
    *(f"junk{number}" for number in range(1, 10)),
    "dealer",
)
"""Every hand's name, in the order in which a record lists them."""

WAIVABLE = frozenset(
    {
        "awaiting_camera",
        "check_in_doubt",
        "declared_differs",
        "missing_banker",
        "missing_declaration",
        "number_jump",
        "records_differ",
    }
)
"""Reasons to hold that a supervisor may waive."""

DOUBTS_FLAGGED = frozenset(
    {
        "too_many_hands",
        "too_many_cards",
        "pok_drew",
        "duplicate_card",
        "reads_differ",
        "declared_differs",
    }
)
"""Doubts that stay flagged after a supervisor released them: their flags are read from
``RoundRecord.bare``.
"""


@dataclass(frozen=True, slots=True)
class Event:
    """One report, as recorded. ``seq`` is the device's own number (0 for pages and decisions), ``place`` the
    order in which it was recorded (unique in the whole service), ``signed`` whether a supervisor's
    sign-off counts for it, ``time_ms`` the device's word (pace only) and ``instant_ms`` the same put right
    (UTC, since 1970).

    ``source`` is the device's code; a page's or decision's path. ``jumped_from`` is the table's last round number
    where a ``round_opened`` was recorded whose own is implausibly far above it; None: it is not.
    """

    kind: str
    data: Mapping[str, Any]
    source: str
    feed: Feed
    seq: int
    place: int
    signed: bool = False
    time_ms: int = 0
    instant_ms: int = 0
    jumped_from: int | None = None


class Gap(NamedTuple):
    """Numbers ``first``..``last`` of the device ``source`` that never arrived and that could touch the round.

    A terminal's gap holds the round; a camera's (``feed``) becomes the finding ``camera_gap`` and holds
    nothing by itself.
    """

    source: str
    first: int
    last: int
    feed: Literal["terminal", "camera"] = "terminal"


class Owner(NamedTuple):
    """Whose wager it is: ``seat`` ("1".."16"), ``account`` ("player:A17"), or ``person`` (a dealer's own)."""

    kind: Literal["seat", "account", "person"]
    ref: str


class Wager(NamedTuple):
    """A stake (minor units) in play on one hand; the tuple of a record lists them in order of placement."""

    id: str
    hand: str
    owner: Owner
    stake: int


class Read(NamedTuple):
    """What one feed saw in a slot; ``source`` is the device."""

    source: str
    feed: Feed
    card: int


class Slot(NamedTuple):
    """Everything reported of one (hand, position). ``card`` is the effective one, None while there is none;
    a removed slot's card is dead: it takes part in nothing but was seen.

    ``silent``: only other feeds read this card, where the terminal gave the hand two cards and no draw."""

    hand: str
    position: int
    reads: tuple[Read, ...]
    ruled: int | None
    removed: bool
    card: int | None
    contested: bool
    silent: bool = False


class BetsApart(NamedTuple):
    """What another terminal (``source``) has as the sum of an owner's stakes on a hand, where the recorder has
    another (``ours``, 0: no bet), each as it stood when that terminal closed its bets (minor units).
    """

    source: str
    hand: str
    owner: Owner
    stake: int
    ours: int


class CheckInDoubt(NamedTuple):
    """A checked hand, and the dealer's slot ("dealer.1") that it met and that was removed afterwards, for the
    ``removal``-th time.
    """

    hand: str
    slot: str
    removal: int


class Waiver(NamedTuple):
    """A hold that a supervisor waived: the reason's code, and the round as it stood before that. Doubts that came
    later are not waived.
    """

    reason_code: str
    before: "RoundRecord"


class Hand(NamedTuple):
    """A hand in play. ``cards`` are the effective cards in order (closed up over dead ones), ``met`` the
    dealer cards it is compared with ("two": checked in time, the dealer's first two, for good; "final":
    whatever the dealer ends with), ``check_place`` its turn among the checks that counted (None: not
    checked) and ``checked_with`` how many cards it had then (0: not checked).

    ``drew`` is a draw mark that was not cancelled, whether or not the third face is known: a hand whose
    third card was read without a mark has three ``cards`` and no ``drew``.
    """

    name: str
    cards: tuple[int, ...]
    drew: bool
    stayed: bool
    pok_shown: bool
    met: Literal["two", "final"]
    check_place: int | None
    checked_with: int = 0


class Finding(NamedTuple):
    """A question about play, never about money: its kind, its subject ("" the round, "p1" a hand, "p1.3" a
    slot, "w2" a wager) and the figures its sentence needs (ints, strings and tuples of them; cards as
    text).
    """

    kind: str
    subject: str
    detail: tuple[tuple[str, Any], ...] = ()


class Banker(NamedTuple):
    """The player who holds the bank: wallet account, and the most he puts up (minor units)."""

    account: str
    limit: int


@dataclass(frozen=True, slots=True)
class RoundRecord:
    """One round, folded.

    ``wagers`` are those in play, ``hands`` every hand in play but the dealer's, by number, then shared,
    then junk; ``slots`` everything reported, of hands not in play too; ``unread_by_camera`` the live faces
    no camera read; ``declared`` the last declaration, of wagers in play; ``waivers`` those that were signed;
    ``bets_apart`` and ``checks_in_doubt`` what nobody ruled or waived; ``doubts`` the reasons to hold that need
    no rule sheet, in the order the service lists them; ``findings`` what conduct shows without a rule sheet, on
    this very record: see ``flags``;
    ``bare`` the record as it would stand without any supervisor's act (None where that is the same).
    ``took_ms`` is from opening to close by the clock of one device (None where two devices recorded the
    round). ``turns`` are the hands in the order of their first stay, draw or pok, the dealer's among them;
    ``dealt`` in the order of the terminal's first card of each (faces may be entered at the reveal, long
    after the deal). ``swayed_by`` names the leads under which the record reads otherwise.
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
    waivers: tuple[Waiver, ...]
    bets_apart: tuple[BetsApart, ...]
    checks_in_doubt: tuple[CheckInDoubt, ...]
    doubts: tuple[str, ...]
    findings: tuple[Finding, ...]
    bare: "RoundRecord | None" = None
    turns: tuple[str, ...] = ()
    dealt: tuple[str, ...] = ()
    swayed_by: tuple[Lead, ...] = ()
    story: Any = field(default=None, repr=False, compare=False)
