"""I17 for integrity analytics: what a screen found is what its entry says, and its digest is of what is stored."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

from audit.controls.findings import Finding
from audit.controls.log_facts import Pair
from audit.controls.snapshot import Books
from casino import events

RESULTS = Pair(
    "analyses",
    ("analysis.done",),
    """
    SELECT a.gaming_day || '/' || a.screen || '/' || r.revision, jsonb_build_object(
        'screen', a.screen, 'gaming_day', a.gaming_day, 'revision', r.revision, 'version', r.version,
        'rounds', r.rounds, 'alarms', r.alarms, 'expected', r.expected, 'digest', r.digest, 'at', r.made_at)
      FROM audit_analysisresult r JOIN audit_analysis a ON a.id = r.analysis_id WHERE r.made_at >= %(since)s
    """,
    """
    SELECT split_part(t.subject, '/', 2) || '/' || split_part(t.subject, '/', 3) || '/' || (t.data ->> 'revision'),
           t.data || jsonb_build_object('at', t.at) FROM told t
    """,
)

_BODIES = """
SELECT a.screen, a.gaming_day, r.revision, r.version, r.digest, r.body::text
  FROM audit_analysisresult r JOIN audit_analysis a ON a.id = r.analysis_id WHERE r.made_at >= %(since)s
"""


def digests_are_of_what_is_stored(books: Books) -> Iterator[Finding]:
    """The digest that the log was told of is that of the stored answer."""
    for screen, day, revision, version, digest, body in books.rows(_BODIES):
        whole = {
            "screen": screen,
            "gaming_day": day.isoformat(),
            "version": version,
            "body": json.loads(body),
        }
        stored = hashlib.sha256(events.canonical(whole)).hexdigest()
        if stored != digest:
            yield Finding(f"analyses/{day}/{screen}/{revision}", f"an answer of digest {stored}", digest)
