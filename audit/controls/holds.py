"""I3: what is set aside of accounts is what their open holds say, and a wallet's wager meets cards covered or named.

A hold's story is in the log: which were opened and changed by asking to cover a round. A settlement ends the rest.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from audit.controls import round_rows
from audit.controls.findings import Finding
from audit.controls.log_facts import Pair
from audit.controls.snapshot import Books
from casino import record
from settlement.rules import house_rules, payouts

_FLOORS = """
SELECT code, balance, held, floor FROM settlement_account WHERE floor IS NOT NULL AND balance - held < floor
"""

_HELD = """
SELECT a.code, a.held, coalesce(sum(h.amount), 0) FROM settlement_account a
  LEFT JOIN settlement_hold h ON h.account_id = a.id AND h.ended_at IS NULL
 GROUP BY a.id HAVING a.held <> coalesce(sum(h.amount), 0)
"""


def nothing_below_its_floor(books: Books) -> Iterator[Finding]:
    """A guarded account has its floor beside what is set aside of it, and that is the sum of its open holds."""
    for code, balance, held, floor in books.rows(_FLOORS):
        yield Finding(f"accounts/{code}", f"balance {balance}, {held} of it held", f"{floor} left at least")
    for code, held, summed in books.rows(_HELD):
        yield Finding(f"accounts/{code}", f"held {held}", f"{summed}, the sum of its open holds")


_ENDS = """
SELECT h.id, h.round_id, h.wager, h.outcome, h.ended_at, r.standing, s.outcome, s.settled_at
  FROM settlement_hold h JOIN casino_round r ON r.id = h.round_id
  LEFT JOIN settlement_settlement s ON s.round_id = h.round_id AND s.revision = 1
 WHERE (h.ended_at IS NULL OR h.ended_at >= %(since)s)
   AND ((h.ended_at IS NULL) <> (h.outcome = '') OR h.ended_at < h.opened_at
        OR (h.ended_at IS NULL AND r.standing IN ('settled', 'voided'))
        OR (h.outcome IN ('settled', 'released') AND (
              s.settled_at IS DISTINCT FROM h.ended_at
              OR h.outcome <> CASE s.outcome WHEN 'settled' THEN 'settled' ELSE 'released' END)))
"""

_OPEN_TWICE = """
SELECT round_id, wager, count(*) FROM settlement_hold WHERE ended_at IS NULL
 GROUP BY round_id, wager HAVING count(*) > 1
"""


def holds_end_with_their_round(books: Books) -> Iterator[Finding]:
    """A hold is open until its bet changes or its round is first settled or voided, and ends in that act."""
    for id, round, wager, outcome, ended, standing, settled, settled_at in books.rows(_ENDS):
        yield Finding(
            f"holds/{id}",
            f"{outcome or 'open'} at {ended}, for {wager} of round {round}, which stands {standing or 'open'}",
            f"ended by the round's settlement ({settled} at {settled_at})" if settled else "open",
        )
    for round, wager, count in books.rows(_OPEN_TWICE):
        yield Finding(f"rounds/{round}/{wager}", f"{count} open holds", "at most one")


COVERS = Pair(
    "holds",
    ("round.covered",),
    """
    SELECT h.id::text, jsonb_build_object('round', h.round_id, 'wager', h.wager, 'account', a.code, 'amount', h.amount)
      FROM settlement_hold h JOIN settlement_account a ON a.id = h.account_id
     WHERE h.opened_at >= %(since)s OR h.id IN (
           SELECT (x.value ->> 0)::uuid FROM told t CROSS JOIN jsonb_array_elements(t.data -> 'holds') AS x)
    """,
    """
    SELECT x.value ->> 0, jsonb_build_object('round', t.round, 'wager', x.value -> 1, 'account', x.value -> 2,
                                             'amount', x.value -> 3)
      FROM told t CROSS JOIN jsonb_array_elements(t.data -> 'holds') AS x
    """,
)

CHANGES = Pair(
    "holds changed",
    ("round.covered", "round.holds_ended"),
    """
    SELECT h.id::text, jsonb_build_object('round', h.round_id, 'at', h.ended_at)
      FROM settlement_hold h WHERE h.outcome = 'changed' AND h.ended_at >= %(since)s
    """,
    """
    SELECT x.value #>> '{}', jsonb_build_object('round', t.round, 'at', t.at)
      FROM told t CROSS JOIN jsonb_array_elements(t.data -> 'ended') AS x
    """,
)


_EXPOSED = """
SELECT s.round_id, l.wager, l.stake * m.most, h.amount
  FROM settlement_settlement s
  JOIN unnest(%(sheets)s::uuid[], %(mosts)s::bigint[]) AS m (sheet, most) ON m.sheet = s.sheet_id
  JOIN settlement_line l ON l.settlement_id = s.id AND l.owner_kind = 'account' AND l.wager <> 'bank'
  LEFT JOIN (SELECT round_id, wager, amount FROM settlement_hold WHERE outcome = 'settled'
              UNION ALL
             SELECT round_id, wager, exposure FROM settlement_externalhold WHERE state = 'settled' AND NOT late) h
         ON h.round_id = s.round_id AND h.wager = l.wager
 WHERE s.id >= %(since_id)s AND s.revision = 1 AND s.outcome = 'settled' AND l.stake * m.most > 0
   AND coalesce(h.amount, 0) < l.stake * m.most
   AND NOT EXISTS (SELECT FROM settlement_uncovered u WHERE u.round_id = s.round_id AND u.wager = l.wager
                      AND u.exposure = l.stake * m.most)
