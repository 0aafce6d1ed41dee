"""I5: one key, one act."""

from __future__ import annotations

from collections.abc import Iterator

from audit.controls.findings import Finding
from audit.controls.snapshot import Books

_REVISIONS = """
SELECT round_id, revision, count(*) FROM settlement_settlement WHERE id >= %(since_id)s
 GROUP BY round_id, revision HAVING count(*) > 1
"""

_NUMBERS = """
SELECT d.code, n.device_seq, count(*) FROM (
    SELECT device_id, device_seq FROM casino_roundevent WHERE id >= %(since_event)s AND device_id IS NOT NULL
     UNION ALL SELECT device_id, device_seq FROM casino_refusedevent WHERE claims) AS n
  JOIN casino_device d ON d.id = n.device_id GROUP BY d.code, n.device_seq HAVING count(*) > 1
"""

_KEYS = "SELECT client, key, count(*) FROM casino_storedanswer GROUP BY client, key HAVING count(*) > 1"

_JOURNALS = "SELECT key, '', count(*) FROM settlement_journal GROUP BY key HAVING count(*) > 1"

_TWICE = (
    ("keys/{}/{}", _KEYS, "one stored answer"),
    ("rounds/{}/revisions/{}", _REVISIONS, "one settlement"),
    ("devices/{}/numbers/{}", _NUMBERS, "one event, recorded or refused"),
    ("journals/{}{}", _JOURNALS, "one journal of this key"),
)


def used_once(books: Books) -> Iterator[Finding]:
    """A client's key, a round's revision, a device's number, a journal's key: each stands for one act at most."""
    for subject, statement, expected in _TWICE:
        for first, second, count in books.rows(statement):
            yield Finding(subject.format(first, second), f"{count} of them", expected)


_UNKEPT = """
SELECT client, key, status, octet_length(request_sha256) FROM casino_storedanswer
 WHERE answered_at >= %(since)s AND (octet_length(request_sha256) <> 32 OR status NOT BETWEEN 200 AND 499)
"""


def answered_for_good(books: Books) -> Iterator[Finding]:
    """A stored answer has the hash of its request, and is an answer and no failure: a failure may be tried again."""
    for client, key, status, length in books.rows(_UNKEPT):
        yield Finding(
            f"keys/{client}/{key}",
            f"status {status}, a hash of {length} bytes",
            "200 to 499, a hash of 32 bytes",
        )
