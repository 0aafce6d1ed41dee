"""R2, sources: what tables reported against what was settled of it.

Rounds are compared by digest first, per table and five minutes of their first report: how many, what was staked, and a
sum of hashes on either side. Only where these differ are the rounds themselves opened.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

from settlement.breaks import NewBreak
from settlement.reconciliation.results import Single
from settlement.reconciliation.window import (
    MS_OF_ID,
    Found,
    Level,
    Piece,
    Slice,
    Window,
    cut_by,
    grace,
    reading,
    rows_of,
)

SLOT_MS = 5 * 60 * 1000


def cut(window: Window, size: int) -> Iterator[Slice]:
    yield from _whole_slots(
        cut_by(
            "rounds",
            window,
            at="(extract(epoch FROM created_at) * 1000)::bigint",
            rows="casino_round WHERE table_id = ANY (SELECT id FROM casino_table)"
            " AND created_at >= %(since)s AND created_at < %(until)s",
            size=size,
        )
    )
    yield from cut_by(
        "journals",
        window,
        at=MS_OF_ID.format(id="id"),
        rows="settlement_journal WHERE id >= %(low)s AND id < %(high)s",
        size=5 * size,
    )
    yield Slice("numbers", window.lower, window.upper)
    yield Slice("devices", window.lower, window.upper)


def _whole_slots(slices: Iterator[Slice]) -> Iterator[Slice]:
    """Move the cuts to where five minutes end, so that no digest is of half of them."""
    lower = None
    for piece in slices:
        lower = piece.lower if lower is None else lower
        upper = piece.upper + -piece.upper % SLOT_MS
        if upper > lower:
            yield Slice(piece.part, lower, upper)
            lower = upper


# Both sides in the same words: which round, how many wagers, what was staked in all; a void round has none. Wagers of
# owners without a wallet are not in play: the settlement names them, and they are left out of the record's side.
_SIDES = """
WITH rounds AS MATERIALIZED (
    SELECT r.id, r.standing, r.record, r.gaming_day, coalesce(r.due_at, r.closed_at) AS due_at, t.code, t.currency,
           date_bin('5 minutes', r.created_at, timestamptz '2000-01-01 00:00+00') AS slot, s.id AS settlement,
           s.outcome, s.inputs -> 'not_in_play' AS not_in_play, s.currency AS settled_in, s.gaming_day AS settled_on
      FROM casino_round r JOIN casino_table t ON t.id = r.table_id
      LEFT JOIN settlement_settlement s ON s.round_id = r.id
           AND NOT EXISTS (SELECT FROM settlement_settlement later WHERE later.supersedes_id = s.id)
     WHERE r.table_id = ANY (SELECT id FROM casino_table) AND r.alias_of_id IS NULL
       AND r.created_at >= %(since)s AND r.created_at < %(until)s
), reported AS (
    SELECT r.id, r.code, r.slot, coalesce(sum((w ->> 'stake')::bigint), 0)::bigint AS staked, count(w) AS wagers
      FROM rounds r
      LEFT JOIN LATERAL (SELECT w FROM jsonb_array_elements(r.record -> 'wagers') AS w
                          WHERE r.standing <> 'voided' AND NOT coalesce(r.not_in_play, '[]') ? (w ->> 'id')) AS each (w)
                ON TRUE
     WHERE r.standing IN ('settled', 'voided', 'due') GROUP BY r.id, r.code, r.slot
), settled AS (
    SELECT r.id, r.code, r.slot, coalesce(sum(l.stake), 0)::bigint AS staked, count(l.id) AS wagers
      FROM rounds r
      LEFT JOIN settlement_line l ON l.settlement_id = r.settlement AND l.wager <> 'bank' AND r.outcome = 'settled'
     WHERE r.settlement IS NOT NULL GROUP BY r.id, r.code, r.slot
)
"""

_SUMS = """
    SELECT code, slot, count(*) AS number, sum(staked)::bigint AS staked,
           sum(('x' || left(encode(sha256(convert_to(id || ' ' || wagers || ' ' || staked, 'UTF8')), 'hex'), 15))
               ::bit(60)::bigint)::text AS hashes
"""

_DIGESTS = f"""
{_SIDES}
, ours AS ({_SUMS} FROM settled GROUP BY code, slot), theirs AS ({_SUMS} FROM reported GROUP BY code, slot),
open AS (SELECT code, slot, count(*) AS number FROM rounds WHERE standing IN ('', 'held') GROUP BY code, slot)
SELECT code, slot, theirs.number, theirs.staked, theirs.hashes, ours.number, ours.staked, ours.hashes,
       coalesce(open.number, 0)
  FROM theirs FULL JOIN ours USING (code, slot) FULL JOIN open USING (code, slot) ORDER BY code, slot
