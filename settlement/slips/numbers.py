"""Numbers of papers: 1, 2, 3 … in each property, kind and year of the gaming day, and never a hole.

A sequence loses the numbers of what is rolled back; a row does not. Whoever issues holds its lock until the act ends,
so two who issue at once get their numbers one after the other. Sessions and rounds are locked before it, accounts
behind it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from django.conf import settings
from django.db import connection

from casino import events
from settlement.models import SeriesKind

PREFIXES = {SeriesKind.FILL: "FILL", SeriesKind.CREDIT: "CREDIT", SeriesKind.PAY_SLIP: "PAY"}
_WRITTEN = re.compile(r"(?P<prefix>FILL|CREDIT|PAY)-(?P<year>\d{4})-(?P<number>\d{6,9})", re.ASCII)

_TAKE = """
INSERT INTO settlement_series AS s (property, kind, year, last) VALUES (%s, %s, %s, 1)
    ON CONFLICT (property, kind, year) DO UPDATE SET last = s.last + 1
RETURNING id, last
"""


@dataclass(frozen=True, slots=True)
class Number:
    """A number of a series, ours alone if the act commits."""

    series: int
    number: int
    text: str


def take(kind: SeriesKind, *, gaming_day: date) -> Number:
    """Take the next number, locking its series until the act ends. One statement."""
    events.current()
    with connection.cursor() as cursor:
        cursor.execute(_TAKE, [settings.PROPERTY["code"], kind.value, gaming_day.year])
        series, number = cursor.fetchone()
    return Number(series, number, written(kind=kind, year=gaming_day.year, number=number))


def written(*, kind: str, year: int, number: int) -> str:
    """Return a number as papers carry it: ``FILL-2026-000182``."""
    return f"{PREFIXES[SeriesKind(kind)]}-{year}-{number:06d}"


def read(text: str) -> tuple[SeriesKind, int, int] | None:
    """Return kind, year and number of a written one; None where it is none, or not as it would be written."""
    match = _WRITTEN.fullmatch(text)
    if match is None:
        return None
    kind = {prefix: kind for kind, prefix in PREFIXES.items()}[match["prefix"]]
    found = kind, int(match["year"]), int(match["number"])
    return found if written(kind=found[0], year=found[1], number=found[2]) == text else None
