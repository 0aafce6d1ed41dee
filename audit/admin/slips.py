"""Slips and pay slips in the admin, with who signed which step."""

from __future__ import annotations

from typing import ClassVar

from django.contrib import admin

from audit.admin.bilingual import either
from audit.admin.casino_rows import Few
from audit.admin.ledger_and_counts import ByGamingDay
from audit.admin.read_only import ReadOnly
from settlement.models import PaySlip, Series, Slip, SlipStep


@admin.register(Series)
class SeriesAdmin(Few):
    list_display = ("property", "kind", "year", "last")
    ordering = ("property", "kind", "year")
    finds: ClassVar = {"number": ("year",), "word": ("property", "kind")}


@admin.register(Slip)
class SlipAdmin(ReadOnly):
    list_display = (
        "id", "kind", "series", "number", "table", "state", "amount", "currency", "cage", "manual_number", "gaming_day",
        "requested_at",
    )  # fmt: skip
    list_filter = ("state", ByGamingDay)
    list_select_related = ("series", "table")
    finds: ClassVar = {
        "uuid": ("id", "session"),
        "number": ("number",),
        "word": ("table__code", "manual_number"),
    }
    search_help_text = either(
        "A slip's id or number, a table, a paper's number.", "รหัสหรือเลขใบ โต๊ะ หรือเลขใบกระดาษ"
    )


@admin.register(SlipStep)
class SlipStepAdmin(ReadOnly):
    list_display = (
        "id",
        "slip_id",
        "ordinal",
        "step",
        "by",
        "second",
        "amount",
        "reason",
        "journal_id",
        "taken_at",
    )
    list_select_related = ("by", "second")
    finds: ClassVar = {"uuid": ("slip", "by", "journal"), "word": ("by__badge",)}


@admin.register(PaySlip)
class PaySlipAdmin(ReadOnly):
    list_display = (
        "id", "series", "number", "table", "round_id", "wager", "state", "amount", "settled_before", "currency",
        "issued_by", "issued_at", "cage", "paid_by", "paid_at", "voided_by", "voided_at",
    )  # fmt: skip
    list_filter = ("state", ByGamingDay)
    list_select_related = ("series", "table", "issued_by", "paid_by", "voided_by")
    finds: ClassVar = {
        "uuid": ("id", "round", "settlement"), "number": ("number",), "word": ("table__code",),
    }  # fmt: skip
    search_help_text = either("A pay slip's id or number, a round, a table.", "รหัสหรือเลขใบจ่าย รอบ หรือโต๊ะ")
