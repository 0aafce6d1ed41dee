"""Doors of reconciliation: runs, and how far they have come."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.door import Day, Door, PageQuery, Shape, described
from casino.api.operations import KEY, refuses
from casino.events import Act
from casino.platform.refusals import Refusal
from settlement import reconciliation
from settlement.api.bounds import day_asked
from settlement.models import Run


class ReconciliationShape(Shape):
    """Which day is compared, on which levels (all where they are left out)."""

    gaming_day = Day()
    levels = serializers.ListField(
        child=serializers.ChoiceField(reconciliation.LEVELS), required=False, min_length=1
    )


ProgressShown = described(
    "ReconciliationProgress",
    {
        "chunks": serializers.IntegerField(),
        "done": serializers.IntegerField(),
        "claimed": serializers.IntegerField(),
        "poisoned": serializers.IntegerField(),
    },
)
RunShown = described(
    "Reconciliation",
    {
        "id": serializers.UUIDField(),
        "kind": serializers.ChoiceField(Run.Kind.values),
        "gaming_day": serializers.DateField(),
        "since": serializers.DateTimeField(),
        "until": serializers.DateTimeField(),
        "rules": serializers.CharField(),
        "edition": serializers.IntegerField(),
        "begun_at": serializers.DateTimeField(),
        "done_at": serializers.DateTimeField(allow_null=True),
        "outcome": serializers.ChoiceField(["matched", "breaks", "incomplete"], allow_null=True),
        "digest": serializers.CharField(allow_null=True),
        "report": serializers.DictField(allow_null=True),
        "progress": ProgressShown(),
    },
)


def _run_shown(run: Run) -> dict[str, Any]:
    come = reconciliation.progress(run.id)
    return {
        "id": str(run.id),
        "kind": run.kind,
        "gaming_day": run.gaming_day.isoformat(),
        "since": run.since.isoformat(),
        "until": run.until.isoformat(),
        "rules": run.rules,
        "edition": run.edition,
        "begun_at": run.begun_at.isoformat(),
        "done_at": run.done_at.isoformat() if run.done_at else None,
        "outcome": run.outcome or None,
        "digest": run.digest or None,
        "report": run.report or None,
        "progress": {
            "chunks": come.chunks,
            "done": come.done,
            "claimed": come.claimed,
            "poisoned": come.poisoned,
        },
    }


class RunsQuery(PageQuery):
    """Which runs."""

    gaming_day = Day(required=False)


class Reconciliations(Door):
    """Runs, newest first."""

    declares: ClassVar = {"GET": "read_reconciliation", "POST": "run_reconciliation"}
    queries: ClassVar = {"GET": RunsQuery}

    @extend_schema(
        operation_id="listReconciliations",
        responses={
            200: described(
                "Reconciliations",
                {"reconciliations": RunShown(many=True), "next": serializers.CharField(allow_null=True)},
            )
        },
    )
    def get(self, request: Request) -> Response:
        """List a page of runs by keyset."""
        page = self.page
        found = Run.objects.order_by("-id")
        if "gaming_day" in self.query:
            found = found.filter(gaming_day=day_asked(self.query["gaming_day"]))
        if page.cursor:
            found = found.filter(id__lt=page.cursor)
        listed, last = page.cut(found)
        return Response(
            {
                "reconciliations": [_run_shown(run) for run in listed],
                "next": str(last.id) if last else None,
            }
        )

    @extend_schema(
        operation_id="reconcile", request=ReconciliationShape, responses={201: RunShown}, parameters=[KEY]
    )
    @refuses("day_not_begun")
    def post(self, request: Request) -> Response:
        """Begin a run over what of a gaming day is over; one that is under way for it is returned."""

        def do(_: Act, given: dict[str, Any]) -> tuple[int, dict[str, Any]]:
            run = reconciliation.begin(
                kind=Run.Kind.ASKED,
                gaming_day=given["gaming_day"],
                levels=tuple(given.get("levels") or reconciliation.LEVELS),
                by=self.person,
            )
            return 201, _run_shown(run)

        def prepare() -> dict[str, Any]:
            given = self.body(ReconciliationShape)
            return given | {"gaming_day": day_asked(given["gaming_day"])}

        return self.once(prepare, do)


class ReconciliationDetail(Door):
    """One run."""

    declares: ClassVar = {"GET": "read_reconciliation"}

    @extend_schema(operation_id="readReconciliation", responses={200: RunShown})
    def get(self, request: Request, run: UUID) -> Response:
        """Read a run with its progress and, once it is over, its report."""
        found = Run.objects.filter(pk=run).first()
        if found is None:
            raise Refusal("not_found")
        return Response(_run_shown(found))
