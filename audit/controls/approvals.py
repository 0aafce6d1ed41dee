"""I13: what needs two people had two, none of them disabled then, and nobody had a hand in what they judged.

Accounts are disabled by an act about the person; the log says when.
"""

from __future__ import annotations

from collections.abc import Iterator

from audit.controls.findings import Finding
from audit.controls.snapshot import Books

# Each statement names what is wrong: subject, found, expected.
_TWICE = """
SELECT 'rule-sheets/' || sha256, 'proposed and approved by ' || approved_by_id, 'two people'
  FROM settlement_rulesheet WHERE approved_by_id = proposed_by_id
 UNION ALL
SELECT 'sheets in force/' || t.code || ' from ' || r.in_force_from, 'set and approved by ' || r.set_by_id, 'two people'
  FROM settlement_tablerules r JOIN casino_table t ON t.id = r.table_id WHERE r.set_by_id = r.approved_by_id
 UNION ALL
SELECT 'people/' || person_id, 'appointed by ' || coalesce(proposed_by_id::text, 'nobody') || ' and '
       || coalesce(approved_by_id::text, 'nobody'), 'two others, of whom one suffices for a role without money'
  FROM casino_appointment
 WHERE person_id IN (proposed_by_id, approved_by_id) OR proposed_by_id = approved_by_id
    OR (proposed_by_id IS NOT NULL AND approved_by_id IS NULL
        AND (role NOT IN ('dealer', 'surveillance') OR permissions <> '{}'))
 UNION ALL
SELECT 'people/' || id, 'ended by themselves', 'somebody else' FROM casino_person WHERE ended_by_id = id
 UNION ALL
SELECT 'people/' || person_id, 'given a code by ' || made_by_id, 'somebody else'
  FROM casino_handover WHERE person_id IN (made_by_id, approved_by_id) OR made_by_id = approved_by_id
 UNION ALL
SELECT 'places/' || code, 'added or ended by one person', 'two people'
  FROM (SELECT code, added_by_id, added_with_id, ended_by_id, ended_with_id FROM casino_table
         UNION ALL SELECT code, added_by_id, added_with_id, ended_by_id, ended_with_id FROM casino_cage) AS places
 WHERE added_by_id = added_with_id OR ended_by_id = ended_with_id
 UNION ALL
SELECT 'countings/' || counting_id, count(*) || ' counts by ' || count(DISTINCT counted_by_id) || ' people',
       'each by another person'
  FROM settlement_count WHERE supersedes_id IS NULL
 GROUP BY counting_id HAVING count(DISTINCT counted_by_id) < count(*)
 UNION ALL
SELECT 'counts/' || c.id, 'corrects that of ' || b.counted_by_id, 'the own'
  FROM settlement_count c JOIN settlement_count b ON b.id = c.supersedes_id
 WHERE c.counted_at >= %(since)s AND (b.counted_by_id, b.counting_id) <> (c.counted_by_id, c.counting_id)
 UNION ALL
SELECT 'counts/' || c.id, 'counted by who carried the box', 'somebody else'
  FROM settlement_count c JOIN settlement_counting n ON n.id = c.counting_id AND n.carried_by_id = c.counted_by_id
 WHERE c.counted_at >= %(since)s
 UNION ALL
SELECT taken.what, (SELECT count(DISTINCT counted_by_id) FROM settlement_count c
                     WHERE c.counting_id = taken.counting_id) || ' people counted', 'two'
  FROM (SELECT 'floats/' || f.id, c.counting_id FROM settlement_float f JOIN settlement_count c ON c.id = f.count_id
         WHERE f.accepted_at >= %(since)s
         UNION ALL
        SELECT 'drops/' || d.id, c.counting_id FROM settlement_drop d JOIN settlement_count c ON c.id = d.count_id
         WHERE d.accepted_at >= %(since)s) AS taken (what, counting_id)
 WHERE (SELECT count(DISTINCT counted_by_id) FROM settlement_count c WHERE c.counting_id = taken.counting_id) < 2
 UNION ALL
SELECT 'floats/' || id, 'missing numbers overridden by ' || coalesce(override_first_id::text, 'nobody'), 'two people'
  FROM settlement_float
 WHERE accepted_at >= %(since)s AND missing <> '{}' AND (override_first_id = override_second_id) IS NOT FALSE
 UNION ALL
SELECT 'rounds/' || round_id || '/revisions/' || revision, 'asked for and approved by ' || acted_by_id, 'two people'
  FROM settlement_settlement WHERE id >= %(since_id)s AND acted_by_id = approved_by_id
 UNION ALL
SELECT 'breaks/' || id, 'resolved and approved by ' || approved_by_id, 'two people'
  FROM settlement_break WHERE resolved_by_id = approved_by_id
 UNION ALL
SELECT 'keys/' || id, 'made and agreed to by ' || approved_by_id, 'two people'
  FROM casino_apikey WHERE created_by_id = approved_by_id
 UNION ALL
SELECT 'people/' || l.person || ' in entry ' || l.id, 'changed their own rights', 'somebody else'
  FROM audit_logentry l WHERE l.recorded_at >= %(since)s AND l.action IN ('person.created', 'person.changed')
   AND l.subject = 'people/' || l.person
"""


