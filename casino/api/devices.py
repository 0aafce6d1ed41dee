"""Doors of terminals and cameras: enrolled by a code that is good once, told apart by tokens, revoked; and how they say
that they stand."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino import devices, people, tables
from casino.api.door import Door, Instant, OneOf, Query, Shape, Whole, described
from casino.api.operations import refuses
from casino.models import Device
from casino.platform.refusals import Refusal


class StateShape(Shape):
    next = Whole(min_value=1)
    unsent = Whole(min_value=0)
    sheet_shown = serializers.RegexField(r"^[0-9a-f]{64}\Z", required=False)
    sent_at = Instant()


_DEVICE: dict[str, Any] = {
    "id": serializers.UUIDField(),
    "code": serializers.CharField(),
    "kind": serializers.ChoiceField(Device.Kind.values),
    "table": serializers.CharField(),
    "last_number": serializers.IntegerField(),
    "missing": serializers.ListField(child=serializers.ListField(child=serializers.IntegerField())),
    "stated": StateShape(allow_null=True, help_text="what it said of itself last"),
    "last_contact_at": serializers.DateTimeField(allow_null=True),
    "revoked_at": serializers.DateTimeField(allow_null=True),
}
DeviceShown = described("Device", _DEVICE)
DeviceEnrolled = described(
    "DeviceEnrolled",
    _DEVICE | {"token": serializers.CharField(help_text="sent as a bearer token; shown this once")},
)


def device_shown(device: Device) -> dict[str, Any]:
    """Return a device with the numbers that are missing of it."""
    return {
        "id": str(device.id),
        "code": device.code,
        "kind": device.kind,
        "table": device.table.code,
        "last_number": device.last_seq,
        "missing": device.holes,
        "stated": device.stated,
        "last_contact_at": device.last_contact_at,
        "revoked_at": device.revoked_at,
    }


class OwnState(Door):
    """How a device stands, also when idle."""

    declares: ClassVar = {"PUT": "state_device"}

    @extend_schema(operation_id="stateDevice", request=StateShape, responses={200: DeviceShown})
    def put(self, request: Request) -> Response:
        """Say the next number, how many events wait unsent, and the rule sheet shown."""
        given = self.body(StateShape)
        stated = given | {"sent_at": given["sent_at"].isoformat()}
        device = self.device
        self.act(lambda act: devices.state(device=device, stated=stated, now=act.now))
        device.refresh_from_db()
        return Response(device_shown(device))


class OwnToken(Door):
    """The token that takes the place of a device's own."""

    declares: ClassVar = {"POST": "state_device"}

    @extend_schema(
        operation_id="rotateToken",
        request=None,
        responses={
            201: described("TokenMade", {"token": serializers.CharField(help_text="shown this once")})
        },
    )
    def post(self, request: Request) -> Response:
        """Make a new token: both are live until the new one is used for the first time, and then the old one opens
        nothing any more. Asked again before that (the answer was lost), only the last one made counts."""
        device = self.device
        return Response({"token": self.act(lambda _: devices.rotate(device))}, status=201)


class AdmissionShape(Shape):
    code = serializers.RegexField(
        r"^[A-Z0-9][A-Za-z0-9-]{0,59}\Z",
        help_text="what the device is called for ever; a new one is called anew",
    )
    kind = serializers.ChoiceField(Device.Kind.values)
    table = serializers.RegexField(r"^[A-Z0-9]{1,20}\Z")


class DevicesQuery(Query):
    """Which devices."""

    revoked = OneOf(["true", "false"], default="false", help_text="`true`: the revoked ones, newest first")


class Devices(Door):
    """Devices and the numbers that are missing of each."""

    declares: ClassVar = {"GET": "read_devices", "POST": "manage_devices"}
    queries: ClassVar = {"GET": DevicesQuery}

    @extend_schema(
        operation_id="listDevices",
        responses={200: described("Devices", {"devices": DeviceShown(many=True)})},
    )
    def get(self, request: Request) -> Response:
        """List the devices in scope, by code; the revoked ones where they are asked for."""
        revoked = self.query["revoked"]
        found = Device.objects.select_related("table").filter(revoked_at__isnull=revoked == "false")
        found = found.order_by("code") if revoked == "false" else found.order_by("-revoked_at")[:200]
        in_scope = people.tables_in_scope(self.principal, "read_devices")
        listed = [one for one in found if in_scope is None or one.table_id in in_scope]
        return Response({"devices": [device_shown(device) for device in listed]})

    @extend_schema(
        operation_id="admitDevice",
        request=AdmissionShape,
        responses={
            201: described(
                "DeviceAdmitted",
                {
                    "enrolment_code": serializers.CharField(
                        help_text="80 bits, for one device; shown this once"
                    ),
                    "expires_at": serializers.DateTimeField(help_text="ten minutes from now"),
                },
            )
        },
    )
    @refuses("device_known", "not_found", "table_ended")
    def post(self, request: Request) -> Response:
        """Make a code by which one device comes to one table within ten minutes. A code that was lost is made again."""
        given, by = self.body(AdmissionShape), self.person
        table = tables.of_code(given["table"])
        made, text = self.act(
            lambda _: devices.admit(code=given["code"], kind=given["kind"], table=table, by=by)
        )
        return Response({"enrolment_code": text, "expires_at": made.expires_at}, status=201)


class EnrolmentShape(Shape):
    enrolment_code = serializers.CharField(max_length=40)


class Enrolments(Door):
    """A device that comes in by its code."""

    declares: ClassVar = {"POST": "public"}

    @extend_schema(operation_id="enrolDevice", request=EnrolmentShape, responses={201: DeviceEnrolled})
    @refuses("device_known", "table_ended", "wrong_code")
    def post(self, request: Request) -> Response:
        """Enrol this device by its code, once; the token in the answer is what it signs in with from now on. Where the
        answer was lost, the device is revoked and admitted anew under another name."""
        given = self.body(EnrolmentShape)
        device, token = self.act(lambda _: devices.come_in(given["enrolment_code"]))
        return Response(device_shown(device) | {"token": token}, status=201)


class DeviceRevocation(Door):
    """The end of a device."""

    declares: ClassVar = {"POST": "manage_devices"}

    @extend_schema(operation_id="revokeDevice", request=None, responses={200: DeviceShown})
    def post(self, request: Request, device: UUID) -> Response:
        """Revoke a device: its next request is refused. Asked again, the first time stands."""
        found = Device.objects.filter(pk=device).first()
        if found is None:
            raise Refusal("not_found")
        by, now = self.person, timezone.now()
        revoked = self.act(lambda _: devices.revoke(device=found, now=now, by=by))
        return Response(device_shown(revoked))
