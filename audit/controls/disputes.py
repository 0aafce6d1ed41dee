"""I14: disputes go on without a jump and are decided once, and no round is corrected without a decision or two people.

What was raised, claimed, proposed and decided stands in the log entry by entry; the rows must tell the same story.
"""

from __future__ import annotations

from collections.abc import Iterator

from audit.controls.findings import Finding
from audit.controls.log_facts import Pair
from audit.controls.snapshot import Books

_ROWS = """
SELECT d.id, d.state, d.claimed_by_id IS NOT NULL,
       (SELECT count(*) FROM audit_proposal p WHERE p.dispute_id = d.id),
       (SELECT count(*) FROM audit_proposal p WHERE p.dispute_id = d.id AND p.withdrawn_at IS NULL),
       (SELECT count(*) FROM audit_decision n WHERE n.dispute_id = d.id),
       (SELECT count(*) FROM audit_decision n JOIN audit_proposal p ON p.id = n.proposal_id
         WHERE n.dispute_id = d.id AND p.dispute_id = d.id AND p.withdrawn_at IS NULL),
       coalesce((SELECT string_agg(replace(l.action, 'dispute.', ''), ' ' ORDER BY l.id) FROM audit_logentry l
                  WHERE l.subject = 'disputes/' || d.id AND l.action = ANY (%(steps)s)), '')
  FROM audit_dispute d
 WHERE %(is_full)s OR d.state <> 'decided'
    OR EXISTS (SELECT FROM audit_decision n WHERE n.dispute_id = d.id AND n.decided_at >= %(since)s)
"""

_STEPS = ("raised", "claimed", "taken_over", "proposed", "withdrawn", "decided")

_NEXT = {
    "": {"raised": "open"},
    "open": {"claimed": "claimed", "taken_over": "claimed"},
    "claimed": {"claimed": "claimed", "taken_over": "claimed", "proposed": "proposed"},
    "proposed": {
        "claimed": "proposed", "taken_over": "proposed", "proposed": "proposed", "withdrawn": "claimed",
        "decided": "decided",
    },
    "decided": {},
}  # fmt: skip
"""From each state, what the log may tell next and where that leads."""


def disputes_go_on(books: Books) -> Iterator[Finding]:
    """A dispute went open, claimed, proposed, decided without a jump, and what is left of each step is there."""
    for id, state, is_claimed, proposed, standing, decisions, sound, steps in books.rows(
        _ROWS, {"steps": [f"dispute.{step}" for step in _STEPS]}
    ):
        told = ""
        for step in steps.split():
            told = _NEXT.get(told, {}).get(step, "a jump")
        if told != state:
            yield Finding(
                f"disputes/{id}", f"{state}; the log says {steps or 'nothing'}", told or "no dispute"
            )
        left = (is_claimed, proposed > 0, standing, decisions, sound)
        wanted = {
            "open": left == (False, False, 0, 0, 0),
            "claimed": is_claimed and standing == decisions == 0,
            "proposed": is_claimed and standing == 1 and decisions == 0,
            "decided": standing == decisions == sound == 1,
        }
        if not wanted.get(state, False):
            yield Finding(
                f"disputes/{id}",
                f"{state}, claimed: {is_claimed}, {proposed} proposals, {standing} standing, {decisions} decisions",
                "what its state leaves: a claim, one standing proposal, one decision of it",
            )


_CHOSEN = """
WITH decisions AS (
    SELECT n.id, n.dispute_id, n.outcome, n.settlement, n.events, q.round_id,
           (SELECT coalesce(jsonb_agg(f.value ORDER BY f.place), '[]')
              FROM jsonb_array_elements(p.facts) WITH ORDINALITY AS f (value, place)
             WHERE f.value ->> 'kind' <> 'stands') AS chosen
      FROM audit_decision n JOIN audit_proposal p ON p.id = n.proposal_id JOIN audit_dispute q ON q.id = n.dispute_id
     WHERE n.decided_at >= %(since)s
), compared AS (
    SELECT d.*, s.because = d.id AND s.round_id = d.round_id AND s.outcome = d.outcome
                AND s.cites @> ARRAY(SELECT e.id FROM casino_roundevent e WHERE e.id = ANY (d.events) AND e.late)
                AS follows,
           (SELECT coalesce(jsonb_agg(e.payload || jsonb_build_object('kind', e.kind) ORDER BY k.place), '[]')
              FROM unnest(d.events) WITH ORDINALITY AS k (id, place) JOIN casino_roundevent e ON e.id = k.id
             WHERE e.source = '/disputes/' || d.dispute_id AND e.round_id = d.round_id) AS recorded
      FROM decisions d LEFT JOIN settlement_settlement s ON s.id = d.settlement)
SELECT id, chosen, recorded, outcome, settlement, follows FROM compared
 WHERE chosen <> recorded OR jsonb_array_length(chosen) <> cardinality(events)
    OR CASE WHEN chosen = '[]' OR outcome NOT IN ('settled', 'voided') THEN settlement IS NOT NULL
            ELSE follows IS NOT TRUE END
"""