"""  # noqa: S608 - put together from its own parts

_OPENED = f"""
{_SIDES}
SELECT r.id, r.currency, r.standing, r.due_at, p.wagers, p.staked, s.wagers, s.staked
  FROM rounds r
  JOIN unnest(%(codes)s::text[], %(slots)s::timestamptz[]) AS opened (code, slot) USING (code, slot)
  LEFT JOIN reported p ON p.id = r.id LEFT JOIN settled s ON s.id = r.id
 WHERE r.standing NOT IN ('', 'held') OR s.id IS NOT NULL ORDER BY r.id
"""  # noqa: S608 - put together from its own parts

# Amounts may be right where currency or day are not; these few are looked for by name. What was posted late on purpose
# says whose day it is of.
_ELSEWHERE = f"""
{_SIDES}
SELECT r.id, r.currency, r.settled_in, r.gaming_day, coalesce(j.orig_day, j.gaming_day, r.settled_on)
  FROM rounds r JOIN settlement_settlement f ON f.round_id = r.id AND f.revision = 1
  LEFT JOIN settlement_journal j ON j.id = f.journal_id
 WHERE r.settled_in <> r.currency OR r.gaming_day <> coalesce(j.orig_day, j.gaming_day, r.settled_on)
 ORDER BY r.id
"""  # noqa: S608 - put together from its own parts


def rounds(piece: Piece) -> Iterator[Found]:
    """Each round that was reported is settled for what was staked, in its currency and on its day."""
    between: dict[str, Any] = {"since": piece.begins, "until": min(piece.ends, piece.window.until)}
    digests, opened, elsewhere = _read_rounds(between)
    for code, slot, *sums, waiting in digests:
        key = f"tables/{code}/{slot.isoformat()}"
        if _agree(sums):
            yield Single(key, sums[:3], records=sums[0] or 0)
        if waiting:
            yield Single(f"{key}/open", [], is_pending=True, records=waiting)
    for row in opened:
        yield _opened(row, piece)
    for id, currency, settled_in, played, posted in elsewhere:
        yield _elsewhere(f"rounds/{id}", currency, settled_in, played, posted)


Rows = list[tuple[Any, ...]]


def _read_rounds(between: dict[str, Any]) -> tuple[Rows, Rows, Rows]:
    """Read the digests, the rounds of those that differ, and the rounds of another currency or day, as of one
    moment."""
    with reading():
        digests = list(rows_of(_DIGESTS, between))
        differing: list[tuple[str, datetime]] = [
            (code, slot) for code, slot, *sums, _ in digests if not _agree(sums)
        ]
        opened: Rows = []
        if differing:
            codes, slots = zip(*differing, strict=True)
            opened = list(rows_of(_OPENED, between | {"codes": list(codes), "slots": list(slots)}))
        return digests, opened, list(rows_of(_ELSEWHERE, between))


def _agree(sums: list[Any]) -> bool:
    return sums[:3] == sums[3:]


def _opened(row: tuple[Any, ...], piece: Piece) -> Single:
    id, currency, standing, due, wagers, staked, lines, settled = row
    key = f"rounds/{id}"
    value = [standing, wagers, staked, lines, settled]
    detail = {"standing": standing, "wagers": wagers, "staked": staked, "lines": lines, "settled": settled}
    if lines is None:
        fell_due = (due or piece.ends) + grace()
        missing = NewBreak("MISSING_LEDGER", key, "not settled", detail, staked, currency, fell_due)
        is_due = fell_due <= piece.now
        return Single(key, value, (missing,) if is_due else (), is_pending=not is_due)
    if wagers is None:
        return Single(key, value, (NewBreak("MISSING_SOURCE", key, "not closed", detail, settled, currency),))
    if (wagers, staked) != (lines, settled):
        print_ = f"{wagers} {staked} {lines} {settled}"
        return Single(key, value, (NewBreak("AMOUNT", key, print_, detail, settled - staked, currency),))
    return Single(key, value)


def _elsewhere(key: str, currency: str, settled_in: str, played: date, posted: date) -> Single:
    found = []
    if settled_in != currency:
        found.append(NewBreak("CURRENCY", key, settled_in, {"table": currency, "settled": settled_in}))
    if posted != played:
        detail = {"played": played.isoformat(), "posted": posted.isoformat()}
        found.append(NewBreak("CUTOFF", key, posted.isoformat(), detail))
    return Single(f"{key}/day", [settled_in, played.isoformat(), posted.isoformat()], tuple(found), records=0)


_JOURNALS = """
SELECT j.id, j.key, j.currency, j.round, count(s.id),
       (SELECT coalesce(sum(e.amount), 0)::bigint FROM settlement_entry e WHERE e.journal_id = j.id AND e.amount > 0)
  FROM settlement_journal j
  LEFT JOIN settlement_settlement s ON j.round = s.round_id AND NOT s.changes_nothing
       AND j.id IN (s.journal_id, s.shortfall_id, s.reversal_id, s.shortfall_reversal_id)
 WHERE j.id >= %(low)s AND j.id < %(high)s AND j.kind IN ('round', 'round_reversal', 'hold_shortfall')
 GROUP BY j.id ORDER BY j.id