def two_people(books: Books) -> Iterator[Finding]:
    """Whoever proposes, counts, asks or is granted something is not who approves, counts again or grants it."""
    for subject, found, expected in books.rows(_TWICE):
        yield Finding(subject, found, expected)


# Whoever was on duty as dealer while the round ran dealt it, and whoever of the dealers told an event of it.
_DECIDED = """
WITH deciding AS (
    SELECT d.id, d.dispute_id, 'decided' AS what, d.decided_by_id AS person, d.decided_at AS at FROM audit_decision d
     UNION ALL
    SELECT d.id, d.dispute_id, 'proposed', p.proposed_by_id, p.proposed_at
      FROM audit_decision d JOIN audit_proposal p ON p.id = d.proposal_id)
SELECT 'decisions/' || c.id, c.what || ' by ' || c.person || ', who raised the dispute', 'somebody else'
  FROM deciding c JOIN audit_dispute q ON q.id = c.dispute_id
 WHERE c.at >= %(since)s AND c.person = q.raised_by_id
 UNION ALL
SELECT 'decisions/' || c.id, c.what || ' by ' || c.person || ', who dealt the round', 'somebody else'
  FROM deciding c JOIN audit_dispute q ON q.id = c.dispute_id JOIN casino_round r ON r.id = q.round_id
 WHERE c.at >= %(since)s
   AND (EXISTS (SELECT FROM casino_duty u WHERE u.session_id = r.session_id AND u.role = 'dealer'
                   AND u.person_id = c.person AND (r.closed_at IS NULL OR u.on_at <= r.closed_at)
                   AND (r.opened_at IS NULL OR u.off_at IS NULL OR u.off_at >= r.opened_at))
        OR EXISTS (SELECT FROM casino_roundevent e JOIN casino_person p ON p.id = e.person_id AND p.role = 'dealer'
                    WHERE e.round_id = r.id AND e.person_id = c.person))
 UNION ALL
SELECT 'decisions/' || d.id, 'proposed and decided by ' || d.decided_by_id || ' above the threshold', 'two people'
  FROM audit_decision d JOIN audit_dispute q ON q.id = d.dispute_id JOIN audit_proposal p ON p.id = d.proposal_id
 WHERE d.decided_at >= %(since)s AND q.needs_two AND p.proposed_by_id = d.decided_by_id
"""


def decided_by_the_uninvolved(books: Books) -> Iterator[Finding]:
    """No decider raised the dispute or dealt the round, and above the threshold there were two of them."""
    for subject, found, expected in books.rows(_DECIDED):
        yield Finding(subject, found, expected)


