"""What the floor recorded, in the admin: people, tables, devices, rounds and their events."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import BigIntegerField, F, QuerySet, Value
from django.http import HttpRequest

from audit.admin.bilingual import either
from audit.admin.calendars import Calendar
from audit.admin.read_only import ReadOnly, is_card
from casino import cards
from casino.models import (
    ApiKey,
    Appointment,
    Cage,
    Device,
    Duty,
    Enrolment,
    GapWaiver,
    HandOver,
    Person,
    RefusedEvent,
    Round,
    RoundEvent,
    RoundWaiver,
    Signature,
    Table,
    TableSession,
)


class Few(ReadOnly):
    """A list of hundreds of rows, ordered as people expect it."""

    change_list_template: ClassVar[Any] = None

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:  # noqa: ARG002
        return ChangeList


class ByRecording(Calendar):
    field = "recorded_at"
    by_id = True


class ByMaking(Calendar):
    field = "created_at"

    def narrowed(self, within: Any) -> Any:
        # The index on rounds begins with the table.
        return within.filter(table__in=list(Table.objects.values_list("id", flat=True)))


@admin.register(Person)
class PersonAdmin(Few):
    list_display = ("badge", "display_name", "role", "is_active", "turns_at", "ended_at")
    list_filter = ("role", "is_active")
    ordering = ("badge",)
    fields = (
        "id", "badge", "display_name", "staff_no", "role", "permissions", "is_active", "turns_at",
        "ended_by", "ended_at",
    )  # fmt: skip
    finds: ClassVar = {"uuid": ("id",), "word": ("badge", "display_name", "role")}
    search_help_text = "A badge, a whole name or a role."


@admin.register(Appointment)
class AppointmentAdmin(Few):
    list_display = (
        "person", "role", "permissions", "from_at", "until_at", "proposed_by", "approved_by", "made_at",
    )  # fmt: skip
    list_filter = ("role",)
    list_select_related = ("person", "proposed_by", "approved_by")
    ordering = ("-id",)
    finds: ClassVar = {"uuid": ("id",), "word": ("person__badge", "role")}
    search_help_text = "A badge or a role."


@admin.register(HandOver)
class HandOverAdmin(Few):
    list_display = ("person", "made_by", "approved_by", "made_at", "expires_at", "used_at")
    list_select_related = ("person", "made_by", "approved_by")
    ordering = ("-id",)
    fields = ("id", "person", "made_by", "approved_by", "made_at", "expires_at", "used_at")
    finds: ClassVar = {"uuid": ("id",), "word": ("person__badge",)}
    search_help_text = "A badge."


@admin.register(Enrolment)
class EnrolmentAdmin(Few):
    list_display = ("code", "kind", "table", "made_by", "made_at", "expires_at", "used_at", "device")
    list_select_related = ("table", "made_by", "device")
    ordering = ("-id",)
    fields = ("id", "code", "kind", "table", "made_by", "made_at", "expires_at", "used_at", "device")
    finds: ClassVar = {"uuid": ("id",), "word": ("code", "table__code")}
    search_help_text = "A device's code or a table's."


@admin.register(Table)
class TableAdmin(Few):
    list_display = ("code", "state", "stop_reason", "currency", "camera", "added_at", "ended_at")
    list_filter = ("state",)
    ordering = ("code",)
    finds: ClassVar = {"uuid": ("id",), "word": ("code",)}


@admin.register(Cage)
class CageAdmin(Few):
    list_display = ("code", "added_by", "added_with", "added_at", "ended_by", "ended_with", "ended_at")
    list_select_related = ("added_by", "added_with", "ended_by", "ended_with")
    ordering = ("code",)
    fields = ("code", "added_by", "added_with", "added_at", "ended_by", "ended_with", "ended_at")
    finds: ClassVar = {"word": ("code",)}
    search_help_text = "A code."


@admin.register(Device)
class DeviceAdmin(Few):
    list_display = (
        "code",
        "kind",
        "table",
        "enrolled_at",
        "revoked_at",
        "last_seq",
        "holes",
        "last_contact_at",
    )
    list_filter = ("kind",)
    list_select_related = ("table",)
    ordering = ("code",)
    fields = (
        "id", "code", "kind", "table", "enrolled_at", "revoked_at", "revoked_by", "last_seq", "holes",
        "last_contact_at", "stated",
    )  # fmt: skip
    finds: ClassVar = {"uuid": ("id",), "word": ("code", "table__code")}


@admin.register(TableSession)
class TableSessionAdmin(ReadOnly):
    list_display = ("id", "table", "opened_at", "closed_at", "last_round")
    list_select_related = ("table",)
    finds: ClassVar = {"uuid": ("id",), "word": ("table__code",)}


@admin.register(Duty)
class DutyAdmin(ReadOnly):
    list_display = ("id", "session", "person", "role", "on_at", "off_at")
    list_select_related = ("session__table", "person")
    finds: ClassVar = {"uuid": ("session", "person"), "word": ("person__badge", "session__table__code")}


@admin.register(Round)
class RoundAdmin(ReadOnly):
    list_display = (
        "id",
        "table",
        "number",
        "standing",
        "reasons",
        "in_dispute",
        "opened_at",
        "closed_at",
        "gaming_day",
    )
    list_filter = ("standing", "in_dispute", ByMaking)
    list_select_related = ("table",)
    finds: ClassVar = {"uuid": ("id", "session", "alias_of"), "word": ("table__code",)}
    search_help_text = either(
        "A round's or session's id, a table, or cards that lay in it (KS, TH).",
        "รหัสรอบหรือช่วงเปิดโต๊ะ โต๊ะ หรือไพ่ที่ออกในรอบ (KS, TH)",
    )

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Round], search_term: str
    ) -> tuple[QuerySet[Round], bool]:
        words = search_term.split()
        dealt = [word for word in words if is_card(word)]
        for word in dealt:
            queryset = queryset.alias(
                **{f"holds_{word.lower()}": F("cards_seen").bitand(_place(word))}
            ).exclude(**{f"holds_{word.lower()}": 0})
        return super().get_search_results(
            request, queryset, " ".join(word for word in words if word not in dealt)
        )


def _place(card: str) -> Any:
    """The bit of a card; Django would take a number for one of 32 bits."""
    return Value(1 << cards.parse(card.upper()), output_field=BigIntegerField())


@admin.register(RoundEvent)
class RoundEventAdmin(ReadOnly):
    list_display = (
        "id", "round_id", "seq", "kind", "payload", "device", "device_seq", "person", "signed", "late", "recorded_at",
    )  # fmt: skip
    list_filter = (ByRecording,)
    list_select_related = ("device", "person")
    fields = (
        "id", "round", "seq", "kind", "payload", "source", "event_id", "device", "device_seq", "person", "signature",
        "signer", "signed", "happened_at", "instant", "clock_off", "recorded_at", "offset_ms", "hash", "late",
        "jumped_from",
    )  # fmt: skip
    readonly_fields = ("hash",)
    finds: ClassVar = {
        "uuid": ("round",),
        "number": ("id",),
        "word": ("device__code",),
        "card": ("payload__card",),
    }
    search_help_text = either(
        "A round's id, a device or a card; add a number to find one event.",
        "รหัสรอบ เครื่อง หรือไพ่ เพิ่มเลขเพื่อหาเหตุการณ์เดียว",
    )

    @admin.display(description="SHA-256")
    def hash(self, event: RoundEvent) -> str:
        return bytes(event.sha256).hex()


@admin.register(RefusedEvent)
class RefusedEventAdmin(ReadOnly):
    list_display = ("id", "device", "device_seq", "claims", "code", "fields_found", "round_id", "recorded_at")
    list_filter = (ByRecording,)
    list_select_related = ("device",)
    fields = (
        "id",
        "device",
        "device_seq",
        "claims",
        "code",
        "fields_found",
        "extra",
        "round",
        "recorded_at",
        "hash",
    )
    readonly_fields = ("fields_found", "hash")
    finds: ClassVar = {"uuid": ("round",), "number": ("id", "device_seq"), "word": ("device__code", "code")}

    @admin.display(description="fields")
    def fields_found(self, event: RefusedEvent) -> str:
        return ", ".join(f"{path}: {why}" for path, why in event.fields.items())

    @admin.display(description="SHA-256")
    def hash(self, event: RefusedEvent) -> str:
        return bytes(event.sha256).hex()


@admin.register(Signature)
class SignatureAdmin(ReadOnly):
    list_display = ("id", "person", "device", "session", "may_rule", "signed_at")
    list_select_related = ("person", "device", "session__table")
    finds: ClassVar = {"uuid": ("id", "person", "session"), "word": ("person__badge", "device__code")}


@admin.register(GapWaiver)
class GapWaiverAdmin(ReadOnly):
    list_display = ("id", "device", "first", "last", "person", "waived_at")
    list_select_related = ("device", "person")
    finds: ClassVar = {"uuid": ("person",), "word": ("device__code", "person__badge")}


@admin.register(RoundWaiver)
class RoundWaiverAdmin(ReadOnly):
    list_display = ("id", "session", "first", "last", "person", "waived_at")
    list_select_related = ("session__table", "person")
    finds: ClassVar = {"uuid": ("session", "person"), "word": ("session__table__code", "person__badge")}


@admin.register(ApiKey)
class ApiKeyAdmin(Few):
    list_display = (
        "system", "id", "scopes", "tables", "cages", "wallets", "expires_at", "revoked_at", "last_used_at",
        "created_by", "approved_by",
    )  # fmt: skip
    list_select_related = ("created_by", "approved_by")
    ordering = ("system", "id")
    fields = (
        "id", "system", "scopes", "tables", "cages", "wallets", "addresses", "expires_at", "replaces_id", "created_by",
        "approved_by", "created_at", "revoked_by", "revoked_at", "last_used_at",
    )  # fmt: skip
    finds: ClassVar = {"uuid": ("id",), "word": ("system",)}
