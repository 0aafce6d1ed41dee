"""Doors of the hour at which gaming days start: proposed by one manager, approved by another."""

from __future__ import annotations

from datetime import date
from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.door import Day, Door, Shape, described
from casino.api.operations import KEY, refuses
from casino.api.shapes import Whole
from casino.events import Act
from settlement import days
from settlement.days import start_hours
from settlement.models import StartHour

StartHourShown = described(
    "StartHour",
    {
        "id": serializers.UUIDField(),
        "from_day": serializers.DateField(help_text="0001-01-01 is the one of the installation"),
        "hour": serializers.IntegerField(min_value=0, max_value=23),
        "zone": serializers.CharField(help_text="an IANA name"),
        "state": serializers.ChoiceField(["installed", "proposed", "approved"]),
        "proposed_by": serializers.UUIDField(allow_null=True),
        "proposed_at": serializers.DateTimeField(),
        "approved_by": serializers.UUIDField(allow_null=True),
        "approved_at": serializers.DateTimeField(allow_null=True),
        "day_before": described(
            "DayBefore",
            {
                "gaming_day": serializers.DateField(),
                "begins_at": serializers.DateTimeField(),
                "ends_at": serializers.DateTimeField(),
                "minutes": serializers.IntegerField(help_text="1440 is a day like any other"),
            },
        )(allow_null=True, help_text="what the change makes of the day before it"),
    },
)


class StartHourShape(Shape):
    from_day = Day(
        help_text="the first gaming day that starts at the new hour; neither it nor the day before has begun"
    )
    hour = Whole(min_value=0, max_value=23)
    zone = serializers.CharField(max_length=40, required=False, help_text="an IANA name; left out: as it is")


class StartHourApprovalShape(Shape):
    """What is approved, repeated, so that nobody approves something else than was read."""

    from_day = Day()
    hour = Whole(min_value=0, max_value=23)
    zone = serializers.CharField(max_length=40)


class StartHours(Door):
    """Every start hour, and the proposal of another."""

    declares: ClassVar = {"GET": "read_days", "POST": "propose_start_hour"}

    @extend_schema(
        operation_id="listStartHours",
        responses={200: described("StartHours", {"start_hours": StartHourShown(many=True)})},
    )
    def get(self, request: Request) -> Response:
        """List the start hours of the house, the latest day first, with what was proposed and not approved."""
        return Response({"start_hours": [_shown(row) for row in start_hours.listed()]})

    @extend_schema(
        operation_id="proposeStartHour",
        request=StartHourShape,
        parameters=[KEY],
        responses={201: StartHourShown},
    )
    @refuses("start_hour_too_late")
    def post(self, request: Request) -> Response:
        """Propose another hour from a day on. The day before that lasts longer or shorter: 1 to 36 hours."""

        def prepare() -> tuple[date, int, str]:
            given = self.body(StartHourShape)
            zone = given.get("zone") or days.start_hour_of(given["from_day"]).zone
            return given["from_day"], given["hour"], zone

        def do(_: Act, prepared: tuple[date, int, str]) -> tuple[int, dict[str, Any]]:
            from_day, hour, zone = prepared
            row = start_hours.propose(from_day=from_day, hour=hour, zone=zone, by=self.person)
            return 201, _shown(row)

        return self.once(prepare, do)


class StartHourApproval(Door):
    """The approval of a proposed start hour."""

    declares: ClassVar = {"POST": "approve_start_hour"}

    @extend_schema(
        operation_id="approveStartHour",
        request=StartHourApprovalShape,
        parameters=[KEY],
        responses={200: StartHourShown},
    )
    @refuses("not_found", "sod_violation", "stale_proposal", "start_hour_approved", "start_hour_too_late")
    def post(self, request: Request, start_hour: UUID) -> Response:
        """Approve what another manager proposed; days that have begun stay as they are."""

        def prepare() -> dict[str, Any]:
            return self.body(StartHourApprovalShape)

        def do(_: Act, given: dict[str, Any]) -> tuple[int, dict[str, Any]]:
            row = start_hours.approve(
                start_hour=start_hour,
                read=(given["from_day"], given["hour"], given["zone"]),
                by=self.person,
            )
            return 200, _shown(row)

        return self.once(prepare, do)


def _shown(row: StartHour) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "from_day": row.from_day.isoformat(),
        "hour": row.hour,
        "zone": row.zone,
        "state": "installed" if row.proposed_by_id is None else "approved" if row.approved_at else "proposed",
        "proposed_by": str(row.proposed_by_id) if row.proposed_by_id else None,
        "proposed_at": row.proposed_at.isoformat(),
        "approved_by": str(row.approved_by_id) if row.approved_by_id else None,
        "approved_at": row.approved_at.isoformat() if row.approved_at else None,
        "day_before": _day_before(row),
    }


def _day_before(row: StartHour) -> dict[str, Any] | None:
    if row.proposed_by_id is None:
        return None
    before, begins, ends = start_hours.day_before(row)
    return {
        "gaming_day": before.isoformat(),
        "begins_at": begins.isoformat(),
        "ends_at": ends.isoformat(),
        "minutes": int((ends - begins).total_seconds()) // 60,
    }
