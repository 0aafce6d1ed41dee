"""What a span of time came to, read from rows by statements whose number does not grow with the house.

Every figure says how it is known: ``counted`` by people, ``ruled`` by the rule sheets from what was recorded (the
ledger holds the same), ``estimated`` from recorded acts that nobody counted, or ``unknown``, with the reason and no
value. Money is in minor units, rates in basis points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

from django.db import connection

from casino import rounds
from casino.rounds import MispayFound
from settlement.models import GamingDay

COUNTED, RULED, ESTIMATED, UNKNOWN = "counted", "ruled", "estimated", "unknown"


@dataclass(frozen=True, slots=True)
class Span:
    """What a report is about: a whole gaming day, or (``begins`` and ``ends``) the shift inside it."""

    day: date
    begins: datetime
    ends: datetime

    @property
    def given(self) -> dict[str, Any]:
        return {"day": self.day, "begins": self.begins, "ends": self.ends}


def figure(
    value: int | None,
    *,
    grade: str,
    source: str,
    known: int | None = None,
    of: int | None = None,
    why: str = "",
) -> dict[str, Any]:
    """Return one figure. ``known`` of ``of`` parts were there; an unknown one has no value, and says ``why``."""
    assert (value is None) == (grade == UNKNOWN)
    assert not (value is None and not why)
    return {"value": value, "grade": grade, "source": source, "known": known, "of": of, "why": why}


def unknown(*, source: str, why: str) -> dict[str, Any]:
    """Return a figure that cannot be known: never nought."""
    return figure(None, grade=UNKNOWN, source=source, why=why)


def rate_bp(part: int, whole: int) -> int:
    """Return part ÷ whole in basis points, rounded half away from nought; ``whole`` is above nought."""
    magnitude = (abs(part) * 20_000 + whole) // (2 * whole)
    return magnitude if part >= 0 else -magnitude


# -- what was played -----------------------------------------------------------------------------------------

# The effective revision of each round of the day; a shift's are those that were settled first within it.
_PLAYED = """
WITH effective AS (
    SELECT DISTINCT ON (s.round_id) s.id, s.round_id, s.outcome, s.house_net, s.revision
      FROM settlement_settlement s WHERE s.gaming_day = %(day)s ORDER BY s.round_id, s.revision DESC
), within AS (
    SELECT e.*, t.code, t.currency, r.session_id FROM effective e
      JOIN casino_round r ON r.id = e.round_id JOIN casino_table t ON t.id = r.table_id
     WHERE %(whole)s OR (r.closed_at >= %(begins)s AND r.closed_at < %(ends)s)
), of_lines AS (
    SELECT w.code, sum(l.stake) FILTER (WHERE l.wager <> 'bank') AS turnover, sum(l.commission) AS commission,
           -sum(l.net) FILTER (WHERE l.account NOT LIKE 'player:%%') AS tray,
           -sum(l.net) FILTER (WHERE l.account LIKE 'player:%%') AS wallet, count(*) AS lines,
           sum(l.rounding_bp) AS rounding
      FROM within w JOIN settlement_line l ON l.settlement_id = w.id GROUP BY w.code
), of_rounds AS (
    SELECT code, currency, count(*) FILTER (WHERE outcome = 'settled') AS settled,
           count(*) FILTER (WHERE outcome = 'voided') AS voided, count(*) FILTER (WHERE revision > 1) AS corrected,
           sum(house_net) AS house_net
      FROM within GROUP BY code, currency
)
SELECT r.code, r.currency, r.settled, r.voided, r.corrected, r.house_net::bigint, coalesce(l.turnover, 0)::bigint,
       coalesce(l.commission, 0)::bigint, coalesce(l.tray, 0)::bigint, coalesce(l.wallet, 0)::bigint,
       coalesce(l.lines, 0), coalesce(l.rounding, 0)::bigint
  FROM of_rounds r LEFT JOIN of_lines l USING (code) ORDER BY r.code
