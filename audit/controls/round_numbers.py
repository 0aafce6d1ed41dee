"""I10: rounds are numbered without holes, sessions do not overlap, everything is finished and somebody was there."""

from __future__ import annotations

from collections.abc import Iterator

from audit.controls.findings import Finding
from audit.controls.snapshot import Books

_SESSIONS = """
    SELECT s.id, t.code, s.closed_at, s.last_round FROM casino_tablesession s JOIN casino_table t ON t.id = s.table_id
     WHERE s.closed_at IS NULL OR s.closed_at >= %(since)s
"""

_NUMBERS = f"""
WITH sessions AS ({_SESSIONS})
SELECT s.id, s.code, s.last_round, count(r.id), count(DISTINCT r.number), coalesce(max(r.number), 0),
       s.closed_at IS NOT NULL
  FROM sessions s
  LEFT JOIN casino_round r ON r.session_id = s.id AND r.alias_of_id IS NULL AND r.number IS NOT NULL
 GROUP BY s.id, s.code, s.last_round, s.closed_at
HAVING count(DISTINCT r.number) <> count(r.id)
    OR (s.closed_at IS NOT NULL AND s.last_round IS DISTINCT FROM coalesce(max(r.number), 0))
"""  # noqa: S608

_MISSING = f"""
WITH sessions AS ({_SESSIONS}), told AS (
    SELECT s.id, s.code, greatest(max(r.number), 0)::bigint AS last,
           coalesce(range_agg(int8range(r.number, r.number::bigint + 1)) FILTER (WHERE r.number > 0), '{{}}') AS have
      FROM sessions s LEFT JOIN casino_round r ON r.session_id = s.id AND r.alias_of_id IS NULL
     GROUP BY s.id, s.code
), waived AS (
    SELECT session_id, range_agg(int8range(first, last::bigint + 1)) AS numbers FROM casino_roundwaiver
     GROUP BY session_id)
SELECT told.id, told.code, lower(hole), upper(hole) - 1, told.last
  FROM told LEFT JOIN waived ON waived.session_id = told.id
 CROSS JOIN LATERAL unnest(int8multirange(int8range(1, told.last + 1)) - told.have - coalesce(waived.numbers, '{{}}'))
       AS hole
"""  # noqa: S608


def numbered_once(books: Books) -> Iterator[Finding]:
    """Each round number stands once in its session, and a closed session states its last."""
    for id, table, stated, rounds, numbers, last, closed in books.rows(_NUMBERS):
        expected = "each number once" + (f", and {last} stated as the last" if closed else "")
        found = f"{rounds} rounds, {numbers} numbers up to {last}" + (f", {stated} stated" if closed else "")
        yield Finding(f"sessions/{id} ({table})", found, expected)


def numbers_without_holes(books: Books) -> Iterator[Finding]:
    """Round numbers run 1 to the last in each session, but for those waived. A range that is missing is one finding."""
    for id, table, first, last, of in books.rows(_MISSING):
        missing = str(first) if first == last else f"{first}-{last}"
        yield Finding(f"sessions/{id} ({table})", f"round {missing} of {of} missing", "recorded, or waived")


_OPEN = """
SELECT t.code, count(*) FROM casino_tablesession s JOIN casino_table t ON t.id = s.table_id
 WHERE s.closed_at IS NULL GROUP BY t.code HAVING count(*) > 1
"""

_OVERLAP = """
SELECT t.code, s.id, other.id FROM casino_tablesession s
  JOIN casino_table t ON t.id = s.table_id
  JOIN casino_tablesession other ON other.table_id = s.table_id AND other.id <> s.id
   AND (other.opened_at, other.id) > (s.opened_at, s.id)
 WHERE s.closed_at IS NOT NULL AND other.opened_at < s.closed_at AND s.closed_at >= %(since)s
"""


def one_session_at_a_time(books: Books) -> Iterator[Finding]:
    """A table has one open session at most, and none opens before the one before it has closed."""
    for code, count in books.rows(_OPEN):
        yield Finding(f"tables/{code}", f"{count} open sessions", "at most one")
    for code, first, second in books.rows(_OVERLAP):
        yield Finding(
            f"tables/{code}", f"session {second} opened before {first} closed", "one after the other"
        )


_UNFINISHED = f"""
WITH sessions AS ({_SESSIONS})
SELECT r.id, r.number, r.standing FROM sessions s JOIN casino_round r ON r.session_id = s.id
 WHERE s.closed_at IS NOT NULL AND r.alias_of_id IS NULL AND r.standing NOT IN ('settled', 'voided')
   AND NOT EXISTS (
       SELECT FROM audit_logentry l
        WHERE l.action = 'table.closed' AND l.subject = 'tables/' || s.code
          AND convert_from(l.bytes, 'UTF8')::jsonb -> 'data' @> jsonb_build_object('session', s.id)
          AND convert_from(l.bytes, 'UTF8')::jsonb -> 'data' -> 'held' ? r.id::text
          AND jsonb_array_length(convert_from(l.bytes, 'UTF8')::jsonb -> 'data' -> 'carried_over_by') = 2
          AND convert_from(l.bytes, 'UTF8')::jsonb #> '{{data,carried_over_by,0}}'
              <> convert_from(l.bytes, 'UTF8')::jsonb #> '{{data,carried_over_by,1}}')
"""  # noqa: S608


def finished_or_carried_over(books: Books) -> Iterator[Finding]:
    """Each round of a closed session is settled or voided, or two people carried it over by name."""
    for id, number, standing in books.rows(_UNFINISHED):
        yield Finding(
            f"rounds/{id}",
            f"number {number}, {standing or 'still played'}, its session closed",
            "settled, voided, or carried over by two people",
        )


_UNATTENDED = f"""
WITH sessions AS ({_SESSIONS})
SELECT r.id, r.number, role.name FROM sessions s
  JOIN casino_round r ON r.session_id = s.id AND r.alias_of_id IS NULL AND r.opened_at IS NOT NULL
 CROSS JOIN (VALUES ('dealer'), ('supervisor')) AS role (name)
 WHERE NOT EXISTS (SELECT FROM casino_duty d WHERE d.session_id = s.id AND d.role = role.name
                      AND d.on_at <= r.opened_at AND (d.off_at IS NULL OR d.off_at >= r.opened_at))
"""  # noqa: S608


def somebody_on_duty(books: Books) -> Iterator[Finding]:
    """When a round opened, a dealer and a supervisor were on duty at its table."""
    for id, number, role in books.rows(_UNATTENDED):
        yield Finding(f"rounds/{id}", f"number {number} opened without a {role} on duty", f"a {role} on duty")
