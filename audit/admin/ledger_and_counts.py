"""What settlement judged and posted, in the admin: sheets, accounts, journals, settlements, counts."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import admin
from django.http import HttpRequest

from audit.admin.bilingual import either
from audit.admin.calendars import Calendar
from audit.admin.casino_rows import Few
from audit.admin.read_only import ReadOnly
from casino.models import Person
from settlement import table_floats
from settlement.models import (
    Account,
    CashAct,
    Count,
    Counting,
    Drop,
    Entry,
    Float,
    Hold,
    Journal,
    Line,
    RuleSheet,
    Settlement,
    TableRules,
    Uncovered,
)


class ByGamingDay(Calendar):
    title = either("gaming day", "วันทำการ")
    field = "gaming_day"


class Expected(ReadOnly):
    """What shows or adds up to the figure a tray should hold: for those alone who may see it, and, but for auditors,
    not while a table is being counted."""

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        if not super().has_view_permission(request, obj) or not isinstance(request.user, Person):
            return False
        return request.user.has_duty("see_expected") and not table_floats.hidden_from(request.user)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return super().has_module_permission(request) and self.has_view_permission(request)


@admin.register(RuleSheet)
class RuleSheetAdmin(Few):
    list_display = ("name", "sha256", "proposed_by", "proposed_at", "approved_by", "approved_at")
    list_select_related = ("proposed_by", "approved_by")
    ordering = ("name", "sha256")
    finds: ClassVar = {
        "uuid": ("id",),
        "word": ("name", "sha256", "proposed_by__badge", "approved_by__badge"),
    }


@admin.register(TableRules)
class TableRulesAdmin(ReadOnly):
    list_display = ("id", "table", "sheet", "in_force_from", "set_by", "approved_by", "set_at")
    list_select_related = ("table", "sheet", "set_by", "approved_by")
    finds: ClassVar = {"uuid": ("sheet",), "word": ("table__code", "sheet__sha256", "set_by__badge")}


@admin.register(Account)
class AccountAdmin(Expected):
    list_display = ("code", "kind", "currency", "balance", "held", "version", "floor")
    list_filter = ("kind",)
    list_select_related = ("table",)
    finds: ClassVar = {"number": ("id",), "word": ("code", "table__code")}
    search_help_text = "An account's whole code, or a table."


@admin.register(Journal)
class JournalAdmin(Expected):
    list_display = (
        "id",
        "kind",
        "key",
        "gaming_day",
        "currency",
        "entry_count",
        "reverses_id",
        "round",
        "recorded_at",
    )
    list_filter = (ByGamingDay,)
    finds: ClassVar = {"uuid": ("id", "round"), "word": ("key",)}
    search_help_text = "A journal's or a round's id, or a journal's key."


@admin.register(Entry)
class EntryAdmin(Expected):
    list_display = (
        "id",
        "journal_id",
        "ordinal",
        "account",
        "amount",
        "currency",
        "version",
        "balance_after",
        "wager",
    )
    list_select_related = ("account",)
    finds: ClassVar = {"uuid": ("journal",), "number": ("id",), "word": ("account__code",)}
    search_help_text = "A journal's id or an account's code."


@admin.register(Hold)
class HoldAdmin(ReadOnly):
    list_display = ("id", "account", "round_id", "wager", "amount", "opened_at", "ended_at", "outcome")
    list_select_related = ("account",)
    finds: ClassVar = {"uuid": ("id", "round"), "word": ("account__code",)}


@admin.register(Uncovered)
class UncoveredAdmin(ReadOnly):
    list_display = ("id", "round_id", "wager", "account_code", "exposure", "reason", "recorded_at")
    finds: ClassVar = {"uuid": ("round",), "word": ("account_code",)}


@admin.register(Settlement)
class SettlementAdmin(ReadOnly):
    list_display = (
        "id", "round_id", "revision", "outcome", "house_net", "currency", "gaming_day", "acted_by", "approved_by",
        "settled_at",
    )  # fmt: skip
    list_filter = (ByGamingDay,)
    list_select_related = ("acted_by", "approved_by")
    finds: ClassVar = {"uuid": ("id", "round", "journal"), "word": ("record_sha256",)}
    search_help_text = "A settlement's, a round's or a journal's id."


@admin.register(Line)
class LineAdmin(ReadOnly):
    list_display = (
        "id", "settlement_id", "wager", "hand", "account", "stake", "cards", "hand_kind", "hand_taem", "hand_deng",
        "dealer_cards", "step", "multiple", "gross", "uncovered", "commission", "net",
    )  # fmt: skip
    finds: ClassVar = {"uuid": ("settlement", "settlement__round"), "number": ("id",)}
    search_help_text = "A settlement's or a round's id."


@admin.register(CashAct)
class CashActAdmin(ReadOnly):
    list_display = (
        "id", "kind", "direction", "means", "person", "amount", "currency", "cage", "session_id", "gaming_day",
        "document", "acted_by", "approved_by", "recorded_at",
    )  # fmt: skip
    list_filter = (ByGamingDay,)
    list_select_related = ("acted_by", "approved_by")
    finds: ClassVar = {"uuid": ("id", "journal", "session"), "word": ("person", "document", "cage")}
    search_help_text = "A journal's or a session's id, a person's reference, a document or a cage."


@admin.register(Counting)
class CountingAdmin(ReadOnly):
    list_display = (
        "id",
        "table",
        "session_id",
        "kind",
        "state",
        "asked_by",
        "asked_at",
        "carried_by",
        "cage",
        "ended_at",
    )
    list_filter = ("kind", "state")
    list_select_related = ("table", "asked_by", "carried_by")
    finds: ClassVar = {"uuid": ("id", "session"), "word": ("table__code", "asked_by__badge")}


@admin.register(Count)
class CountAdmin(Expected):
    list_display = (
        "id",
        "counting_id",
        "ordinal",
        "amount",
        "currency",
        "counted_by",
        "counted_at",
        "supersedes_id",
    )
    list_select_related = ("counted_by",)
    finds: ClassVar = {"uuid": ("id", "counting"), "word": ("counted_by__badge",)}


@admin.register(Float)
class FloatAdmin(Expected):
    list_display = (
        "id",
        "session_id",
        "kind",
        "count",
        "expected",
        "grade",
        "cage",
        "gaming_day",
        "accepted_at",
    )
    list_filter = ("kind", "grade")
    list_select_related = ("count",)
    finds: ClassVar = {"uuid": ("id", "session", "journal"), "word": ("cage",)}


@admin.register(Drop)
class DropAdmin(Expected):
    list_display = (
        "id",
        "session_id",
        "until_id",
        "count",
        "recorded",
        "grade",
        "cage",
        "gaming_day",
        "accepted_at",
        "withdrawn_at",
    )
    list_filter = ("grade",)
    list_select_related = ("count",)
    finds: ClassVar = {"uuid": ("id", "session", "journal"), "word": ("cage",)}
