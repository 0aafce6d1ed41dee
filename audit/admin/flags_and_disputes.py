"""What is asked about play, in the admin: flags, disputes with their proposals and decisions, discrepancies."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from django.contrib import admin
from django.db.models.functions import Now
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join

from audit.admin.bilingual import chosen, either
from audit.admin.calendars import ByMade
from audit.admin.casino_rows import Few
from audit.admin.read_only import ReadOnly, moment
from audit.admin.thai_names import STATES
from audit.flags import KINDS
from audit.models import Analysis, AnalysisResult, Discrepancy, Dispute, Flag, Inspection, Proposal
from casino.models import Round, Table
from settlement import explanations

# Searches that come back every day; each is a list's address with its filters set.
SAVED: dict[str, tuple[Any, dict[str, Any]]] = {
    "open": (either("open flags", "ข้อสังเกตที่ยังเปิด"), {"state": "open"}),
    "junk_deng_four": (either("junk hands of deng four", "มือขยะสี่เด้ง"), {"kind": "junk_deng_four"}),
    "junk": (
        either("junk hands against the rule", "มือขยะผิดกติกา"),
        {"kind__in": ("junk_drew_against_rule", "junk_stayed_against_rule")},
    ),
    "reads": (either("reads that differ", "ค่าไพ่ที่อ่านไม่ตรงกัน"), {"kind": "reads_differ"}),
    "late": (
        either("bets and reports that came late", "เดิมพันและรายงานที่มาช้า"),
        {"kind__in": ("late_bet", "late_event")},
    ),
    "money": (
        either("uncovered, short or paid otherwise", "ไม่มีเงินกัน เงินไม่พอ หรือจ่ายต่าง"),
        {"kind__in": ("uncovered", "shortfall", "mispay")},
    ),
}


class Saved(admin.SimpleListFilter):
    title = either("saved search", "การค้นหาที่บันทึกไว้")
    parameter_name = "saved"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:  # noqa: ARG002
        return [(name, title) for name, (title, _) in SAVED.items()]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:  # noqa: ARG002
        known = SAVED.get(self.value() or "")
        return queryset.filter(**known[1]) if known else queryset


class ByKind(admin.SimpleListFilter):
    title = either("kind", "ชนิด")
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ARG002
        return [(kind, kind) for kind in sorted(KINDS)]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:  # noqa: ARG002
        return queryset.filter(kind=self.value()) if self.value() else queryset


class ByState(admin.SimpleListFilter):
    title = either("state", "สถานะ")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:  # noqa: ARG002
        return [(state, STATES[state]) for state in Flag.State.values]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:  # noqa: ARG002
        return queryset.filter(state=self.value()) if self.value() else queryset


class AtTable(admin.SimpleListFilter):
    title = either("table", "โต๊ะ")
    parameter_name = "table"
    through: ClassVar[str] = "table__code"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ARG002
        return [(code, code) for code in Table.objects.order_by("code").values_list("code", flat=True)]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:  # noqa: ARG002
        return queryset.filter(**{self.through: self.value()}) if self.value() else queryset


class AtTableOfRound(AtTable):
    through = "round__table__code"


class ByRaising(ByMade):
    field = "raised_at"


def round_link(round: Round | None) -> str:
    """Return a link to a round's page by its table and number, nothing where there is no round."""
    if round is None:
        return ""
    url = reverse("admin:casino_round_change", args=[round.pk])
    return format_html('<a href="{}">{} · {}</a>', url, round.table.code, round.number or "?")


