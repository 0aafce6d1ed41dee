"""Doors of webhooks: approved targets, endpoints and the published schedule.

No Idempotency-Key: an answer that holds a secret is kept nowhere, and everything else here may be asked twice.
"""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.db.models import Q
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino import people
from casino.api.door import Door, Shape, Whole, described
from casino.api.operations import refuses
from casino.platform.refusals import Refusal
from settlement.models import ApprovedTarget, Endpoint, MessageType
from settlement.webhooks import endpoints, schedule, signing, targets
from settlement.webhooks.endpoints import Wanted


class EndpointApprovalShape(Shape):
    badge = serializers.CharField(max_length=40, help_text="of the manager who agrees")
    pin = serializers.CharField(max_length=200)


class TargetShape(EndpointApprovalShape):
    host = serializers.CharField(max_length=253)
    port = Whole(min_value=1, max_value=65_535)
    ranges = serializers.ListField(
        child=serializers.CharField(max_length=50),
        max_length=20,
        required=False,
        default=list,
        help_text="private networks that the name may resolve to: 10.20.0.0/16",
    )


TargetShown = described(
    "WebhookTarget",
    {
        "id": serializers.UUIDField(),
        "host": serializers.CharField(),
        "port": serializers.IntegerField(),
        "ranges": serializers.ListField(child=serializers.CharField()),
        "set_by": serializers.UUIDField(),
        "approved_by": serializers.UUIDField(),
        "set_at": serializers.DateTimeField(),
        "withdrawn_at": serializers.DateTimeField(allow_null=True),
    },
)


def _target(target: ApprovedTarget) -> dict[str, Any]:
    return {
        "id": str(target.id),
        "host": target.host,
        "port": target.port,
        "ranges": target.ranges,
        "set_by": str(target.set_by_id),
        "approved_by": str(target.approved_by_id),
        "set_at": target.set_at.isoformat(),
        "withdrawn_at": target.withdrawn_at.isoformat() if target.withdrawn_at else None,
    }


class Targets(Door):
    """Hosts and ports that webhooks may go to."""

    declares: ClassVar = {"GET": "read_webhooks", "POST": "set_webhooks"}

    @extend_schema(
        operation_id="listWebhookTargets",
        responses={200: described("WebhookTargets", {"targets": TargetShown(many=True)})},
    )
    def get(self, request: Request) -> Response:
        """List targets, newest first, withdrawn ones too."""
        return Response({"targets": [_target(row) for row in ApprovedTarget.objects.order_by("-id")[:200]]})

    @extend_schema(operation_id="approveWebhookTarget", request=TargetShape, responses={201: TargetShown})
    @refuses("sod_violation", "target_approved", "target_refused")
    def post(self, request: Request) -> Response:
        """Approve a host and port, with a manager's badge and PIN."""
        given = self.body(TargetShape)
        second, by = self.second_person(given), self.person
        targets.look_at_host(given["host"])
        target = self.act(
            lambda _: targets.approve(
                host=given["host"], port=given["port"], ranges=given["ranges"], by=by, approved_by=second
            )
        )
        return Response(_target(target), status=201)


class TargetDetail(Door):
    """One approved target."""

    declares: ClassVar = {"DELETE": "set_webhooks"}

    @extend_schema(operation_id="withdrawWebhookTarget", request=None, responses={200: TargetShown})
    def delete(self, request: Request, target: UUID) -> Response:
        """Withdraw it: nothing is sent there any more. One person is enough to close a door."""
        by = self.person
        return Response(_target(self.act(lambda _: targets.withdraw(target=target, by=by))))


class EndpointShape(EndpointApprovalShape):
    name = serializers.CharField(max_length=80)
    url = serializers.CharField(max_length=500)
    types = serializers.ListField(
        child=serializers.ChoiceField(MessageType.values), min_length=1, max_length=len(MessageType)
    )
    system = serializers.RegexField(
        r"^[a-z0-9_]{0,30}\Z", required=False, default="", allow_blank=True, help_text="whose it is"
    )


_ENDPOINT: dict[str, Any] = {
    "id": serializers.UUIDField(),
    "name": serializers.CharField(),
    "url": serializers.CharField(),
    "types": serializers.ListField(child=serializers.CharField()),
    "system": serializers.CharField(allow_blank=True),
    "state": serializers.ChoiceField(Endpoint.State.values),
    "not_before": serializers.DateTimeField(allow_null=True),
    "opened_at": serializers.DateTimeField(),
    "public_key": serializers.CharField(help_text="checks v1a signatures"),
    "previous_until": serializers.DateTimeField(allow_null=True),
}
EndpointShown = described("WebhookEndpoint", _ENDPOINT)
EndpointMade = described(
    "WebhookEndpointMade",
    _ENDPOINT | {"secret": serializers.CharField(help_text="shown this once; checks v1 signatures")},
)


def _endpoint(endpoint: Endpoint) -> dict[str, Any]:
    return {
        "id": str(endpoint.id),
        "name": endpoint.name,
        "url": endpoint.url,
        "types": endpoint.types,
        "system": endpoint.system,
        "state": endpoint.state,
        "not_before": endpoint.not_before.isoformat() if endpoint.not_before else None,
        "opened_at": endpoint.opened_at.isoformat(),
        "public_key": signing.unlock(endpoint.secret).public,
        "previous_until": endpoint.previous_until.isoformat() if endpoint.previous_until else None,
    }


