"""Read a device's CloudEvents: the envelope, and the data of each kind.

What cannot be read is ``malformed``, ``missing_field`` or ``unknown_field`` (400); what can be read but is not
allowed is ``invalid_value`` (422). Either way the event's number, hash and code are kept, if it has a number.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from casino import cards, record, rounds
from casino.models import Device
from casino.platform import values
from casino.platform.refusals import Refusal
from casino.platform.values import MOST_STAKE
from casino.rounds import Report

Check = Callable[[Any, str], Any]
"""Takes a value and its path; returns the value to store, or raises Refusal naming the path."""


def report_of(envelope: Any, *, device: Device) -> Report:
    """Return one event as a report; what is wrong with it is in the report's ``refusal``."""
    if not isinstance(envelope, dict):
        sha256 = hashlib.sha256(_canonical(envelope)).digest()
        return Report(seq=0, sha256=sha256, refusal=_malformed("", "an event is an object"))
    sha256 = hashlib.sha256(_canonical({k: v for k, v in envelope.items() if k != "id"})).digest()
    event_id = envelope["id"] if isinstance(envelope.get("id"), str) else ""
    try:
        if envelope.get("source") != f"/devices/{device.code}":
            # Another device's number is not this one's to use up.
            raise Refusal("invalid_value", fields={"source": "must be the device that sends"})
        seq = _sequence(envelope.get("sequence"))
    except Refusal as refusal:
        return Report(seq=0, sha256=sha256, event_id=event_id[:64], refusal=refusal)
    about = None
    try:
        about = _subject(envelope.get("subject"), "subject")
        return _read(envelope, seq, sha256, about)
    except Refusal as refusal:
        return Report(seq=seq, sha256=sha256, event_id=event_id[:64], round=about, refusal=refusal)


def _read(envelope: dict[str, Any], seq: int, sha256: bytes, about: UUID) -> Report:
    if envelope.get("specversion") != "1.0":
        raise _malformed("specversion", 'must be "1.0"')
    event_id = _text(64)(envelope.get("id"), "id")
    kind = kind_of(str(envelope.get("type", "")))
    check = _DATA.get(kind)
    if check is None:
        raise Refusal("invalid_value", fields={"type": "no such kind of event"})
    if "data" not in envelope:
        raise Refusal("missing_field", fields={"data": "is missing"})
    data = check(envelope["data"], "data")
    signed_content = b""
    if kind in rounds.NEEDS_SIGNATURE:
        signed_content = content_sha256(envelope["type"], envelope["subject"], envelope["data"])
    return Report(
        seq=seq,
        sha256=sha256,
        event_id=event_id,
        kind=kind,
        round=about,
        data=data,
        content_sha256=signed_content,
        person=_optional_uuid(envelope, "person"),
        signature=_optional_uuid(envelope, "signature"),
        happened_at=instant(envelope.get("time"), "time"),
    )


def kind_of(type_: str) -> str:
    """Return the kind that an event's ``type`` names, "" where it is none of ours."""
    found = re.fullmatch(r"pokdeng\.([a-z_]+)\.v1", type_)
    return found[1] if found else ""


def content_sha256(type_: str, subject: str, data: Any) -> bytes:
    """Return what a signature binds: the SHA-256 of an event's ``type``, ``subject`` and ``data``."""
    return hashlib.sha256(_canonical({"type": type_, "subject": subject, "data": data})).digest()


def _canonical(value: Any) -> bytes:
    # Fractions (a camera's confidence) are hashed as they were written.
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str).encode()


def _malformed(path: str, why: str) -> Refusal:
    return Refusal("malformed", fields={path: why})


def _not_allowed(path: str, why: str) -> Refusal:
    return Refusal("invalid_value", fields={path: why})


# The envelope's own fields.


def _sequence(value: Any) -> int:
    if not isinstance(value, str) or not re.fullmatch(r"[1-9][0-9]{0,39}", value):
        raise _malformed("sequence", "a decimal string, 1 or more, without leading zeros")
    return int(value)


