"""Doors of shifts: opened and closed by two."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.door import Door, PageQuery, described
from casino.api.operations import KEY, refuses
from casino.events import Act
from casino.models import Person, Table
from settlement import reports
from settlement.api.days import SealShown, SecondShape, fixed, tables_of
from settlement.days import shifts
from settlement.models import Report, Shift


class ShiftShape(SecondShape):
    tables = serializers.ListField(child=serializers.CharField(max_length=20), max_length=500)


ShiftShown = described(
    "Shift",
    {
        "id": serializers.UUIDField(),
        "gaming_day": serializers.DateField(),
        "number": serializers.IntegerField(),
        "tables": serializers.ListField(child=serializers.CharField()),
        "opened_at": serializers.DateTimeField(),
        "closed_at": serializers.DateTimeField(allow_null=True),
        "overdue": serializers.BooleanField(),
        "report_sha256": serializers.CharField(allow_null=True),
    },
)


class Shifts(Door):
    """Shifts, newest first."""

    declares: ClassVar = {"GET": "read_shifts", "POST": "work_shift"}
    queries: ClassVar = {"GET": PageQuery}

    @extend_schema(
        operation_id="listShifts",
        responses={
            200: described(
                "Shifts", {"shifts": ShiftShown(many=True), "next": serializers.CharField(allow_null=True)}
            )
        },
    )
    def get(self, request: Request) -> Response:
        """List shifts by the time they were opened."""
        page = self.page
        found = Shift.objects.order_by("-id")
        if page.cursor:
            found = found.filter(id__lt=page.cursor)
        listed, last = page.cut(found)
        hashes = dict(Report.objects.filter(shift__in=listed).values_list("shift", "sha256"))
        return Response(
            {
                "shifts": [_shift_shown(row, sha256=hashes.get(row.id)) for row in listed],
                "next": str(last.id) if last else None,
            }
        )

    @extend_schema(
        operation_id="openShift", request=ShiftShape, parameters=[KEY], responses={201: ShiftShown}
    )
    @refuses("day_closing", "not_found", "shift_running", "sod_violation")
    def post(self, request: Request) -> Response:
        """Open the next shift of the running day, by two in charge."""

        def prepare() -> tuple[list[Table], Person]:
            given = self.body(ShiftShape)
            return tables_of(given["tables"]), self.second_person(given)

        def do(_: Act, prepared: tuple[list[Table], Person]) -> tuple[int, dict[str, Any]]:
            shift = shifts.open_shift(tables=prepared[0], by=self.person, second=prepared[1])
            return 201, _shift_shown(shift, sha256=None)

        return self.once(prepare, do)


class ShiftClosing(Door):
    """Close a shift."""

    declares: ClassVar = {"POST": "work_shift"}

    @extend_schema(
        operation_id="closeShift", request=SecondShape, parameters=[KEY], responses={201: SealShown}
    )
    @refuses("nobody_counted", "shift_closed", "slip_in_transit", "sod_violation")
    def post(self, request: Request, shift: UUID) -> Response:
        """Close the running shift with its report, by two who served in it, one of whom counted in it."""

        def prepare() -> Person:
            return self.second_person(self.body(SecondShape))

        def do(_: Act, second: Person) -> tuple[int, dict[str, Any]]:
            return 201, fixed(reports.close_shift(shift=shift, by=self.person, second=second))

        return self.once(prepare, do)


def _shift_shown(row: Shift, *, sha256: str | None) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "gaming_day": row.day_id.isoformat(),
        "number": row.number,
        "tables": row.tables,
        "opened_at": row.opened_at.isoformat(),
        "closed_at": row.closed_at.isoformat() if row.closed_at else None,
        "overdue": row.overdue,
        "report_sha256": sha256,
    }
