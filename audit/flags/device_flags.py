"""What sealed entries show of a device: its numbers, and its clock."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.db import connection

from audit.flags.kinds import Raised, Seen
from settlement import days

BURST_EVENTS = 50
BURST_AGE_HOURS = 2
BURST_MINUTES = 5
"""More events than this, dated so far back, within so many minutes, are a burst."""

_OF_REPORTS = ("round.recorded", "events.refused")

_NEAR = 2_000
"""A burst is looked for among so many of a device's numbers before the newest: it is over before they are used up."""


def reused_numbers(seen: Sequence[Seen]) -> Iterator[Raised]:
    """Numbers that a device sent again with other contents; the first stands, the second was kept."""
    for one in seen:
        for refused in one.data.get("refused", ()) if one.action in _OF_REPORTS else ():
            if refused["code"] == "sequence_reused":
                yield Raised(
                    "sequence_reused",
                    f"devices/{one.device}#{refused['seq']}",
                    {"device": one.device, "number": refused["seq"], "sha256": refused["sha256"]},
                    one.entry,
                    table=one.table,
                    round=one.round,
                    device=one.device,
                )


def numbers_too_far(seen: Sequence[Seen]) -> Iterator[Raised]:
    """Devices that gave a number far above their last: none was used up, and each is to be enrolled anew."""
    for one in seen:
        for away in one.data.get("turned_away", ()) if one.action in _OF_REPORTS else ():
            if away["code"] == "sequence_too_far":
                yield Raised(
                    "sequence_too_far",
                    f"devices/{one.device}",
                    {"device": one.device, "number": away["seq"], "highest": away["highest"]},
                    one.entry,
                    table=one.table,
                    device=one.device,
                )


def camera_gaps(finished: Sequence[Seen]) -> Iterator[Raised]:
    """Numbers of a camera that are missing although the round of the first number after them stands settled, held or
    voided: until then they may only be late. One statement."""
    entries: dict[str, int] = {}
    for one in finished:
        entries.setdefault(one.table, one.entry)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT d.code, t.code, (hole->>0)::bigint, (hole->>1)::bigint"
            " FROM casino_device d JOIN casino_table t ON t.id = d.table_id"
            " CROSS JOIN LATERAL jsonb_array_elements(d.holes) AS hole"
            " CROSS JOIN LATERAL (SELECT coalesce(w.standing, r.standing) AS standing FROM casino_roundevent e"
            " JOIN casino_round r ON r.id = e.round_id LEFT JOIN casino_round w ON w.id = r.alias_of_id"
            " WHERE e.device_id = d.id AND e.device_seq > (hole->>1)::bigint ORDER BY e.device_seq LIMIT 1) AS after"
            " WHERE d.kind = 'camera' AND t.code = ANY(%s) AND after.standing IN ('settled', 'held', 'voided')"
            " ORDER BY d.code, 3",
            [list(entries)],
        )
        for camera, table, first, last in cursor.fetchall():
            yield Raised(
                "camera_gap",
                f"devices/{camera}#{first}-{last}",
                {"device": camera, "first": first, "last": last},
                entries[table],
                table=table,
                device=camera,
            )


def clocks(seen: Sequence[Seen]) -> Iterator[Raised]:
    """Devices whose requests said a time more than a minute off ours, once in a gaming day. One statement."""
    entries = [one for one in seen if one.device and _recorded(one)]
    by_id = {one.entry: one for one in entries}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT ON (n.entry) n.entry, e.recorded_at, e.offset_ms"
            " FROM unnest(%s::bigint[], %s::uuid[], %s::int[]) AS n (entry, round, place)"
            " JOIN casino_roundevent e ON e.round_id = n.round AND e.seq = n.place"
            " WHERE abs(e.offset_ms) > 60000 ORDER BY n.entry, abs(e.offset_ms) DESC",
            [
                [one.entry for one in entries],
                [one.round for one in entries],
                [_recorded(one)[0]["place"] for one in entries],
            ],
        )
        for entry, recorded_at, offset_ms in cursor.fetchall():
            one = by_id[entry]
            yield Raised(
                "device_clock_off",
                f"devices/{one.device}#{days.of(recorded_at)}",
                {"device": one.device, "offset_ms": offset_ms},
                entry,
                table=one.table,
                device=one.device,
            )


def bursts(seen: Sequence[Seen]) -> Iterator[Raised]:
    """Devices that sent more than fifty events, dated two hours back, within five minutes: once in a gaming day.

    Dated by the device's word put right by what its request said, before the session's opening too, and reckoned in
    seconds: a clock that ran wild may be off by more than the calendar is long. One statement.
    """
    first: dict[str, Seen] = {}
    numbers: dict[str, list[int]] = {}
    for one in seen:
        if one.device and _recorded(one):
            first.setdefault(one.device, one)
            numbers.setdefault(one.device, []).extend(event["seq"] for event in _recorded(one))
    with connection.cursor() as cursor:
        cursor.execute(
            "WITH old AS (SELECT d.code, e.recorded_at, e.device_seq BETWEEN n.low AND n.high AS fresh"
            " FROM unnest(%(codes)s::text[], %(low)s::bigint[], %(high)s::bigint[]) AS n (code, low, high)"
            " JOIN casino_device d ON d.code = n.code"
            " JOIN casino_roundevent e ON e.device_id = d.id AND e.device_seq BETWEEN n.low - %(near)s AND n.high"
            " WHERE extract(epoch FROM e.recorded_at) - extract(epoch FROM e.happened_at)"
            " - coalesce(e.offset_ms, 0) / 1000.0 >= 3600 * %(hours)s),"
            " counted AS (SELECT *, count(*) OVER (PARTITION BY code ORDER BY recorded_at"
            " RANGE BETWEEN make_interval(mins => %(minutes)s) PRECEDING AND CURRENT ROW) AS events FROM old)"
            " SELECT DISTINCT ON (code) code, recorded_at, events FROM counted WHERE fresh AND events > %(most)s"
            " ORDER BY code, recorded_at",
            {
                "codes": list(first),
                "low": [min(numbers[code]) for code in first],
                "high": [max(numbers[code]) for code in first],
                "near": _NEAR,
                "hours": BURST_AGE_HOURS,
                "minutes": BURST_MINUTES,
                "most": BURST_EVENTS,
            },
        )
        for code, recorded_at, events in cursor.fetchall():
            one = first[code]
            yield Raised(
                "clock_drift_burst",
                f"devices/{code}#{days.of(recorded_at)}",
                {"device": code, "events": events},
                one.entry,
                table=one.table,
                device=code,
            )


def _recorded(one: Seen) -> list[dict[str, int]]:
    """The events that a device's entry says were recorded."""
    events: list[dict[str, int]] = one.data["events"] if one.action == "round.recorded" else []
    return events
