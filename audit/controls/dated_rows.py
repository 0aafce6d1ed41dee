"""I11: every stored gaming day is the day of its instant, and what comes late is posted in the open day.

Days are cut where the property's zone and start hour cut them, by the same function for every check.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

from audit.controls.findings import Finding
from audit.controls.round_rows import Case
from audit.controls.snapshot import Books
from settlement import days

_ENDS = """
SELECT least(min(recorded_at), (SELECT min(settled_at) FROM settlement_settlement)),
       greatest(max(recorded_at), (SELECT max(settled_at) FROM settlement_settlement)) FROM settlement_journal
"""

# What a round is posted for the first time sits in the round's own day while that is today or yesterday and not sealed;
# everything else, a correction above all and what a later count found of a day, sits in the day in which it was posted
# and says which day it is about.
_JOURNALS = """
WITH dated AS (
    SELECT j.id, j.kind, j.gaming_day, j.orig_day, j.round,
           (%(days)s::date[])[width_bucket(j.recorded_at, %(starts)s::timestamptz[])] AS posted,
           coalesce(s.revision, lent.revision) AS revision, coalesce(s.gaming_day, lent.gaming_day) AS of_round,
           back.gaming_day AS of_reversed, back.orig_day AS of_original,
           CASE WHEN j.kind IN ('variance', 'drop_counted') THEN coalesce(
               (SELECT f.gaming_day FROM settlement_float f WHERE f.variance_id = j.id),
               (SELECT d.gaming_day FROM settlement_drop d
                 WHERE j.id IN (d.journal_id, d.variance_id, d.journal_back_id, d.variance_back_id)))
           END AS of_count,
           (SELECT min(e.id) FROM settlement_entry e WHERE e.journal_id = j.id) AS first_entry
      FROM settlement_journal j
      LEFT JOIN settlement_settlement s ON s.journal_id = j.id AND NOT s.changes_nothing
      LEFT JOIN settlement_settlement lent ON lent.shortfall_id = j.id AND NOT lent.changes_nothing
      LEFT JOIN settlement_journal back ON back.id = j.reverses_id
     WHERE j.id >= %(since_id)s
), expected AS (
    SELECT d.*, CASE WHEN revision = 1 AND of_round = posted - 1 AND NOT EXISTS (
               SELECT FROM settlement_gamingday g
                WHERE g.state = 'sealed' AND g.day >= of_round AND g.last_entry < d.first_entry)
           THEN of_round ELSE posted END AS wanted
      FROM dated d
)
SELECT id, kind, gaming_day, orig_day, wanted, about FROM expected
 CROSS JOIN LATERAL (SELECT CASE
     WHEN of_reversed IS NOT NULL THEN nullif(coalesce(of_original, of_reversed), wanted)
     WHEN kind = 'round' THEN nullif(of_round, wanted)
     WHEN of_count IS NOT NULL THEN nullif(of_count, wanted) END AS about) AS a
 WHERE gaming_day <> wanted OR orig_day IS DISTINCT FROM about OR (revision > 1 AND round IS NULL)
"""


def journals_in_their_day(books: Books) -> Iterator[Finding]:
    """A journal sits in the gaming day in which it was posted, or in its round's own if that was the day before; one
    about an earlier day names it."""
    for id, kind, day, about, wanted, wanted_about in books.rows(_JOURNALS, _days(books)):
        yield Finding(
            f"journals/{id}",
            f"{kind} in {day}" + (f" about {about}" if about else ""),
            f"{wanted}" + (f" about {wanted_about}" if wanted_about else ", about no other day"),
        )


_ROUNDS = """
SELECT r.id, r.gaming_day, s.gaming_day, s.revision
  FROM settlement_settlement s JOIN casino_round r ON r.id = s.round_id
 WHERE s.id >= %(since_id)s AND r.gaming_day IS DISTINCT FROM s.gaming_day
"""


def rounds_keep_their_day(books: Books) -> Iterator[Finding]:
    """A round has one gaming day, the same in every revision."""
    for id, day, settled, revision in books.rows(_ROUNDS):
        yield Finding(f"rounds/{id}", f"in {day}, revision {revision} in {settled}", "one gaming day")


def dated_by_its_bets(case: Case) -> Iterator[Finding]:
    """A round belongs to the gaming day in which its bets closed, or in which it opened where they never did."""
    if case.settlement is None or case.settled_at is None:
        return
    closed = case.record.bets_closed_ms or case.record.opened_ms
    instant = case.settled_at if closed is None else datetime.fromtimestamp(closed / 1000, tz=UTC)
    expected = days.of(instant)
    if case.gaming_day != expected:
        yield Finding(case.name, f"in {case.gaming_day}", f"{expected}, when its bets closed")


def _days(books: Books) -> dict[str, Any]:
    """Return the gaming days of the house and when each began, oldest first."""
    ((first, last),) = books.all(_ENDS)
    found: list[date] = []
    if first is not None:
        day = days.of(first)
        while day <= days.of(last):
            found.append(day)
            day += timedelta(days=1)
    return {"days": found, "starts": [days.bounds(day)[0] for day in found]}
