"""A record as JSON: dictionaries, lists, integers, text and true; cards as text, never a float.

What is absent, false or empty is left out, so the same record is always the same bytes. ``bare`` is
written inside its record, in full.
"""

from collections.abc import Sequence
from typing import Any

from casino import cards
from casino.record.values import Finding, Hand, RoundRecord, Slot


def to_json(record: RoundRecord) -> dict[str, Any]:
    """Return the record's canonical form, equal for equal records."""
    written = {
        "number": record.number,
        "direction": record.direction,
        "order": list(record.order),
        "banker": None if record.banker is None else record.banker._asdict(),
        "deck": record.deck,
        "sheet_shown": record.sheet_shown,
        "state": record.state,
        "opened_ms": record.opened_ms,
        "bets_closed_ms": record.bets_closed_ms,
        "closed_ms": record.closed_ms,
        "took_ms": record.took_ms,
        "wagers": [
            {
                "id": wager.id,
                "hand": wager.hand,
                "owner": {wager.owner.kind: wager.owner.ref},
                "stake": wager.stake,
            }
            for wager in record.wagers
        ],
        "hands": [_hand(hand) for hand in record.hands],
        "dealer": _hand(record.dealer),
        "slots": [_slot(slot) for slot in record.slots],
        "cards_seen": record.cards_seen,
        "unread_by_camera": [f"{hand}.{position}" for hand, position in record.unread_by_camera],
        "declared": dict(record.declared),
        "waived": sorted({waiver.reason_code for waiver in record.waivers}),
        "bets_apart": [
            {
                "source": one.source,
                "hand": one.hand,
                "owner": {one.owner.kind: one.owner.ref},
                "stake": one.stake,
                "ours": one.ours,
            }
            for one in record.bets_apart
        ],
        "checks_in_doubt": [
            {"hand": one.hand, "slot": one.slot, "removal": one.removal} for one in record.checks_in_doubt
        ],
        "doubts": list(record.doubts),
        "findings": findings_json(record.findings),
        "turns": list(record.turns),
        "dealt": list(record.dealt),
        "swayed_by": list(record.swayed_by),
    }
    if record.bare is not None:
        written["bare"] = to_json(record.bare)
    return {key: value for key, value in written.items() if value not in (None, "", [], {})}


def findings_json(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """Return findings as written in a record, in its order: kind, subject, and detail where there is any."""
    return [
        {"kind": finding.kind, "subject": finding.subject}
        | ({"detail": {key: _plain(value) for key, value in finding.detail}} if finding.detail else {})
        for finding in findings
    ]


def _hand(hand: Hand) -> dict[str, Any]:
    written: dict[str, Any] = {
        "name": hand.name,
        "cards": [cards.text(card) for card in hand.cards],
        "met": hand.met,
    }
    if hand.drew:
        written["drew"] = True
    if hand.stayed:
        written["stayed"] = True
    if hand.pok_shown:
        written["pok_shown"] = True
    if hand.check_place is not None:
        written["check_place"] = hand.check_place
        if hand.checked_with != len(hand.cards):
            written["checked_with"] = hand.checked_with
    return written


def _slot(slot: Slot) -> dict[str, Any]:
    written: dict[str, Any] = {
        "slot": f"{slot.hand}.{slot.position}",
        "reads": [[read.source, read.feed, cards.text(read.card)] for read in slot.reads],
    }
    if slot.card is not None:
        written["card"] = cards.text(slot.card)
    if slot.ruled is not None:
        written["ruled"] = cards.text(slot.ruled)
    if slot.removed:
        written["removed"] = True
    if slot.contested:
        written["contested"] = True
    if slot.silent:
        written["silent"] = True
    return written


def _plain(value: Any) -> Any:
    return [_plain(one) for one in value] if isinstance(value, tuple) else value
