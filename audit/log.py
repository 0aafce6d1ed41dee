"""The witness, and the reading of what it wrote.

An entry commits with its act or not at all, and says what the act changed in ids, integers and strings: no name of a
person, no float, and of a reason that somebody typed only its code and the SHA-256 of the text.
"""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection

from casino import events

VERSION = 1
LEAF_PREFIX = b"\x00"
LONGEST = 200
"""Characters kept of a subject or a request id: both may hold what a stranger wrote into an address or a header."""

_INSERT = """
INSERT INTO audit_logentry (origin, recorded_at, action, subject, table_code, round, actor_kind, actor, device, person,
                            role, request_id, bytes, leaf_hash)
SELECT %(origin)s, %(at)s, f.action, f.subject, f.table_code, f.round, %(kind)s, %(actor)s, %(device)s, f.person,
       %(role)s, %(request)s, f.bytes, f.leaf_hash
FROM unnest(%(actions)s::text[], %(subjects)s::text[], %(tables)s::text[], %(rounds)s::uuid[], %(persons)s::uuid[],
            %(bytes)s::bytea[], %(hashes)s::bytea[])
     WITH ORDINALITY AS f (action, subject, table_code, round, person, bytes, leaf_hash, place)
ORDER BY f.place
"""


def witness(*, act: events.Act, facts: Sequence[events.Fact]) -> list[bytes]:
    """Write one entry for each fact by one INSERT; return their leaf hashes in the order of ``facts``.

    Raises TypeError for a float anywhere in a fact. Runs in the act's transaction and is rolled back with it.
    """
    if not facts:
        return []
    origin = log_name()
    persons = [_person(act=act, fact=fact) for fact in facts]
    written = [
        _bytes(origin=origin, act=act, fact=fact, person=person)
        for fact, person in zip(facts, persons, strict=True)
    ]
    hashes = [leaf_hash(data) for data in written]
    actor = act.actor
    with connection.cursor() as cursor:
        cursor.execute(
            _INSERT,
            {
                "origin": origin,
                "at": act.now,
                "kind": actor.kind,
                "actor": str(actor.id or ""),
                "device": actor.code if actor.kind == "device" else "",
                "role": actor.role,
                "request": _short(act.request_id),
                "actions": [fact.action for fact in facts],
                "subjects": [_short(fact.subject) for fact in facts],
                "tables": [fact.table for fact in facts],
                "rounds": [fact.round for fact in facts],
                "persons": persons,
                "bytes": written,
                "hashes": hashes,
            },
        )
    return hashes


def log_name() -> str:
    """Return the name of the log that entries are written to (the setting LOG_ORIGIN)."""
    return str(getattr(settings, "LOG_ORIGIN", "pokdeng"))


def leaf_hash(data: bytes) -> bytes:
    """Return SHA-256(0x00 ‖ data). The prefix tells a leaf from an inner node, so neither passes for the other."""
    return hashlib.sha256(LEAF_PREFIX + data).digest()


def stamp(at: datetime) -> str:
    """Write an instant as entries do: UTC, to the microsecond."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _person(*, act: events.Act, fact: events.Fact) -> UUID | None:
    return fact.person or act.actor.person or (act.actor.id if act.actor.kind == "person" else None)


def _bytes(*, origin: str, act: events.Act, fact: events.Fact, person: UUID | None) -> bytes:
    actor = act.actor
    entry = {
        "v": VERSION,
        "origin": origin,
        "at": stamp(act.now),
        "action": fact.action,
        "subject": _short(fact.subject),
        "table": fact.table,
        "round": str(fact.round) if fact.round else None,
        "actor": {
            "kind": actor.kind,
            "id": str(actor.id) if actor.id else None,
            "code": actor.code,
            "role": actor.role,
            "person": str(person) if person else None,
        },
        "request": _short(act.request_id),
        "data": _without_reason_text(fact.data),
    }
    try:
        written = events.canonical(entry)
    except UnicodeEncodeError:
        return events.canonical(_storable(entry))
    return events.canonical(_storable(entry)) if rb"\u0000" in written else written


def _without_reason_text(data: dict[str, Any]) -> dict[str, Any]:
    """Replace the text of a reason, ``{"code", "text"}``, by its SHA-256: people write names into reasons."""
    reason = data.get("reason")
    if not isinstance(reason, dict) or "text" not in reason:
        return data
    text = str(reason["text"])
    kept = {key: value for key, value in reason.items() if key != "text"}
    kept["text_sha256"] = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest() if text else ""
    return {**data, "reason": kept}


def _storable(value: Any) -> Any:
    """Show NUL and lone surrogates, which PostgreSQL cannot keep as text, by signs that it can: a hostile request
    must not be able to stop its own refusal from being written down."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        return {_text(key): _storable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_storable(item) for item in value]
    return value


def _short(value: str) -> str:
    return _text(value)[:LONGEST]


def _text(value: str) -> str:
    if value.isascii() and "\0" not in value:
        return value
    shown = value.replace("\0", "␀")
    return shown.encode(errors="surrogatepass").decode(errors="replace")
