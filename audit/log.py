"""The witness, and the reading of what it wrote.

An entry commits with its act or not at all, and says what the act changed in ids, integers and strings: no
name of a person, no float, and of a reason that somebody typed only its code and the SHA-256 of the text.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection

from audit import merkle
from audit.models import LogEntry
from casino import events, people
from casino.models import Role, Table

VERSION = 1
LONGEST = 200
"""Characters kept of a subject or a request id: a stranger may have written either."""

_INSERT = """
INSERT INTO audit_logentry (origin, recorded_at, action, subject, table_code, round,
                            actor_kind, actor, device, person, role, request_id, bytes, leaf_hash)
SELECT %(origin)s, %(at)s, f.action, f.subject, f.table_code, f.round,
       %(kind)s, %(actor)s, %(device)s, f.person, %(role)s, %(request)s, f.bytes, f.leaf_hash
FROM unnest(%(actions)s::text[], %(subjects)s::text[], %(tables)s::text[], %(rounds)s::uuid[],
            %(persons)s::uuid[], %(bytes)s::bytea[], %(hashes)s::bytea[])
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
    hashes = [merkle.leaf_hash(data) for data in written]
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


def first_at() -> datetime | None:
    """Return the instant of the log's first entry, None where there is none. One statement, by key."""
    return LogEntry.objects.order_by("id").values_list("recorded_at", flat=True).first()


def log_name() -> str:
    """Return the name of the log that entries are written to (the setting LOG_ORIGIN)."""
    return str(getattr(settings, "LOG_ORIGIN", "pokdeng"))


def stamp(at: datetime) -> str:
    """Write an instant as entries do: UTC, to the microsecond."""
    return at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


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
    """Show NUL and lone surrogates, which PostgreSQL cannot keep as text, by signs that it can.

    A hostile request must not be able to stop its own refusal from being written down.
    """
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


# -- reading -------------------------------------------------------------------------------------------------

SECURITY_ACTIONS = frozenset(
    {
        "act.refused",
        "books.checked",
        "device.admitted",
        "device.enrolled",
        "device.revoked",
        "device.rotated",
        "device.stated",
        "device.token_replaced",
        "evidence.read",
        "key.made",
        "key.revoked",
        "log.read",
        "person.appointed",
        "person.changed",
        "person.created",
        "person.ended",
        "person.handed_over",
        "person.secrets_changed",
        "person.sign_in_failed",
        "person.sign_in_stopped",
        "person.signed_in",
        "person.signed_out",
        "person.took_over",
        "person.unlocked",
    }
)
"""Actions about rights, keys and doors: all an administrator sees. Who grants rights does not read the play."""


@dataclass(frozen=True, slots=True)
class Filters:
    """What a reader asks for; empty or None asks for all. ``since`` is an entry's id, itself left out."""

    action: str = ""
    subject: str = ""
    table: str = ""
    round: UUID | None = None
    actor: str = ""
    person: UUID | None = None
    request: str = ""
    since: int | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """Entries, newest first, and the id below which the next page begins (None: there is none)."""

    entries: list[LogEntry]
    before: int | None


def read(*, filters: Filters, before: int | None, limit: int) -> Page:
    """Return a page of the entries that the act's principal may see. Reading the log is itself an act.

    A supervisor sees the tables where he is on duty, an administrator what concerns rights and doors; what is
    out of scope is left out without a word. Refuses ``forbidden``. A page never holds the entry of its own
    reading.
    """
    act = events.current()
    codes = _tables_of(act.actor)
    found = LogEntry.objects.filter(**_asked(filters)).order_by("-id")
    if codes is not None:
        found = found.filter(table_code__in=codes)
    if act.actor.role == Role.ADMINISTRATOR:
        found = found.filter(action__in=SECURITY_ACTIONS)
    if before is not None:
        found = found.filter(id__lt=before)
    rows = list(found[: limit + 1])
    page = Page(entries=rows[:limit], before=rows[limit - 1].id if len(rows) > limit else None)
    events.announce([_reading(filters=filters, before=before, page=page)])
    return page


def _tables_of(actor: events.Principal) -> list[str] | None:
    tables = people.tables_in_scope(actor, "read_log")
    return (
        None if tables is None else list(Table.objects.filter(id__in=tables).values_list("code", flat=True))
    )


def _asked(filters: Filters) -> dict[str, Any]:
    asked = {
        "action": filters.action,
        "subject": filters.subject,
        "table_code": filters.table,
        "round": filters.round,
        "actor": filters.actor,
        "person": filters.person,
        "request_id": filters.request,
    }
    given = {name: value for name, value in asked.items() if value}
    return given if filters.since is None else given | {"id__gt": filters.since}


def _reading(*, filters: Filters, before: int | None, page: Page) -> events.Fact:
    asked = {
        name: value if isinstance(value, int) else str(value)
        for name, value in asdict(filters).items()
        if value not in ("", None)
    }
    told = {
        "filters": asked,
        "before": before,
        "entries": len(page.entries),
        "newest": page.entries[0].id if page.entries else None,
        "oldest": page.entries[-1].id if page.entries else None,
    }
    return events.Fact("log.read", "log", told, table=filters.table)
