"""What came too late to count, and still deserves a second look: reports after a settlement, and cards ruled after a
hand was checked and paid. Values in, findings out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from casino import cards, record
from casino.record import Event, Finding, RoundRecord
from casino.rounds import Recorded
from settlement.rules import commission, doubts
from settlement.rules.house_rules import HouseRules
from settlement.rules.payouts import Line, Verdict

_READS = frozenset({"card_dealt", "card_corrected"})
_RULINGS = frozenset({"card_ruled", "card_removed"})
_NEVER_LATE = frozenset({"mispay_put_right", "mispay_found", "note"})
"""What is said of a round whenever it is said: no money depends on it."""


@dataclass(frozen=True, slots=True)
class Heard:
    """Everything that was recorded of a round, parted into what its record counts and what devices sent too late."""

    counted: tuple[Event, ...]
    late: tuple[Event, ...]

    @classmethod
    def of(cls, recorded: Sequence[Recorded], *, cites: Collection[int]) -> Heard:
        """Part what was recorded; a late act that the settlement cites (by RoundEvent id) counts, and was late."""
        named = set(cites)
        return cls(
            tuple(item.event for item in recorded if not item.late or item.event.place in named),
            tuple(item.event for item in recorded if item.late and _is_told(item.event)),
        )


def _is_told(event: Event) -> bool:
    """Whether an event belongs to what is told of a round after its settlement; acts of decisions are cited instead."""
    if event.feed == "decision":
        return False
    return event.feed in ("terminal", "camera") or event.kind in _NEVER_LATE or event.kind == "bet_ruled"


def of_late(found: RoundRecord, heard: Heard, *, house: HouseRules, currency: str) -> Iterator[Finding]:
    """Find late reads that differ from what counted (``reads_differ``, by slot), chips put right or found wrong after
    the settlement (``mispay``, as they mostly are), rulings of bets, which change nothing unless they are cited
    (``bet_ruled``), and whatever else came late (``late_event``, once)."""
    apart = _reads_apart(found, heard, house=house, currency=currency)
    yield from apart.values()
    counted = {event.place for event in heard.counted}
    others = 0
    for event in heard.late:
        if event.kind in _NEVER_LATE:
            yield from _said_afterwards(event)
            continue
        if event.kind == "bet_ruled" and event.signed and event.place not in counted:
            yield _bet_ruled(found, event)
        others += not (event.kind in _READS and _slot(event) in apart)
    if others:
        yield Finding("late_event", "", (("events", others),))


def _reads_apart(found: RoundRecord, heard: Heard, *, house: HouseRules, currency: str) -> dict[str, Finding]:
    """Slots in which a late read is another one, silence among them: what the fold would have found at odds."""
    reads = [event for event in heard.late if event.kind in _READS]
    if not reads:
        return {}
    counted = {event.place for event in heard.counted}
    told = record.fold(
        [*heard.counted, *(event for event in reads if event.place not in counted)], currency=currency
    )
    late = {_slot(event) for event in reads}
    return {
        finding.subject: finding._replace(detail=_as_settled(found, finding))
        for finding in record.flags(record.led(told, lead=house.feed_lead))
        if finding.kind == "reads_differ" and finding.subject in late
    }


def _as_settled(found: RoundRecord, finding: Finding) -> tuple[tuple[str, object], ...]:
    """The figures of a late disagreement: what was read, and what counts all the same."""
    counts, by = "", "terminal"
    for slot in found.slots:
        if f"{slot.hand}.{slot.position}" != finding.subject:
            continue
        counts = "" if slot.card is None or slot.removed else cards.text(slot.card)
        of_card = [read.feed for read in slot.reads if read.card == slot.card]
        by = "removed" if slot.removed else "ruled" if slot.ruled is not None else (*of_card, "terminal")[0]
    return (("reads", dict(finding.detail)["reads"]), ("counts", counts), ("by", by))


def _said_afterwards(event: Event) -> Iterator[Finding]:
    """A mispay that was put right, signed for or not, or found by somebody who signed; a round that was rebuilt."""
    if event.kind == "note":
        if event.data.get("kind") == "reconstructed":
            yield Finding("reconstructed", "")
    elif event.kind == "mispay_put_right" or event.signed:
        paid, due = event.data["paid"], event.data["due"]
        detail = (("paid", paid["amount"]), ("due", due["amount"]), ("currency", due["currency"]))
        yield Finding("mispay", event.data["wager"], detail)
    else:
        yield Finding("unsigned_ruling", event.data["wager"], (("event", event.kind),))


def _bet_ruled(found: RoundRecord, event: Event) -> Finding:
    data = event.data
    before = tuple(("before", wager.stake) for wager in found.wagers if wager.id == data["wager"])
    stake = data["stake"]
    detail = (("hand", data["hand"]), *before, ("stake", stake["amount"]), ("currency", stake["currency"]))
    return Finding("bet_ruled", data["wager"], detail)


def _slot(event: Event) -> str:
    return f"{event.data['hand']}.{event.data['position']}"


def checked_and_ruled(found: RoundRecord) -> bool:
    """Say whether a hand was checked and somebody ruled on a card: only then may chips have been paid on another."""
    return found.bare is not None and any(hand.check_place is not None for hand in found.hands)


def of_early_checks(
    found: RoundRecord, verdict: Verdict, heard: Heard, *, house: HouseRules, currency: str
) -> Iterator[Finding]:
    """Find wagers that were paid in chips at an early check, on cards that were ruled to be others afterwards.

    The books follow the ruling; at the table nothing is paid again, so ``paid`` (what the check came to by the cards as
    the terminal had them then) and ``due`` differ. A wallet is paid by the books alone.
    """
    if not checked_and_ruled(found):
        return
    checked = {hand.name for hand in found.hands if hand.check_place is not None}
    paid: dict[str, dict[str, int]] = {}
    for line in verdict.lines:
        if line.hand not in checked or line.owner.kind == "account":
            continue
        if line.hand not in paid:
            paid[line.hand] = _multiples_at_check(heard.counted, line.hand, house=house, currency=currency)
        multiple = paid[line.hand].get(line.hand)
        if multiple is not None and multiple != line.multiple:
            yield Finding(
                "mispay",
                line.wager,
                (
                    ("paid", _net(line, multiple, house)),
                    ("due", line.net),
                    ("currency", currency),
                    ("why", "ruled_after_check"),
                ),
            )


def _net(line: Line, multiple: int, house: HouseRules) -> int:
    gross = line.stake * multiple
    if house.commission.side == "banker":
        return gross
    return gross - commission.commission(net=gross, terms=house.commission)


def _multiples_at_check(
    counted: Sequence[Event], hand: str, *, house: HouseRules, currency: str
) -> dict[str, int]:
    """The multiples by hand without the rulings that came after this hand's check, disagreements taken as the terminal
    read them: its dealer looked at the cards and paid. Empty where nothing was ruled afterwards."""
    checks = [
        event for event in counted if event.kind == "hand_checked" and hand in event.data.get("hands", ())
    ]
    check = min(checks, key=lambda event: (event.place, event.seq))
    rulings = {event.place for event in counted if event.kind in _RULINGS and _follows(event, check)}
    if not rulings:
        return {}
    before = record.fold([event for event in counted if event.place not in rulings], currency=currency)
    return doubts.multiples(record.led(before, lead="terminal"), house)


def _follows(event: Event, check: Event) -> bool:
    """A terminal's acts go by its own numbers; one from elsewhere follows all that was told."""
    return event.source != check.source or event.seq > check.seq