"""

# The reader of flags looks at a round when it comes to its newest entry; only then must the flag be there.
_UNFLAGGED = """
SELECT u.round_id, u.wager, u.reason FROM settlement_uncovered u
  JOIN casino_round r ON r.id = u.round_id AND r.standing = 'settled'
 WHERE u.recorded_at >= %(since)s
   AND NOT EXISTS (SELECT FROM audit_flag f WHERE f.kind = 'uncovered'
                      AND f.subject = 'rounds/' || u.round_id || '#' || u.wager)
   AND EXISTS (SELECT FROM audit_logentry e JOIN audit_leaf l ON l.entry_id = e.id
                 JOIN audit_reading g ON g.name = 'flags' AND g.origin = l.origin AND g.position > l.index
                WHERE e.round = u.round_id AND e.id = (
                      SELECT max(id) FROM audit_logentry n WHERE n.round = u.round_id
                         AND n.action IN ('round.settled', 'round.corrected')))
"""


def settled_covered_or_named(books: Books) -> Iterator[Finding]:
    """A wallet's wager was covered by its exposure when its round was first settled, or stands among the uncovered
    ones, with a flag as soon as the reader of flags has come there."""
    mosts = _most_lost(books)
    parameters = {"sheets": list(mosts), "mosts": list(mosts.values())}
    for round, wager, exposure, held in books.rows(_EXPOSED, parameters):
        yield Finding(
            f"rounds/{round}/{wager}", f"{held or 0} held", f"{exposure}, or named among the uncovered"
        )
    for round, wager, reason in books.rows(_UNFLAGGED):
        yield Finding(f"rounds/{round}/{wager}", f"uncovered ({reason}), no flag", "the flag uncovered")


def _most_lost(books: Books) -> dict[UUID, int]:
    """Return how many stakes a wager can lose at most, by sheet; what cannot be read is another check's finding."""
    found: dict[UUID, int] = {}
    for id, canonical in books.all("SELECT id, canonical FROM settlement_rulesheet"):
        try:
            found[id] = payouts.exposure(1, house_rules.stored(canonical))
        except house_rules.InvalidSheet:
            continue
    return found


# -- rounds that nobody settled yet -----------------------------------------------------------------------------

_UNSETTLED = """
SELECT r.id, t.currency FROM casino_round r JOIN casino_table t ON t.id = r.table_id
 WHERE r.standing NOT IN ('settled', 'voided') AND r.alias_of_id IS NULL
   AND EXISTS (SELECT FROM casino_roundevent e WHERE e.round_id = r.id AND e.kind = 'card_dealt')
"""