def _subject(value: Any, path: str) -> UUID:
    match = re.fullmatch(
        r"rounds/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})", value if isinstance(value, str) else ""
    )
    if match is None:
        raise _malformed(path, "rounds/ and a UUID in lower case")
    return UUID(match[1])


def instant(value: Any, path: str) -> datetime:
    """Return a time that a device's clock showed; refuse what is not written as one. A clock that runs wild may name
    any year it likes."""
    try:
        return values.clock(value)
    except values.Wrong as wrong:
        raise _malformed(path, wrong.why) from None


def _optional_uuid(envelope: Mapping[str, Any], name: str) -> UUID | None:
    value = envelope.get(name)
    return None if value is None else _uuid(value, name)


def _uuid(value: Any, path: str) -> UUID:
    try:
        return values.uuid(value)
    except values.Wrong as wrong:
        raise _malformed(path, wrong.why) from None


# Checks of single values.

SCHEMAS: dict[Check, dict[str, Any]] = {}
"""What each check lets in, as JSON Schema: the description of the interface is made from the checks themselves."""


def _lets_in(check: Check, **schema: Any) -> Check:
    SCHEMAS[check] = schema
    return check


def _text(most: int) -> Check:
    def check(value: Any, path: str) -> str:
        if not isinstance(value, str):
            raise _malformed(path, "must be text")
        if not 1 <= len(value) <= most:
            raise _not_allowed(path, f"1 to {most} characters")
        return value

    return _lets_in(check, type="string", minLength=1, maxLength=most)


def _pattern(expression: str, why: str) -> Check:
    compiled = re.compile(expression)

    def check(value: Any, path: str) -> str:
        if not isinstance(value, str):
            raise _malformed(path, "must be text")
        if not compiled.fullmatch(value):
            raise _not_allowed(path, why)
        return value

    words = expression.split("|")
    if all(re.fullmatch(r"[a-z_]+", word) for word in words):
        return _lets_in(check, type="string", enum=words)
    return _lets_in(check, type="string", pattern=f"^(?:{expression})$", description=why)


def _whole(least: int, most: int) -> Check:
    def check(value: Any, path: str) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise _malformed(path, "must be a whole number")
        if not least <= value <= most:
            raise _not_allowed(path, f"{least} to {most}")
        return value

    return _lets_in(check, type="integer", minimum=least, maximum=most)


def _card(value: Any, path: str) -> str:
    if not isinstance(value, str):
        raise _malformed(path, "must be text")
    try:
        return cards.text(cards.parse(value))
    except ValueError:
        raise _not_allowed(path, "rank and suit, as TS for the ten of spades") from None


def _confidence(value: Any, path: str) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
        raise _malformed(path, "must be a number")
    if not 0 <= value <= 1:
        raise _not_allowed(path, "0 to 1")
    return str(value)


_sha256 = _pattern(r"[0-9a-f]{64}", "64 hexadecimal digits")
_lets_in(
    _card, type="string", pattern=f"^[{cards.RANKS}][{cards.SUITS}]$", description="TS: the ten of spades"
)
_lets_in(_confidence, type="number", minimum=0, maximum=1)