class Endpoints(Door):
    """Who is told what."""

    declares: ClassVar = {"GET": "read_webhooks", "POST": "set_webhooks"}

    @extend_schema(
        operation_id="listWebhookEndpoints",
        responses={200: described("WebhookEndpoints", {"endpoints": EndpointShown(many=True)})},
    )
    def get(self, request: Request) -> Response:
        """List endpoints, newest first, disabled ones too; secrets are nowhere."""
        return Response({"endpoints": [_endpoint(row) for row in Endpoint.objects.order_by("-id")[:200]]})

    @extend_schema(operation_id="openWebhookEndpoint", request=EndpointShape, responses={201: EndpointMade})
    @refuses("endpoint_exists", "sod_violation", "target_refused")
    def post(self, request: Request) -> Response:
        """Open an endpoint at an approved target, with a manager's badge and PIN; its secret is shown this once."""
        given = self.body(EndpointShape)
        second, by = self.second_person(given), self.person
        wanted = Wanted(
            name=given["name"],
            url=given["url"],
            target=targets.look_at(given["url"]),
            types=given["types"],
            system=given["system"],
        )
        endpoint, secret = self.act(lambda _: endpoints.open_new(wanted, by=by, approved_by=second))
        return Response(_endpoint(endpoint) | {"secret": secret.symmetric}, status=201)


class EndpointDetail(Door):
    """One endpoint."""

    declares: ClassVar = {"GET": "read_deliveries"}

    @extend_schema(operation_id="readWebhookEndpoint", responses={200: EndpointShown})
    def get(self, request: Request, endpoint: UUID) -> Response:
        """Read one endpoint; a cashier system reads its own."""
        return Response(_endpoint(one_of(self, endpoint)))


class EndpointRotation(Door):
    """A new secret of an endpoint."""

    declares: ClassVar = {"POST": "set_webhooks"}

    @extend_schema(
        operation_id="rotateWebhookSecret", request=EndpointApprovalShape, responses={201: EndpointMade}
    )
    @refuses("sod_violation")
    def post(self, request: Request, endpoint: UUID) -> Response:
        """Make a new secret, shown this once; the one before signs beside it until ``previous_until``."""
        second, by = self.second_person(self.body(EndpointApprovalShape)), self.person
        found, secret = self.act(lambda _: endpoints.rotate(endpoint=endpoint, by=by, approved_by=second))
        return Response(_endpoint(found) | {"secret": secret.symmetric}, status=201)


class DisablingShape(Shape):
    reason = serializers.CharField(max_length=200)


class EndpointDisabling(Door):
    """The end of an endpoint, until two people open it again."""

    declares: ClassVar = {"POST": "set_webhooks"}

    @extend_schema(
        operation_id="disableWebhookEndpoint", request=DisablingShape, responses={200: EndpointShown}
    )
    @refuses("endpoint_disabled")
    def post(self, request: Request, endpoint: UUID) -> Response:
        """Owe and send it nothing more; what is due to it is given up."""
        given, by = self.body(DisablingShape), self.person
        found = self.act(lambda _: endpoints.disable(endpoint=endpoint, reason=given["reason"], by=by))
        return Response(_endpoint(found))


class EndpointEnabling(Door):
    """The opening of an endpoint that was disabled."""

    declares: ClassVar = {"POST": "set_webhooks"}

    @extend_schema(
        operation_id="enableWebhookEndpoint", request=EndpointApprovalShape, responses={200: EndpointShown}
    )
    @refuses("endpoint_open", "sod_violation", "target_refused")
    def post(self, request: Request, endpoint: UUID) -> Response:
        """Open it again, with a manager's badge and PIN; its target is looked at anew."""
        second, by = self.second_person(self.body(EndpointApprovalShape)), self.person
        target = targets.look_at(one_of(self, endpoint).url)
        found = self.act(
            lambda _: endpoints.enable(endpoint=endpoint, target=target, by=by, approved_by=second)
        )
        return Response(_endpoint(found))


class Schedule(Door):
    """When a message is tried, for whoever receives it."""

    declares: ClassVar = {"GET": "public"}

    @extend_schema(
        operation_id="readWebhookSchedule",
        responses={
            200: described(
                "WebhookSchedule",
                {
                    "delays_seconds": serializers.ListField(child=serializers.IntegerField()),
                    "jitter_percent": serializers.IntegerField(),
                    "types": serializers.ListField(child=serializers.CharField()),
                },
            )
        },
    )
    def get(self, request: Request) -> Response:
        """Read the seconds before each try, counted from the failure before it, and the types there are."""
        return Response(
            {
                "delays_seconds": list(schedule.DELAYS),
                "jitter_percent": schedule.JITTER_PERCENT,
                "types": MessageType.values,
            }
        )


def one_of(door: Door, endpoint: UUID) -> Endpoint:
    """Return an endpoint in the asker's scope: a system sees its own, and of another's not that it is there."""
    found = Endpoint.objects.filter(in_scope(door), pk=endpoint).first()
    if found is None:
        raise Refusal("not_found")
    return found


def in_scope(door: Door) -> Q:
    """Return which endpoints the asker may see."""
    scope = people.scope_of(door.principal, "read_deliveries")
    return Q(system=door.principal.code) if scope is people.KEY else Q()
