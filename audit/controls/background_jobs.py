"""I16: what works in the background is done, or somebody is at it: no claim is forgotten, nothing is done twice."""

from __future__ import annotations

from collections.abc import Iterator

from django.conf import settings

from audit.controls.findings import Finding
from audit.controls.snapshot import Books

_OLD_CHUNKS = """
SELECT c.id, c.run_id, c.level, c.part, c.owner, c.lease_until FROM settlement_chunk c
 WHERE c.state = 'claimed' AND c.lease_until < clock_timestamp() - make_interval(secs => %(lease)s) ORDER BY c.id
"""


def no_chunk_claimed_for_long(books: Books) -> Iterator[Finding]:
    """No claim on a chunk is older than two leases: one that it was given for, and one to be swept in."""
    lease = settings.RECONCILE["lease_seconds"]
    for id, run, level, part, owner, until in books.rows(_OLD_CHUNKS, {"lease": lease}):
        yield Finding(
            f"reconciliations/{run}/chunks/{id}",
            f"{level} {part} claimed by {owner} until {until}",
            f"finished or given back within {2 * lease} s of its claim",
        )


_UNFINISHED = """
SELECT r.id, count(*) FROM settlement_run r JOIN settlement_chunk c ON c.run_id = r.id
 WHERE r.done_at IS NOT NULL AND c.state IN ('waiting', 'claimed') GROUP BY r.id ORDER BY r.id
"""

_UNCLOSED = """
SELECT r.id FROM settlement_run r
 WHERE r.done_at IS NULL AND r.begun_at < clock_timestamp() - make_interval(secs => %(lease)s)
   AND NOT EXISTS (SELECT FROM settlement_chunk c WHERE c.run_id = r.id AND c.state IN ('waiting', 'claimed'))
 ORDER BY r.id
"""


def runs_end_with_their_chunks(books: Books) -> Iterator[Finding]:
    """A run is done when all of its chunks are, neither before nor long after."""
    for run, left in books.rows(_UNFINISHED):
        yield Finding(f"reconciliations/{run}", f"done with {left} chunks unfinished", "none unfinished")
    lease = 2 * settings.RECONCILE["lease_seconds"]
    for (run,) in books.rows(_UNCLOSED, {"lease": lease}):
        yield Finding(
            f"reconciliations/{run}", "every chunk finished, and not closed", "closed by the last one"
        )


_RESULTS = """
SELECT c.run_id, c.id, c.state, c.attempts, count(r.chunk_id), max(r.attempt)
  FROM settlement_chunk c LEFT JOIN settlement_result r ON r.chunk_id = c.id
 GROUP BY c.id HAVING count(r.chunk_id) <> (c.state = 'done')::int OR max(r.attempt) <> c.attempts ORDER BY c.id
"""


def one_result_per_chunk(books: Books) -> Iterator[Finding]:
    """A finished chunk has one result, under the number of its last claim; any other has none."""
    for run, id, state, attempts, results, attempt in books.rows(_RESULTS):
        yield Finding(
            f"reconciliations/{run}/chunks/{id}",
            f"{state} after {attempts} claims, {results} results"
            + (f" of claim {attempt}" if attempt else ""),
            "one result of its last claim" if state == "done" else "no result",
        )


_BREAKS = """
SELECT code, subject, fingerprint, count(*) FROM settlement_break
 GROUP BY code, subject, fingerprint HAVING count(*) > 1 ORDER BY code, subject
"""

_STEPS = """
SELECT b.id, b.steps, b.state, count(s.id), coalesce(max(s.ordinal), 0),
       (SELECT last.state FROM settlement_breakstep last WHERE last.of_id = b.id ORDER BY last.ordinal DESC LIMIT 1)
  FROM settlement_break b LEFT JOIN settlement_breakstep s ON s.of_id = b.id
 GROUP BY b.id HAVING count(s.id) <> b.steps OR coalesce(max(s.ordinal), 0) <> b.steps
    OR (SELECT last.state FROM settlement_breakstep last WHERE last.of_id = b.id ORDER BY last.ordinal DESC LIMIT 1)
       IS DISTINCT FROM b.state ORDER BY b.id
"""


def one_break_per_difference(books: Books) -> Iterator[Finding]:
    """A difference is one break, which stands where its last step took it."""
    for code, subject, fingerprint, times in books.rows(_BREAKS):
        yield Finding(f"breaks/{code}/{subject}", f"{times} of {fingerprint}", "one")
    for id, steps, state, written, last, came_to in books.rows(_STEPS):
        yield Finding(
            f"breaks/{id}",
            f"{state} after {steps} steps; {written} written down to {last}, the last {came_to}",
            "every step, and the state of the last",
        )


_NIGHTLY = """
SELECT 'reconcile', gaming_day, count(*) FROM settlement_run WHERE kind = 'nightly'
 GROUP BY scope, gaming_day HAVING count(*) > 1
 UNION ALL
SELECT job, gaming_day, count(*) FROM settlement_dayjob GROUP BY job, gaming_day HAVING count(*) > 1
"""


def once_a_day(books: Books) -> Iterator[Finding]:
    """What is done once a gaming day was done once."""
    for job, gaming_day, times in books.rows(_NIGHTLY):
        yield Finding(f"jobs/{job}/{gaming_day}", f"done {times} times", "once")
