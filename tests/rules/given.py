"""Cards, rounds and known-good cases as these tests write them.

A round is written as short events, ``{"type": …, "data": …}`` with ``from`` and ``gap`` as the cases have
them, or by ``a_round``, which makes those events of bets and cards.
"""

import functools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from casino import cards as deck
from casino.record import Event, Gap, RoundRecord, fold
from settlement.rules import hands

CASES = Path(__file__).parent.parent / "cases"

SIGNED = (
    "bet_ruled",
    "card_ruled",
    "card_removed",
    "hold_waived",
    "round_voided",
    "recorder_changed",
    "mispay_found",
    "mispay_put_right",
)
"""What the supervisor on duty signs, unless a test says otherwise."""

Short = dict[str, Any]
Test = TypeVar("Test", bound=Callable[..., None])


@functools.cache
def case(name: str) -> Any:
    return json.loads((CASES / name).read_text())


def hand(text: str | list[str]) -> tuple[int, ...]:
    """Return the cards of ``"9S 9D"`` or ``["9S", "9D"]``."""
    return tuple(map(deck.parse, text.split() if isinstance(text, str) else text))


def told(short: Sequence[Short]) -> tuple[list[Event], list[Gap]]:
    """Return the events as recorded in this order, and the gaps of the terminal.

    A supervisor acts from a page; the camera and each terminal count their own numbers.
    """
    events, gaps = [], []
    last = {"terminal": 0, "terminal2": 0, "camera": 0}
    for place, event in enumerate(short, 1):
        feed = event.get("from", "terminal")
        if feed == "supervisor":
            source, feed, seq = "people/supervisor", "page", 0
        else:
            source = f"PD01-{feed}"
            missing = event.get("gap", 0)
            if missing:
                gaps.append(Gap(source, last[feed] + 1, last[feed] + missing))
            last[feed] += missing + 1
            seq = last[feed]
            feed = feed.removesuffix("2")
        at = 1_000 * place
        signed = event.get("signed", event["type"] in SIGNED)
        events.append(Event(event["type"], event["data"], source, feed, seq, place, signed, at, at))
    return events, gaps


def folded(short: Sequence[Short], *, took_ms: int | None = None) -> RoundRecord:
    """Return the record; ``took_ms`` is how long the round took by the terminal's clock, a second an event
    if None."""
    events, gaps = told(short)
    if took_ms is not None:
        events[-1] = replace(events[-1], time_ms=events[0].time_ms + took_ms)
    return fold(events, unknown=gaps)


def thb(amount: int) -> dict[str, Any]:
    return {"amount": amount, "currency": "THB"}


def a_bet(wager: str, on: str, stake: int, *, by: int | str) -> Short:
    owner = {"seat": by} if isinstance(by, int) else {"account": by}
    return {
        "type": "bet_placed",
        "data": {"wager": wager, "hand": on, "owner": owner, "stake": thb(stake)},
    }


def a_card(name: str, position: int, card: str, *, by: str = "terminal") -> Short:
    return {"type": "card_dealt", "data": {"hand": name, "position": position, "card": card}, "from": by}


def an_act(kind: str, **data: Any) -> Short:
    return {"type": kind, "data": data}


def short_round(
    *,
    cards: Mapping[str, str],
    bets: Mapping[str, int] | Sequence[Short] = (),
    opened: Mapping[str, Any] | None = None,
    lock: Mapping[str, Any] | None = None,
    checks: Sequence[Sequence[str]] = (),
    turns: Sequence[str] | None = None,
    camera: bool | Iterable[str] = False,
    extra: Sequence[Short] = (),
    before_bets_close: Sequence[Short] = (),
) -> list[Short]:
    """Return the events of a round played in order: bets, lock, two cards each, stays and draws, the early
    checks, the dealer's third card, whatever is ``extra``, the close.

    ``bets`` are stakes by hand (p3's is seat 3's, the shared hand's seat 1's) or whole bets; ``turns`` the
    order in which hands stay or draw; ``camera`` the hands a camera reads too.
    """
    if isinstance(bets, Mapping):
        bets = [
            a_bet(f"w{n}", name, stake, by=int(name[1:]) if name[0] == "p" else 1)
            for n, (name, stake) in enumerate(bets.items(), 1)
        ]
    faces = {name: text.split() for name, text in cards.items()}
    seen_by_camera = faces if camera is True else camera or ()
    events = [
        an_act("round_opened", number=1, direction="clockwise", **(opened or {})),
        *bets,
        *before_bets_close,
    ]
    events.append(an_act("bets_locked", **(lock or {})))
    for name, seen in faces.items():
        events += [a_card(name, position, card) for position, card in enumerate(seen[:2], 1)]
    guests = [name for name in faces if name != "dealer"]
    for name in turns if turns is not None else [*guests, "dealer"]:
        if name == "dealer":
            events += [an_act("hand_checked", hands=list(checked)) for checked in checks]
            checks = ()
        events += _turn(name, faces.get(name, []))
    events += [
        a_card(name, position, card, by="camera")
        for name in seen_by_camera
        for position, card in enumerate(faces[name], 1)
    ]
    return [*events, *extra, an_act("round_closed")]


def _turn(name: str, seen: list[str]) -> list[Short]:
    drew = len(seen) > 2
    if len(seen) == 2 and sum(hands.TAEM[deck.rank(card)] for card in hand(seen)) % 10 > 7:
        mark = an_act("pok_shown", hand=name)
    elif name == "dealer":
        mark = an_act("dealer_drew" if drew else "dealer_stayed")
    else:
        mark = an_act("hand_drew" if drew else "hand_stayed", hand=name)
    return [mark, *(a_card(name, position, card) for position, card in enumerate(seen[2:], 3))]


def a_round(**told_by: Any) -> RoundRecord:
    """Return the record of ``short_round(…)``."""
    return folded(short_round(**told_by))


ANSWERED: set[tuple[str, str]] = set()
"""Values of options for which some test works an answer by hand."""


def answers(option: str, *values: str) -> Callable[[Test], Test]:
    """Mark a test as the worked answer for these values of an option."""

    def mark(test: Test) -> Test:
        ANSWERED.update((option, value) for value in values)
        return test

    return mark
