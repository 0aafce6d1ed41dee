"""I15: whatever happened was told, by its own act, to whoever asked for it; and nothing else was.

What an act booked is read from its entry in the log, which I17 holds to the rows; what it owed, from the outbox.
"""

from __future__ import annotations

from collections.abc import Iterator

from django.conf import settings

from audit.controls.findings import Finding
from audit.controls.log_facts import Pair
from audit.controls.snapshot import SLACK, Books

BOOKED = (
    "round.settled",
    "round.voided",
    "round.held",
    "round.corrected",
    "dispute.decided",
    "wallet.deposited",
    "wallet.withdrawn",
    "slip.issued",
    "slip.received",
    "slip.voided",
    "pay_slip.issued",
    "pay_slip.paid",
    "pay_slip.voided",
    "day.sealed",
    "count.recorded",
    "statement.ready",
    "break.opened",
)
"""Types of messages that are owed once for each entry whose action has the same name; that a statement is ready, for
each that says that it was made."""

_BOOKED = """
WITH entered AS (
    SELECT CASE l.action WHEN 'statement.made' THEN 'statement.ready' ELSE l.action END AS type,
           coalesce(l.round::text, '') AS round, l.recorded_at AS at, l.request_id, count(*) AS number
      FROM audit_logentry l
     WHERE l.recorded_at >= %(since)s AND (l.action = ANY (%(types)s) OR l.action = 'statement.made')
       AND NOT (l.action = 'round.corrected' AND convert_from(l.bytes, 'UTF8')::jsonb -> 'data' ? 'changes_nothing')
       -- What two books may still come to agree on is told to nobody before it has fallen due.
       AND NOT (l.action = 'break.opened' AND convert_from(l.bytes, 'UTF8')::jsonb #>> '{data,state}' = 'expected')
     GROUP BY 1, 2, 3, 4
), told AS (
    SELECT m.type, coalesce(m.round_id::text, '') AS round, m.booked_at AS at, m.request_id, count(*) AS number
      FROM settlement_message m WHERE m.booked_at >= %(since)s AND m.type = ANY (%(types)s) GROUP BY 1, 2, 3, 4)
SELECT type, round, at, request_id, coalesce(entered.number, 0), coalesce(told.number, 0)
  FROM entered FULL JOIN told USING (type, round, at, request_id) WHERE told.number IS DISTINCT FROM entered.number
"""


def told_by_its_own_act(books: Books) -> Iterator[Finding]:
    """Each settlement, void, held round, decision, slip, statement, opened break and sealed day has its message, of the
    same act; each message has what it tells of. A correction that changes nothing, and a break that is only expected,
    are told to nobody."""
    for type, round, at, request, booked, told in books.rows(_BOOKED, {"types": list(BOOKED)}):
        subject = f"messages/{type}/{round}".removesuffix("/")
        yield Finding(subject, f"{told} of them, of the act {request} at {at}", f"{booked}, as were booked")


