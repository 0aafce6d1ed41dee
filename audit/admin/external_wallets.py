"""Wallets that live in cashier systems, in the admin: their keepers, what was asked of them, what they are told."""

from __future__ import annotations

from typing import ClassVar

from django.contrib import admin

from audit.admin.bilingual import either
from audit.admin.casino_rows import Few
from audit.admin.read_only import ReadOnly
from settlement.models import CashierSystem, ExternalCall, ExternalHold


@admin.register(CashierSystem)
class CashierSystemAdmin(Few):
    list_display = ("code", "prefix", "url", "dialect", "enabled", "set_by", "approved_by", "set_at")
    list_select_related = ("set_by", "approved_by")
    ordering = ("code",)
    exclude = ("secret",)
    finds: ClassVar = {"word": ("code", "prefix", "host")}


@admin.register(ExternalHold)
class ExternalHoldAdmin(ReadOnly):
    list_display = (
        "id", "system", "round_id", "wager", "account", "stake", "exposure", "currency", "state", "reason", "late",
        "asked_at", "answered_at", "ended_at",
    )  # fmt: skip
    list_filter = ("state",)
    list_select_related = ("system",)
    finds: ClassVar = {"uuid": ("id", "round"), "word": ("account", "system__code")}
    search_help_text = either(
        "A hold, a round, a player's account, a cashier system.", "รหัสเงินกัน รอบ บัญชีผู้เล่น หรือระบบแคชเชียร์"
    )


@admin.register(ExternalCall)
class ExternalCallAdmin(ReadOnly):
    list_display = (
        "id", "hold_id", "place", "verb", "revision", "moves", "state", "written_at", "due_at", "attempts",
        "last_result", "acknowledged_at",
    )  # fmt: skip
    list_filter = ("state", "verb")
    finds: ClassVar = {"uuid": ("id", "hold")}
    search_help_text = either("A call or a hold.", "รหัสการแจ้งหรือรหัสเงินกัน")
