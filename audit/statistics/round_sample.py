"""What the screens are shown of a round, and what they answer. Values only.

Amounts are minor units of the round's currency, times milliseconds by the clock of one device. Whoever is not known
is "", what is not known is None.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from settlement.rules.house_rules import HouseRules


class Seat(NamedTuple):
    """A guest's hand as the dealer could see it: how many cards lay there at his decision, whether he compared it
    before he drew, and whether it was shown as a pok at once."""

    name: str
    cards: int
    checked: bool
    pok: bool


class Stake(NamedTuple):
    """One wager and what became of it, signed from the guest's side. ``brought`` is before commission, after what a
    player's bank could not pay."""

    wager: str
    hand: str
    owner: str
    amount: int
    multiple: int
    brought: int


class Late(NamedTuple):
    """A bet changed after the lock: ``after_ms`` later, to ``raised`` or lowered; ``multiple`` is what its hand came
    to (None: nobody else's wager tells)."""

    wager: str
    owner: str
    hand: str
    raised: bool
    after_ms: int | None
    multiple: int | None


class PutRight(NamedTuple):
    """A payout that was made and put right while the cards lay: to whom, what was paid and what was due."""

    owner: str
    paid: int
    due: int
    deng: int


class Steps(NamedTuple):
    """How long each step of a round took: from the lock to the first mark, to the dealer's decision, to the last
    card or check, to the close; and from opening to close."""

    deal: int | None
    act: int | None
    compare: int | None
    pay: int | None
    whole: int | None


@dataclass(frozen=True, slots=True)
class Played:
    """One round of a gaming day as it stands, settled or voided, in the order of table, session and number.

    ``dealer`` and ``dealer_draws`` are the dealer's cards; ``draws`` the two-card taem of every hand that had a
    choice, and whether it drew. ``cards_seen`` is the set of cards that any feed read, dead ones too. ``hour`` is
    the hour of the house's clock at the opening.
    """

    id: str
    table: str
    session: str
    number: int
    currency: str
    voided: bool
    dealt_by: str
    house: HouseRules | None
    deck: str
    cards_seen: int
    duplicates: tuple[str, ...]
    dealer: tuple[int, ...]
    dealer_draws: tuple[tuple[int, bool], ...]
    draws: tuple[tuple[int, bool], ...]
    seats: tuple[Seat, ...]
    stakes: tuple[Stake, ...]
    banked: bool
    late: tuple[Late, ...]
    put_right: tuple[PutRight, ...]
    steps: Steps
    opened_ms: int | None
    closed_ms: int | None
    hour: int
    counted: bool = False
    """The table's deck was counted between the round before and this one."""


def guest(one: Played, owner: str) -> str:
    """Name a guest across rounds: a seat without an account is somebody only within its session."""
    return owner if owner.startswith("player:") else f"{one.session} {owner}"


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something of note: ``kind`` and ``subject`` as a flag has them, ``detail`` the figures of its sentence.

    ``flagged``: chance alone hardly gives it among so many tests, so a person should look; an alarm that is not
    flagged is one that the screen gives by design now and then.
    """

    kind: str
    subject: str
    detail: Mapping[str, Any]
    table: str = ""
    round: str = ""
    flagged: bool = True


@dataclass(frozen=True, slots=True)
class Answer:
    """What a screen says of a day: integers, texts, lists and objects of them, no float.

    ``counts`` is what the days after it add up; ``sample`` how much was looked at, ``power`` what that could have
    shown, ``expected`` how many alarms chance alone gives, ``figures`` what was found by group.
    """

    counts: Mapping[str, Any]
    sample: Mapping[str, Any]
    power: Mapping[str, Any]
    expected: str
    tests: int
    figures: Sequence[Mapping[str, Any]] = ()
    alarms: Sequence[Alarm] = field(default=())


class Tally(Protocol):
    """A screen at work on one gaming day."""

    def add(self, one: Played) -> None:
        """Take a round; they come in the order of table, session and number."""
        ...

    def answer(self, earlier: Sequence[Mapping[str, Any]]) -> Answer:
        """Say what was found; ``earlier`` are the counts of the days before, newest first."""
        ...
