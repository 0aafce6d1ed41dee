"""I7, I8 and I9 round by round: judged again from its events, and compared with everything that was stored of it."""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Any

from audit.controls.findings import Finding
from audit.controls.independent_judge import BANK
from audit.controls.round_rows import Case
from casino import cards, events, record
from casino.record import RoundRecord
from settlement import settling
from settlement.rules import doubts, hands
from settlement.rules.house_rules import HouseRules

MOST_HANDS = 17


def judged_the_same(case: Case) -> Iterator[Finding]:
    """I7: judging again gives the stored lines, and the record the stored hash."""
    if case.settlement is None:
        return
    sha256 = sha256_of(case.written)
    if sha256 != case.record_sha256:
        yield Finding(case.name, f"judged on a record {case.record_sha256}", f"{sha256} by its events")
    if case.outcome == "voided" and case.record.state == "voided":
        return
    if case.rules is None:
        yield Finding(case.name, "no sheet", "the sheet that judged it")
        return
    if case.judged.outcome != case.outcome:
        why = f" ({', '.join(case.judged.reasons)})" if case.judged.reasons else ""
        yield Finding(case.name, case.outcome, f"{case.judged.outcome}{why} by its events")
    if case.judged.house_net != case.house_net:
        yield Finding(case.name, f"house net {case.house_net}", f"{case.judged.house_net} by its events")
    for stored, expected in itertools.zip_longest(case.lines, lines_of(case)):
        if stored != expected:
            wager = (stored or expected)[0]
            yield Finding(f"{case.name}/{wager}", *_difference(stored, expected))


def lines_of(case: Case) -> list[tuple[Any, ...]]:
    """Return the lines that a round comes to, as they are stored."""
    return [tuple(line[name] for name in settling.LINE_FIELDS) for line in case.judged.lines]


def judged_by_the_sheet_in_force(case: Case) -> Iterator[Finding]:
    """I7: the sheet has its hash, two people agreed on it, and it was in force when the round opened."""
    if case.settlement is None or case.sheet is None:
        return
    if case.canonical_sha256 != case.sheet_sha256:
        yield Finding(f"rule-sheets/{case.sheet}", f"sha256 {case.sheet_sha256}", case.canonical_sha256)
    if not case.approved_in_time:
        yield Finding(
            case.name, f"sheet {case.sheet_sha256[:12]} not approved when it was put in force", "approved"
        )
    if case.in_force != case.sheet:
        yield Finding(case.name, f"judged by sheet {case.sheet}", f"{case.in_force}, in force when it opened")


def record_is_the_fold(case: Case) -> Iterator[Finding]:
    """I8: the cached record and the cards seen are what the events say."""
    if not case.effective or case.cached is None:
        if case.effective:
            yield Finding(case.name, "no cached record", "the fold of its events")
        return
    if case.settlement is None and "sequence_gap" in case.reasons:
        # What a gap leaves uncertain is not written down; the log knows what the record was.
        expected: Any = None
    else:
        expected = case.written
        if case.cached != expected:
            names = sorted(
                name
                for name in case.cached.keys() | expected.keys()
                if case.cached.get(name) != expected.get(name)
            )
            shown = {name: case.cached.get(name) for name in names}
            yield Finding(case.name, f"record has {shown}", str({name: expected.get(name) for name in names}))
        if case.cards_seen != case.record.cards_seen:
            yield Finding(case.name, f"cards seen {case.cards_seen}", str(case.record.cards_seen))
    if case.settlement is None and case.held_sha256 != sha256_of(case.cached):
        yield Finding(
            case.name, f"held on a record {sha256_of(case.cached)}", f"{case.held_sha256}, as the log says"
        )


def camera_saw_every_face(case: Case) -> Iterator[Finding]:
    """I8: where the sheet requires the camera, no round settled with a face it had not read, unless waived."""
    if case.rules is None or case.outcome != "settled" or not case.rules.requires.camera:
        return
    unread = doubts.unread_by_camera(_as_judged(case, case.rules))
    if unread:
        faces = ", ".join(f"{hand}.{position}" for hand, position in unread)
        yield Finding(case.name, f"settled without a camera's read of {faces}", "held, or waived")


