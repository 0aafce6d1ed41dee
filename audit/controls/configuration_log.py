"""I17 for the house itself: sheets, counts, sessions, duties, and what people signed."""

from __future__ import annotations

from audit.controls.log_facts import Pair

SHEETS_PROPOSED = Pair(
    "sheets proposed",
    ("sheet.proposed",),
    """
    SELECT id::text, jsonb_build_object('name', name, 'sha256', sha256, 'canonical', canonical,
                                        'proposed_by', proposed_by_id, 'at', proposed_at)
      FROM settlement_rulesheet WHERE proposed_at >= %(since)s
    """,
    "SELECT split_part(t.subject, '/', 2), t.data || jsonb_build_object('at', t.at) FROM told t",
)

SHEETS_APPROVED = Pair(
    "sheets approved",
    ("sheet.approved",),
    """
    SELECT id::text, jsonb_build_object('sha256', sha256, 'approved_by', approved_by_id, 'at', approved_at)
      FROM settlement_rulesheet WHERE approved_at >= %(since)s
    """,
    "SELECT split_part(t.subject, '/', 2), t.data || jsonb_build_object('at', t.at) FROM told t",
)

SHEETS_IN_FORCE = Pair(
    "sheets in force",
    ("sheet.put_in_force",),
    """
    SELECT t.code || ' from ' || to_jsonb(r.in_force_from)::text, jsonb_build_object(
        'sheet', r.sheet_id, 'sha256', s.sha256, 'set_by', r.set_by_id, 'approved_by', r.approved_by_id,
        'at', r.set_at)
      FROM settlement_tablerules r JOIN casino_table t ON t.id = r.table_id
      JOIN settlement_rulesheet s ON s.id = r.sheet_id WHERE r.set_at >= %(since)s
    """,
    """
    SELECT t.table_code || ' from ' || to_jsonb((t.data ->> 'in_force_from')::timestamptz)::text,
           t.data - 'in_force_from' || jsonb_build_object('at', t.at) FROM told t
    """,
)

COUNTINGS = Pair(
    "countings",
    ("counting.asked",),
    """
    SELECT c.id::text, jsonb_build_object(
        'table', t.code, 'kind', c.kind, 'session', c.session_id, 'box', c.box_id, 'carried_by', c.carried_by_id,
        'cage', c.cage, 'by', c.asked_by_id, 'at', c.asked_at)
      FROM settlement_counting c JOIN casino_table t ON t.id = c.table_id WHERE c.asked_at >= %(since)s
    """,
    """
    SELECT split_part(t.subject, '/', 2),
           t.data || jsonb_build_object('table', t.table_code, 'by', t.person, 'at', t.at) FROM told t
    """,
)

COUNTINGS_ENDED = Pair(
    "countings ended",
    ("counting.accepted", "counting.withdrawn"),
    """
    SELECT c.id::text, jsonb_build_object('action', 'counting.' || c.state, 'kind', c.kind, 'count', c.accepted_id,
                                          'at', c.ended_at)
      FROM settlement_counting c WHERE c.ended_at >= %(since)s
    """,
    """
    SELECT split_part(t.subject, '/', 2), jsonb_build_object(
        'action', t.action, 'kind', t.data -> 'kind', 'count', t.data -> 'count', 'at', t.at) FROM told t
    """,
)

# The entry has the hash of a count's pieces under its random text: worked out again from the row.
COUNTS = Pair(
    "counts",
    ("count.recorded",),
    """
    SELECT c.id::text, jsonb_build_object(
        'counting', c.counting_id, 'kind', n.kind, 'ordinal', c.ordinal, 'currency', c.currency,
        'supersedes', c.supersedes_id, 'bank_version', c.bank_version, 'by', c.counted_by_id, 'at', c.counted_at,
        'pieces_sha256', encode(sha256(convert_to(c.salt || ':' || coalesce((
            SELECT string_agg((line ->> 'denomination') || '*' || (line ->> 'pieces'), ',' ORDER BY place)
              FROM jsonb_array_elements(c.lines) WITH ORDINALITY AS l (line, place)), ''), 'UTF8')), 'hex'))
      FROM settlement_count c JOIN settlement_counting n ON n.id = c.counting_id WHERE c.counted_at >= %(since)s
    """,
    "SELECT split_part(t.subject, '/', 2), t.data || jsonb_build_object('by', t.person, 'at', t.at) FROM told t",
)