_WALLETS = """
WITH told AS MATERIALIZED (
    SELECT m.id, m.type, m.booked_at AS at, m.body::jsonb -> 'data' AS data FROM settlement_message m
     WHERE m.booked_at >= %(since)s
       AND m.type IN ('wallet.held', 'wallet.settled', 'wallet.released', 'wallet.reversed')
), held AS (
    SELECT h.id, h.opened_at AS at FROM settlement_hold h WHERE h.opened_at >= %(since)s
), told_held AS (
    SELECT (t.data ->> 'hold')::uuid AS id, t.at FROM told t WHERE t.type = 'wallet.held'
), ended AS (
    SELECT h.id, h.ended_at AS at FROM settlement_hold h WHERE h.ended_at >= %(since)s
), told_ended AS (
    SELECT x::uuid AS id, t.at FROM told t CROSS JOIN jsonb_array_elements_text(t.data -> 'holds') AS x
), moved AS (
    SELECT j.id, a.code, sum(e.amount) AS amount, j.recorded_at AS at
      FROM settlement_journal j JOIN settlement_entry e ON e.journal_id = j.id
      JOIN settlement_account a ON a.id = e.account_id AND a.kind = 'wallet'
     WHERE j.kind IN ('round', 'round_reversal') AND j.id >= %(since_id)s AND j.recorded_at >= %(since)s
       -- What a correction took back from a wallet and gave again to the satang is told to nobody.
       AND NOT EXISTS (
           SELECT FROM settlement_settlement s JOIN settlement_entry x ON x.journal_id IN (s.journal_id, s.reversal_id)
             JOIN settlement_account o ON o.id = x.account_id AND o.code = a.code
            WHERE s.round_id = j.round AND s.revision > 1 AND j.id IN (s.journal_id, s.reversal_id)
              AND NOT s.changes_nothing
           HAVING sum(x.amount) = 0)
     GROUP BY j.id, a.code
), told_moved AS (
    SELECT (t.data ->> 'journal')::uuid AS id, t.data ->> 'account' AS code, t.at,
           coalesce(t.data #>> '{net,amount}', t.data #>> '{amount,amount}')::bigint AS amount
      FROM told t WHERE t.type IN ('wallet.settled', 'wallet.reversed') AND t.data ->> 'journal' IS NOT NULL)
SELECT 'holds/' || id, coalesce(t.times, 0) || ' times told as set aside'
  FROM (SELECT *, true AS is_held FROM held) h
  FULL JOIN (SELECT id, at, count(*) AS times FROM told_held GROUP BY id, at) t USING (id, at)
 WHERE is_held IS NULL OR t.times IS DISTINCT FROM 1
UNION ALL
SELECT 'holds/' || id, coalesce(t.times, 0) || ' times told as over'
  FROM (SELECT *, true AS is_over FROM ended) h
  FULL JOIN (SELECT id, at, count(*) AS times FROM told_ended GROUP BY id, at) t USING (id, at)
 WHERE is_over IS NULL OR t.times IS DISTINCT FROM 1
UNION ALL
SELECT 'journals/' || coalesce(m.id, t.id) || '/' || coalesce(m.code, t.code),
       'told as ' || coalesce(t.amount::text, 'nothing') || ', moved ' || coalesce(m.amount, 0)
  FROM moved m FULL JOIN told_moved t USING (id, code, at)
 WHERE t.amount IS DISTINCT FROM coalesce(m.amount, 0)
"""


def wallets_told_as_moved(books: Books) -> Iterator[Finding]:
    """Whose wallet it is learns of each hold when it begins and when it is over, and of what a round moved there."""
    for subject, found in books.rows(_WALLETS):
        yield Finding(subject, found, "told once, by the act that did it, as it did it")


_OWED = """
WITH listed AS (
    SELECT c.endpoint_id, c.revision, c.opens, e.types,
           lead(c.revision) OVER (PARTITION BY c.endpoint_id ORDER BY c.revision) AS until
      FROM settlement_endpointchange c JOIN settlement_endpoint e ON e.id = c.endpoint_id
), owed AS (
    SELECT m.id AS message_id, l.endpoint_id FROM settlement_message m
      JOIN listed l ON l.opens AND m.type = ANY (l.types) AND m.as_of_change >= l.revision
                   AND (l.until IS NULL OR m.as_of_change < l.until)
     WHERE m.booked_at >= %(since)s
), there AS (
    SELECT d.message_id, d.endpoint_id FROM settlement_delivery d JOIN settlement_message m ON m.id = d.message_id
     WHERE m.booked_at >= %(since)s)
SELECT message_id, endpoint_id, is_there IS NULL
  FROM (SELECT *, true AS is_owed FROM owed) owed
  FULL JOIN (SELECT *, true AS is_there FROM there) there USING (message_id, endpoint_id)
 WHERE is_owed IS NULL OR is_there IS NULL
"""