_UNDECIDED = """
SELECT e.id, e.source FROM casino_roundevent e
 WHERE e.id >= %(since_event)s AND e.source LIKE '/disputes/%%'
   AND NOT EXISTS (SELECT FROM audit_decision n WHERE e.source = '/disputes/' || n.dispute_id AND e.id = ANY (n.events))
"""


def decisions_have_what_they_chose(books: Books) -> Iterator[Finding]:
    """A decision that chose facts has them as events and a revision citing them; no such event is without decision."""
    for id, chosen, recorded, outcome, settlement, follows in books.rows(_CHOSEN):
        yield Finding(
            f"decisions/{id}",
            f"chose {chosen}, recorded {recorded}, {outcome} by settlement {settlement}"
            + ("" if follows else " that is not its own"),
            "the facts it chose as events, and a revision because of it that cites them",
        )
    for id, source in books.rows(_UNDECIDED):
        yield Finding(f"events/{id}", f"an act of {source}", "a decision that chose it")


_CORRECTED = """
SELECT s.round_id, s.revision, s.because, s.acted_by_id, s.approved_by_id
  FROM settlement_settlement s LEFT JOIN audit_decision n ON n.id = s.because AND n.settlement = s.id
 WHERE s.id >= %(since_id)s
   AND ((s.because IS NOT NULL AND n.id IS NULL)
        OR (s.revision > 1 AND s.because IS NULL AND (s.acted_by_id IS NULL OR s.approved_by_id IS NULL)))
"""


def corrected_by_right(books: Books) -> Iterator[Finding]:
    """A settled round is corrected because of a decision, which names that revision, or by two people."""
    for round, revision, because, acted, approved in books.rows(_CORRECTED):
        yield Finding(
            f"rounds/{round}/revisions/{revision}",
            f"because of {because}, by {acted} and {approved}",
            "a decision that names it, or two people",
        )


# -- I17 for what people asked and answered ----------------------------------------------------------------------

_REASON = "encode(sha256(convert_to({text}, 'UTF8')), 'hex')"
"""The log keeps of a reason its code and the hash of its text, of no text nothing."""

RAISED = Pair(
    "disputes raised",
    ("dispute.raised",),
    f"""
    SELECT d.id::text, jsonb_build_object(
        'about', d.subject, 'round', d.round_id, 'raised_by', d.raised_by_id, 'currency', d.currency,
        'reason', jsonb_build_object('code', d.reason_code, 'text_sha256', CASE d.reason WHEN '' THEN ''
                  ELSE {_REASON.format(text="d.reason")} END),
        'deadline', d.deadline_at, 'follows', d.follows_id, 'at', d.raised_at)
      FROM audit_dispute d WHERE d.raised_at >= %(since)s
    """,  # noqa: S608
    """
    SELECT split_part(t.subject, '/', 2),
           t.data - '{deadline_at,money_at_risk,needs_two}'::text[] || jsonb_build_object(
        'round', t.round, 'deadline', (t.data ->> 'deadline_at')::timestamptz, 'at', t.at) FROM told t
    """,
)

