"""The record of a story: which card each slot holds, what is in play, what is in doubt.

Made with the supervisors' acts or without them, and under the lead of a feed where a rule sheet names one.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Literal

from casino import cards
from casino.record import bets
from casino.record.fold_state import BASE, Check, Story
from casino.record.values import (
    HANDS,
    BetsApart,
    CheckInDoubt,
    Finding,
    Hand,
    Lead,
    Read,
    RoundRecord,
    Slot,
    Wager,
    Waiver,
)
from casino.record.weighing import NOTHING_DONE, Done, weigh

_TAEM = tuple(min(cards.rank(card) + 1, 10) % 10 for card in cards.DECK)
_DEALER = BASE["dealer"] // 8
_DOUBTS = (
    "sequence_gap",
    "too_many_cards",
    "pok_drew",
    "duplicate_card",
    "reads_differ",
    "missing_card",
    "records_differ",
    "check_in_doubt",
    "number_jump",
)


def stand(
    story: Story,
    *,
    lead: Lead,
    acts: bool,
    bare: RoundRecord | None = None,
    waivers: tuple[Waiver, ...] = (),
    without: AbstractSet[str] = frozenset(),
) -> RoundRecord:
    """Return the record; ``acts=False`` leaves out whatever a supervisor did, ``bare`` is that
    other record. Wagers ``without`` which it is to stand are not in play.
    """
    wagers, of_bets = bets.in_play(story, acts=acts)
    if without:
        wagers = tuple([wager for wager in wagers if wager.id not in without])
    of_bets += _of_staff(wagers)
    table = _Table(story, lead, wagers, weigh(story, acts=acts) if story.acts else NOTHING_DONE)
    apart, in_doubt = _unwaived(story, table, waivers, acts=acts)
    opened, closed = story.opened, story.closed
    voided = story.voided and acts
    declared = story.declared
    return RoundRecord(
        number=None if opened is None else opened.data["number"],
        direction=story.direction,
        order=story.order,
        banker=story.banker,
        deck=story.deck,
        sheet_shown=story.sheet_shown,
        state="voided" if voided else "open" if closed is None else "closed",
        opened_ms=None if opened is None else opened.instant_ms,
        bets_closed_ms=story.bets_closed_ms,
        closed_ms=None if closed is None else closed.instant_ms,
        took_ms=_took(story),
        wagers=wagers,
        hands=table.hands,
        dealer=table.dealer,
        slots=tuple([slot for slots in table.by_hand.values() for slot in slots]),
        cards_seen=table.seen,
        unread_by_camera=tuple(table.unread),
        declared={wager.id: declared[wager.id] for wager in wagers if wager.id in declared}
        if declared
        else {},
        waivers=waivers,
        bets_apart=apart,
        checks_in_doubt=in_doubt,
        doubts=() if voided else table.doubts(),
        findings=_in_order([*story.findings, *of_bets, *table.findings]),
        bare=bare,
        turns=tuple(story.turns),
        dealt=tuple(story.dealt),
        swayed_by=_swayed(table.sway if bare is None else table.sway.union(bare.swayed_by)),
        story=story,
    )


def _unwaived(
    story: Story, table: "_Table", waivers: Sequence[Waiver], *, acts: bool
) -> tuple[tuple[BetsApart, ...], tuple[CheckInDoubt, ...]]:
    """Add the doubts of whole rounds to the table's, as far as they did not stand before a waiver of theirs."""
    apart = bets.still_apart(story, acts=acts) if story.apart else ()
    in_doubt = table.checks_in_doubt()
    jumped = story.jumped
    for waiver in waivers:
        code, before = waiver
        if code == "records_differ":
            apart = tuple(one for one in apart if one not in before.bets_apart)
        elif code == "check_in_doubt":
            in_doubt = tuple(one for one in in_doubt if one not in before.checks_in_doubt)
        elif code == "number_jump" and "number_jump" in before.doubts:
            jumped = False
    if apart:
        table.doubted.add("records_differ")
    if in_doubt:
        table.doubted.add("check_in_doubt")
    if jumped:
        table.doubted.add("number_jump")
    return apart, in_doubt


def _of_staff(wagers: Sequence[Wager]) -> list[Finding]:
    return [
        Finding("dealer_bet_on_guest", wager.id, (("hand", wager.hand), ("stake", wager.stake)))
        for wager in wagers
        if wager.owner.kind == "person"
    ]


def _swayed(leads: AbstractSet[Lead]) -> tuple[Lead, ...]:
    return tuple(sorted(leads)) if leads else ()


def _in_order(findings: list[Finding]) -> tuple[Finding, ...]:
    findings.sort(key=lambda finding: (finding.kind, finding.subject))
    return tuple(findings)


def _took(story: Story) -> int | None:
    opened, closed = story.opened, story.closed
    if opened is None or closed is None or opened.source != closed.source:
        return None
    return closed.time_ms - opened.time_ms