_LISTED = """
SELECT 'endpoints/' || e.id, e.state || ', as change ' || coalesce(last.revision, 0) || ' left it'
  FROM settlement_endpoint e
  LEFT JOIN LATERAL (SELECT c.revision, c.opens FROM settlement_endpointchange c WHERE c.endpoint_id = e.id
                      ORDER BY c.revision DESC LIMIT 1) last ON true
 WHERE (e.state <> 'disabled') IS DISTINCT FROM coalesce(last.opens, false)
UNION ALL
SELECT 'endpoints', count(*) || ' changes up to number ' || max(revision) FROM settlement_endpointchange
HAVING count(*) <> max(revision)
UNION ALL
SELECT 'messages/' || m.id, 'owed to the list as of change ' || m.as_of_change FROM settlement_message m
 WHERE m.booked_at >= %(since)s AND NOT m.as_of_change BETWEEN
       coalesce((SELECT max(c.revision) FROM settlement_endpointchange c
                  WHERE c.changed_at < m.booked_at - %(slack)s), 0)
       AND coalesce((SELECT max(c.revision) FROM settlement_endpointchange c), 0)
"""


def owed_to_every_endpoint(books: Books) -> Iterator[Finding]:
    """Each message has one delivery for each endpoint that was open and had chosen its type when it was written, and
    none for another; the list of endpoints is counted without gaps and says how each stands."""
    for message, endpoint, is_missing in books.rows(_OWED):
        yield Finding(
            f"messages/{message}",
            f"{'nothing' if is_missing else 'something'} owed to endpoint {endpoint}",
            "owed to whoever was listed for it then",
        )
    for subject, found in books.rows(_LISTED, {"slack": SLACK}):
        yield Finding(subject, found, "as the list of endpoints had it")


_NUMBERED = """
SELECT m.round_id, count(*), max(m.number) FROM settlement_message m
 WHERE m.round_id IN (SELECT n.round_id FROM settlement_message n WHERE n.booked_at >= %(since)s)
 GROUP BY m.round_id HAVING count(*) <> max(m.number) OR min(m.number) <> 1 OR count(DISTINCT m.number) <> count(*)
"""

_WRITTEN = """
SELECT m.id, m.body FROM settlement_message m
 WHERE m.booked_at >= %(since)s
   AND (m.body::jsonb ->> 'type' IS DISTINCT FROM m.type
        OR (m.body::jsonb ->> 'timestamp')::timestamptz IS DISTINCT FROM m.booked_at
        OR (m.round_id IS NOT NULL AND (m.body::jsonb #>> '{data,round}' IS DISTINCT FROM m.round_id::text
                                        OR m.body::jsonb #>> '{data,in_round}' IS DISTINCT FROM m.number::text)))
"""


def numbered_by_round(books: Books) -> Iterator[Finding]:
    """Messages of a round are numbered from 1 without gaps, and their bytes say what their rows do."""
    for round, count, last in books.rows(_NUMBERED):
        yield Finding(
            f"rounds/{round}", f"{count} messages up to number {last}", "1 to their last without gaps"
        )
    for message, body in books.rows(_WRITTEN):
        yield Finding(f"messages/{message}", body[:200], "type, time, round and number as its row has them")


_ENDED = """
WITH given_up AS (
    SELECT x::bigint AS id FROM audit_logentry l
     CROSS JOIN jsonb_array_elements_text(convert_from(l.bytes, 'UTF8')::jsonb #> '{data,deliveries}') AS x
     WHERE l.action = 'delivery.given_up')
SELECT d.id, d.state, d.last_result FROM settlement_delivery d
  JOIN settlement_message m ON m.id = d.message_id JOIN settlement_endpoint e ON e.id = d.endpoint_id
 WHERE m.booked_at >= %(since)s AND CASE d.state
    WHEN 'delivered' THEN NOT EXISTS (SELECT FROM settlement_attempt a WHERE a.delivery_id = d.id
                                         AND a.number = d.attempts AND a.result = 'delivered')
    WHEN 'given_up' THEN d.id NOT IN (SELECT id FROM given_up)
    ELSE e.state = 'disabled' AND d.due_at < now() - %(slack)s END
"""


