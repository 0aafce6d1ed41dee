"""Doors for giving up on numbers that did not come: a device's, or a table's rounds."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino import people, rounds, tables
from casino.api.door import Door, Id, Shape, described
from casino.api.operations import refuses
from casino.models import Device
from casino.platform.refusals import Refusal


class WaiverShape(Shape):
    reason = serializers.CharField(max_length=500)
    badge = serializers.CharField(max_length=40)
    pin = serializers.CharField(max_length=200)


class GapWaivers(Door):
    """Numbers of a device nobody waits for any more."""

    declares: ClassVar = {"POST": "waive_gap"}

    @extend_schema(
        operation_id="waiveGap",
        request=WaiverShape,
        responses={
            201: described(
                "GapWaived",
                {
                    "device": serializers.CharField(),
                    "first": serializers.IntegerField(),
                    "last": serializers.IntegerField(),
                },
            )
        },
    )
    @refuses("gap_not_found", "not_on_duty", "table_closed")
    def post(self, request: Request, device: UUID, first: int, last: int) -> Response:
        """Waive missing numbers: signed by badge and PIN of a supervisor on duty there, or a manager."""
        given = self.body(WaiverShape)
        found = _device_in_scope(self, device, "waive_gap")
        person = self.second_person(given)
        self.act(
            lambda act: rounds.waive_gap(
                device=found, first=first, last=last, person=person, reason=given["reason"], now=act.now
            )
        )
        return Response({"device": found.code, "first": first, "last": last}, status=201)


class RoundsWaiverShape(WaiverShape):
    session = Id(required=False, help_text="another than the table's newest")


class RoundWaivers(Door):
    """Round numbers of a table that nobody waits for any more."""

    declares: ClassVar = {"POST": "waive_rounds"}

    @extend_schema(
        operation_id="waiveRounds",
        request=RoundsWaiverShape,
        responses={
            201: described(
                "RoundsWaived",
                {
                    "table": serializers.CharField(),
                    "session": serializers.UUIDField(),
                    "first": serializers.IntegerField(),
                    "last": serializers.IntegerField(),
                },
            )
        },
    )
    @refuses("rounds_not_missing", "not_on_duty")
    def post(self, request: Request, code: str, first: int, last: int) -> Response:
        """Waive missing round numbers: signed by badge and PIN of a supervisor on duty there, or a manager."""
        table = tables.of_code(code)
        people.require_at(self.principal, "waive_rounds", table.id)
        given = self.body(RoundsWaiverShape)
        person = self.second_person(given)
        waiver = self.act(
            lambda act: rounds.waive_rounds(
                table=table,
                session=given.get("session"),
                first=first,
                last=last,
                person=person,
                reason=given["reason"],
                now=act.now,
            )
        )
        shown = {"table": code, "session": str(waiver.session_id), "first": first, "last": last}
        return Response(shown, status=201)


def _device_in_scope(door: Door, device: UUID, right: str) -> Device:
    found = Device.objects.select_related("table").filter(pk=device).first()
    if found is None:
        raise Refusal("not_found")
    people.require_at(door.principal, right, found.table_id)
    return found
