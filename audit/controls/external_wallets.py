"""I3, I6, I13, I15, I16 and I17 for wallets that live in a cashier system: what was asked of it and what it is told.

Its own books are not here. What is here must hold together: every hold ends with its round, every net that a revision
posted to a mirror is told once under a hold, and what is told is what was posted.
"""

from __future__ import annotations

from collections.abc import Iterator

from django.conf import settings

from audit.controls.findings import Finding
from audit.controls.log_facts import Pair
from audit.controls.snapshot import Books

_ENDS = """
SELECT h.id, h.state, h.ended_at, r.standing FROM settlement_externalhold h
  JOIN casino_round r ON r.id = h.round_id
  LEFT JOIN settlement_settlement s ON s.round_id = h.round_id AND s.revision = 1
 WHERE (h.ended_at IS NULL AND r.standing IN ('settled', 'voided'))
    OR (h.asked_at >= %(since)s AND NOT h.late AND h.state IN ('settled', 'released')
        AND s.settled_at IS DISTINCT FROM h.ended_at)
"""


def holds_elsewhere_end_with_their_round(books: Books) -> Iterator[Finding]:
    """I3: a hold in a cashier system is open until its bet changes or its round is first settled or voided, and ends in
    that act."""
    for id, state, ended, standing in books.rows(_ENDS):
        yield Finding(
            f"external-holds/{id}", f"{state} at {ended}, of a round that stands {standing or 'open'}",
            "ended by the round's settlement, not before and not after",
        )  # fmt: skip


_KEPT = """
SELECT s.round_id, s.revision, l.wager, l.account, coalesce(c.code, 'the house')
  FROM settlement_settlement s JOIN settlement_line l ON l.settlement_id = s.id AND l.owner_kind = 'account'
  JOIN casino_round r ON r.id = s.round_id JOIN casino_table t ON t.id = r.table_id
  LEFT JOIN settlement_cashiersystem c ON c.prefix = substring(l.owner_ref FROM '^player:([A-Za-z0-9]{1,20}[-_])')
 WHERE s.id >= %(since_id)s AND (c.id IS NULL OR c.set_at <= s.settled_at)
   AND l.account <> CASE WHEN c.id IS NULL THEN l.owner_ref || ':wallet' ELSE 'external:' || c.code || ':' || t.code END
"""


def posted_where_the_wallet_is_kept(books: Books) -> Iterator[Finding]:
    """I6: a guest's net goes to the wallet, or to the mirror of the system that keeps it, as its reference says."""
    for round, revision, wager, account, keeper in books.rows(_KEPT):
        yield Finding(
            f"rounds/{round}/revisions/{revision}/{wager}", f"posted to {account}", f"kept by {keeper}"
        )


_TOLD = """
WITH lines AS (
    SELECT s.id, s.round_id, s.revision, s.settled_at, l.wager, l.owner_ref, l.net
      FROM settlement_settlement s JOIN settlement_line l ON l.settlement_id = s.id
     WHERE s.round_id IN (SELECT round_id FROM settlement_settlement WHERE id >= %(since_id)s)
       AND l.owner_kind = 'account' AND l.account LIKE 'external:%%'
), owners AS (
    SELECT o.round_id, o.owner_ref, s.revision, s.settled_at, s.id >= %(since_id)s AS is_new,
           coalesce((SELECT sum(l.net) FROM lines l WHERE l.id = s.id AND l.owner_ref = o.owner_ref), 0) AS net
      FROM (SELECT DISTINCT round_id, owner_ref FROM lines) o JOIN settlement_settlement s ON s.round_id = o.round_id
), moved AS (
    SELECT *, lag(net) OVER (PARTITION BY round_id, owner_ref ORDER BY revision) AS before FROM owners
), tellings AS (
    SELECT round_id, owner_ref, revision, settled_at, is_new,
           lead(settled_at) OVER per_owner AS until, lead(is_new) OVER per_owner AS is_taken
      FROM moved WHERE revision = 1 OR net <> before
    WINDOW per_owner AS (PARTITION BY round_id, owner_ref ORDER BY revision)
), due AS (
    SELECT l.round_id, l.wager, l.revision, l.net AS moves, l.settled_at AS at
      FROM lines l JOIN tellings t USING (round_id, owner_ref, revision) WHERE t.is_new
), told AS (
    SELECT h.round_id, h.wager, c.revision, c.moves, c.written_at AS at, c.verb
      FROM settlement_externalcall c JOIN settlement_externalhold h ON h.id = c.hold_id
     WHERE c.verb IN ('settle', 'reverse') AND c.written_at >= %(since)s
), taken AS (
    SELECT l.round_id, l.wager, l.revision, -l.net AS moves, t.until AS at
      FROM lines l JOIN tellings t USING (round_id, owner_ref, revision) WHERE t.until IS NOT NULL AND t.is_taken
)
SELECT round_id, wager, revision, 'settle', d.moves, t.moves
  FROM due d FULL JOIN (SELECT * FROM told WHERE verb = 'settle') t USING (round_id, wager, revision, at)
 WHERE d.moves IS DISTINCT FROM t.moves
UNION ALL
SELECT round_id, wager, revision, 'reverse', d.moves, t.moves
  FROM taken d FULL JOIN (SELECT * FROM told WHERE verb = 'reverse') t USING (round_id, wager, revision, at)
 WHERE d.moves IS DISTINCT FROM t.moves
"""


