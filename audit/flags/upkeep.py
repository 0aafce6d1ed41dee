"""What a work of the service cannot compute with, as a flag: it stands still until somebody looks at it."""

from __future__ import annotations

from datetime import datetime

from django.db import connection

from audit.flags import raising
from audit.flags.kinds import Raised

MOST = 200

_UNTOLD = """
SELECT a.subject, a.work, r.id, coalesce(t.code, '')
  FROM casino_aside a LEFT JOIN casino_round r ON a.subject = 'rounds/' || r.id
  LEFT JOIN casino_table t ON t.id = r.table_id
 WHERE a.solved_at IS NULL
   AND NOT EXISTS (SELECT FROM audit_flag f WHERE f.kind = 'uncomputable' AND f.subject = a.subject)
 ORDER BY a.first_at, a.id LIMIT %s
"""


def raise_uncomputable(*, now: datetime) -> int:
    """Raise a flag for each item that stands still and has none; return how many. Must run in an act; one statement
    while there is none."""
    with connection.cursor() as cursor:
        cursor.execute(_UNTOLD, [MOST])
        rows = cursor.fetchall()
    raised = [
        Raised("uncomputable", subject, {"what": subject, "work": work}, table=table, round=round)
        for subject, work, round, table in rows
    ]
    return len(raising.raise_new(raised, now=now))