def delivered_due_or_given_up(books: Books) -> Iterator[Finding]:
    """What is delivered was taken by its last try; what is given up, the log says so; nothing else is due to an
    endpoint that is disabled."""
    for delivery, state, result in books.rows(_ENDED, {"slack": SLACK}):
        yield Finding(
            f"deliveries/{delivery}",
            f"{state}, {result or 'never tried'}",
            "delivered by its last try, due to an endpoint that is open, or given up with an alert",
        )


_CLAIMED = """
SELECT d.id, d.owner, d.lease_until FROM settlement_delivery d
 WHERE d.state = 'claimed' AND d.lease_until < clock_timestamp() - make_interval(secs => %(lease)s)
"""


def no_delivery_claimed_for_long(books: Books) -> Iterator[Finding]:
    """No delivery stands claimed for two leases: whoever sweeps takes it up again."""
    for delivery, owner, until in books.rows(_CLAIMED, {"lease": float(settings.WEBHOOKS["lease_seconds"])}):
        yield Finding(f"deliveries/{delivery}", f"claimed by {owner} until {until}", "finished or due again")


SWEEPS = (
    told_by_its_own_act,
    wallets_told_as_moved,
    owed_to_every_endpoint,
    numbered_by_round,
    delivered_due_or_given_up,
)

TARGETS = Pair(
    "targets",
    ("target.approved", "target.withdrawn"),
    """
    SELECT t.id || '/target.approved', jsonb_build_object('host', t.host, 'port', t.port, 'ranges', to_jsonb(t.ranges),
               'set_by', t.set_by_id, 'approved_by', t.approved_by_id, 'at', t.set_at)
      FROM settlement_approvedtarget t WHERE t.set_at >= %(since)s
    UNION ALL
    SELECT t.id || '/target.withdrawn', jsonb_build_object('host', t.host, 'port', t.port, 'ranges', to_jsonb(t.ranges),
               'set_by', t.set_by_id, 'withdrawn_by', t.withdrawn_by_id, 'at', t.withdrawn_at)
      FROM settlement_approvedtarget t WHERE t.withdrawn_at >= %(since)s
    """,
    """
    SELECT split_part(t.subject, '/', 2) || '/' || t.action, t.data || jsonb_build_object('at', t.at) FROM told t
    """,
)

ENDPOINTS = Pair(
    "endpoints",
    ("endpoint.opened", "endpoint.disabled"),
    """
    SELECT c.revision::text, jsonb_build_object('endpoint', e.id, 'name', e.name, 'reason', c.reason,
               'changed_by', c.changed_by_id, 'approved_by', c.approved_by_id, 'at', c.changed_at, 'opens', c.opens)
           || CASE WHEN c.opens THEN jsonb_build_object('url', e.url, 'types', to_jsonb(e.types), 'system', e.system)
                   ELSE '{}' END
      FROM settlement_endpointchange c JOIN settlement_endpoint e ON e.id = c.endpoint_id
     WHERE c.changed_at >= %(since)s
    """,
    """
    SELECT t.data ->> 'revision', t.data - 'revision' || jsonb_build_object('endpoint', split_part(t.subject, '/', 2),
               'at', t.at, 'opens', t.action = 'endpoint.opened')
      FROM told t
    """,
)

PAIRS = (TARGETS, ENDPOINTS)

_TWO = """
SELECT 'targets/' || t.id FROM settlement_approvedtarget t
 WHERE t.set_at >= %(since)s AND t.set_by_id = t.approved_by_id
UNION ALL
SELECT 'endpoints/' || c.endpoint_id FROM settlement_endpointchange c
 WHERE c.changed_at >= %(since)s AND c.opens
   AND (c.changed_by_id IS NULL OR c.approved_by_id IS NULL OR c.changed_by_id = c.approved_by_id)
"""


def opened_by_two(books: Books) -> Iterator[Finding]:
    """I13: where webhooks go was set by one and approved by another."""
    for (subject,) in books.rows(_TWO):
        yield Finding(subject, "set and approved by one person, or by nobody", "by two people")