def told_what_was_posted(books: Books) -> Iterator[Finding]:
    """I15: each net posted to a mirror has one call that tells it, and each one taken back one that takes it back, from
    the act that posted it; a correction tells the owners whose sum it changed."""
    for round, wager, revision, verb, due, told in books.rows(_TOLD):
        yield Finding(
            f"rounds/{round}/revisions/{revision}/{wager}",
            f"{verb} of {told}" if told is not None else f"no {verb}",
            f"{verb} of {due}" if due is not None else "nothing to tell",
        )


_LET_GO = """
SELECT h.id, h.state, h.reason FROM settlement_externalhold h
 WHERE h.asked_at >= %(since)s AND h.ended_at IS NOT NULL
   AND (h.state IN ('released', 'changed') OR h.reason = 'cashier_system_silent')
   AND NOT EXISTS (SELECT FROM settlement_externalcall c WHERE c.hold_id = h.id AND c.verb = 'release')
"""


def let_go_when_over(books: Books) -> Iterator[Finding]:
    """I15: whatever may have been set aside elsewhere and came to nothing has its release owed."""
    for id, state, reason in books.rows(_LET_GO):
        yield Finding(
            f"external-holds/{id}", f"{state} {reason}".strip() + ", no release", "its release owed"
        )


_CLAIMED = """
SELECT id, owner, lease_until FROM settlement_externalcall
 WHERE state = 'claimed' AND lease_until < clock_timestamp() - make_interval(secs => %(lease)s)
"""


def no_call_claimed_for_long(books: Books) -> Iterator[Finding]:
    """I16: no claim on a call is older than two leases."""
    for id, owner, until in books.rows(_CLAIMED, {"lease": settings.WEBHOOKS["lease_seconds"]}):
        yield Finding(f"external-calls/{id}", f"claimed by {owner} until {until}", "sent, or due again")


_ALONE = """
SELECT code, set_by_id, approved_by_id FROM settlement_cashiersystem WHERE set_by_id = approved_by_id
"""


def let_in_by_two(books: Books) -> Iterator[Finding]:
    """I13: a cashier system was let in by two people."""
    for code, by, approved_by in books.rows(_ALONE):
        yield Finding(f"cashier-systems/{code}", f"let in by {by}, approved by {approved_by}", "two people")


SYSTEMS = Pair(
    "cashier systems",
    ("cashier_system.let_in",),
    """
    SELECT s.code, jsonb_build_object('prefix', s.prefix, 'url', s.url, 'dialect', s.dialect, 'set_by', s.set_by_id,
                                      'approved_by', s.approved_by_id, 'at', s.set_at)
      FROM settlement_cashiersystem s WHERE s.set_at >= %(since)s
    """,
    """
    SELECT t.data ->> 'code', t.data - 'code' - 'public_key' || jsonb_build_object('at', t.at) FROM told t
    """,
)

SWITCHED = Pair(
    "cashier systems in use",
    ("cashier_system.enabled", "cashier_system.disabled"),
    """
    SELECT s.code, jsonb_build_object('enabled', s.enabled) FROM settlement_cashiersystem s
     WHERE 'cashier-systems/' || s.code IN (SELECT subject FROM told) OR (%(is_full)s AND NOT s.enabled)
    """,
    """
    SELECT DISTINCT ON (t.subject) split_part(t.subject, '/', 2),
           jsonb_build_object('enabled', t.action = 'cashier_system.enabled')
      FROM told t ORDER BY t.subject, t.at DESC
    """,
)