"""


def journals(piece: Piece) -> Iterator[Found]:
    """Each journal of a round is one settlement's: none came from nowhere, none counts twice."""
    for id, name, currency, round, asked, moved in rows_of(_JOURNALS, piece.ids):
        detail = {"key": name, "round": str(round), "settlements": asked}
        found: tuple[NewBreak, ...] = ()
        if asked == 0:
            found = (NewBreak("MISSING_SOURCE", f"journals/{id}", "nobody's", detail, moved, currency),)
        elif asked > 1:
            found = (NewBreak("DUPLICATE", f"journals/{id}", str(asked), detail, moved, currency),)
        yield Single(f"journals/{id}", [name, moved], found)


# What a session states when it closes is its last round in the window only where it closed there.
_NUMBERS = """
WITH sessions AS (
    SELECT s.id, t.code, CASE WHEN s.closed_at < %(until)s THEN s.last_round END AS stated
      FROM casino_tablesession s JOIN casino_table t ON t.id = s.table_id
     WHERE s.opened_at < %(until)s AND (s.closed_at IS NULL OR s.closed_at >= %(since)s)
), told AS (
    SELECT s.id, s.code, s.stated, count(r.number) AS rounds, coalesce(max(r.number), 0)::bigint AS last,
           coalesce(range_agg(int8range(r.number, r.number::bigint + 1)) FILTER (WHERE r.number > 0), '{}') AS have
      FROM sessions s
      LEFT JOIN casino_round r ON r.session_id = s.id AND r.alias_of_id IS NULL AND r.created_at < %(until)s
     GROUP BY s.id, s.code, s.stated)
SELECT told.id, told.code, told.stated, told.rounds, told.last,
       coalesce((SELECT jsonb_agg(jsonb_build_array(lower(hole), upper(hole) - 1) ORDER BY hole)
                   FROM unnest(int8multirange(int8range(1, greatest(told.last, told.stated) + 1)) - told.have
                        - coalesce((SELECT range_agg(int8range(w.first, w.last::bigint + 1)) FROM casino_roundwaiver w
                                     WHERE w.session_id = told.id), '{}')) AS hole), '[]')::text,
       coalesce((SELECT jsonb_agg(number ORDER BY number) FROM (
           SELECT number FROM casino_round r WHERE r.session_id = told.id AND r.alias_of_id IS NULL AND number > 0
              AND r.created_at < %(until)s GROUP BY number HAVING count(*) > 1) AS twice), '[]')::text
  FROM told ORDER BY told.id
"""


def numbers(piece: Piece) -> Iterator[Found]:
    """Round numbers of each session that was open run from 1 without holes to the last, which a closed one states. A
    range that is missing is one break, however wide."""
    between = {"since": piece.begins, "until": piece.ends}
    for id, code, stated, rounds_, last, missing, twice in rows_of(_NUMBERS, between):
        subject = f"sessions/{id}"
        found = [
            NewBreak(
                "SEQ_GAP",
                subject,
                f"round {first}" if first == end else f"rounds {first}-{end}",
                {"table": code, "first": first, "last": end, "of": max(last, stated or 0)},
            )
            for first, end in json.loads(missing)
        ]
        found += [
            NewBreak("DUPLICATE", subject, f"round {number}", {"table": code, "twice": number})
            for number in json.loads(twice)
        ]
        if stated is not None and last > stated:
            found.append(
                NewBreak(
                    "SEQ_GAP", subject, f"beyond {stated}", {"table": code, "stated": stated, "last": last}
                )
            )
        yield Single(subject, [code, rounds_], tuple(found))


_DEVICES = """
SELECT d.code, t.code, d.last_seq, d.holes::text FROM casino_device d JOIN casino_table t ON t.id = d.table_id
 WHERE d.enrolled_at < %(until)s AND (d.revoked_at IS NULL OR d.revoked_at >= %(since)s) ORDER BY d.code
"""


def devices(piece: Piece) -> Iterator[Found]:
    """Each number of a device's came, was refused by name, or was waived; what is missing is named by its range."""
    for code, table, last, holes in rows_of(_DEVICES, {"since": piece.begins, "until": piece.ends}):
        found = [
            NewBreak(
                "SEQ_GAP", f"devices/{code}", f"{low}-{high}", {"table": table, "first": low, "last": high, "of": last}
            )
            for low, high in json.loads(holes)
        ]  # fmt: skip
        yield Single(f"devices/{code}", [table], tuple(found))


LEVEL = Level(
    number=1,
    cut=cut,
    parts={"rounds": rounds, "journals": journals, "numbers": numbers, "devices": devices},
)
