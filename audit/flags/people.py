"""What sealed entries show of people at tables: who recorded where they were not on duty."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.db import connection

from audit.flags.kinds import Raised, Seen


def off_duty(seen: Sequence[Seen]) -> Iterator[Raised]:
    """People whom a device names, who were not on duty in the round's session when it happened: once in a round.

    Who signed is not meant, a manager least of all, nor who acted from a page. One statement.
    """
    entries = [one for one in seen if one.action == "round.recorded" and one.device and one.data["events"]]
    places = [(one.entry, one.round, event["place"]) for one in entries for event in one.data["events"]]
    tables = {one.entry: one for one in entries}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT ON (coalesce(r.alias_of_id, r.id), p.id) n.entry, coalesce(r.alias_of_id, r.id), p.id,"
            " p.badge FROM unnest(%s::bigint[], %s::uuid[], %s::int[]) AS n (entry, round, place)"
            " JOIN casino_roundevent e ON e.round_id = n.round AND e.seq = n.place"
            " JOIN casino_round r ON r.id = e.round_id JOIN casino_person p ON p.id = e.person_id"
            " WHERE NOT EXISTS (SELECT FROM casino_duty d WHERE d.session_id = r.session_id AND d.person_id = p.id"
            "  AND d.on_at <= e.instant AND (d.off_at IS NULL OR d.off_at >= e.instant))"
            " ORDER BY 2, 3, n.entry",
            [
                [entry for entry, _, _ in places],
                [round for _, round, _ in places],
                [place for *_, place in places],
            ],
        )
        for entry, round, person, badge in cursor.fetchall():
            one = tables[entry]
            yield Raised(
                "off_duty",
                f"rounds/{round}#{person}",
                {"badge": badge, "table": one.table},
                entry,
                table=one.table,
                round=round,
                device=one.device,
            )
