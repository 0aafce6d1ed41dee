"""Refusals in the description: one shape, and for each operation and status the codes that may stand in it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from casino.platform import refusals

MEDIA_TYPE = "application/problem+json"
_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_NUMBERS = {"type": "array", "items": {"type": "integer"}}
_UUID = {"type": "string", "format": "uuid"}
_MONEY = {"$ref": "#/components/schemas/SignedMoney"}

MORE: dict[str, tuple[Any, str]] = {
    "retry_after": ({"type": "integer"}, "too_many_tries: seconds to wait, also as Retry-After"),
    "devices": (
        {"type": "object", "additionalProperties": {"type": "array", "items": _NUMBERS}},
        "device_numbers_missing: the ranges that are missing, by device",
    ),
    "rounds": ({"type": "array"}, "rounds_unfinished: their numbers"),
    "recorded": ({"type": ["integer", "null"]}, "last_round_differs: the last that is recorded"),
    "reasons": (_TEXTS, "round_held: why"),
    "state": (_TEXT, "how it stands now"),
    "unmet": ({"type": "array", "items": {"type": "object"}}, "day_not_ready: what stands before the seal"),
    "accounts": (_TEXTS, "unknown_account, wrong_currency: which"),
    "account": (_TEXT, "insufficient_funds: which account"),
    "asked": (_MONEY, "insufficient_funds: what was asked for"),
    "balance": (_MONEY, "insufficient_funds: what the account has"),
    "held": (_MONEY, "insufficient_funds: of it, what is set aside"),
    "available": (_MONEY, "insufficient_funds: what is left"),
    "options": (_TEXTS, "invalid_sheet, contradictory_sheet: the options that are meant"),
    "sheet": (_UUID, "sheet_exists: the one that has these rules"),
    "sha256": (_TEXT, "sheet_exists: its hash"),
    "tables": (_TEXTS, "count_open: tables that are being counted"),
    "claimed_by": (_UUID, "claimed: who works on it"),
    "until": (_TEXT, "claimed: how long"),
    "decision": (_UUID, "already_decided: the decision that stands"),
    "decided_by": (_UUID, "already_decided: by whom"),
    "decided_at": ({"type": "string", "format": "date-time"}, "already_decided: when"),
    "decided_by_name": (_TEXT, "already_decided: their name"),
    "round": (_UUID, "round_exists: the one that was opened first"),
    "number": ({"type": "integer"}, "round_exists: the number that both have"),
    "highest": ({"type": "integer"}, "sequence_too_far: the highest number of the device so far"),
    "standing": (_TEXT, "round_finished: how it ended"),
    "sessions": (
        {"type": "array", "items": {"type": "object"}},
        "session_needed: whose boxes wait, the oldest first",
    ),
    "missing": ({"type": "array", "items": _NUMBERS}, "rounds_not_missing: the ranges that are missing"),
}
"""Further members that some codes have."""


def problem() -> dict[str, Any]:
    """Return the shape of every refusal and every failure (RFC 9457)."""
    more = {name: {**schema, "description": says} for name, (schema, says) in MORE.items()}
    return {
        "type": "object",
        "description": "A refusal, or a failure of ours. Go by `code`: it is never renamed or used for anything else. "
        "`title` is a sentence for people, Thai or English as Accept-Language asks; members that you do not know may "
        "be ignored.",
        "required": ["type", "title", "status", "code", "instance", "request_id"],
        "properties": {
            "type": {"type": "string", "pattern": "^urn:pokdeng:refusal:[a-z0-9_]+$"},
            "title": _TEXT,
            "status": {"type": "integer"},
            "code": {"type": "string"},
            "instance": {"type": "string", "description": "the path that was asked"},
            "request_id": {"type": "string", "description": "name it when you report a fault"},
            "fields": {
                "type": "object",
                "additionalProperties": _TEXT,
                "description": "what is wrong where: a path in the request (`amount.currency`, `lines.0.pieces`) and a "
                "sentence; an empty path is the whole body",
            },
            **more,
        },
    }


def answers(codes: Iterable[str]) -> dict[str, Any]:
    """Return the refusing answers of an operation by status."""
    by_status: dict[int, list[str]] = {}
    for code in sorted(codes):
        by_status.setdefault(refusals.CODES[code].status, []).append(code)
    return {str(status): _answer(status, found) for status, found in sorted(by_status.items())}


def _answer(status: int, codes: list[str]) -> dict[str, Any]:
    schema = {
        "allOf": [
            {"$ref": "#/components/schemas/Problem"},
            {"properties": {"code": {"enum": codes}, "status": {"const": status}}},
        ]
    }
    headers: dict[str, Any] = {
        "Content-Language": {"schema": {"enum": ["en", "th"]}, "description": "of the sentences"}
    }
    if status == 401:
        headers["WWW-Authenticate"] = {"schema": _TEXT}
    if status in (429, 503):
        headers["Retry-After"] = {"schema": {"type": "integer"}, "description": "seconds"}
    said = "\n".join(f"* `{code}`: {refusals.CODES[code].english}" for code in codes)
    return {"description": said, "headers": headers, "content": {MEDIA_TYPE: {"schema": schema}}}
