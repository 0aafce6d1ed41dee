"""I17 for statements: those that were made, those that were taken in, what was matched, and by which rules."""

from __future__ import annotations

from audit.controls.log_facts import Pair

MADE = Pair(
    "statements made",
    ("statement.made",),
    """
    SELECT s.id::text, jsonb_build_object(
        'account', a.code, 'number', s.number, 'gaming_day', s.gaming_day, 'opening', s.opening,
        'closing', s.closing, 'currency', s.currency, 'lines', s.lines, 'csv_sha256', encode(s.csv_sha256, 'hex'),
        'camt_sha256', encode(s.camt_sha256, 'hex'), 'at', s.made_at)
      FROM settlement_statement s JOIN settlement_account a ON a.id = s.account_id WHERE s.made_at >= %(since)s
    """,
    "SELECT split_part(t.subject, '/', 2), t.data || jsonb_build_object('at', t.at) FROM told t",
)

FINISHED = Pair(
    "statements finished",
    ("statements.finished",),
    """
    SELECT gaming_day::text, jsonb_build_object('statements', statements, 'at', finished_at)
      FROM settlement_statementday WHERE finished_at >= %(since)s
    """,
    "SELECT split_part(t.subject, '/', 2), t.data || jsonb_build_object('at', t.at) FROM told t",
)

TAKEN = Pair(
    "statements taken",
    ("statements.taken",),
    """
    SELECT f.id::text, jsonb_build_object(
        'sha256', encode(sha256(f.bytes), 'hex'), 'form', f.form, 'at', f.taken_at,
        'taken_by', f.taken_by_id, 'key', f.key_id,
        'statements', (
            SELECT jsonb_agg(jsonb_build_object(
                'id', s.id, 'account', a.code, 'number', s.number, 'gaming_day', s.gaming_day, 'opening', s.opening,
                'closing', s.closing, 'currency', s.currency, 'lines', s.lines,
                'sum', (SELECT coalesce(sum(l.amount), 0) FROM settlement_outsideline l
                         WHERE l.statement_id = s.id AND NOT l.pending)) ORDER BY s.ordinal)
              FROM settlement_outsidestatement s JOIN settlement_account a ON a.id = s.account_id
             WHERE s.file_id = f.id))
      FROM settlement_outsidefile f WHERE f.taken_at >= %(since)s
    """,
    """
    SELECT split_part(t.subject, '/', 2), t.data || jsonb_build_object('at', t.at,
        'statements', (SELECT jsonb_agg(one || jsonb_build_object(
            'sum', (one ->> 'closing')::bigint - (one ->> 'opening')::bigint) ORDER BY place)
          FROM jsonb_array_elements(t.data -> 'statements') WITH ORDINALITY AS each (one, place))) FROM told t
    """,
)

MATCHED = Pair(
    "statements matched",
    ("statements.matched",),
    """
    SELECT a.code || ' ' || m.by || ' ' || coalesce((SELECT min(l.id) FROM settlement_outsideline l
                                                      WHERE l.match_id = m.id)::text, ''),
           jsonb_build_object(
        'amount', m.amount, 'rule', coalesce(m.rule_id, ''), 'at', m.matched_at,
        'lines', (SELECT coalesce(jsonb_agg(l.id ORDER BY l.id), '[]') FROM settlement_outsideline l
                   WHERE l.match_id = m.id),
        'entries', (SELECT coalesce(jsonb_agg(e.entry_id ORDER BY e.entry_id), '[]') FROM settlement_matchedentry e
                     WHERE e.match_id = m.id))
      FROM settlement_match m JOIN settlement_account a ON a.id = m.account_id WHERE m.matched_at >= %(since)s
    """,
    """
    SELECT split_part(t.subject, '/', 2) || ' ' || (one ->> 0) || ' ' || (one -> 1 ->> 0),
           jsonb_build_object('amount', one -> 3, 'rule', one -> 4, 'at', t.at, 'lines', one -> 1, 'entries', one -> 2)
      FROM told t, jsonb_array_elements(t.data -> 'matches') AS one
    """,
)

RULES = Pair(
    "matching rules",
    ("matching_rule.set",),
    """
    SELECT id, jsonb_build_object(
        'kind', kind, 'accounts', accounts, 'code', code, 'most', most, 'first_day', first_day, 'last_day', last_day,
        'set_by', set_by_id, 'approved_by', approved_by_id, 'at', set_at)
      FROM settlement_matchingrule WHERE set_at >= %(since)s
    """,
    "SELECT split_part(t.subject, '/', 2), t.data || jsonb_build_object('at', t.at) FROM told t",
)

PAIRS = (MADE, FINISHED, TAKEN, MATCHED, RULES)
