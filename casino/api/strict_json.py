"""Read JSON as evidence deserves: no duplicate keys, no NaN, no depth that could hurt, and money never a float."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from casino.refusals import Refusal

MOST_BYTES = 256 * 1024
MOST_DEPTH = 16


def read(body: bytes) -> Any:
    """Return the value; fractions become Decimal. Refuses ``body_too_large`` and ``malformed`` (400)."""
    if len(body) > MOST_BYTES:
        raise Refusal("body_too_large")
    try:
        value = json.loads(
            body, object_pairs_hook=_object, parse_float=Decimal, parse_constant=_constant, parse_int=_integer
        )
        _refuse_depth(value, MOST_DEPTH)
        if b"\\u" in body:
            _refuse_unstorable(value)
    except (ValueError, RecursionError) as problem:
        raise Refusal("malformed", fields={"": str(problem)[:200]}) from None
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def _integer(digits: str) -> int:
    # Longer than any number the service knows; int() of a megabyte of digits would cost a minute.
    if len(digits) > 40:
        raise ValueError("a number is too long")
    return int(digits)


def _refuse_depth(value: Any, left: int) -> None:
    if left < 0:
        raise ValueError(f"deeper than {MOST_DEPTH} levels")
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in inner:
        if isinstance(item, (dict, list)):
            _refuse_depth(item, left - 1)


def _refuse_unstorable(value: Any) -> None:
    """Half a surrogate pair is no character, and PostgreSQL stores no NUL in text."""
    if "\\u0000" in json.dumps(value, default=str):
        raise ValueError("a NUL character")
    json.dumps(value, ensure_ascii=False, default=str).encode()