"""


@dataclass(frozen=True, slots=True)
class Played:
    """What a table's settled rounds came to; ``house_net`` is bank and commission together."""

    currency: str
    settled: int
    voided: int
    corrected: int
    house_net: int
    turnover: int
    commission: int
    tray: int
    wallet: int
    lines: int
    rounding_bp: int

    @classmethod
    def nothing(cls, currency: str) -> Played:
        """Return what a table came to at which no round was settled."""
        return cls(currency, *(0,) * 10)


def played(span: Span, *, whole: bool) -> dict[str, Played]:
    """Return what was played, by table; ``whole``: of the whole gaming day. One statement."""
    return {row[0]: Played(*row[1:]) for row in _rows(_PLAYED, span.given | {"whole": whole})}


# -- who played: sessions and their counted floats -----------------------------------------------------------

_SESSIONS = """
SELECT t.code, t.currency, s.id, s.opened_at, s.closed_at, s.last_round,
       (SELECT count(*) FROM casino_round r WHERE r.session_id = s.id AND r.alias_of_id IS NULL
           AND r.standing = 'held' AND coalesce(r.opened_at, r.created_at) >= %(begins)s
           AND coalesce(r.opened_at, r.created_at) < %(ends)s) AS held
  FROM casino_tablesession s JOIN casino_table t ON t.id = s.table_id
 WHERE s.opened_at < %(ends)s AND (s.closed_at IS NULL OR s.closed_at >= %(begins)s)
 ORDER BY t.code, s.opened_at
"""


@dataclass(frozen=True, slots=True)
class Session:
    """One session that played within the span; ``held`` counts its rounds that wait for a person."""

    table: str
    currency: str
    id: UUID
    opened_at: datetime
    closed_at: datetime | None
    last_round: int | None
    held: int


def sessions(span: Span) -> list[Session]:
    """Return the sessions of a span by table and time. One statement."""
    return [Session(*row) for row in _rows(_SESSIONS, span.given)]


_COUNTS = """
SELECT t.code, f.kind, f.accepted_at, c.amount, f.expected, f.grade, t.currency
  FROM settlement_float f JOIN settlement_count c ON c.id = f.count_id
  JOIN casino_tablesession s ON s.id = f.session_id JOIN casino_table t ON t.id = s.table_id
 WHERE s.opened_at < %(ends)s AND (s.closed_at IS NULL OR s.closed_at >= %(begins)s)
   AND (f.gaming_day = %(day)s OR NOT %(whole)s)
   AND (%(whole)s OR (f.accepted_at >= %(begins)s AND f.accepted_at <= %(ends)s))
 ORDER BY t.code, f.accepted_at
"""


@dataclass(frozen=True, slots=True)
class Counted:
    """One count of a float as it was accepted, what the books said before it, and how far apart they were."""

    table: str
    kind: str
    accepted_at: datetime
    counted: int
    expected: int | None
    grade: str
    currency: str


def counts(span: Span, *, whole: bool) -> list[Counted]:
    """Return the counts of floats that belong to the gaming day (or were taken in the shift). One statement."""
    return [Counted(*row) for row in _rows(_COUNTS, span.given | {"whole": whole})]


# -- what the ledger moved -----------------------------------------------------------------------------------

