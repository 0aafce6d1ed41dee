"""Why a round waits for a person: the doubts of its record, and those that only a rule sheet can raise.

Takes records as they stand under the sheet (``casino.record.led``). The list of reasons is always whole: it
names every doubt, not the first one met.
"""

from collections import Counter
from typing import NamedTuple

from casino.record import Hand, RoundRecord, Slot, Wager, led
from settlement.rules import hands as worth
from settlement.rules import lookup
from settlement.rules.house_rules import HouseRules

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
    "records_differ",
    "check_in_doubt",
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
    if house.requires.camera and unread_by_camera(record):
        found.add("awaiting_camera")
    if house.banker == "player" and record.banker is None and not _waived(record, "missing_banker"):
        found.add("missing_banker")
    if house.requires.declared_result and undeclared(record):
        found.add("missing_declaration")
    if record.declared and declared_apart(record, house):
        found.add("declared_differs")
    if not found:
        return ()
    return tuple(reason for reason in REASONS if reason in found)


def unread_by_camera(record: RoundRecord) -> tuple[tuple[str, int], ...]:
    """Return the slots whose live face no camera read, but for faces that were there when this was waived."""
    if not record.unread_by_camera:
        return ()
    waived = {face for before in _before(record, "awaiting_camera") for face in _faces(before)}
    if not waived:
        return record.unread_by_camera
    doubted = {face[:2] for face in _faces(record) - waived}
    return tuple(slot for slot in record.unread_by_camera if slot in doubted)


def undeclared(record: RoundRecord) -> tuple[Wager, ...]:
    """Return the wagers in play without a declared result, but for those in play when this was waived."""
    waived = {wager.id for before in _before(record, "missing_declaration") for wager in before.wagers}
    return tuple(
        wager for wager in record.wagers if wager.id not in record.declared and wager.id not in waived
    )


def _before(record: RoundRecord, reason: str) -> list[RoundRecord]:
    """The round as it stood before each waiver of this reason."""
    return [waiver.before for waiver in record.waivers if waiver.reason_code == reason]


def _waived(record: RoundRecord, reason: str) -> bool:
    """Whether a reason that the opening alone can raise was waived once that had been told."""
    return any(before.opened_ms is not None for before in _before(record, reason))


def _faces(record: RoundRecord) -> set[tuple[str, int, int]]:
    """The faces that terminals reported; of a slot that none reported, the one that was ruled."""
    found = set()
    for slot in record.slots:
        reported = [read.card for read in slot.reads if read.feed == "terminal"]
        for card in reported or [card for card in (slot.ruled,) if card is not None]:
            found.add((slot.hand, slot.position, card))
    return found


def too_many_hands(record: RoundRecord, house: HouseRules) -> bool:
    """The dealer's, shared and junk hands count too."""
    return len(record.hands) + 1 > house.max_hands


def declared_apart(record: RoundRecord, house: HouseRules) -> tuple[Apart, ...]:
    """Return the wagers whose declared multiple is not the judged one, as far as their cards are beyond
    doubt and this very difference was not waived.

    What was declared for a wager that is not in play is ignored.
    """
    found = _apart(record, house)
    if not found or not record.waivers:
        return found
    waived = {
        apart
        for before in _before(record, "declared_differs")
        for apart in _apart(led(before, lead=house.feed_lead), house)
    }
    return tuple(apart for apart in found if apart not in waived)


def _apart(record: RoundRecord, house: HouseRules) -> tuple[Apart, ...]:
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
    known, and no check of it is in doubt."""
    table = lookup.of(house)
    certain = _certain_hands(record)
    in_doubt = {check.hand for check in record.checks_in_doubt}
    classes = {hand.name: table.class_of(hand.cards) for hand in record.hands if hand.name in certain}
    met = {}
    if _dealers_two_certain(record):
        met["two"] = table.class_of(record.dealer.cards[:2])
    if record.dealer.name in certain:
        met["final"] = table.class_of(record.dealer.cards)
    return {
        hand.name: table.outcomes[classes[hand.name]][met[hand.met]][0]
        for hand in record.hands
        if hand.name in classes and hand.met in met and hand.name not in in_doubt
    }


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