@admin.register(Flag)
class FlagAdmin(ReadOnly):
    list_display = ("at", "kind", "table", "its_round", "about", "answered", "sentence")
    list_display_links = ("at",)
    list_filter = (Saved, ByState, ByKind, AtTable, ByRaising)
    list_select_related = ("table", "round__table")
    fields = (
        "id", "kind", "subject", "sentence", "table", "its_round", "device", "detail", "its_entry", "at", "answered",
        "closed_by", "closed_at", "close_code", "close_reason", "its_dispute",
    )  # fmt: skip
    readonly_fields = fields
    finds: ClassVar = {
        "uuid": ("id", "round", "dispute"),
        "word": ("kind", "subject", "table__code", "device__code", "closed_by__badge"),
        "number": ("entry",),
    }
    search_help_text = either(
        "A kind, a table, a round, a device, a person's badge or what it is about.",
        "ชนิด โต๊ะ รอบ เครื่อง รหัสบัตร หรือเรื่องที่เกี่ยว",
    )

    @admin.display(description=either("about", "เรื่อง"))
    def about(self, flag: Flag) -> str:
        return flag.subject.partition("#")[2]

    @admin.display(description=either("round", "รอบ"))
    def its_round(self, flag: Flag) -> str:
        return round_link(flag.round)

    @admin.display(description=either("raised at", "ยกขึ้นเมื่อ"))
    def at(self, flag: Flag) -> str:
        return moment(flag.raised_at)

    @admin.display(description=either("state", "สถานะ"))
    def answered(self, flag: Flag) -> str:
        return str(STATES[flag.state])

    @admin.display(description=either("entry", "รายการ"))
    def its_entry(self, flag: Flag) -> str:
        if flag.entry_id is None:
            return ""
        url = reverse("admin:audit_logentry_change", args=[flag.entry_id])
        return format_html('<a href="{}">{}</a>', url, flag.entry_id)

    @admin.display(description=either("dispute", "ข้อพิพาท"))
    def its_dispute(self, flag: Flag) -> str:
        if flag.dispute is None:
            return ""
        return format_html(
            '<a href="{}">{}</a>', reverse("admin:audit_dispute_change", args=[flag.dispute]), flag.dispute
        )

    @admin.display(description=either("for review, money unchanged", "ข้อสังเกต เงินไม่เปลี่ยน"))
    def sentence(self, flag: Flag) -> str:
        currency = flag.table.currency if flag.table else ""
        try:
            return chosen(
                explanations.finding(
                    flag.kind, flag.subject.partition("#")[2], flag.detail, currency=currency
                )
            )
        except (KeyError, ValueError, TypeError):
            return flag.kind  # of a time when the kind had other figures: the detail shows them


class ToDecide(admin.SimpleListFilter):
    """The queue: what is not decided comes oldest first, which is in the order of the deadlines."""

    title = either("queue", "คิว")
    parameter_name = "queue"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:  # noqa: ARG002
        return [
            ("open", either("to be decided", "รอตัดสิน")),
            ("overdue", either("past the deadline", "เกินกำหนด")),
            ("two", either("two people needed", "ต้องสองคน")),
            ("decided", either("decided", "ตัดสินแล้ว")),
        ]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:  # noqa: ARG002
        undecided = queryset.exclude(state=Dispute.State.DECIDED)
        match self.value():
            case "open":
                return undecided
            case "overdue":
                return undecided.filter(deadline_at__lt=Now())
            case "two":
                return undecided.filter(needs_two=True)
            case "decided":
                return queryset.filter(state=Dispute.State.DECIDED)
        return queryset