# Wallets are many, and of them only the sum is shown. So it is of tables: what one of them moved, whoever reads this
# could take for what its tray should hold.
_MOVED = """
SELECT CASE WHEN a.kind = 'wallet' THEN 'player:*:wallet'
            WHEN a.table_id IS NOT NULL AND a.code LIKE 'table:%%' THEN 'table:*:' || a.kind
            ELSE a.code END AS account, j.kind, j.currency, count(*),
       sum(e.amount)::bigint, coalesce(sum(e.amount) FILTER (WHERE e.amount < 0), 0)::bigint
  FROM settlement_journal j JOIN settlement_entry e ON e.journal_id = j.id
  JOIN settlement_account a ON a.id = e.account_id
 WHERE j.gaming_day = %(day)s AND (%(whole)s OR (j.recorded_at >= %(begins)s AND j.recorded_at < %(ends)s))
 GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""


@dataclass(frozen=True, slots=True)
class Moved:
    """What one kind of journal moved in one account: ``amount`` in all, of which ``below`` was taken from it."""

    account: str
    kind: str
    currency: str
    entries: int
    amount: int
    below: int


def moved(span: Span, *, whole: bool) -> list[Moved]:
    """Return what was posted in the gaming day (or within the shift), by account and kind. One statement."""
    return [Moved(*row) for row in _rows(_MOVED, span.given | {"whole": whole})]


_WALLETS = """
SELECT a.currency, count(*), (sum(a.balance) - coalesce(sum(later.amount), 0))::bigint
  FROM settlement_account a LEFT JOIN (
    SELECT e.account_id, sum(e.amount) AS amount
      FROM settlement_journal j JOIN settlement_entry e ON e.journal_id = j.id
     WHERE j.gaming_day > %(day)s GROUP BY e.account_id) AS later ON later.account_id = a.id
 WHERE a.kind = 'wallet' GROUP BY a.currency ORDER BY a.currency
"""


def wallets(span: Span) -> list[dict[str, Any]]:
    """Return what guests' wallets hold at the end of the gaming day, by currency. One statement."""
    return [
        {
            "currency": currency,
            "wallets": count,
            "liability": figure(total, grade=RULED, source="ledger", known=count, of=count),
        }
        for currency, count, total in _rows(_WALLETS, span.given)
    ]


# -- what is listed ------------------------------------------------------------------------------------------

_SLIPS = """
SELECT s.kind, s.year, min(p.number), max(p.number), count(*),
       array_agg(p.number ORDER BY p.number) FILTER (WHERE p.state = 'void'),
       coalesce(sum(p.amount) FILTER (WHERE p.state <> 'void'), 0)::bigint, p.currency
  FROM (SELECT series_id, number, state, amount, currency FROM settlement_slip WHERE gaming_day = %(day)s
         UNION ALL
        SELECT series_id, number, state, amount, currency FROM settlement_payslip WHERE gaming_day = %(day)s) p
  JOIN settlement_series s ON s.id = p.series_id
 GROUP BY s.kind, s.year, p.currency ORDER BY s.kind, s.year, p.currency
"""


def slips(span: Span) -> list[dict[str, Any]]:
    """Return the numbers given to papers of the day, by series, and which of them are void. One statement."""
    return [
        {
            "series": f"{kind} {year}",
            "first": first,
            "last": last,
            "papers": count,
            "void": void or [],
            "amount": amount,
            "currency": currency,
        }
        for kind, year, first, last, count, void, amount, currency in _rows(_SLIPS, span.given)
    ]


_BREAKS = """
SELECT id::text, code, severity, subject, state, amount, currency FROM settlement_break
 WHERE state NOT IN ('matched', 'approved') AND coalesce(gaming_day, %(day)s) <= %(day)s ORDER BY id
"""
_DISPUTES = """
SELECT r.id::text, t.code, r.number, r.standing
  FROM casino_tablesession s JOIN casino_round r ON r.session_id = s.id JOIN casino_table t ON t.id = r.table_id
 WHERE s.opened_at < %(ends)s AND (s.closed_at IS NULL OR s.closed_at >= %(begins)s)
   AND r.in_dispute AND coalesce(r.opened_at, r.created_at) < %(ends)s ORDER BY r.id
"""
_HELD = """
SELECT r.id::text, t.code, r.number, r.reasons FROM casino_round r JOIN casino_table t ON t.id = r.table_id
 WHERE r.standing = 'held' AND r.alias_of_id IS NULL AND coalesce(r.opened_at, r.created_at) < %(ends)s ORDER BY r.id
"""


