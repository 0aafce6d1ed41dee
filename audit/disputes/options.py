"""The facts that could end a dispute, each with what it would move."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from casino import cards
from casino.record import RoundRecord, Slot
from settlement import settle
from settlement.settle import Considered, Question

WAIVABLE = ("awaiting_camera", "missing_banker", "missing_declaration", "declared_differs")


@dataclass(frozen=True, slots=True)
class Option:
    """Facts that somebody could choose, and what would come of them."""

    facts: tuple[dict[str, Any], ...]
    considered: Considered

    def written(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {"facts": list(self.facts), "consequences": self.considered.written()}


def options_of(round_id: UUID, *, subject: str = "") -> list[Option]:
    """Return the facts at hand for a round's doubts, those of ``subject`` first; last, that it stands or is void.

    Another card than any feed read can be proposed all the same; it is no option because nothing speaks for it.
    """
    question = settle.question(round_id)
    found = [_option(question, facts) for facts in _facts(question, subject)]
    finished = question.case.finished
    ends: list[list[dict[str, Any]]] = [[{"kind": settle.STANDS}]] if finished else []
    ends.append([{"kind": "round_voided", "reason": "dispute"}])
    return [*found, *(_option(question, facts) for facts in ends)]


def consequences(round_id: UUID, facts: Sequence[Mapping[str, Any]]) -> Considered:
    """Return what would come of a round under these facts."""
    return settle.question(round_id).consider(facts)


def _option(question: Question, facts: Sequence[Mapping[str, Any]]) -> Option:
    return Option(tuple(dict(fact) for fact in facts), question.consider(facts))


def _facts(question: Question, subject: str) -> Iterator[list[dict[str, Any]]]:
    record = question.standing
    slots = sorted(_doubtful(record, subject), key=lambda slot: (_name(slot) != subject, _name(slot)))
    for slot in slots:
        for card in sorted({read.card for read in slot.reads}):
            yield [_act("card_ruled", slot) | {"card": cards.text(card)}]
    for slot in _removable(record):
        yield [_act("card_removed", slot)]
    for reason in question.case.reasons:
        if reason in WAIVABLE:
            yield [{"kind": "hold_waived", "reason_code": reason, "reason": "dispute"}]


def _doubtful(record: RoundRecord, subject: str) -> list[Slot]:
    """Slots that were read in two ways, and the slot that the dispute is about."""
    return [
        slot
        for slot in record.slots
        if slot.reads
        and not slot.removed
        and (len({read.card for read in slot.reads}) > 1 or _name(slot) == subject)
    ]


def _removable(record: RoundRecord) -> list[Slot]:
    """Cards that could be dead: one of two alike, the third of a pok, any of a hand with too many, one that only a
    camera saw."""
    live = [slot for slot in record.slots if not slot.removed]
    effective = [slot.card for slot in live if slot.card is not None]
    twice = {card for card in effective if effective.count(card) > 1}
    found = [slot for slot in live if slot.card in twice or (slot.contested and slot.silent)]
    for hand in (*record.hands, record.dealer):
        of_hand = [slot for slot in live if slot.hand == hand.name]
        if len(of_hand) > 3:
            found.extend(of_hand)
        elif "pok_drew" in record.doubts and len(of_hand) == 3:
            found.extend(slot for slot in of_hand if slot.position >= 3)
    return sorted(set(found), key=_name)


def _name(slot: Slot) -> str:
    return f"{slot.hand}.{slot.position}"


def _act(kind: str, slot: Slot) -> dict[str, Any]:
    return {"kind": kind, "hand": slot.hand, "position": slot.position, "reason": "dispute"}
