"""When a table's deck was counted: when it went on after it had been stopped for that."""

from __future__ import annotations

REASON = "count_deck"
"""Why a table is stopped so that its deck be counted; whoever lets it go on says that it was."""

COUNTED = """
SELECT e.table_code, e.recorded_at FROM audit_logentry e
 CROSS JOIN LATERAL (
    SELECT convert_from(p.bytes, 'UTF8')::jsonb #>> '{data,reason_code}' AS reason FROM audit_logentry p
     WHERE p.table_code = e.table_code AND p.action = 'table.stopped' AND p.id < e.id
     ORDER BY p.id DESC LIMIT 1) AS stop
 WHERE e.action = 'table.resumed' AND stop.reason = 'count_deck'
"""
"""Tables and the instants at which their decks had been counted; a further condition on ``e`` may be added."""
