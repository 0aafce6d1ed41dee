"""What comparing the books came to, in the admin: runs and how far they have come, chunks, breaks and their steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Count, Q

from audit.admin.bilingual import either
from audit.admin.ledger_and_counts import ByGamingDay
from audit.admin.read_only import ReadOnly
from settlement.models import Break, BreakStep, Chunk, Run


@admin.register(Run)
class RunAdmin(ReadOnly):
    list_display = (
        "gaming_day",
        "kind",
        "rules",
        "edition",
        "progress",
        "outcome",
        "begun_at",
        "done_at",
        "digest",
    )
    list_filter = (ByGamingDay, "outcome")
    finds: ClassVar = {"uuid": ("id",), "hash": ("digest",)}
    search_help_text = either("A run's id or its digest.", "รหัสหรือลายนิ้วมือของการกระทบยอด")

    def prepare(self, rows: Sequence[Any]) -> None:
        counted = Chunk.objects.filter(run__in=[run.pk for run in rows]).values("run")
        counted = counted.annotate(
            every=Count("id"), over=Count("id", filter=Q(state__in=["done", "poisoned"]))
        )
        come = {row["run"]: f"{row['over']} / {row['every']}" for row in counted}
        for run in rows:
            run.come = come.get(run.pk, "0 / 0")

    @admin.display(description=either("chunks done", "ส่วนที่เสร็จ"))
    def progress(self, run: Any) -> str:
        """How many of the run's chunks are over, of how many."""
        if not hasattr(run, "come"):
            self.prepare([run])
        return str(run.come)


@admin.register(Chunk)
class ChunkAdmin(ReadOnly):
    list_display = (
        "id",
        "run_id",
        "level",
        "part",
        "lower",
        "upper",
        "state",
        "attempts",
        "owner",
        "trouble",
    )
    finds: ClassVar = {"uuid": ("run",), "number": ("id",)}
    search_help_text = either("A run's id or a chunk's number.", "รหัสการกระทบยอดหรือเลขส่วน")


@admin.register(Break)
class BreakAdmin(ReadOnly):
    """Without its detail, from which what a table should hold could be worked out."""

    list_display = (
        "code", "subject", "severity", "state", "amount", "currency", "level", "gaming_day", "fell_due_at",
        "assigned_to", "resolution", "resolved_by", "approved_by",
    )  # fmt: skip
    list_select_related = ("assigned_to", "resolved_by", "approved_by")
    list_filter = (ByGamingDay, "state", "severity")
    exclude = ("detail",)
    finds: ClassVar = {
        "uuid": ("id", "seen_run"),
        "word": ("code", "subject", "assigned_to__badge"),
        "hash": ("fingerprint",),
    }
    search_help_text = either(
        "A code, a subject, a run's id or a badge.", "รหัสชนิด เรื่อง รหัสการกระทบยอด หรือรหัสบัตร"
    )


@admin.register(BreakStep)
class BreakStepAdmin(ReadOnly):
    list_display = ("id", "of_id", "ordinal", "state", "by", "reason", "taken_at")
    list_select_related = ("by",)
    finds: ClassVar = {"uuid": ("of",), "word": ("by__badge",)}
    search_help_text = either("A break's id or a badge.", "รหัสรายการต่างหรือรหัสบัตร")
