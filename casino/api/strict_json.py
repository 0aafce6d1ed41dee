"""Read JSON as evidence deserves: no duplicate keys, no NaN, no depth that could hurt, and money never a float."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from casino.platform.refusals import Refusal

MOST_BYTES = 256 * 1024
MOST_DEPTH = 16


def read(body: bytes) -> Any:
    """Return the value; fractions become Decimal. Refuses ``body_too_large`` and ``malformed`` (400).

    UTF-8 and nothing else: what another encoding hides could not be looked for.
    """
    if len(body) > MOST_BYTES:
        raise Refusal("body_too_large")
    try:
        value = json.loads(
            body.decode(),
            object_pairs_hook=_object,
            parse_float=_fraction,
            parse_constant=_constant,
            parse_int=_integer,
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


# Longer than any number the service knows; int() of a megabyte of digits would cost a minute, and the exponent of a
# Decimal has an end.
_MOST_DIGITS = 40
_MOST_EXPONENT = 400


def _integer(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError("a number is too long")
    return int(digits)


def _fraction(digits: str) -> Decimal:
    _, _, exponent = digits.lower().partition("e")
    if len(digits) > _MOST_DIGITS or abs(int(exponent or 0)) > _MOST_EXPONENT:
        raise ValueError("a number is too long")
    return Decimal(digits)


def _refuse_depth(value: Any, left: int) -> None:
    if left < 0:
        raise ValueError(f"deeper than {MOST_DEPTH} levels")
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in inner:
        if isinstance(item, (dict, list)):
            _refuse_depth(item, left - 1)


def _refuse_unstorable(value: Any) -> None:
    """Half a surrogate pair is no character, and PostgreSQL stores no NUL in text."""
    if isinstance(value, str):
        if "\0" in value:
            raise ValueError("a NUL character")
        value.encode()
    elif isinstance(value, dict):
        for name, item in value.items():
            _refuse_unstorable(name)
            _refuse_unstorable(item)
    elif isinstance(value, list):
        for item in value:
            _refuse_unstorable(item)
