"""The log in the admin."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, ClassVar

from django.contrib import admin
from django.db import connection
from django.db.models import Q
from django.http import HttpRequest
from django.utils.html import format_html

from audit import merkle
from audit.admin.lists import Calendar, ReadOnly
from audit.models import LogEntry
from casino.models import Device, Person, Table

_ACTIONS = """
WITH RECURSIVE known AS (
    (SELECT action FROM audit_logentry ORDER BY action LIMIT 1)
    UNION ALL
    SELECT (SELECT action FROM audit_logentry WHERE action > known.action ORDER BY action LIMIT 1)
    FROM known WHERE known.action IS NOT NULL)
SELECT action FROM known WHERE action IS NOT NULL
"""


class ByAction(admin.SimpleListFilter):
    """The actions that occur, found by one step along the index for each."""

    title = "action"
    parameter_name = "action"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ARG002
        with connection.cursor() as cursor:
            cursor.execute(_ACTIONS)
            return [(action, action) for (action,) in cursor.fetchall()]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:  # noqa: ARG002
        return queryset.filter(action=self.value()) if self.value() else queryset


class ByTable(admin.SimpleListFilter):
    title = "table"
    parameter_name = "table"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ARG002
        return [(code, code) for code in Table.objects.order_by("code").values_list("code", flat=True)]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:  # noqa: ARG002
        return queryset.filter(table_code=self.value()) if self.value() else queryset


class ByDay(Calendar):
    field = "recorded_at"
    by_id = True


@admin.register(LogEntry)
class LogEntryAdmin(ReadOnly):
    list_display = (
        "id",
        "recorded_at",
        "action",
        "subject",
        "table_code",
        "who",
        "role",
        "device",
        "request_id",
    )
    list_filter = (ByAction, ByTable, ByDay)
    search_help_text = (
        "A table, a round, a person or device, a request, an action, a subject or an entry's hash."
    )
    finds: ClassVar = {
        "uuid": ("round", "person"),
        "word": ("table_code", "action", "subject", "request_id", "actor"),
        "number": ("id",),
        "hash": ("leaf_hash",),
    }
    fields = (
        "id", "origin", "recorded_at", "action", "subject", "table_code", "round", "who", "actor_kind", "actor",
        "device", "person", "role", "request_id", "xid", "facts", "exact_bytes", "hash", "hash_holds",
    )  # fmt: skip
    readonly_fields = fields

    def prepare(self, rows: Sequence[Any]) -> None:
        badges = dict(
            Person.objects.filter(id__in={row.person for row in rows if row.person}).values_list(
                "id", "badge"
            )
        )
        for row in rows:
            row.badge = badges.get(row.person, "")

    def found_by(self, word: str) -> Any:
        found = super().found_by(word)
        badge = Person.objects.filter(badge=word).values_list("id", flat=True).first()
        device = Device.objects.filter(code=word).values_list("id", flat=True).first()
        if badge is not None:
            found |= Q(person=badge)
        return found | Q(actor=str(device)) if device is not None else found

    @admin.display(description="who")
    def who(self, entry: LogEntry) -> str:
        if not hasattr(entry, "badge"):
            self.prepare([entry])
        return str(entry.badge or entry.actor_kind)  # type: ignore[attr-defined]

    @admin.display(description="facts")
    def facts(self, entry: LogEntry) -> str:
        data = json.loads(bytes(entry.bytes))["data"]
        return format_html("<pre>{}</pre>", json.dumps(data, indent=2, ensure_ascii=False, sort_keys=True))

    @admin.display(description="bytes")
    def exact_bytes(self, entry: LogEntry) -> str:
        return format_html("<code>{}</code>", bytes(entry.bytes).decode())

    @admin.display(description="leaf hash")
    def hash(self, entry: LogEntry) -> str:
        return bytes(entry.leaf_hash).hex()

    @admin.display(description="hash holds", boolean=True)
    def hash_holds(self, entry: LogEntry) -> bool:
        return merkle.leaf_hash(bytes(entry.bytes)) == bytes(entry.leaf_hash)