FLOATS = Pair(
    "floats",
    ("table.float_opened", "table.float_closed", "table.float_counted"),
    """
    SELECT f.id::text, jsonb_build_object(
        'kind', f.kind, 'session', f.session_id, 'count', f.count_id, 'counted',
        (SELECT amount FROM settlement_count c WHERE c.id = f.count_id), 'expected', f.expected, 'cage', f.cage,
        'gaming_day', f.gaming_day, 'grade', f.grade, 'limits_from', f.limits_from, 'held', f.held,
        'missing', f.missing, 'at', f.accepted_at,
        'overridden_by', CASE WHEN f.override_first_id IS NULL THEN '[]'::jsonb
                              ELSE jsonb_build_array(f.override_first_id, f.override_second_id) END,
        'versions', jsonb_build_array(f.bank_version, f.guests_version, f.commission_version, f.drop_version),
        'action', CASE f.kind WHEN 'opener' THEN 'table.float_opened' WHEN 'closer' THEN 'table.float_closed'
                              ELSE 'table.float_counted' END,
        'journals', coalesce((SELECT jsonb_agg(id ORDER BY id) FROM unnest(
            ARRAY[f.journal_id, f.clearing_id, f.slip_clearing_id, f.chips_left_id, f.variance_id]) AS id
            WHERE id IS NOT NULL), '[]'))
      FROM settlement_float f WHERE f.accepted_at >= %(since)s
    """,
    """
    SELECT t.data ->> 'float', t.data - 'float' || jsonb_build_object(
        'at', t.at, 'action', t.action,
        'journals', coalesce((SELECT jsonb_agg(j -> 'id' ORDER BY (j ->> 'id')::uuid)
            FROM jsonb_array_elements(t.data -> 'journals') AS j), '[]'))
      FROM told t
    """,
)

DROPS = Pair(
    "drops",
    ("drop.counted",),
    """
    SELECT d.id::text, jsonb_build_object(
        'session', d.session_id, 'until', d.until_id, 'count', d.count_id, 'counted',
        (SELECT amount FROM settlement_count c WHERE c.id = d.count_id), 'recorded', d.recorded, 'cage', d.cage,
        'gaming_day', d.gaming_day, 'grade', d.grade, 'limits_from', d.limits_from, 'at', d.accepted_at,
        'journals', coalesce((SELECT jsonb_agg(id ORDER BY id) FROM unnest(ARRAY[d.journal_id, d.variance_id]) AS id
                               WHERE id IS NOT NULL), '[]'))
      FROM settlement_drop d WHERE d.accepted_at >= %(since)s
    """,
    """
    SELECT t.data ->> 'drop', t.data - 'drop' || jsonb_build_object(
        'at', t.at,
        'journals', coalesce((SELECT jsonb_agg(j -> 'id' ORDER BY (j ->> 'id')::uuid)
            FROM jsonb_array_elements(t.data -> 'journals') AS j), '[]'))
      FROM told t
    """,
)

TAKEN_BACK = Pair(
    "drops taken back",
    ("drop.withdrawn",),
    """
    SELECT d.id::text, jsonb_build_object(
        'count', d.count_id, 'by', d.withdrawn_by_id, 'at', d.withdrawn_at,
        'reason_sha256', encode(sha256(convert_to(d.withdrawn_reason, 'UTF8')), 'hex'),
        'journals', coalesce((SELECT jsonb_agg(id ORDER BY id) FROM unnest(ARRAY[d.journal_back_id, d.variance_back_id])
                               AS id WHERE id IS NOT NULL), '[]'))
      FROM settlement_drop d WHERE d.withdrawn_at >= %(since)s
    """,
    """
    SELECT t.data ->> 'drop', t.data - 'drop' - 'reason' || jsonb_build_object(
        'by', t.person, 'at', t.at, 'reason_sha256', t.data #>> '{reason,text_sha256}',
        'journals', coalesce((SELECT jsonb_agg(j -> 'id' ORDER BY (j ->> 'id')::uuid)
            FROM jsonb_array_elements(t.data -> 'journals') AS j), '[]'))
      FROM told t
    """,
)

