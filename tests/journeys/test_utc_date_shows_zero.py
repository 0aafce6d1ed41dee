"""At two in the morning the date in London is yesterday's and the gaming day runs on: what is shown is the gaming day.

The product never takes a day out of an instant by itself: whatever shows or finds a day asks the property's calendar.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from deploy.local import paths
from settlement import days
from tests.architecture.test_tidy import product
from tests.settlement import floor
from tests.settlement.floor import a_person

HALF_PAST_SIX = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)
"""06:30 of 2 March on the wall; in London it is still 1 March."""
TWO_AT_NIGHT = datetime(2026, 3, 1, 19, 0, tzinfo=UTC)
"""02:00 of 2 March on the wall, and the gaming day of 1 March."""
ONE_AT_NIGHT_THERE = datetime(2026, 3, 2, 1, 0, tzinfo=UTC)
"""08:00 of 2 March on the wall: all three agree, so nothing is shown by it."""


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """What the doors read on the clock."""

    def set_to(instant: datetime) -> None:
        monkeypatch.setattr(timezone, "now", lambda: instant)

    return set_to  # type: ignore[return-value]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("instant", "gaming_day"),
    [
        (HALF_PAST_SIX, date(2026, 3, 2)),
        (TWO_AT_NIGHT, date(2026, 3, 1)),
        (ONE_AT_NIGHT_THERE, date(2026, 3, 2)),
    ],
)
def test_utc_date_shows_zero(clock: Any, instant: datetime, gaming_day: date) -> None:
    """Cash of a moment ago is on every screen, whose day is the running gaming day: none shows an empty one."""
    floor.paid_in("A17", 25_000_000, now=instant - timedelta(minutes=1))
    with floor.act(now=instant):
        days.begin(gaming_day)
    client = Client()
    clock(instant)
    client.force_login(a_person("A01", "auditor"))

    listed = client.get("/api/v1/days").json()
    assert (listed["running"], [one["gaming_day"] for one in listed["days"]]) == (str(gaming_day),) * 1 + (
        [str(gaming_day)],
    )
    assert listed["days"][0]["running"] is True
    assert client.get(f"/api/v1/days/{gaming_day}").json()["day"]["running"] is True

    cash = client.get("/api/v1/cash/report").json()
    assert cash["gaming_day"] == str(gaming_day)
    assert [one["amount"]["amount"] for one in cash["log"]] == [25_000_000]


def test_the_instants_tell_the_utc_date_from_the_gaming_day() -> None:
    apart = [instant.date() != days.of(instant) for instant in (HALF_PAST_SIX, TWO_AT_NIGHT)]
    assert apart == [True, False]
    wall = timedelta(hours=7)
    assert (TWO_AT_NIGHT + wall).date() != days.of(TWO_AT_NIGHT)


# -- no query and no code takes a day out of an instant ------------------------------------------------------

MAY = {
    "casino/gaming_day.py": "it is the calendar",
    "audit/admin/calendars.py": "a list's calendar works with midnights of the property, and they are days again",
}
"""Modules that may write ``.date()``, and why."""

CALLS = frozenset({"date", "TruncDate", "TruncDay", "ExtractDay", "localdate", "fromtimestamp_date"})
LOOKUP = re.compile(r"__(date|year|month|day|week_day)(__|$)")
SQL = re.compile(
    r"(?<![s'\"])\s*::\s*date\b(?!\s*\[)"  # an expression cast to a day, where it is no parameter and no literal
    r"|\bAS\s+date\s*\)"
    r"|\bdate_trunc\s*\(\s*'(day|month|year|week)'"
    r"|\bcurrent_date\b|\bto_char\s*\([^)]*'YYYY-?MM-?DD'"
    r"|\bextract\s*\(\s*(day|month|year|doy|dow)\s+FROM\s+\w*(_at|now|instant)",
    re.IGNORECASE,
)


def taken(source: str) -> list[str]:
    """Where a module takes a day out of an instant: a call, a lookup of the ORM, or words of a statement."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in CALLS and not node.args and not node.keywords and isinstance(node.func, ast.Attribute):
                found.append(ast.unparse(node))
            if name in CALLS - {"date"} and (node.args or node.keywords):
                found.append(ast.unparse(node))
            found += [f"{one.arg}=" for one in node.keywords if one.arg and LOOKUP.search(one.arg)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found += [match.group() for match in SQL.finditer(node.value)]
    return found


def test_no_query_derives_a_day_from_a_utc_date() -> None:
    found = {
        str(path.relative_to(paths.CLONE)): taken(path.read_text())
        for path in product()
        if str(path.relative_to(paths.CLONE)) not in MAY
    }
    assert {name: places for name, places in found.items() if places} == {}


def test_those_who_may_do() -> None:
    assert [name for name in MAY if not taken((paths.CLONE / name).read_text())] == []


@pytest.mark.parametrize(
    "source",
    [
        "day = act.now.date()",
        "Journal.objects.filter(recorded_at__date=day)",
        "Journal.objects.filter(recorded_at__date__gte=day)",
        "rows.annotate(day=TruncDate('recorded_at'))",
        "SQL = 'SELECT recorded_at::date FROM settlement_journal'",
        "SQL = 'SELECT (now() AT TIME ZONE zone)::date'",
        "SQL = 'SELECT CAST(recorded_at AS date)'",
        "SQL = \"SELECT date_trunc('day', recorded_at)\"",
        "SQL = 'SELECT 1 WHERE gaming_day = current_date'",
        "SQL = \"SELECT to_char(recorded_at, 'YYYY-MM-DD')\"",
        "SQL = 'SELECT extract(day FROM recorded_at)'",
    ],
)
def test_whoever_takes_a_day_out_of_an_instant_is_noticed(source: str) -> None:
    assert taken(source)


@pytest.mark.parametrize(
    "source",
    [
        "day = date(2026, 3, 1)",
        "day = days.of(act.now)",
        "SQL = 'SELECT unnest(%(days)s::date[])'",
        "SQL = 'SELECT %s::date'",
        "SQL = 'SELECT %(day)s::date - 1'",
        "SQL = 'SELECT gaming_day FROM settlement_journal'",
    ],
)
def test_days_that_are_days_already_are_left_alone(source: str) -> None:
    assert taken(source) == []