class _Table:
    """The cards as they lie: slots first, then hands, then what no single hand shows."""

    def __init__(self, story: Story, lead: Lead, wagers: Sequence[Wager], done: Done) -> None:
        self.story = story
        self.lead = lead
        self.wagers = wagers
        self.done = done
        self.drew = story.marks.keys() - done.unmarked
        self.by_hand: dict[int, list[Slot]] = {}
        self.uneven: set[int] = set()
        self.seen = 0
        self.doubted: set[str] = set()
        self.findings: list[Finding] = []
        self.sway: set[Lead] = set()
        self.unread: list[tuple[str, int]] = []
        self.faces: list[int] = []
        self._fill_slots()
        self.hands = tuple([self._hand(place) for place in self._places_in_play()])
        self.dealer = self._hand(_DEALER)
        if len(set(self.faces)) < len(self.faces):
            self._find_duplicates()

    def doubts(self) -> tuple[str, ...]:
        """Reasons to hold. Past a gap an absence shows nothing: what is missing may be in the gap."""
        if self.story.holed:
            self.doubted.add("sequence_gap")
            self.doubted.discard("missing_card")
        if not self.doubted:
            return ()
        return tuple([doubt for doubt in _DOUBTS if doubt in self.doubted])

    def checks_in_doubt(self) -> tuple[CheckInDoubt, ...]:
        """The checks of hands in play that met a card of the dealer's which was removed after them."""
        story, gone = self.story, self.done.gone
        if not (gone and story.checks):
            return ()
        base = BASE["dealer"]
        return tuple(
            CheckInDoubt(hand.name, f"dealer.{position}", self.done.removals[base + position])
            for hand in self.hands
            if (check := story.checks.get(hand.name)) is not None
            for position in check.met
            if base + position in gone and gone[base + position].at > check.turn
        )

    def _fill_slots(self) -> None:
        reads, done, recorders = self.story.reads, self.done, self.story.recorders
        touched = done.ruled.keys() | done.removed
        by_hand, seen_cards = self.by_hand, 0
        last = -1
        here: list[Slot] = []
        for key in sorted(touched.union(reads) if touched else reads):
            place, position = key >> 3, key & 7
            seen = reads.get(key, _NOTHING)
            if (
                (len(seen) == 1 or (len(seen) == 2 and seen[0].card == seen[1].card))
                and (position < 3 or seen[0].source in recorders or seen[-1].source in recorders)
                and key not in touched
            ):
                card: int | None = seen[0].card
                slot = Slot(HANDS[place], position, _in_order_of_feeds(seen), None, False, card, False)
            else:
                slot = self._weighed_slot(key, seen)
                card = slot.card
                self.uneven.add(place)
            if card is not None:
                seen_cards |= 1 << card
            if place == last:
                here.append(slot)
            else:
                by_hand[place] = here = [slot]
                last = place
        self.seen = seen_cards

    def _weighed_slot(self, key: int, seen: Sequence[Read]) -> Slot:
        """A slot that needs a second look: acts, differing reads, or a third card the terminal does not know
        of.
        """
        hand, position = HANDS[key >> 3], key & 7
        ruled = self.done.ruled.get(key)
        removed = key in self.done.removed
        reads = _in_order_of_feeds(seen)
        differ = any(read.card != reads[0].card for read in reads)
        silent = position > 2 and bool(reads) and self._terminal_is_silent(key)
        card = reads[0].card if reads and not differ else None
        contested = False
        by = "removed" if removed else "ruled"
        if ruled is not None:
            card = ruled
        elif (differ or silent) and not removed:
            contested, card, by = self._by_lead(reads, silent=silent)
        if differ or silent:
            silence = tuple((source, "") for source in sorted(self.story.recorders)) if silent else ()
            said = tuple((read.source, cards.text(read.card)) for read in reads)
            counts = "" if card is None or removed else cards.text(card)
            self.findings.append(
                Finding(
                    "reads_differ",
                    f"{hand}.{position}",
                    (("reads", silence + said), ("counts", counts), ("by", by)),
                )
            )
        return Slot(hand, position, reads, ruled, removed, card, contested, silent)

    def _terminal_is_silent(self, key: int) -> bool:
        """Whether the terminal gave the hand its two cards, and neither a draw mark nor a third card."""
        story, base = self.story, key & ~7
        hand = HANDS[key >> 3]
        if story.holed or (hand in story.marks and hand not in self.done.denied):
            return False
        given = [
            position
            for position in range(1, 7)
            if any(read.source in story.recorders for read in story.reads.get(base + position, _NOTHING))
        ]
        return given == [1, 2]

    def _by_lead(self, reads: tuple[Read, ...], *, silent: bool) -> tuple[bool, int | None, str]:
        """Say whether differing reads stay contested, and else which card counts by which feed's lead."""
        of_leader: dict[Lead, set[int]] = {
            "terminal": {read.card for read in reads if read.source in self.story.recorders},
            "camera": {read.card for read in reads if read.feed == "camera"},
        }
        decided: dict[Lead, int | None] = {
            lead: found.pop() for lead, found in of_leader.items() if len(found) == 1
        }
        if silent:
            decided["terminal"] = None
        if self.lead in decided:
            return False, decided[self.lead], self.lead
        if self.lead == "none":
            self.sway.update(decided)
        return True, None, ""

    def _places_in_play(self) -> list[int]:
        """The places of hands with a wager, a draw mark or a card; the dealer's is always in play."""
        places = {BASE[wager.hand] >> 3 for wager in self.wagers}
        if self.drew:
            places.update([BASE[hand] >> 3 for hand in self.drew])
        for place, slots in self.by_hand.items():
            if place not in places and place != _DEALER and self._plays_unbetted(slots):
                places.add(place)
        places.discard(_DEALER)
        return sorted(places)

    def _plays_unbetted(self, slots: list[Slot]) -> bool:
        """Whether a hand without wager and draw mark is in play: by a live card, unless a feed leads that saw
        none.

        Another mark of the terminal, or a card ruled there, is word enough of the hand.
        """
        story, hand = self.story, slots[0].hand
        live = [slot for slot in slots if _is_live(slot)]
        if not live:
            return False
        if hand in story.stayed or hand in story.pok_shown or any(slot.ruled is not None for slot in live):
            return True
        unseen: set[Lead] = set()
        if not any(read.source in story.recorders for slot in live for read in slot.reads):
            unseen.add("terminal")
        if not any(read.feed == "camera" for slot in live for read in slot.reads):
            unseen.add("camera")
        if self.lead in unseen:
            self.findings.append(Finding("stray_read", hand, (("leader", self.lead),)))
            return False
        if self.lead == "none":
            self.sway |= unseen
        return True

    def _hand(self, place: int) -> Hand:
        story = self.story
        name = HANDS[place]
        slots = self.by_hand.get(place, _NO_SLOTS)
        live: Sequence[Slot] = slots
        if place in self.uneven:
            live = [slot for slot in slots if _is_live(slot)]
            if any(slot.contested for slot in slots):
                self.doubted.add("reads_differ")
        held = tuple([slot.card for slot in live if slot.card is not None])
        count = len(live)
        self.faces += held
        read_by_camera, base = story.read_by_camera, place << 3
        for slot in live:
            if base + slot.position not in read_by_camera:
                self.unread.append((name, slot.position))
        drew = name in self.drew
        if count < (3 if drew else 2) or (live[-1].position > count and _has_hole(slots, live[-1].position)):
            self.doubted.add("missing_card")
        if count > 3:
            self._doubt("too_many_cards", name)
        stayed, shown = name in story.stayed, name in story.pok_shown
        if count > 1 and (first := live[0].card) is not None and (second := live[1].card) is not None:
            pok = (_TAEM[first] + _TAEM[second]) % 10 > 7
            if pok and (drew or count > 2):
                self._doubt("pok_drew", name)
            if shown and not pok:
                self.findings.append(Finding("mark_differs", name, (("mark", "pok_shown"),)))
            if pok and place == _DEALER and story.checked:
                self.findings += [Finding("check_against_dealer_pok", hand) for hand in sorted(story.checked)]
        if stayed and count > 2 and name not in story.overstayed:
            self.findings.append(Finding("mark_differs", name, (("mark", "hand_stayed"),)))
        return Hand(name, held, drew, stayed, shown, *_compared(story.checks.get(name)))

    def _doubt(self, kind: str, subject: str, *detail: tuple[str, object]) -> None:
        self.doubted.add(kind)
        self.findings.append(Finding(kind, subject, detail))

    def _find_duplicates(self) -> None:
        places: dict[int, list[str]] = {}
        for hand in (*self.hands, self.dealer):
            for slot in self.by_hand.get(BASE[hand.name] >> 3, _NO_SLOTS):
                if _is_live(slot) and slot.card is not None:
                    places.setdefault(slot.card, []).append(f"{slot.hand}.{slot.position}")
        for card, slots in places.items():
            for repeated in slots[1:]:
                self._doubt("duplicate_card", repeated, ("card", cards.text(card)), ("slots", tuple(slots)))


def _compared(check: Check | None) -> tuple[Literal["two", "final"], int | None, int]:
    """What a hand meets, its turn among the checks, and with how many cards it was checked."""
    return ("final", None, 0) if check is None else ("two", check.place, check.cards)


def _is_live(slot: Slot) -> bool:
    """A card that takes part. One that only other feeds saw as a third does not, while that is contested."""
    return not slot.removed and (slot.card is not None or not slot.silent)


def _has_hole(slots: Sequence[Slot], last: int) -> bool:
    """Whether a position below ``last`` was neither dealt nor removed."""
    return len({slot.position for slot in slots if slot.position < last}) < last - 1


def _in_order_of_feeds(reads: Sequence[Read]) -> tuple[Read, ...]:
    """Terminals before cameras, by device: never by the order of arrival."""
    if len(reads) == 1:
        return (reads[0],)
    return tuple(sorted(reads, key=_terminals_first))


def _terminals_first(read: Read) -> str:
    return f"{read.feed == 'camera':d}{read.source}"


_NOTHING: Sequence[Read] = ()
_NO_SLOTS: Sequence[Slot] = ()
