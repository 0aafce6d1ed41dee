"""Gaming days, shifts and what was fixed of them, in the admin."""

from __future__ import annotations

from typing import ClassVar

from django.contrib import admin

from audit.admin.bilingual import either
from audit.admin.casino_rows import Few
from settlement.models import GamingDay, Report, Shift, StartHour


@admin.register(GamingDay)
class GamingDayAdmin(Few):
    list_display = (
        "day", "state", "begins_at", "ends_at", "opened_by", "opened_at", "closing_by", "closing_at", "sealed_by",
        "seconded_by", "sealed_at", "journals",
    )  # fmt: skip
    list_filter = ("state",)
    list_select_related = ("opened_by", "closing_by", "sealed_by", "seconded_by")
    ordering = ("-day",)
    finds: ClassVar = {"uuid": ("opened_by", "closing_by", "sealed_by", "seconded_by")}
    search_help_text = either("The id of a person.", "รหัสของพนักงาน")


@admin.register(StartHour)
class StartHourAdmin(Few):
    list_display = ("from_day", "hour", "zone", "proposed_by", "proposed_at", "approved_by", "approved_at")
    list_select_related = ("proposed_by", "approved_by")
    ordering = ("-from_day", "-proposed_at")
    finds: ClassVar = {"uuid": ("id", "proposed_by", "approved_by")}
    search_help_text = either("The id of a start hour, or of a person.", "รหัสของชั่วโมงเริ่มวัน หรือของพนักงาน")


@admin.register(Shift)
class ShiftAdmin(Few):
    list_display = (
        "id", "day", "number", "opened_by", "opened_with", "opened_at", "closed_by", "closed_with", "closed_at",
        "overdue",
    )  # fmt: skip
    list_filter = ("overdue",)
    list_select_related = ("day", "opened_by", "opened_with", "closed_by", "closed_with")
    ordering = ("-id",)
    finds: ClassVar = {"uuid": ("id", "opened_by", "opened_with", "closed_by", "closed_with")}
    search_help_text = either("A shift's id, or a person's.", "รหัสของกะ หรือของพนักงาน")


@admin.register(Report)
class ReportAdmin(Few):
    list_display = ("id", "kind", "day", "shift", "version", "sha256", "made_at")
    list_filter = ("kind",)
    list_select_related = ("day", "shift")
    ordering = ("-id",)
    exclude = ("canonical",)
    finds: ClassVar = {"uuid": ("id", "shift"), "hash": ("sha256",)}
    search_help_text = either("A report's id or hash, a shift's id.", "รหัสหรือแฮชของรายงาน รหัสกะ")