def _shape(fields: Mapping[str, tuple[Check, bool]]) -> Check:
    """An object with these fields and no other; ``True`` marks those that must be there."""

    def check(value: Any, path: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise _malformed(path, "must be an object")
        for name in value:
            if name not in fields:
                raise Refusal("unknown_field", fields={f"{path}.{name}"[:200]: "is not known here"})
        found = {}
        for name, (inner, needed) in fields.items():
            if name in value:
                found[name] = inner(value[name], f"{path}.{name}")
            elif needed:
                raise Refusal("missing_field", fields={f"{path}.{name}": "is missing"})
        return found

    return _lets_in(
        check,
        type="object",
        properties={name: SCHEMAS[inner] for name, (inner, _) in fields.items()},
        required=[name for name, (_, needed) in fields.items() if needed],
        additionalProperties=False,
    )


def _list(inner: Check, most: int) -> Check:
    def check(value: Any, path: str) -> list[Any]:
        if not isinstance(value, list):
            raise _malformed(path, "must be a list")
        if not 1 <= len(value) <= most:
            raise _not_allowed(path, f"1 to {most} items")
        return [inner(item, f"{path}.{place}") for place, item in enumerate(value)]

    return _lets_in(check, type="array", items=SCHEMAS[inner], minItems=1, maxItems=most)


def _multiples(value: Any, path: str) -> dict[str, int]:
    if not isinstance(value, dict):
        raise _malformed(path, "must be an object")
    if len(value) > 400:
        raise _not_allowed(path, "at most 400 wagers")
    return {
        _wager(name, f"{path}.{name}"[:80]): _multiple(item, f"{path}.{name}") for name, item in value.items()
    }


def _one_of(*choices: Mapping[str, tuple[Check, bool]]) -> Check:
    """An object with exactly one field, which says what it is."""
    by_name = {next(iter(choice)): _shape(choice) for choice in choices}

    def check(value: Any, path: str) -> dict[str, Any]:
        if not isinstance(value, dict) or len(value) != 1:
            raise _malformed(path, f"exactly one of {', '.join(by_name)}")
        name = next(iter(value))
        if name not in by_name:
            raise Refusal("unknown_field", fields={f"{path}.{name}"[:200]: "is not known here"})
        return by_name[name](value, path)

    return _lets_in(check, oneOf=[SCHEMAS[shape] for shape in by_name.values()])


_hand = _pattern(r"p(?:[1-9]|1[0-6])|shared|junk[1-9]|dealer", "p1 to p16, shared, junk1 to junk9, or dealer")
_wager = _pattern(r"w[1-9][0-9]{0,5}", "w1, w2, …")
_account = _pattern(r"player:[A-Za-z0-9_-]{1,40}", "player: and a reference")
_money = _shape(
    {"amount": (_whole(1, MOST_STAKE), True), "currency": (_pattern(r"[A-Z]{3}", "three letters"), True)}
)
_paid = _shape(
    {"amount": (_whole(0, 10 * MOST_STAKE), True), "currency": (_pattern(r"[A-Z]{3}", "three letters"), True)}
)
_multiple = _whole(-10, 10)
_lets_in(
    _multiples,
    type="object",
    propertyNames=SCHEMAS[_wager],
    additionalProperties=SCHEMAS[_multiple],
    maxProperties=400,
)
_position = _whole(1, 6)
_direction = _pattern(r"clockwise|counter_clockwise", "clockwise or counter_clockwise")
_reason = _text(500)
_seat = {"seat": (_whole(1, 16), True)}
_wallet = {"account": (_account, True)}


def _person_id(value: Any, path: str) -> str:
    return str(_uuid(value, path))


_lets_in(_person_id, type="string", format="uuid")
_owner = _one_of(_seat, _wallet, {"person": (_person_id, True)})
_slot = {"hand": (_hand, True), "position": (_position, True)}
_ruled_stake = _shape(
    {"amount": (_whole(0, MOST_STAKE), True), "currency": (_pattern(r"[A-Z]{3}", "three letters"), True)}
)
_hold = _pattern("|".join(sorted(record.WAIVABLE)), "a hold that a supervisor may waive")

KINDS: dict[str, dict[str, tuple[Check, bool]]] = {
    "round_opened": {
        "number": (_whole(1, 2**31 - 1), True),
        "direction": (_direction, True),
        "banker": (_shape({"account": (_account, True), "limit": (_money, True)}), False),
        "deck": (_text(60), False),
        "sheet_shown": (_sha256, False),
    },
    "bet_placed": {
        "wager": (_wager, True),
        "hand": (_hand, True),
        "owner": (_owner, True),
        "stake": (_money, True),
    },
    "bet_changed": {"wager": (_wager, True), "stake": (_money, True)},
    "bet_withdrawn": {"wager": (_wager, True)},
    "bets_locked": {"direction": (_direction, False), "order": (_list(_hand, 27), False)},
    "card_dealt": {**_slot, "card": (_card, True), "confidence": (_confidence, False)},
    "pok_shown": {"hand": (_hand, True), "by": (_one_of(_seat, _wallet), False)},
    "hand_stayed": {"hand": (_hand, True), "by": (_one_of(_seat, _wallet), False)},
    "hand_drew": {"hand": (_hand, True), "by": (_one_of(_seat, _wallet), False)},
    "hand_checked": {"hands": (_list(_hand, 27), True)},
    "dealer_drew": {},
    "dealer_stayed": {},
    "result_declared": {"multiples": (_multiples, True)},
    "card_corrected": {**_slot, "card": (_card, True), "reason": (_reason, True)},
    "card_removed": {**_slot, "reason": (_reason, True)},
    "card_ruled": {**_slot, "card": (_card, True), "reason": (_reason, True)},
    "bet_ruled": {
        "wager": (_wager, True),
        "hand": (_hand, True),
        "owner": (_owner, True),
        "stake": (_ruled_stake, True),
        "reason": (_reason, True),
    },
    "hold_waived": {"reason_code": (_hold, True), "reason": (_reason, True)},
    "round_closed": {},
    "round_voided": {"reason": (_reason, True)},
    "recorder_changed": {},
    "mispay_put_right": {"wager": (_wager, True), "paid": (_paid, True), "due": (_paid, True)},
    "mispay_found": {
        "wager": (_wager, True),
        "paid": (_paid, True),
        "due": (_paid, True),
        "reason": (_reason, True),
    },
    "note": {"text": (_text(2000), True), "kind": (_pattern(r"[a-z_]{1,40}", "a short word"), False)},
}
"""The kinds a device may report, and the data of each: (check, must be there)."""
FROM_CAMERAS, SIGNED = rounds.CAMERA_KINDS, rounds.NEEDS_SIGNATURE
_DATA = {kind: _shape(fields) for kind, fields in KINDS.items()}
_nothing = _shape({})


def data_schema(kind: str) -> dict[str, Any]:
    """Return what an event's data of this kind may be, as JSON Schema."""
    return SCHEMAS[_DATA[kind]]


def fact_schema(*, reasoned: bool = True) -> dict[str, Any]:
    """Return what a decision may choose, as JSON Schema; ``reasoned`` where each fact has its reason with it."""
    chosen = [(kind, data_schema(kind)) for kind in sorted(rounds.DECIDED_KINDS)] + [
        ("stands", SCHEMAS[_nothing])
    ]
    return {
        "oneOf": [
            data
            | {
                "properties": {
                    "kind": {"type": "string", "const": kind},
                    **{name: one for name, one in data["properties"].items() if reasoned or name != "reason"},
                },
                "required": ["kind", *(name for name in data["required"] if reasoned or name != "reason")],
            }
            for kind, data in chosen
        ]
    }


def ruling(kind: str, value: Any, path: str) -> dict[str, Any]:
    """Return the data of an act that somebody signs at a page, read like an event's of that kind."""
    return dict(_shape(KINDS[kind])(value, path))


def chosen_fact(value: Any, path: str) -> dict[str, Any]:
    """Return a fact that a decision chooses, ``{"kind": …, **data}``, read like an event's data of that kind;
    ``stands`` has none."""
    if not isinstance(value, dict) or not isinstance(value.get("kind"), str):
        raise _malformed(path, "must be an object with its kind")
    kind = value["kind"]
    data = {name: item for name, item in value.items() if name != "kind"}
    if kind == "stands":
        return {"kind": kind, **_nothing(data, path)}
    if kind not in rounds.DECIDED_KINDS:
        raise _not_allowed(f"{path}.kind", " · ".join(sorted({*rounds.DECIDED_KINDS, "stands"})))
    return {"kind": kind, **_DATA[kind](data, path)}