_DISABLED = """
WITH told AS MATERIALIZED (
    SELECT split_part(l.subject, '/', 2)::uuid AS person, l.recorded_at AS at,
           convert_from(l.bytes, 'UTF8')::jsonb #>> '{data,is_active}' AS is_active
      FROM audit_logentry l WHERE l.action = 'person.changed'
), approved (what, person, at) AS (
    SELECT 'rule-sheets/' || sha256, approved_by_id, approved_at
      FROM settlement_rulesheet WHERE approved_at >= %(since)s
     UNION ALL SELECT 'rule-sheets/' || sha256, proposed_by_id, proposed_at
      FROM settlement_rulesheet WHERE proposed_at >= %(since)s
     UNION ALL SELECT 'sheets in force/' || id, p.person, set_at
      FROM settlement_tablerules, unnest(ARRAY[set_by_id, approved_by_id]) AS p (person) WHERE set_at >= %(since)s
     UNION ALL SELECT 'counts/' || id, counted_by_id, counted_at FROM settlement_count WHERE counted_at >= %(since)s
     UNION ALL SELECT 'rounds/' || round_id || '/revisions/' || revision, p.person, settled_at
      FROM settlement_settlement, unnest(ARRAY[acted_by_id, approved_by_id]) AS p (person)
     WHERE id >= %(since_id)s AND revision > 1
     UNION ALL SELECT 'days/' || day, p.person, sealed_at
      FROM settlement_gamingday, unnest(ARRAY[sealed_by_id, seconded_by_id]) AS p (person) WHERE sealed_at >= %(since)s
     UNION ALL SELECT 'shifts/' || id, p.person, closed_at
      FROM settlement_shift, unnest(ARRAY[closed_by_id, closed_with_id]) AS p (person) WHERE closed_at >= %(since)s
     UNION ALL SELECT 'keys/' || id, p.person, created_at
      FROM casino_apikey, unnest(ARRAY[created_by_id, approved_by_id]) AS p (person) WHERE created_at >= %(since)s
     UNION ALL SELECT 'appointments/' || id, p.person, made_at
      FROM casino_appointment, unnest(ARRAY[proposed_by_id, approved_by_id]) AS p (person) WHERE made_at >= %(since)s
     UNION ALL SELECT 'places/' || code || ' added', p.person, added_at
      FROM (SELECT code, added_by_id, added_with_id, added_at FROM casino_table
             UNION ALL SELECT code, added_by_id, added_with_id, added_at FROM casino_cage) AS places,
           unnest(ARRAY[added_by_id, added_with_id]) AS p (person) WHERE added_at >= %(since)s
     UNION ALL SELECT 'places/' || code || ' ended', p.person, ended_at
      FROM (SELECT code, ended_by_id, ended_with_id, ended_at FROM casino_table
             UNION ALL SELECT code, ended_by_id, ended_with_id, ended_at FROM casino_cage) AS places,
           unnest(ARRAY[ended_by_id, ended_with_id]) AS p (person) WHERE ended_at >= %(since)s
     UNION ALL SELECT 'slips/' || slip_id, p.person, taken_at
      FROM settlement_slipstep, unnest(ARRAY[by_id, second_id]) AS p (person) WHERE taken_at >= %(since)s
     UNION ALL SELECT 'pay-slips/' || id, p.person, p.at
      FROM settlement_payslip CROSS JOIN LATERAL (VALUES (issued_by_id, issued_at), (paid_by_id, paid_at),
           (paid_second_id, paid_at), (voided_by_id, voided_at)) AS p (person, at) WHERE p.at >= %(since)s
     UNION ALL SELECT 'breaks/' || of_id, by_id, taken_at FROM settlement_breakstep
      WHERE taken_at >= %(since)s AND by_id IS NOT NULL
     UNION ALL SELECT 'proposals/' || id, proposed_by_id, proposed_at FROM audit_proposal WHERE proposed_at >= %(since)s
     UNION ALL SELECT 'decisions/' || id, decided_by_id, decided_at FROM audit_decision WHERE decided_at >= %(since)s)
SELECT a.what, a.person, a.at FROM approved a
 CROSS JOIN LATERAL (SELECT t.is_active FROM told t
                      WHERE t.person = a.person AND t.at < a.at AND t.is_active IS NOT NULL
                      ORDER BY t.at DESC LIMIT 1) AS last
 WHERE last.is_active IN ('0', 'false')
"""


def by_people_of_the_house(books: Books) -> Iterator[Finding]:
    """Nobody proposed, counted, approved or decided while their account was disabled."""
    for what, person, at in books.rows(_DISABLED):
        yield Finding(what, f"by {person} at {at}, disabled then", "somebody of the house")
