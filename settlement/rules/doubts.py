"""Why a round waits for a person: the doubts of its record, and those that only a rule sheet can raise.

Takes records as they stand under the sheet (``casino.record.led``). The list of reasons is always whole: it
names every doubt, not the first one met.
"""

from collections import Counter
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import NamedTuple

from casino.record import WAIVABLE, Hand, RoundRecord, Slot
from settlement.rules import hands as worth
from settlement.rules import lookup
from settlement.rules.house import HouseRules

REASONS = (
    "sequence_gap",
    "too_many_hands",
    "too_many_cards",
    "pok_drew",
    "duplicate_card",
    "reads_differ",
    "missing_card",
    "awaiting_camera",
    "missing_banker",
    "missing_declaration",
    "declared_differs",
    "number_jump",
)
"""In the order in which they are listed."""

_OF_CARDS = frozenset(
    {"sequence_gap", "too_many_cards", "pok_drew", "duplicate_card", "reads_differ", "missing_card"}
)
"""Without any of these every hand's cards are known. (Past a gap nobody says that a card is missing.)"""


class Apart(NamedTuple):
    """A wager whose declared multiple is not the judged one."""

    wager: str
    declared: int
    judged: int


def reasons(record: RoundRecord, house: HouseRules) -> tuple[str, ...]:
    """Return why the round cannot settle, waived reasons left out; empty when nothing is in doubt."""
    found = set(record.doubts)
    if too_many_hands(record, house):
        found.add("too_many_hands")
    if house.requires.camera and record.unread_by_camera:
        found.add("awaiting_camera")
    if house.banker == "player" and record.banker is None:
        found.add("missing_banker")
    if house.requires.declared_result and any(wager.id not in record.declared for wager in record.wagers):
        found.add("missing_declaration")
    if record.declared and declared_apart(record, house):
        found.add("declared_differs")
    if not found:
        return ()
    found -= record.waived & WAIVABLE
    return tuple(reason for reason in REASONS if reason in found)


def too_many_hands(record: RoundRecord, house: HouseRules) -> bool:
    """The dealer's, shared and junk hands count too."""
    return len(record.hands) + 1 > house.max_hands


def declared_apart(record: RoundRecord, house: HouseRules) -> tuple[Apart, ...]:
    """Return the wagers whose declared multiple is not the judged one, as far as their cards are beyond
    doubt.

    What was declared for a wager that is not in play is ignored.
    """
    judged = multiples(record, house)
    return tuple(
        Apart(wager.id, record.declared[wager.id], judged[wager.hand])
        for wager in record.wagers
        if wager.id in record.declared
        and wager.hand in judged
        and record.declared[wager.id] != judged[wager.hand]
    )


def multiples(record: RoundRecord, house: HouseRules) -> dict[str, int]:
    """Return the multiple of each hand that can be judged: its own cards and the dealer's that it met are
    known."""
    table = lookup.of(house)
    certain = _certain_hands(record)
    classes = {hand.name: table.class_of(hand.cards) for hand in record.hands if hand.name in certain}
    met = {}
    if _dealers_two_certain(record):
        met["two"] = table.class_of(record.dealer.cards[:2])
    if record.dealer.name in certain:
        met["final"] = table.class_of(record.dealer.cards)
    return {
        hand.name: table.outcomes[classes[hand.name]][met[hand.met]][0]
        for hand in record.hands
        if hand.name in classes and hand.met in met
    }


def without(record: RoundRecord, wagers: AbstractSet[str]) -> RoundRecord:
    """Return the record without wagers that do not play, and without the hands that only they put in play."""
    left = tuple(wager for wager in record.wagers if wager.id not in wagers)
    betted = {wager.hand for wager in left}
    dealt = {slot.hand for slot in record.slots if not slot.removed}
    hands = tuple(
        hand for hand in record.hands if hand.name in betted or hand.name in dealt or hand.cards or hand.drew
    )
    found = record.doubts
    if "missing_card" in found and len(hands) < len(record.hands):
        slots = _slots(record)
        if not any(_lacks_a_card(hand, slots.get(hand.name, [])) for hand in (*hands, record.dealer)):
            found = tuple(doubt for doubt in found if doubt != "missing_card")
    bare = without(record.bare, wagers) if record.bare is not None else None
    return replace(record, wagers=left, hands=hands, doubts=found, bare=bare)


def _certain_hands(record: RoundRecord) -> frozenset[str]:
    everyone = (*record.hands, record.dealer)
    if _OF_CARDS.isdisjoint(record.doubts):
        return frozenset(hand.name for hand in everyone)
    slots = _slots(record)
    times = Counter(card for hand in everyone for card in hand.cards)
    return frozenset(hand.name for hand in everyone if _is_certain(hand, slots.get(hand.name, []), times))


def _is_certain(hand: Hand, slots: list[Slot], times: Counter[int]) -> bool:
    return (
        len(hand.cards) in (2, 3)
        and not any(slot.contested and not slot.removed for slot in slots)
        and not _lacks_a_card(hand, slots)
        and not (worth.is_pok(hand.cards[:2]) and (hand.drew or len(hand.cards) == 3))
        and all(times[card] == 1 for card in hand.cards)
    )


def two_known(record: RoundRecord) -> frozenset[str]:
    """Return the hands whose first two cards are known, whatever is in doubt about a third."""
    everyone = (*record.hands, record.dealer)
    if _OF_CARDS.isdisjoint(record.doubts):
        return frozenset(hand.name for hand in everyone)
    slots = _slots(record)
    return frozenset(hand.name for hand in everyone if _knows_two(slots.get(hand.name, [])))


def _knows_two(slots: list[Slot]) -> bool:
    live = [slot for slot in slots if not slot.removed][:2]
    if len(live) < 2 or any(slot.card is None for slot in live):
        return False
    return len({slot.position for slot in slots if slot.position <= live[1].position}) == live[1].position


def _dealers_two_certain(record: RoundRecord) -> bool:
    """A hand that was checked met the dealer's first two cards, and they may be known when the third is
    not."""
    if _OF_CARDS.isdisjoint(record.doubts):
        return True
    if record.dealer.name not in two_known(record):
        return False
    times = Counter(card for hand in (*record.hands, record.dealer) for card in hand.cards)
    cards = record.dealer.cards[:2]
    pok_drew = worth.is_pok(cards) and (record.dealer.drew or len(record.dealer.cards) > 2)
    return not pok_drew and all(times[card] == 1 for card in cards)


def _slots(record: RoundRecord) -> dict[str, list[Slot]]:
    """The slots of each hand by position."""
    slots: dict[str, list[Slot]] = {}
    for slot in sorted(record.slots, key=lambda slot: slot.position):
        slots.setdefault(slot.hand, []).append(slot)
    return slots


def _lacks_a_card(hand: Hand, slots: list[Slot]) -> bool:
    """Fewer than two cards, a draw without its face, or a hole below a card; a contested slot has its
    card."""
    seen = [slot.position for slot in slots if not slot.removed and (slot.card is not None or slot.contested)]
    if len(seen) < (3 if hand.drew else 2):
        return True
    places = [*seen, *(slot.position for slot in slots if slot.removed)]
    return any(position not in places for position in range(1, seen[-1]))
