"""I11 and I17 for gaming days: what is sealed stays what it was, and whatever people did to a day has its entry.

Which act came first is said by the ledger's own order: a seal waits for every act that posts in its day, so whatever
the day has was entered before ``last_entry``, and whatever came later has higher entries.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from audit.controls.findings import Finding
from audit.controls.log_facts import Pair
from audit.controls.snapshot import Books
from casino.gaming_day import Calendar, StartHour

_SEALED = """
SELECT g.day, g.journals, g.last_entry,
       (SELECT count(*) FROM settlement_journal j WHERE j.gaming_day = g.day) AS has
  FROM settlement_gamingday g WHERE g.state = 'sealed' ORDER BY g.day
"""
_LATER = """
SELECT j.id, j.gaming_day, g.day
  FROM settlement_gamingday g JOIN settlement_journal j ON j.gaming_day = g.day
 WHERE g.state = 'sealed'
   AND (SELECT max(e.id) FROM settlement_entry e WHERE e.journal_id = j.id) > g.last_entry
 UNION ALL
SELECT j.id, j.gaming_day, last.day
  FROM (SELECT max(day) AS day FROM settlement_gamingday WHERE state = 'sealed') last
  JOIN settlement_journal j ON j.gaming_day <= last.day
 WHERE NOT EXISTS (SELECT FROM settlement_gamingday g WHERE g.day = j.gaming_day AND g.state = 'sealed')
 UNION ALL
SELECT NULL, g.day, last.day
  FROM (SELECT max(day) AS day FROM settlement_gamingday WHERE state = 'sealed') last
  JOIN settlement_gamingday g ON g.day < last.day AND g.state <> 'sealed'
"""


def sealed_days_stay(books: Books) -> Iterator[Finding]:
    """No journal that came after a day's seal carries that day or an earlier one; a sealed day has as many as then."""
    for day, journals, _, has in books.rows(_SEALED):
        if has != journals:
            yield Finding(f"days/{day}", f"{has} journals", f"{journals}, as when it was sealed")
    for journal, day, sealed in books.rows(_LATER):
        subject = f"journals/{journal}" if journal else f"days/{day}"
        yield Finding(subject, f"in {day}, after {sealed} was sealed", "in a day after that")


_START_HOURS = (
    "SELECT from_day, hour, zone FROM settlement_starthour WHERE approved_at IS NOT NULL ORDER BY from_day"
)
_BOUNDS = """
SELECT day, zone, start_hour, begins_at, ends_at FROM settlement_gamingday WHERE day >= %(since_day)s
"""


def days_lie_where_the_calendar_says(books: Books) -> Iterator[Finding]:
    """A stored day has the start hour that was approved for it, begins there and ends where the next day begins."""
    calendar = Calendar([StartHour(*row) for row in books.rows(_START_HOURS)])
    for day, zone, hour, begins, ends in books.rows(_BOUNDS):
        if not calendar.start_hours:
            yield Finding(f"days/{day}", "no start hour at all", "the one of the installation")
            continue
        in_force = calendar.in_force(day)
        said = hour, zone, begins, ends
        wanted = in_force.hour, in_force.zone, calendar.start(day), calendar.end(day)
        if said != wanted:
            yield Finding(f"days/{day}", _lies(*said), _lies(*wanted))


def _lies(hour: int, zone: str, begins: datetime, ends: datetime) -> str:
    return f"{hour}:00 {zone}, from {begins} to {ends}"


_BYTES = """
SELECT 'reports/' || id, sha256, encode(sha256(canonical), 'hex') FROM settlement_report
 WHERE made_at >= %(since)s AND sha256 <> encode(sha256(canonical), 'hex')
 UNION ALL
SELECT 'reports/' || f.report_id || '/' || f.format, f.sha256, encode(sha256(f.content), 'hex')
  FROM settlement_reportfile f JOIN settlement_report r ON r.id = f.report_id
 WHERE r.made_at >= %(since)s AND f.sha256 <> encode(sha256(f.content), 'hex')
"""


