"""Doors of what is printed under reports: the newest checkpoint, and the hash of the entry that fixed the report."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from audit import proofs
from audit.proofs import Footer
from casino.api.door import Door, described
from casino.api.operations import refuses
from settlement.api.bounds import day_in_path

FooterShown = described(
    "ReportFooter",
    {
        "sha256": serializers.CharField(help_text="of the report's bytes"),
        "entry": serializers.CharField(
            help_text="leaf hash of the entry that fixed it, to ask for its proof"
        ),
        "checkpoint": serializers.CharField(help_text="the signed note"),
    },
)


class DayFooter(Door):
    """The footer of a sealed day's report."""

    declares: ClassVar = {"GET": "read_days"}

    @extend_schema(operation_id="readDayReportFooter", responses={200: FooterShown})
    @refuses("not_sealed_yet", "tree_damaged")
    def get(self, request: Request, day: str) -> Response:
        """Read what is printed under the report: a checkpoint that whoever keeps it can hold the house to."""
        return _shown(proofs.footer(action="day.sealed", subject=f"days/{day_in_path(day)}"))


class ShiftFooter(Door):
    """The footer of a closed shift's report."""

    declares: ClassVar = {"GET": "read_shifts"}

    @extend_schema(operation_id="readShiftReportFooter", responses={200: FooterShown})
    @refuses("not_sealed_yet", "tree_damaged")
    def get(self, request: Request, shift: UUID) -> Response:
        """Read what is printed under the report: a checkpoint that whoever keeps it can hold the house to."""
        return _shown(proofs.footer(action="shift.closed", subject=f"shifts/{shift}"))


def _shown(footer: Footer) -> Response:
    return Response({"sha256": footer.sha256, "entry": footer.leaf.hex(), "checkpoint": footer.note})