PROPOSED = Pair(
    "proposals",
    ("dispute.proposed",),
    f"""
    SELECT p.id::text, jsonb_build_object(
        'dispute', p.dispute_id, 'ordinal', p.ordinal, 'facts', p.facts, 'consequences', p.consequences,
        'sha256', p.sha256, 'proposed_by', p.proposed_by_id, 'at', p.proposed_at,
        'reason', jsonb_build_object('code', p.reason_code, 'text_sha256', CASE p.note WHEN '' THEN ''
                  ELSE {_REASON.format(text="p.note")} END))
      FROM audit_proposal p WHERE p.proposed_at >= %(since)s
    """,  # noqa: S608
    """
    SELECT t.data ->> 'proposal', t.data - '{proposal,money_at_risk,needs_two}'::text[] || jsonb_build_object(
        'dispute', split_part(t.subject, '/', 2), 'at', t.at) FROM told t
    """,
)

DECIDED = Pair(
    "decisions",
    ("dispute.decided",),
    """
    SELECT n.id::text, jsonb_build_object(
        'dispute', n.dispute_id, 'proposal', n.proposal_id, 'sha256', p.sha256, 'facts', p.facts, 'outcome', n.outcome,
        'settlement', n.settlement, 'events', to_jsonb(n.events), 'proposed_by', p.proposed_by_id,
        'decided_by', n.decided_by_id, 'needs_two', d.needs_two::int, 'at', n.decided_at)
      FROM audit_decision n JOIN audit_proposal p ON p.id = n.proposal_id JOIN audit_dispute d ON d.id = n.dispute_id
     WHERE n.decided_at >= %(since)s
    """,
    """
    SELECT t.data ->> 'decision', t.data - 'decision' || jsonb_build_object(
        'dispute', split_part(t.subject, '/', 2), 'at', t.at) FROM told t
    """,
)

# What is at risk, and so how many people decide, may only rise: the last entry about it says where it stands.
AT_RISK = Pair(
    "money at risk",
    ("dispute.raised", "dispute.proposed"),
    """
    SELECT d.id::text, jsonb_build_object('money_at_risk', d.money_at_risk, 'needs_two', d.needs_two::int)
      FROM audit_dispute d WHERE %(is_full)s OR EXISTS (SELECT FROM told t WHERE t.subject = 'disputes/' || d.id)
    """,
    """
    SELECT DISTINCT ON (t.subject) split_part(t.subject, '/', 2), jsonb_build_object(
        'money_at_risk', t.data -> 'money_at_risk', 'needs_two', t.data -> 'needs_two')
      FROM told t ORDER BY t.subject, t.at DESC, t.action
    """,
)

FLAGS_RAISED = Pair(
    "flags raised",
    ("flag.raised",),
    """
    SELECT f.id::text, jsonb_build_object('kind', f.kind, 'about', f.subject, 'detail', f.detail, 'entry', f.entry_id,
                                          'round', f.round_id, 'at', f.raised_at)
      FROM audit_flag f WHERE f.raised_at >= %(since)s
    """,
    "SELECT split_part(t.subject, '/', 2), t.data || jsonb_build_object('round', t.round, 'at', t.at) FROM told t",
)

FLAGS_CLOSED = Pair(
    "flags closed",
    ("flag.closed",),
    f"""
    SELECT f.id::text, jsonb_build_object(
        'kind', f.kind, 'about', f.subject, 'by', f.closed_by_id, 'at', f.closed_at,
        'reason', jsonb_build_object('code', f.close_code, 'text_sha256', CASE f.close_reason WHEN '' THEN ''
                  ELSE {_REASON.format(text="f.close_reason")} END))
      FROM audit_flag f WHERE f.state = 'closed' AND f.closed_at >= %(since)s
    """,  # noqa: S608
    """
    SELECT split_part(t.subject, '/', 2), t.data || jsonb_build_object('by', t.person, 'at', t.at) FROM told t
    """,
)

FLAGS_DISPUTED = Pair(
    "flags disputed",
    ("flag.disputed",),
    """
    SELECT f.id::text, jsonb_build_object('kind', f.kind, 'about', f.subject, 'dispute', f.dispute)
      FROM audit_flag f
     WHERE f.dispute IS NOT NULL AND (%(is_full)s OR EXISTS (SELECT FROM told t WHERE t.subject = 'flags/' || f.id))
    """,
    "SELECT split_part(t.subject, '/', 2), t.data FROM told t",
)

PAIRS = (RAISED, PROPOSED, DECIDED, AT_RISK, FLAGS_RAISED, FLAGS_CLOSED, FLAGS_DISPUTED)