SESSIONS_OPENED = Pair(
    "sessions opened",
    ("table.opened",),
    """
    SELECT s.id::text, jsonb_build_object('table', t.code, 'at', s.opened_at)
      FROM casino_tablesession s JOIN casino_table t ON t.id = s.table_id WHERE s.opened_at >= %(since)s
    """,
    "SELECT t.data ->> 'session', jsonb_build_object('table', t.table_code, 'at', t.at) FROM told t",
)

SESSIONS_CLOSED = Pair(
    "sessions closed",
    ("table.closed",),
    """
    SELECT s.id::text, jsonb_build_object('table', t.code, 'last_round', s.last_round, 'at', s.closed_at)
      FROM casino_tablesession s JOIN casino_table t ON t.id = s.table_id WHERE s.closed_at >= %(since)s
    """,
    """
    SELECT t.data ->> 'session',
           jsonb_build_object('table', t.table_code, 'last_round', t.data -> 'last_round', 'at', t.at) FROM told t
    """,
)

DUTIES = Pair(
    "duties",
    ("table.opened", "duty.changed"),
    """
    SELECT d.session_id || ' ' || d.role || ' from ' || to_jsonb(d.on_at)::text,
           jsonb_build_object('person', d.person_id) FROM casino_duty d WHERE d.on_at >= %(since)s
    """,
    """
    SELECT (t.data ->> 'session') || ' ' || duty.role || ' from ' || to_jsonb(t.at)::text,
           jsonb_build_object('person', duty.person)
      FROM told t CROSS JOIN LATERAL (
          VALUES (t.data ->> 'role', t.data ->> 'person'), ('dealer', t.data ->> 'dealer'),
                 ('supervisor', t.data ->> 'supervisor')) AS duty (role, person)
     WHERE duty.person IS NOT NULL
    """,
)

SIGNATURES = Pair(
    "signatures",
    ("signature.given",),
    """
    SELECT s.id::text, jsonb_build_object('sha256', encode(s.sha256, 'hex'), 'person', s.person_id,
                                          'may_rule', s.may_rule::int, 'at', s.signed_at)
      FROM casino_signature s WHERE s.signed_at >= %(since)s
    """,
    "SELECT split_part(t.subject, '/', 2), t.data || jsonb_build_object('at', t.at) FROM told t",
)

WAIVERS = Pair(
    "waivers",
    ("gap.waived",),
    """
    SELECT d.code || ' ' || w.first || '-' || w.last, jsonb_build_object(
        'by', w.person_id, 'reason_sha256', encode(sha256(convert_to(w.reason, 'UTF8')), 'hex'), 'at', w.waived_at)
      FROM casino_gapwaiver w JOIN casino_device d ON d.id = w.device_id WHERE w.waived_at >= %(since)s
    """,
    """
    SELECT split_part(t.subject, '/', 2) || ' ' || (t.data ->> 'first') || '-' || (t.data ->> 'last'),
           jsonb_build_object('by', t.person, 'reason_sha256', t.data -> 'reason_sha256', 'at', t.at)
      FROM told t
    """,
)