@admin.register(Dispute)
class DisputeAdmin(ReadOnly):
    list_display = (
        "at", "until", "its_round", "subject", "reason_code", "at_risk", "needs_two", "stands", "claimed_by",
    )  # fmt: skip
    list_display_links = ("at",)
    list_filter = (ToDecide, AtTableOfRound, ByRaising)
    list_select_related = ("claimed_by", "round__table")
    fields = (
        "id", "its_round", "subject", "reason_code", "reason", "raised_by", "at", "until", "at_risk", "needs_two",
        "follows", "stands", "claimed_by", "claim_until", "snoozed_until",
        "proposed", "decided",
    )  # fmt: skip
    readonly_fields = fields
    finds: ClassVar = {
        "uuid": ("id", "round"),
        "word": ("round__table__code", "reason_code", "raised_by__badge", "claimed_by__badge"),
    }
    search_help_text = either(
        "A dispute's or a round's id, a table, a reason, or a person's badge.",
        "รหัสข้อพิพาทหรือรอบ โต๊ะ เหตุผล หรือรหัสบัตร",
    )

    def oldest_first(self, request: HttpRequest) -> bool:
        return request.GET.get("queue") in ("open", "overdue", "two")

    @admin.display(description=either("round", "รอบ"))
    def its_round(self, dispute: Dispute) -> str:
        return round_link(dispute.round)

    @admin.display(description=either("raised at", "ยกขึ้นเมื่อ"))
    def at(self, dispute: Dispute) -> str:
        return moment(dispute.raised_at)

    @admin.display(description=either("deadline", "ครบกำหนด"))
    def until(self, dispute: Dispute) -> str:
        return moment(dispute.deadline_at)

    @admin.display(description=either("money at risk", "เงินที่เกี่ยว"))
    def at_risk(self, dispute: Dispute) -> str:
        return explanations.money(dispute.money_at_risk, dispute.currency)

    @admin.display(description=either("state", "สถานะ"))
    def stands(self, dispute: Dispute) -> str:
        return str(STATES[dispute.state])

    @admin.display(description=either("proposals", "ข้อเสนอ"))
    def proposed(self, dispute: Dispute) -> str:
        found = dispute.proposals.select_related("proposed_by").order_by("ordinal")
        return format_html_join("", "<pre>{}</pre>", ((_proposal(one),) for one in found))

    @admin.display(description=either("decision", "คำตัดสิน"))
    def decided(self, dispute: Dispute) -> str:
        decision = getattr(dispute, "decision", None)
        if decision is None:
            return ""
        return f"{decision.outcome} · {decision.decided_by.badge} · {moment(decision.decided_at)}"


def _proposal(proposal: Proposal) -> str:
    shown = {
        "proposed_by": proposal.proposed_by.badge,
        "proposed_at": proposal.proposed_at.isoformat(),
        "withdrawn_at": proposal.withdrawn_at.isoformat() if proposal.withdrawn_at else None,
        "facts": proposal.facts,
        "consequences": proposal.consequences,
        "reason": proposal.reason_code,
        "note": proposal.note,
        "sha256": proposal.sha256,
    }
    return json.dumps(shown, indent=1, ensure_ascii=False)


@admin.register(Inspection)
class InspectionAdmin(Few):
    list_display = (
        "name",
        "position",
        "last",
        "settlements",
        "offending",
        "verified_through",
        "moved_at",
        "done_at",
    )
    ordering = ("name",)
    finds: ClassVar = {"word": ("name",)}


@admin.register(Discrepancy)
class DiscrepancyAdmin(ReadOnly):
    list_display = ("id", "found_at", "inspection", "invariant", "subject", "found", "expected")
    finds: ClassVar = {"uuid": ("settlement",), "number": ("id", "entry"), "word": ("invariant", "subject")}


@admin.register(Analysis)
class AnalysisAdmin(ReadOnly):
    list_display = ("id", "gaming_day", "screen", "asked_at", "done_at", "repeats")
    finds: ClassVar = {"word": ("screen",), "number": ("id",)}


@admin.register(AnalysisResult)
class AnalysisResultAdmin(ReadOnly):
    list_display = (
        "id", "analysis", "revision", "version", "rounds", "alarms", "expected", "digest", "made_at",
    )  # fmt: skip
    list_select_related = ("analysis",)
    fields = (*list_display, "found")
    readonly_fields = fields
    finds: ClassVar = {"word": ("digest",), "number": ("id", "analysis")}

    @admin.display(description=either("found", "พบ"))
    def found(self, result: AnalysisResult) -> str:
        return format_html("<pre>{}</pre>", json.dumps(result.body, indent=1, ensure_ascii=False))