def possible(case: Case) -> Iterator[Finding]:
    """I9: of an effective round, what the stored record and lines say can be true."""
    if case.settlement is None or not case.effective or case.outcome != "settled" or case.rules is None:
        return
    led = _as_judged(case, case.rules)
    for found, expected in itertools.chain(
        _impossible_hands(_hands_of(case.cached or {}), case.rules),
        _impossible_hands({hand.name: [cards.text(card) for card in hand.cards] for hand in (*led.hands, led.dealer)},
                          case.rules),
        _impossible_lines(case, led),
    ):  # fmt: skip
        yield Finding(case.name, found, expected)
    for slot in led.slots:
        if slot.contested and not slot.removed and slot.card is None:
            yield Finding(
                f"{case.name}/{slot.hand}.{slot.position}", "reads differ", "ruled, or a feed leads"
            )


def _as_judged(case: Case, rules: HouseRules) -> RoundRecord:
    """The record under its sheet, without wagers that had no wallet."""
    outside = frozenset(case.inputs.get("not_in_play", ()))
    return record.led(case.record, lead=rules.feed_lead, without=outside)


def _hands_of(cached: dict[str, Any]) -> dict[str, list[str]]:
    named = [*cached.get("hands", ()), *([cached["dealer"]] if "dealer" in cached else [])]
    return {hand["name"]: list(hand.get("cards", ())) for hand in named}


def _impossible_hands(held: dict[str, list[str]], rules: HouseRules) -> Iterator[tuple[str, str]]:
    if len(held) > MOST_HANDS:
        yield f"{len(held)} hands", f"at most {MOST_HANDS}"
    times = Counter(card for dealt in held.values() for card in dealt)
    twice = sorted(card for card, count in times.items() if count > 1)
    if twice:
        yield f"{', '.join(twice)} more than once", "no card twice"
    for name, dealt in held.items():
        if len(dealt) not in (2, 3):
            yield f"{len(dealt)} cards in {name}", "two or three"
        elif len(dealt) == 3 and _is_pok(dealt[:2], rules):
            yield f"three cards in {name}, whose first two are a pok", "two"


def _is_pok(dealt: list[str], rules: HouseRules) -> bool:
    return dealt[0] != dealt[1] and hands.classify([cards.parse(card) for card in dealt], rules).kind == "pok"


def _impossible_lines(case: Case, led: RoundRecord) -> Iterator[tuple[str, str]]:
    lines = [line for line in case.lines if line[0] != BANK]
    outside = set(case.inputs.get("not_in_play", ()))
    wagers = sorted(wager.id for wager in led.wagers if wager.id not in outside)
    if sorted(line[0] for line in lines) != wagers:
        yield f"lines for {sorted(line[0] for line in lines)}", f"one for each of {wagers}"
    for line in lines:
        if line[1] == "dealer" or line[1].startswith("junk"):
            yield f"wager {line[0]} on {line[1]}", "no wager on a junk hand or the dealer's"
    dealt = {line[1]: line[6] for line in lines}
    yield from _impossible_hands(dealt, case.rules) if case.rules else ()


def _difference(stored: tuple[Any, ...] | None, judged: tuple[Any, ...] | None) -> tuple[str, str]:
    if stored is None or judged is None:
        return ("no line" if stored is None else f"a line {stored}"), (
            "no line" if judged is None else f"{judged}"
        )
    named = list(zip(settling.LINE_FIELDS, stored, judged, strict=True))
    found = {name: ours for name, ours, theirs in named if ours != theirs}
    return str(found), str({name: theirs for name, ours, theirs in named if ours != theirs})


def sha256_of(written: dict[str, Any]) -> str:
    """Return the hash of a record as it is stored and told to the witness."""
    return hashlib.sha256(events.canonical(written)).hexdigest()
