"""Events as devices must not send them: every way in which an envelope or its data can be wrong, with what is heard."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class Bad(NamedTuple):
    """``spoil`` makes of a right event the wrong one; ``code`` is what is heard; ``uses`` whether its number is used
    up, and so kept with its hash and its refusal."""

    spoil: Callable[[dict[str, Any]], Any]
    code: str
    uses: bool = True


def with_(**attributes: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda event: event | attributes


def without(name: str) -> Callable[[dict[str, Any]], Any]:
    return lambda event: {key: value for key, value in event.items() if key != name}


def saying(kind: str, data: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda event: event | {"type": f"pokdeng.{kind}.v1", "data": data}


THB = {"amount": 100_00, "currency": "THB"}
BET: Mapping[str, Any] = {"wager": "w1", "hand": "p1", "owner": {"seat": 1}, "stake": THB}
STRANGER = "00000000-0000-4000-8000-00000000dead"

BAD: dict[str, Bad] = {
    # Without a number of this device there is nothing to keep it under.
    "nothing": Bad(lambda _: {}, "invalid_value", uses=False),
    "no object": Bad(lambda _: [], "malformed", uses=False),
    "text": Bad(lambda _: "event", "malformed", uses=False),
    "null": Bad(lambda _: None, "malformed", uses=False),
    "no source": Bad(without("source"), "invalid_value", uses=False),
    "another's source": Bad(with_(source="/devices/PD99-tablet"), "invalid_value", uses=False),
    "no sequence": Bad(without("sequence"), "malformed", uses=False),
    "a sequence that is a number": Bad(with_(sequence=7), "malformed", uses=False),
    "sequence 0": Bad(with_(sequence="0"), "malformed", uses=False),
    "a sequence in Thai digits": Bad(with_(sequence="๗"), "malformed", uses=False),
    "a sequence with a sign": Bad(with_(sequence="+7"), "malformed", uses=False),
    "a sequence of 41 digits": Bad(with_(sequence="9" * 41), "malformed", uses=False),
    # Nor is one used up that lies too far above the last.
    "the last number there is": Bad(with_(sequence=str(2**63 - 1)), "sequence_too_far", uses=False),
    "a number that no column holds": Bad(with_(sequence=str(2**63)), "sequence_too_far", uses=False),
    "a number of 40 digits": Bad(with_(sequence="9" * 40), "sequence_too_far", uses=False),
    # The envelope.
    "no specversion": Bad(without("specversion"), "malformed"),
    "another specversion": Bad(with_(specversion="0.3"), "malformed"),
    "no id": Bad(without("id"), "malformed"),
    "an id without end": Bad(with_(id="7" * 65), "invalid_value"),
    "no type": Bad(without("type"), "invalid_value"),
    "a type that is a number": Bad(with_(type=7), "invalid_value"),
    "an unknown type": Bad(with_(type="pokdeng.round_won.v1"), "invalid_value"),
    "another version": Bad(with_(type="pokdeng.note.v2"), "invalid_value"),
    "no subject": Bad(without("subject"), "malformed"),
    "a subject that is no round": Bad(with_(subject="tables/PD01"), "malformed"),
    "no time": Bad(without("time"), "malformed"),
    "a time without a zone": Bad(with_(time="2026-03-01T14:00:00"), "malformed"),
    "a time that is a number": Bad(with_(time=1772373600), "malformed"),
    "a day for a time": Bad(with_(time="2026-03-01"), "malformed"),
    "a time in Thai digits": Bad(with_(time="๒๐๒๖-03-01T14:00:00Z"), "malformed"),
    "a person that is no id": Bad(with_(person="S01"), "malformed"),
    "a person nobody is": Bad(with_(person=STRANGER), "invalid_value"),
    "a signature that is no id": Bad(with_(signature=7), "malformed"),
    # The data.
    "no data": Bad(without("data"), "missing_field"),
    "data that is no object": Bad(with_(data=None), "malformed"),
    "a field too many": Bad(saying("note", {"text": "so", "net": 100}), "unknown_field"),
    "a field missing": Bad(saying("note", {}), "missing_field"),
    "a wrong type": Bad(saying("note", {"text": 7}), "malformed"),
    "a text without end": Bad(saying("note", {"text": "x" * 2001}), "invalid_value"),
    "a bad card": Bad(saying("card_dealt", {"hand": "p1", "position": 1, "card": "1S"}), "invalid_value"),
    "a bad hand": Bad(saying("card_dealt", {"hand": "p17", "position": 1, "card": "9S"}), "invalid_value"),
    "position 7": Bad(saying("card_dealt", {"hand": "p1", "position": 7, "card": "9S"}), "invalid_value"),
    "a bet of nothing": Bad(saying("bet_placed", {**BET, "stake": THB | {"amount": 0}}), "invalid_value"),
    "a bet of a fraction": Bad(saying("bet_placed", {**BET, "stake": THB | {"amount": 1.5}}), "malformed"),
    "a bet beyond all money": Bad(saying("bet_placed", {**BET, "stake": THB | {"amount": 2**63}}), "invalid_value"),
    "a bet of two owners": Bad(
        saying("bet_placed", {**BET, "owner": {"seat": 1, "account": "player:A17"}}), "malformed"
    ),
    "round 0": Bad(saying("round_opened", {"number": 0, "direction": "clockwise"}), "invalid_value"),
    "round 2^31": Bad(saying("round_opened", {"number": 2**31, "direction": "clockwise"}), "invalid_value"),
    "a hold nobody waives": Bad(
        saying("hold_waived", {"reason_code": "reads_differ", "reason": "so"}), "invalid_value"
    ),
}  # fmt: skip
"""What is wrong → how, and what is heard. The right event is a ``note`` of a terminal."""