def reports_are_their_bytes(books: Books) -> Iterator[Finding]:
    """A report and its files hash to what they say; that it is what was told when they were fixed is a pair's."""
    for subject, said, found in books.rows(_BYTES):
        yield Finding(subject, f"bytes of {found}", f"bytes of {said}, as it says")


# -- I17 -----------------------------------------------------------------------------------------------------

_FILES = "(SELECT jsonb_object_agg(f.format, f.sha256) FROM settlement_reportfile f WHERE f.report_id = r.id)"
_DAY = "split_part(t.subject, '/', 2)"

_STATED = "jsonb_build_object('from_day', s.from_day, 'hour', s.hour, 'zone', s.zone"
STARTS_INSTALLED = Pair(
    "start hours installed",
    ("start_hour.installed",),
    f"""
    SELECT s.id::text, {_STATED}, 'at', s.approved_at)
      FROM settlement_starthour s WHERE s.proposed_by_id IS NULL AND s.approved_at >= %(since)s
    """,  # noqa: S608
    f"SELECT {_DAY}, t.data || jsonb_build_object('at', t.at) FROM told t",  # noqa: S608
)
STARTS_PROPOSED = Pair(
    "start hours proposed",
    ("start_hour.proposed",),
    f"""
    SELECT s.id::text, {_STATED}, 'by', s.proposed_by_id, 'at', s.proposed_at)
      FROM settlement_starthour s WHERE s.proposed_by_id IS NOT NULL AND s.proposed_at >= %(since)s
    """,  # noqa: S608
    f"SELECT {_DAY}, t.data || jsonb_build_object('by', t.person, 'at', t.at) FROM told t",  # noqa: S608
)
STARTS_APPROVED = Pair(
    "start hours approved",
    ("start_hour.approved",),
    f"""
    SELECT s.id::text, {_STATED}, 'by', s.approved_by_id, 'at', s.approved_at)
      FROM settlement_starthour s WHERE s.approved_by_id IS NOT NULL AND s.approved_at >= %(since)s
    """,  # noqa: S608
    f"SELECT {_DAY}, t.data || jsonb_build_object('by', t.person, 'at', t.at) FROM told t",  # noqa: S608
)
BEGUN = Pair(
    "days begun",
    ("day.begun",),
    """
    SELECT g.day::text, jsonb_build_object('zone', g.zone, 'start_hour', g.start_hour, 'begins_at', g.begins_at,
                                           'ends_at', g.ends_at, 'at', g.begun_at)
      FROM settlement_gamingday g WHERE g.begun_at >= %(since)s
    """,
    f"""
    SELECT {_DAY}, t.data || jsonb_build_object('begins_at', (t.data ->> 'begins_at')::timestamptz,
           'ends_at', (t.data ->> 'ends_at')::timestamptz, 'at', t.at) FROM told t
    """,  # noqa: S608
)
OPENED = Pair(
    "days opened",
    ("day.opened",),
    """
    SELECT g.day::text, jsonb_build_object('tables', g.tables, 'by', g.opened_by_id, 'at', g.opened_at)
      FROM settlement_gamingday g WHERE g.opened_at >= %(since)s
    """,
    f"SELECT {_DAY}, t.data || jsonb_build_object('by', t.person, 'at', t.at) FROM told t",  # noqa: S608
)
CLOSING = Pair(
    "days closing",
    ("day.closing",),
    """
    SELECT g.day::text, jsonb_build_object('by', g.closing_by_id, 'at', g.closing_at)
      FROM settlement_gamingday g WHERE g.closing_at >= %(since)s
    """,
    f"SELECT {_DAY}, t.data || jsonb_build_object('by', t.person, 'at', t.at) FROM told t",  # noqa: S608
)
SEALED = Pair(
    "days sealed",
    ("day.sealed",),
    f"""
    SELECT g.day::text, jsonb_build_object(
        'by', g.sealed_by_id, 'seconded_by', g.seconded_by_id, 'last_entry', g.last_entry, 'journals', g.journals,
        'report', r.id, 'sha256', r.sha256, 'files', {_FILES}, 'at', g.sealed_at)
      FROM settlement_gamingday g LEFT JOIN settlement_report r ON r.day_id = g.day AND r.kind = 'day'
     WHERE g.sealed_at >= %(since)s
    """,  # noqa: S608
    f"SELECT {_DAY}, t.data || jsonb_build_object('by', t.person, 'at', t.at) FROM told t",  # noqa: S608
)
TURNED = Pair(
    "days turned",
    ("day.turned",),
    """
    SELECT job || ' ' || gaming_day, jsonb_build_object('found', found, 'at', done_at)
      FROM settlement_dayjob WHERE done_at >= %(since)s
    """,
    f"""
    SELECT (t.data ->> 'job') || ' ' || {_DAY}, t.data - 'job' || jsonb_build_object('at', t.at) FROM told t
    """,  # noqa: S608
)
SHIFTS_OPENED = Pair(
    "shifts opened",
    ("shift.opened",),
    """
    SELECT s.id::text, jsonb_build_object('gaming_day', s.day_id, 'number', s.number, 'tables', s.tables,
                                          'by', s.opened_by_id, 'opened_with', s.opened_with_id, 'at', s.opened_at)
      FROM settlement_shift s WHERE s.opened_at >= %(since)s
    """,
    f"SELECT {_DAY}, t.data || jsonb_build_object('by', t.person, 'at', t.at) FROM told t",  # noqa: S608
)