HOLDS = Pair(
    "holds elsewhere",
    ("external.owed",),
    """
    SELECT h.id::text, jsonb_build_object('round', h.round_id, 'at', h.asked_at, 'system', s.code, 'wager', h.wager,
        'account', h.account, 'stake', h.stake, 'exposure', h.exposure, 'currency', h.currency,
        'late', CASE WHEN h.late THEN 1 ELSE 0 END)
      FROM settlement_externalhold h JOIN settlement_cashiersystem s ON s.id = h.system_id WHERE h.asked_at >= %(since)s
    """,
    """
    SELECT x ->> 'id', x - 'id' || jsonb_build_object('round', t.round, 'at', t.at)
      FROM told t CROSS JOIN jsonb_array_elements(t.data -> 'made') AS x
    """,
)

CALLS = Pair(
    "calls owed",
    ("external.owed", "external.answered"),
    """
    SELECT c.id::text, jsonb_build_object('round', h.round_id, 'at', c.written_at, 'hold', c.hold_id, 'verb', c.verb,
        'revision', c.revision, 'moves', c.moves, 'path', c.path, 'reverses', c.reverses_id,
        'body_sha256', encode(sha256(convert_to(c.body, 'UTF8')), 'hex'))
      FROM settlement_externalcall c JOIN settlement_externalhold h ON h.id = c.hold_id WHERE c.written_at >= %(since)s
    """,
    """
    SELECT x ->> 'id', x - 'id' || jsonb_build_object('round', t.round, 'at', t.at)
      FROM told t CROSS JOIN jsonb_array_elements(t.data -> 'calls') AS x
    """,
)

ANSWERS = Pair(
    "answers from elsewhere",
    ("external.answered",),
    """
    SELECT h.id::text, jsonb_build_object('at', h.answered_at, 'held', h.state <> 'refused',
                                          'reason', CASE WHEN h.state = 'refused' THEN h.reason ELSE '' END)
      FROM settlement_externalhold h WHERE h.answered_at >= %(since)s
    """,
    """
    SELECT x #>> '{}', jsonb_build_object('at', t.at, 'held', true, 'reason', '')
      FROM told t CROSS JOIN jsonb_array_elements(t.data -> 'held') AS x
     UNION ALL
    SELECT x ->> 0, jsonb_build_object('at', t.at, 'held', false, 'reason', x -> 1)
      FROM told t CROSS JOIN jsonb_array_elements(t.data -> 'refused') AS x
    """,
)

ENDED = Pair(
    "holds elsewhere that ended",
    ("external.owed",),
    """
    SELECT h.id::text, jsonb_build_object('at', h.ended_at, 'state', h.state, 'reason', h.reason)
      FROM settlement_externalhold h
     WHERE h.ended_at >= %(since)s AND NOT h.late AND h.reason <> 'cashier_system_disabled'
       AND (h.state <> 'refused' OR h.answered_at IS NULL)
    """,
    """
    SELECT x ->> 0, jsonb_build_object('at', t.at, 'state', x -> 1, 'reason', x -> 2)
      FROM told t CROSS JOIN jsonb_array_elements(t.data -> 'ended') AS x
    """,
)

ACKNOWLEDGED = Pair(
    "calls acknowledged",
    ("external.acknowledged", "external.answered"),
    """
    SELECT c.id::text, jsonb_build_object('at', c.acknowledged_at)
      FROM settlement_externalcall c WHERE c.acknowledged_at >= %(since)s
    """,
    """
    SELECT split_part(t.subject, '/', 2), jsonb_build_object('at', t.at) FROM told t
     WHERE t.action = 'external.acknowledged'
     UNION ALL
    SELECT x #>> '{}', jsonb_build_object('at', t.at)
      FROM told t CROSS JOIN jsonb_array_elements(t.data -> 'acknowledged') AS x
    """,
)

PAIRS = (SYSTEMS, SWITCHED, HOLDS, CALLS, ANSWERS, ENDED, ACKNOWLEDGED)
TOLD = (told_what_was_posted, let_go_when_over)