ROUND_WAIVERS = Pair(
    "round waivers",
    ("rounds.waived",),
    """
    SELECT w.session_id || ' ' || w.first || '-' || w.last, jsonb_build_object(
        'by', w.person_id, 'reason_sha256', encode(sha256(convert_to(w.reason, 'UTF8')), 'hex'), 'at', w.waived_at)
      FROM casino_roundwaiver w WHERE w.waived_at >= %(since)s
    """,
    """
    SELECT (t.data ->> 'session') || ' ' || (t.data ->> 'first') || '-' || (t.data ->> 'last'),
           jsonb_build_object('by', t.person, 'reason_sha256', t.data -> 'reason_sha256', 'at', t.at)
      FROM told t
    """,
)

# A break's first step tells what was found; each step tells who took it where.
BREAKS = Pair(
    "breaks",
    ("break.opened",),
    """
    SELECT b.id::text, jsonb_build_object(
        'code', b.code, 'about', b.subject, 'fingerprint', b.fingerprint, 'severity', b.severity, 'detail', b.detail,
        'amount', b.amount, 'currency', b.currency, 'run', b.run, 'level', b.level, 'gaming_day', b.gaming_day,
        'fell_due_at', b.fell_due_at)
      FROM settlement_break b
     WHERE b.found_at >= %(since)s OR b.id::text IN (SELECT split_part(subject, '/', 2) FROM told)
    """,
    """
    SELECT split_part(t.subject, '/', 2),
           t.data - 'step' - 'state' - 'by'
               || jsonb_build_object('fell_due_at', (t.data ->> 'fell_due_at')::timestamptz)
      FROM told t
    """,
)

BREAK_STEPS = Pair(
    "steps of breaks",
    (
        "break.opened",
        "break.matched",
        "break.assigned",
        "break.explained",
        "break.resolved",
        "break.approved",
    ),
    """
    SELECT s.of_id || '/' || s.ordinal, jsonb_build_object(
        'state', s.state, 'by', s.by_id, 'at', s.taken_at,
        'reason_sha256', encode(sha256(convert_to(s.reason, 'UTF8')), 'hex'))
        || CASE WHEN s.state = 'resolved' THEN jsonb_build_object(
            'resolution', b.resolution, 'rule', b.rule, 'journal', b.journal_id, 'resolved_by', b.resolved_by_id)
           WHEN s.state = 'approved' THEN jsonb_build_object('approved_by', b.approved_by_id) ELSE '{}' END
      FROM settlement_breakstep s JOIN settlement_break b ON b.id = s.of_id WHERE s.taken_at >= %(since)s
    """,
    """
    SELECT split_part(t.subject, '/', 2) || '/' || (t.data ->> 'step'), jsonb_build_object(
        'state', t.data -> 'state', 'by', t.data -> 'by', 'at', t.at,
        'reason_sha256', coalesce(t.data ->> 'reason_sha256', encode(sha256(''), 'hex')))
        || CASE t.data ->> 'state' WHEN 'resolved' THEN jsonb_build_object(
            'resolution', t.data -> 'resolution', 'rule', t.data -> 'rule', 'journal', t.data #> '{journal,id}',
            'resolved_by', t.data -> 'by')
           WHEN 'approved' THEN jsonb_build_object('approved_by', t.data -> 'by') ELSE '{}' END
      FROM told t
    """,
)

RUNS_DONE = Pair(
    "reconciliations",
    ("reconciliation.done",),
    """
    SELECT r.id::text, jsonb_build_object(
        'digest', r.digest, 'outcome', r.outcome, 'report', r.report, 'at', r.done_at)
      FROM settlement_run r WHERE r.done_at >= %(since)s
    """,
    "SELECT split_part(t.subject, '/', 2), t.data || jsonb_build_object('at', t.at) FROM told t",
)

PAIRS = (
    SHEETS_PROPOSED,
    SHEETS_APPROVED,
    SHEETS_IN_FORCE,
    COUNTINGS,
    COUNTINGS_ENDED,
    COUNTS,
    FLOATS,
    DROPS,
    TAKEN_BACK,
    SESSIONS_OPENED,
    SESSIONS_CLOSED,
    DUTIES,
    SIGNATURES,
    WAIVERS,
    ROUND_WAIVERS,
    BREAKS,
    BREAK_STEPS,
    RUNS_DONE,
)