def breaks(span: Span) -> list[dict[str, Any]]:
    """Return the differences of the books that are open. One statement."""
    names = ("id", "code", "severity", "subject", "state", "amount", "currency")
    return [dict(zip(names, row, strict=True)) for row in _rows(_BREAKS, span.given)]


def disputes(span: Span) -> list[dict[str, Any]]:
    """Return rounds of the span's sessions that are in dispute. One statement."""
    names = ("round", "table", "number", "standing")
    return [dict(zip(names, row, strict=True)) for row in _rows(_DISPUTES, span.given)]


def held(span: Span) -> list[dict[str, Any]]:
    """Return rounds up to the end of the span that are held, with their reasons. One statement."""
    names = ("round", "table", "number", "reasons")
    return [dict(zip(names, row, strict=True)) for row in _rows(_HELD, span.given)]


# -- what is about other days --------------------------------------------------------------------------------

_LATE = """
SELECT j.id::text, j.kind, j.gaming_day::text, j.orig_day::text, j.round::text, s.revision, s.outcome, j.currency,
       coalesce((SELECT sum(e.amount) FROM settlement_entry e JOIN settlement_account a ON a.id = e.account_id
                  WHERE e.journal_id = j.id AND a.kind IN ('bank', 'commission')), 0)::bigint AS house,
       j.recorded_at
  FROM settlement_journal j LEFT JOIN settlement_settlement s
    ON j.id IN (s.journal_id, s.reversal_id, s.shortfall_id, s.shortfall_reversal_id) AND s.round_id = j.round
       AND NOT s.changes_nothing
 WHERE {what} ORDER BY j.recorded_at, j.id
"""
_LATE_NAMES = (
    "journal", "kind", "posted_in", "orig_day", "round", "revision", "outcome", "currency", "house_net",
)  # fmt: skip


def posted_about_earlier_days(span: Span) -> list[dict[str, Any]]:
    """Return what was posted in this day and is about an earlier one. One statement."""
    return _late("j.gaming_day = %(day)s AND j.orig_day IS NOT NULL", span.given)


def posted_later_about(day: date) -> list[dict[str, Any]]:
    """Return what was posted in later days and is about this one, and the mispays of its rounds that were found after
    its seal, in the order recorded. Three statements."""
    posted = _late("j.orig_day = %(day)s", {"day": day})
    sealed_at = GamingDay.objects.filter(day=day).values_list("sealed_at", flat=True).first()
    found = [] if sealed_at is None else rounds.mispays_found(since=sealed_at, gaming_day=day)
    return sorted(posted + [_mispay(one, day) for one in found], key=lambda one: str(one["recorded_at"]))


def _mispay(found: MispayFound, day: date) -> dict[str, Any]:
    """A mispay as an amendment: it moves no ledger, so there is no journal."""
    nothing = dict.fromkeys(_LATE_NAMES) | {
        "kind": "mispay_found",
        "orig_day": day.isoformat(),
        "house_net": 0,
    }
    return nothing | found.described() | {"recorded_at": found.recorded_at.isoformat()}


def _late(what: str, given: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        dict(zip(_LATE_NAMES, row[:-1], strict=True)) | {"recorded_at": row[-1].isoformat()}
        for row in _rows(_LATE.format(what=what), given)
    ]


_AS_OF = """
SELECT (SELECT coalesce(max(id), 0) FROM settlement_entry), (SELECT coalesce(max(id), 0) FROM casino_roundevent),
       (SELECT count(*) FROM settlement_journal WHERE gaming_day = %(day)s)
"""


def as_of(span: Span) -> dict[str, int]:
    """Return the place in the books up to which a report has read: the last entry and event, and the day's journals."""
    ((entry, event, journals),) = _rows(_AS_OF, span.given)
    return {"entry": entry, "event": event, "journals": journals}


def _rows(statement: str, given: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, given)
        return cursor.fetchall()