# A shift that is overdue ends at its 24th hour and is told of later, with its report.
SHIFTS_CLOSED = Pair(
    "shifts closed",
    ("shift.closed",),
    f"""
    SELECT s.id::text, jsonb_build_object(
        'closed_at', s.closed_at, 'by', s.closed_by_id, 'closed_with', s.closed_with_id, 'overdue', s.overdue::int,
        'report', r.id, 'sha256', r.sha256, 'files', {_FILES}, 'at', r.made_at)
      FROM settlement_shift s LEFT JOIN settlement_report r ON r.shift_id = s.id
     WHERE s.closed_at IS NOT NULL AND coalesce(r.made_at, s.closed_at) >= %(since)s
    """,  # noqa: S608
    f"""
    SELECT {_DAY}, t.data || jsonb_build_object('closed_at', (t.data ->> 'closed_at')::timestamptz, 'by', t.person,
                                                'at', t.at) FROM told t
    """,  # noqa: S608
)

PAIRS = (
    STARTS_INSTALLED,
    STARTS_PROPOSED,
    STARTS_APPROVED,
    BEGUN,
    OPENED,
    CLOSING,
    SEALED,
    TURNED,
    SHIFTS_OPENED,
    SHIFTS_CLOSED,
)

# -- I13 -----------------------------------------------------------------------------------------------------

_TWO = """
SELECT 'days/' || day, 'sealed by ' || sealed_by_id || ' and ' || seconded_by_id || ', closed by ' || closing_by_id,
       'two who did not close it'
  FROM settlement_gamingday WHERE sealed_by_id = seconded_by_id OR closing_by_id IN (sealed_by_id, seconded_by_id)
 UNION ALL
SELECT 'shifts/' || id, 'opened by ' || opened_by_id || ' twice', 'two people'
  FROM settlement_shift WHERE opened_by_id = opened_with_id
 UNION ALL
SELECT 'shifts/' || id, 'closed by ' || coalesce(closed_by_id::text, 'nobody') || ' and '
       || coalesce(closed_with_id::text, 'nobody'), 'two people, or nobody where it is overdue'
  FROM settlement_shift WHERE closed_by_id = closed_with_id
    OR (closed_at IS NOT NULL AND ((closed_by_id IS NULL) <> overdue OR (closed_with_id IS NULL) <> overdue))
"""


def ended_by_two(books: Books) -> Iterator[Finding]:
    """Two people seal a day, of whom neither closed it; two open a shift, and two close it."""
    for subject, found, expected in books.rows(_TWO):
        yield Finding(subject, found, expected)
