"""The log in the admin."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Sequence
from typing import Any, ClassVar

from django.contrib import admin
from django.core.exceptions import BadRequest, PermissionDenied
from django.db import connection
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import URLPattern, path
from django.utils.html import format_html

from audit import exception_report as exceptions
from audit import merkle
from audit.admin import entry_proof, evidence_reads
from audit.admin.bilingual import either
from audit.admin.calendars import Calendar, span, zone
from audit.admin.read_only import ReadOnly, moment, refuse_writes
from audit.flags import KINDS
from audit.models import Flag, LogEntry
from casino.models import Device, Person, Table
from casino.platform import csv_cells, values

_ACTIONS = """
WITH RECURSIVE known AS (
    (SELECT action FROM audit_logentry ORDER BY action LIMIT 1)
    UNION ALL
    SELECT (SELECT action FROM audit_logentry WHERE action > known.action ORDER BY action LIMIT 1)
    FROM known WHERE known.action IS NOT NULL)
SELECT action FROM known WHERE action IS NOT NULL
"""


NEWEST = 1000
"""Flags of a kind whose entries are looked for; whoever wants older ones chooses them in the list of flags."""

UUID_FORM = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
SUBJECTS = ("rounds", "flags", "disputes", "people", "rule-sheets")


class ByAction(admin.SimpleListFilter):
    """The actions that occur, found by one step along the index for each."""

    title = either("action", "การกระทำ")
    parameter_name = "action"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ARG002
        with connection.cursor() as cursor:
            cursor.execute(_ACTIONS)
            return [(action, action) for (action,) in cursor.fetchall()]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:  # noqa: ARG002
        return queryset.filter(action=self.value()) if self.value() else queryset


class ByTable(admin.SimpleListFilter):
    title = either("table", "โต๊ะ")
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
        "at",
        "action",
        "subject",
        "table_code",
        "who",
        "role",
        "device",
        "request_id",
    )
    list_filter = (ByAction, ByTable, ByDay)
    search_help_text = either(
        "A table, a round, a flag or its kind, a dispute, a person or device, a request, an action or a hash.",
        "โต๊ะ รอบ ข้อสังเกตหรือชนิด ข้อพิพาท คนหรือเครื่อง คำขอ การกระทำ เรื่อง หรือค่าแฮช",
    )
    change_list_template = "audit/admin/trail.html"
    finds: ClassVar = {
        "uuid": ("round", "person"),
        "word": ("table_code", "action", "subject", "request_id", "actor"),
        "number": ("id",),
        "hash": ("leaf_hash",),
    }
    fields = (
        "id", "origin", "at", "action", "subject", "table_code", "round", "who", "actor_kind", "actor",
        "device", "person", "role", "request_id", "xid", "touched", "facts", "exact_bytes", "hash", "hash_holds",
        "proof", "proved",
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
        if device is not None:
            found |= Q(actor=str(device))
        if word in KINDS:
            newest = Flag.objects.filter(kind=word).order_by("-raised_at", "-id").values_list("id", flat=True)
            found |= Q(subject__in=[f"flags/{flag}" for flag in newest[:NEWEST]])
        if re.fullmatch(UUID_FORM, word):
            found |= Q(subject__in=[f"{kind}/{word}" for kind in SUBJECTS])
        return found

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        shown = {"exception_report": either("Exception report (CSV)", "รายงานข้อยกเว้น (CSV)")}
        return super().changelist_view(request, {**(extra_context or {}), **shown})

    def get_urls(self) -> list[URLPattern]:
        """Add the exception report, as a file for a spreadsheet."""
        view = self.admin_site.admin_view(self.exceptions)
        return [path("exceptions.csv", view, name="audit_logentry_exceptions"), *super().get_urls()]

    def exceptions(self, request: HttpRequest) -> StreamingHttpResponse:
        """Answer the exception report of a day, a month or a year (``on``); of the newest entry's day where none is
        chosen."""
        refuse_writes(request)
        if not self.has_view_permission(request):
            raise PermissionDenied
        if set(request.GET) - {"on"}:
            raise BadRequest("only the day is asked for")
        newest = LogEntry.objects.order_by("-id").first()
        on = request.GET.get("on") or (
            f"{newest.recorded_at.astimezone(zone()):%Y-%m-%d}" if newest else "2026"
        )
        try:
            since, until = span(on)
        except values.Wrong as wrong:
            raise BadRequest(f"on: {wrong.why}") from wrong
        evidence_reads.witness_reading(request=request, model="audit.exceptions", shown=None)
        rows = itertools.chain([exceptions.COLUMNS], exceptions.report(since=since, until=until))
        as_of = newest.id if newest else 0
        return StreamingHttpResponse(
            # The mark at the beginning tells a spreadsheet that the letters are UTF-8.
            (line.encode() for line in itertools.chain(["\ufeff"], csv_cells.lines(rows))),
            content_type="text/csv; charset=utf-8; header=present",
            headers={"Content-Disposition": f'attachment; filename="exceptions-{on}-as-of-{as_of}.csv"'},
        )

    @admin.display(description=either("recorded at", "บันทึกเมื่อ"))
    def at(self, entry: LogEntry) -> str:
        return moment(entry.recorded_at)

    @admin.display(description=either("touched", "เกี่ยวข้องกับ"))
    def touched(self, entry: LogEntry) -> str:
        return entry_proof.touched_by(entry, json.loads(bytes(entry.bytes))["data"])

    @admin.display(description=either("proof", "หลักฐาน"))
    def proof(self, entry: LogEntry) -> str:
        return entry_proof.proof_of(entry)

    @admin.display(description=either("leads to the signed root", "นำไปถึงรากที่ลงนาม"), boolean=True)
    def proved(self, entry: LogEntry) -> bool | None:
        return entry_proof.leads_to_root(entry)

    @admin.display(description=either("who", "ใคร"))
    def who(self, entry: LogEntry) -> str:
        if not hasattr(entry, "badge"):
            self.prepare([entry])
        return str(entry.badge or entry.actor_kind)  # type: ignore[attr-defined]

    @admin.display(description=either("facts", "ข้อเท็จจริง"))
    def facts(self, entry: LogEntry) -> str:
        data = json.loads(bytes(entry.bytes))["data"]
        return format_html("<pre>{}</pre>", json.dumps(data, indent=2, ensure_ascii=False, sort_keys=True))

    @admin.display(description=either("bytes", "ไบต์"))
    def exact_bytes(self, entry: LogEntry) -> str:
        return format_html("<code>{}</code>", bytes(entry.bytes).decode())

    @admin.display(description=either("leaf hash", "แฮชของใบ"))
    def hash(self, entry: LogEntry) -> str:
        return bytes(entry.leaf_hash).hex()

    @admin.display(description=either("hash holds", "แฮชถูกต้อง"), boolean=True)
    def hash_holds(self, entry: LogEntry) -> bool:
        return merkle.leaf_hash(bytes(entry.bytes)) == bytes(entry.leaf_hash)
