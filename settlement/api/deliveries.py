"""Doors of what was sent to endpoints, what failed, and what is sent again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import Q, QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.door import Door, Instant, Number, OneOf, PageQuery, Shape, described
from casino.api.operations import refuses
from casino.platform.refusals import Refusal
from settlement.api import webhooks
from settlement.api.bounds import happened
from settlement.models import Attempt, Delivery, Endpoint
from settlement.webhooks import replaying


class RangeShape(Shape):
    since = Instant()
    until = Instant()
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
        for name in ("since", "until"):
            happened(given[name], name)
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


class DeliveriesQuery(PageQuery):
    """Which deliveries."""

    cursor = Number(required=False, help_text="`next` of the page before")
    state = OneOf(Delivery.State.values, required=False)
    failures = OneOf(["1"], required=False, help_text="only what failed at least once")


class EndpointDeliveries(Door):
    """What is owed to an endpoint."""

    declares: ClassVar = {"GET": "read_deliveries"}
    queries: ClassVar = {"GET": DeliveriesQuery}

    @extend_schema(
        operation_id="listWebhookDeliveries",
        responses={
            200: described(
                "WebhookDeliveries",
                {"deliveries": DeliveryShown(many=True), "next": serializers.CharField(allow_null=True)},
            )
        },
    )
    def get(self, request: Request, endpoint: UUID) -> Response:
        """List a page of deliveries, newest first; a cashier system reads those of its own endpoints."""
        page = self.page
        found = _asked_for(self.query, Delivery.objects.filter(endpoint=webhooks.one_of(self, endpoint)))
        if page.cursor is not None:
            found = found.filter(id__lt=page.cursor)
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
    found = (
        Delivery.objects.select_related("message")
        .filter(pk=delivery, endpoint__in=endpoints_in_scope)
        .first()
    )
    if found is None:
        raise Refusal("not_found")
    return found


def _asked_for(asked: Mapping[str, Any], found: QuerySet[Delivery]) -> QuerySet[Delivery]:
    if "state" in asked:
        found = found.filter(state=asked["state"])
    if "failures" in asked:
        found = found.filter(Q(failures__gt=0) | Q(state=Delivery.State.GIVEN_UP))
    return found
