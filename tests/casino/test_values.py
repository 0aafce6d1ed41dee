"""Instants, days, numbers and ids from outside are read one way, and bounds say where they can lie."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from casino.platform import values

NOW = datetime(2026, 12, 1, 6, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("2026-12-01T06:10:00Z", NOW),
        ("2026-12-01T13:10:00+07:00", NOW),
        ("2026-12-01T06:10:00-00:00", NOW),
        ("2026-12-01T06:10:00.5Z", NOW + timedelta(milliseconds=500)),
        ("2026-12-01T06:10:00.1234567Z", NOW + timedelta(microseconds=123456)),
        ("2024-02-29T00:00:00Z", datetime(2024, 2, 29, tzinfo=UTC)),
        ("0001-01-02T00:00:00Z", datetime(1, 1, 2, tzinfo=UTC)),
        ("2569-12-01T06:10:00+07:00", datetime(2569, 11, 30, 23, 10, tzinfo=UTC)),
    ],
)
def test_an_instant_is_read_in_utc(given: str, read: datetime) -> None:
    found = values.instant(given)
    assert (found, found.tzinfo) == (read, UTC)


@pytest.mark.parametrize(
    "given",
    [
        "2026-12-01T06:10:00",
        "2026-12-01",
        "20261201T061000Z",
        "2026-12-01 06:10:00Z",
        "2026-12-01t06:10:00z",
        "2026-12-01T06:10Z",
        "2026-12-01T06:10:60Z",
        "2026-12-01T24:00:00Z",
        "2026-12-01T06:10:00+0700",
        "2026-12-01T06:10:00+07",
        "2026-12-01T06:10:00+24:00",
        "2026-12-01T06:10:00+07:60",
        "2026-12-01T06:10:00+07:00:30",
        "2026-12-01T06:10:00,5Z",
        "2026-12-01T06:10:00.Z",
        "2026-13-01T06:10:00Z",
        "2025-02-29T06:10:00Z",
        "2026-W49-2T06:10:00Z",
        "2026-335T06:10:00Z",
        "12026-12-01T06:10:00Z",
        "๒๕๖๙-๑๒-๐๑T๐๖:๑๐:๐๐Z",
        "２０２６-12-01T06:10:00Z",
        "2026-12-01T06:10:00Z\n",
        " 2026-12-01T06:10:00Z",
        "0001-01-01T00:00:00+14:00",
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59-12:00",
        "9999-12-31T00:00:00Z",
        "0000-12-01T06:10:00Z",
        "2026-12-01T06:10:00." + "1" * 21 + "Z",
        "",
        None,
        1764569400,
        b"2026-12-01T06:10:00Z",
        NOW,
    ],
)
def test_what_is_no_instant_is_not_read(given: Any) -> None:
    with pytest.raises(values.Unreadable, match="2026-03-01T10:04:05Z"):
        values.instant(given)


@pytest.mark.parametrize("given", ["0001-01-02T00:00:00Z", "9999-12-29T23:59:59.999999Z"])
def test_what_is_read_can_be_shown_in_every_zone(given: str) -> None:
    found = values.instant(given)
    for zone in (ZoneInfo("Pacific/Kiritimati"), ZoneInfo("Etc/GMT+12"), timezone(timedelta(hours=23))):
        assert found.astimezone(zone) == found


def test_a_day_is_read() -> None:
    assert values.day("2026-12-01") == date(2026, 12, 1)
    assert values.day("0001-01-01") == date.min


@pytest.mark.parametrize(
    "given",
    ["2026-W49-2", "20261201", "2026-12-1", "2026-12-01T00:00:00Z", "2026-02-30", "2026-335", "๒๕๖๙-๑๒-๐๑",
     "0000-01-01", "2026-12-01\n", "+2026-12-01", "", None, 20261201, date(2026, 12, 1)],
)  # fmt: skip
def test_what_is_no_day_is_not_read(given: Any) -> None:
    with pytest.raises(values.Unreadable, match="a day, 2026-03-01"):
        values.day(given)


@pytest.mark.parametrize(("given", "read"), [("0", 0), ("50", 50), ("-3", -3), (str(2**63 - 1), 2**63 - 1)])
def test_a_whole_number_is_read(given: str, read: int) -> None:
    assert values.whole(given, least=-(2**63)) == read


@pytest.mark.parametrize(
    "given",
    [
        "๕",
        "５",
        "²",
        "-0",
        "+5",
        "05",
        "00",
        "5.0",
        "5e1",
        " 5",
        "5\n",
        "1_000",
        "0x5",
        "-",
        "",
        None,
        5,
        True,
    ],
)
def test_what_is_no_whole_number_is_not_read(given: Any) -> None:
    with pytest.raises(values.Unreadable, match="must be a whole number"):
        values.whole(given, least=-10)


@pytest.mark.parametrize("given", ["-1", "201", str(2**63), str(10**30), "9" * 10_000])
def test_a_whole_number_has_the_bounds_that_are_asked_for(given: str) -> None:
    with pytest.raises(values.OutOfBounds, match="0 to 200"):
        values.whole(given, least=0, most=200)


def test_a_uuid_has_its_hyphens_and_either_case() -> None:
    text = "01912f3a-0000-7abc-8def-00000000000a"
    assert values.uuid(text) == values.uuid(text.upper()) == UUID(text)


@pytest.mark.parametrize(
    "given",
    ["01912f3a00007abc8def00000000000a", "{01912f3a-0000-7abc-8def-00000000000a}",
     "๑1912f3a-0000-7abc-8def-00000000000a",
     "urn:uuid:01912f3a-0000-7abc-8def-00000000000a", "01912f3a-0000-7abc-8def-0000000000_a", "x", "", None, 7],
)  # fmt: skip
def test_what_is_no_uuid_is_not_read(given: Any) -> None:
    with pytest.raises(values.Unreadable, match="must be a UUID"):
        values.uuid(given)


def test_what_happened_lies_between_the_house_and_a_minute_from_now() -> None:
    since = datetime(2026, 11, 29, 23, tzinfo=UTC)
    within = values.happened(since=since, now=NOW)
    assert [at in within for at in (since, NOW, NOW + timedelta(minutes=1))] == [True, True, True]
    for at in (since - timedelta(microseconds=1), NOW + timedelta(minutes=1, microseconds=1)):
        with pytest.raises(values.OutOfBounds, match="2026-11-29T23:00:00Z to 2026-12-01T06:11:00Z"):
            within.require(at)


def test_what_takes_effect_lies_between_now_and_ten_years_on() -> None:
    within = values.takes_effect(now=NOW)
    assert within == values.Between(NOW - timedelta(minutes=1), datetime(2036, 12, 1, 6, 10, tzinfo=UTC))
    leap = values.takes_effect(now=datetime(2028, 2, 29, tzinfo=UTC))
    assert leap.last == datetime(2038, 2, 28, tzinfo=UTC)


def test_bounds_of_days_and_numbers_name_both_ends() -> None:
    assert values.Between(date(2026, 11, 30), date(2026, 12, 1)).require(date(2026, 12, 1)) == date(
        2026, 12, 1
    )
    with pytest.raises(values.OutOfBounds, match="2026-11-30 to 2026-12-01"):
        values.Between(date(2026, 11, 30), date(2026, 12, 1)).require(date(1, 1, 2))
    with pytest.raises(values.OutOfBounds, match="1 to 8"):
        values.Between(1, 8).require(9)
