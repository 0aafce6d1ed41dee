"""Doors of what was sent to endpoints, what failed, and what is sent again."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.db.models import Q, QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.door import Door, Shape, described, page_of
from casino.api.operations import refuses
from casino.refusals import Refusal
from settlement.api import webhooks
from settlement.models import Attempt, Delivery, Endpoint
from settlement.webhooks import replaying

PAGE = [
    OpenApiParameter("cursor", str, description="``next`` of the page before."),
    OpenApiParameter("limit", int, description="1 to 200; usually 50."),
]


class RangeShape(Shape):
    since = serializers.DateTimeField()
    until = serializers.DateTimeField()
    failures = serializers.BooleanField(required=False, default=False)


Replayed = described("WebhooksReplayed", {"due": serializers.IntegerField()})


class EndpointReplay(Door):
    """A range that is sent again."""

    declares: ClassVar = {"POST": "replay_webhooks"}

    @extend_schema(operation_id="replayWebhooks", request=RangeShape, responses={200: Replayed})
    @refuses("endpoint_disabled")
    def post(self, request: Request, endpoint: UUID) -> Response:
        """Send again what was booked between two instants, under the ids it had: only what failed, if so asked."""
        given = self.body(RangeShape)
        due = self.act(lambda _: replaying.those_between(endpoint=endpoint, **given))
        return Response({"due": due})


DeliveryShown = described(
    "WebhookDelivery",
    {
        "id": serializers.IntegerField(),
        "message": serializers.UUIDField(help_text="the webhook-id"),
        "type": serializers.CharField(),
        "subject": serializers.CharField(),
        "booked_at": serializers.DateTimeField(),
        "state": serializers.ChoiceField(Delivery.State.values),
        "due_at": serializers.DateTimeField(allow_null=True),
        "failures": serializers.IntegerField(),
        "last_result": serializers.CharField(allow_blank=True),
        "finished_at": serializers.DateTimeField(allow_null=True),
    },
)


def _delivery(delivery: Delivery) -> dict[str, Any]:
    waits = delivery.state == Delivery.State.DUE
    return {
        "id": delivery.id,
        "message": str(delivery.message_id),
        "type": delivery.message.type,
        "subject": delivery.message.subject,
        "booked_at": delivery.message.booked_at.isoformat(),
        "state": delivery.state,
        "due_at": delivery.due_at.isoformat() if waits else None,
        "failures": delivery.failures,
        "last_result": delivery.last_result,
        "finished_at": delivery.finished_at.isoformat() if delivery.finished_at else None,
    }


class EndpointDeliveries(Door):
    """What is owed to an endpoint."""

    declares: ClassVar = {"GET": "read_deliveries"}

    @extend_schema(
        operation_id="listWebhookDeliveries",
        parameters=[
            OpenApiParameter("state", str, enum=Delivery.State.values),
            OpenApiParameter("failures", str, enum=["1"], description="Only what failed at least once."),
            *PAGE,
        ],
        responses={
            200: described(
                "WebhookDeliveries",
                {"deliveries": DeliveryShown(many=True), "next": serializers.CharField(allow_null=True)},
            )
        },
    )
    def get(self, request: Request, endpoint: UUID) -> Response:
        """List a page of deliveries, newest first; a cashier system reads those of its own endpoints."""
        page = page_of(request)
        found = _asked_for(request, Delivery.objects.filter(endpoint=webhooks.one_of(self, endpoint)))
        if page.cursor:
            found = found.filter(id__lt=_place(page.cursor))
        listed, last = page.cut(found.select_related("message").order_by("-id"))
        return Response(
            {
                "deliveries": [_delivery(row) for row in listed],
                "next": str(last.id) if last else None,
            }
        )


AttemptShown = described(
    "WebhookAttempt",
    {
        "number": serializers.IntegerField(),
        "sent_at": serializers.DateTimeField(),
        "milliseconds": serializers.IntegerField(),
        "status": serializers.IntegerField(allow_null=True),
        "result": serializers.CharField(),
    },
)


class DeliveryAttempts(Door):
    """The tries at one delivery."""

    declares: ClassVar = {"GET": "read_deliveries"}

    @extend_schema(
        operation_id="listWebhookAttempts",
        responses={
            200: described(
                "WebhookAttempts", {"delivery": DeliveryShown(), "attempts": AttemptShown(many=True)}
            )
        },
    )
    def get(self, request: Request, delivery: int) -> Response:
        """List what was tried, first to last, at most the newest 200."""
        found = _delivery_of(self, delivery)
        attempts = list(Attempt.objects.filter(delivery=found).order_by("-number")[:200])
        return Response(
            {
                "delivery": _delivery(found),
                "attempts": [
                    {
                        "number": attempt.number,
                        "sent_at": attempt.sent_at.isoformat(),
                        "milliseconds": attempt.milliseconds,
                        "status": attempt.status,
                        "result": attempt.result,
                    }
                    for attempt in reversed(attempts)
                ],
            }
        )


class DeliveryReplay(Door):
    """One delivery that is sent again."""

    declares: ClassVar = {"POST": "replay_webhooks"}

    @extend_schema(operation_id="replayWebhook", request=None, responses={200: Replayed})
    @refuses("endpoint_disabled")
    def post(self, request: Request, delivery: int) -> Response:
        """Send it again under the id it had; one that is being sent stays as it is."""
        found = _delivery_of(self, delivery)
        due = self.act(lambda _: replaying.one(endpoint=found.endpoint_id, delivery=found.id))
        return Response({"due": due})


def _delivery_of(door: Door, delivery: int) -> Delivery:
    endpoints_in_scope = Endpoint.objects.filter(webhooks.in_scope(door))
    if delivery >= 2**63:
        raise Refusal("not_found")
    found = (
        Delivery.objects.select_related("message")
        .filter(pk=delivery, endpoint__in=endpoints_in_scope)
        .first()
    )
    if found is None:
        raise Refusal("not_found")
    return found


def _asked_for(request: Request, found: QuerySet[Delivery]) -> QuerySet[Delivery]:
    state = request.query_params.get("state", "")
    if state:
        if state not in Delivery.State.values:
            raise Refusal("invalid_value", fields={"state": "is not known here"})
        found = found.filter(state=state)
    if request.query_params.get("failures") == "1":
        found = found.filter(Q(failures__gt=0) | Q(state=Delivery.State.GIVEN_UP))
    return found


def _place(cursor: str) -> int:
    if not cursor.isdecimal() or len(cursor) > 18:
        raise Refusal("malformed", fields={"cursor": "is not one of ours"})
    return int(cursor)
