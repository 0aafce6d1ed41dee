"""What was told to whom, in the admin: targets, endpoints, messages, deliveries and tries. No secret is shown."""

from __future__ import annotations

from typing import ClassVar

from django.contrib import admin

from audit.admin.bilingual import either
from audit.admin.casino_rows import Few
from audit.admin.ledger_and_counts import Expected
from audit.admin.read_only import ReadOnly
from settlement.models import ApprovedTarget, Attempt, Delivery, Endpoint, EndpointChange, Message


@admin.register(ApprovedTarget)
class ApprovedTargetAdmin(Few):
    list_display = (
        "host",
        "port",
        "ranges",
        "set_by",
        "approved_by",
        "set_at",
        "withdrawn_by",
        "withdrawn_at",
    )
    list_select_related = ("set_by", "approved_by", "withdrawn_by")
    ordering = ("host", "port")
    finds: ClassVar = {"uuid": ("id",), "number": ("port",), "word": ("host", "set_by__badge")}


@admin.register(Endpoint)
class EndpointAdmin(Few):
    list_display = ("name", "url", "types", "system", "state", "not_before", "opened_at", "previous_until")
    list_filter = ("state",)
    ordering = ("name",)
    exclude = ("secret", "previous_secret")
    finds: ClassVar = {"uuid": ("id",), "word": ("name", "host", "system")}


@admin.register(EndpointChange)
class EndpointChangeAdmin(Few):
    list_display = ("revision", "endpoint", "opens", "reason", "changed_by", "approved_by", "changed_at")
    list_select_related = ("endpoint", "changed_by", "approved_by")
    ordering = ("-revision",)
    finds: ClassVar = {"uuid": ("endpoint",), "number": ("revision",), "word": ("endpoint__name",)}


@admin.register(Message)
class MessageAdmin(Expected):
    list_display = ("id", "type", "subject", "table", "round_id", "number", "as_of_change", "booked_at")
    finds: ClassVar = {"uuid": ("id", "round")}
    search_help_text = either("A webhook-id or a round's id.", "webhook-id หรือรหัสรอบ")


@admin.register(Delivery)
class DeliveryAdmin(ReadOnly):
    list_display = (
        "id", "message_id", "endpoint", "state", "due_at", "attempts", "failures", "last_result", "finished_at",
    )  # fmt: skip
    list_select_related = ("endpoint",)
    finds: ClassVar = {"uuid": ("message",), "number": ("id",), "word": ("endpoint__name",)}
    search_help_text = either("A webhook-id or an endpoint's name.", "webhook-id หรือชื่อปลายทาง")


@admin.register(Attempt)
class AttemptAdmin(ReadOnly):
    list_display = ("id", "delivery_id", "number", "sent_at", "milliseconds", "status", "result")
    finds: ClassVar = {"number": ("delivery",), "uuid": ("delivery__message",)}
    search_help_text = either("A delivery's number or a webhook-id.", "เลขการส่งหรือ webhook-id")
