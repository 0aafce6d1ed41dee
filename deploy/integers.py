"""Whole numbers that go to the database are never cut to fit: one that does not fit is refused before it is sent.

Django sends a number as wide as the column it is for, and the compiled driver packs it into as many bits, whatever
the number: 2^32 + 5 would be stored, and looked for, as 5.
"""

from __future__ import annotations

import psycopg
from psycopg import adapters
from psycopg.abc import Buffer
from psycopg.types.numeric import Int2, Int2BinaryDumper, Int4, Int4BinaryDumper


class _Smallint(Int2BinaryDumper):
    def dump(self, obj: int) -> Buffer | None:
        return super().dump(_fitting(obj, bits=16))


class _Integer(Int4BinaryDumper):
    def dump(self, obj: int) -> Buffer | None:
        return super().dump(_fitting(obj, bits=32))


def refuse_what_does_not_fit() -> None:
    """Let every connection that is opened from now on raise ``DataError`` for a number beyond its column. A number
    beyond a bigint is refused by the driver itself."""
    adapters.register_dumper(Int2, _Smallint)
    adapters.register_dumper(Int4, _Integer)


def _fitting(number: int, *, bits: int) -> int:
    if not -(1 << bits - 1) <= number < 1 << bits - 1:
        raise psycopg.DataError(f"{number} is beyond a column of {bits} bits")
    return number