_ASKED = """
SELECT l.round, l.id, convert_from(l.bytes, 'UTF8')::jsonb -> 'data' -> 'refused'
  FROM audit_logentry l WHERE l.action = 'round.covered' AND l.round = ANY (%(rounds)s) ORDER BY l.id
"""

_OPEN = "SELECT round_id, wager, amount FROM settlement_hold WHERE ended_at IS NULL AND round_id = ANY (%(rounds)s)"

_WALLETS = "SELECT code FROM settlement_account WHERE code = ANY (%(codes)s) AND currency = %(currency)s"

# Which of two acts came first, the order of their entries says; an act's instant is when it was asked for.
_BETS = """
SELECT coalesce(r.alias_of_id, r.id), e.payload ->> 'wager', max(l.id)
  FROM casino_round r
  JOIN audit_logentry l ON l.round = r.id AND l.action = 'round.recorded'
 CROSS JOIN LATERAL jsonb_array_elements(convert_from(l.bytes, 'UTF8')::jsonb #> '{data,events}') AS x
  JOIN casino_roundevent e ON e.round_id = r.id AND e.seq = (x.value ->> 'place')::int
 WHERE (r.id = ANY (%(rounds)s) OR r.alias_of_id = ANY (%(rounds)s))
   AND e.kind IN ('bet_placed', 'bet_changed', 'bet_ruled')
 GROUP BY 1, 2
"""


@dataclass(frozen=True, slots=True)
class _Asked:
    """The entry of the last time that a round's wallets were asked to cover it, and what they refused."""

    entry: int
    refused: frozenset[str]


def unsettled_covered_or_explained(books: Books) -> Iterator[Finding]:
    """Of a round with cards that is not settled: where its wallets were asked since a bet was last changed, the bet
    has a hold worth its exposure or was refused. (One that was never asked for will be named when it settles.)"""
    mosts = _most_lost(books)
    rows = books.rows(_UNSETTLED)
    while chunk := dict(itertools.islice(rows, round_rows.CHUNK)):
        rounds = {"rounds": list(chunk)}
        asked = {
            round: _Asked(entry, frozenset(one[0] for one in refused or ()))
            for round, entry, refused in books.all(_ASKED, rounds)
        }
        holds = {(round, wager): amount for round, wager, amount in books.all(_OPEN, rounds)}
        told = {(round, wager): entry for round, wager, entry in books.all(_BETS, rounds)}
        sheets = dict(books.all(round_rows.SHEETS, rounds))
        for round, events in round_rows.events_of(books, list(chunk)).items():
            sheet = sheets.get(round)
            if round not in asked or sheet not in mosts:
                continue
            try:
                wagers = _wallet_wagers(books, events, currency=chunk[round])
            except (ValueError, LookupError, TypeError, AttributeError) as impossible:
                yield Finding(f"rounds/{round}", f"cannot be read: {impossible!r}", "events that can be")
                continue
            for wager, stake in wagers:
                exposure = stake * mosts[sheet]
                held = holds.get((round, wager), 0)
                late = told.get((round, wager), 0) > asked[round].entry
                if held >= exposure or late or wager in asked[round].refused:
                    continue
                yield Finding(
                    f"rounds/{round}/{wager}", f"{held} held though its wallet was asked", f"{exposure} held"
                )


def _wallet_wagers(books: Books, events: list[tuple[Any, bool]], *, currency: str) -> list[tuple[str, int]]:
    """Return the wagers in play of wallets that exist, with their stakes."""
    folded = record.fold([event for event, late in events if not late], currency=currency)
    owned = [wager for wager in folded.wagers if wager.owner.kind == "account"]
    codes = [f"{wager.owner.ref}:wallet" for wager in owned]
    known = {code for (code,) in books.all(_WALLETS, {"codes": codes, "currency": currency})}
    return [(wager.id, wager.stake) for wager in owned if f"{wager.owner.ref}:wallet" in known]
