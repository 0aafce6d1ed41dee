"""The outbox: what the house owes to be told, to whom, and every try at telling it.

A message is written by the act it speaks of, so it is there exactly when the act is; whom it is owed to is decided in
the same statement. What follows (tries, leases, giving up) changes deliveries alone, never a message.
"""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from casino.models import Person, Round


class MessageType(models.TextChoices):
    """What an endpoint can choose to be told. Words of a contract: none changes its meaning or is used again."""

    WALLET_DEPOSITED = "wallet.deposited"
    WALLET_WITHDRAWN = "wallet.withdrawn"
    WALLET_HELD = "wallet.held"
    WALLET_SETTLED = "wallet.settled"
    WALLET_RELEASED = "wallet.released"
    WALLET_REVERSED = "wallet.reversed"
    ROUND_SETTLED = "round.settled"
    ROUND_HELD = "round.held"
    ROUND_VOIDED = "round.voided"
    ROUND_CORRECTED = "round.corrected"
    SLIP_ISSUED = "slip.issued"
    SLIP_RECEIVED = "slip.received"
    SLIP_VOIDED = "slip.voided"
    PAY_SLIP_ISSUED = "pay_slip.issued"
    PAY_SLIP_PAID = "pay_slip.paid"
    PAY_SLIP_VOIDED = "pay_slip.voided"
    COUNT_RECORDED = "count.recorded"
    DAY_SEALED = "day.sealed"
    STATEMENT_READY = "statement.ready"
    BREAK_OPENED = "break.opened"
    DISPUTE_DECIDED = "dispute.decided"


class Message(models.Model):
    """One thing that happened, in the bytes that every receiver gets: ``id`` is the ``webhook-id`` of every try.

    ``number`` counts the messages of one round from 1 without gaps (None where there is no round), so that whoever
    receives them knows the newest. ``as_of_change`` is the last change of the list of endpoints when this was written
    (0: none yet): it decides for ever which endpoints it was owed to. ``booked_at`` and ``request_id`` are the act's.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    type = models.CharField(max_length=20, choices=MessageType.choices)
    subject = models.CharField(max_length=200)
    table = models.CharField(max_length=40)
    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="+", null=True, db_index=False)
    number = models.IntegerField(null=True)
    body = models.TextField()
    as_of_change = models.BigIntegerField()
    booked_at = models.DateTimeField()
    request_id = models.CharField(max_length=200)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["round", "number"], name="message_number_once_per_round"),
            models.CheckConstraint(condition=Q(type__in=MessageType.values), name="message_type_known"),
            models.CheckConstraint(
                condition=Q(round=None, number=None) | Q(round__isnull=False, number__gte=1),
                name="message_of_a_round_is_numbered",
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["booked_at", "id"], name="message_by_time")]


class ApprovedTarget(models.Model):
    """A host and port that webhooks may be sent to, by two people; ``ranges`` are the private networks (CIDR) that its
    name may resolve to, none for the public internet. Withdrawn once, it stays withdrawn."""

    id = models.UUIDField(primary_key=True, editable=False)
    host = models.CharField(max_length=253)
    port = models.IntegerField()
    ranges = ArrayField(models.CharField(max_length=50))
    set_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+", db_index=False)
    approved_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+", db_index=False)
    set_at = models.DateTimeField()
    withdrawn_by = models.ForeignKey(
        Person, on_delete=models.PROTECT, related_name="+", null=True, db_index=False
    )
    withdrawn_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["host", "port"], condition=Q(withdrawn_at=None), name="target_approved_once"
            ),
            models.CheckConstraint(condition=~Q(set_by=F("approved_by")), name="target_by_two_people"),
            models.CheckConstraint(condition=Q(port__gte=1, port__lte=65535), name="target_port_possible"),
            models.CheckConstraint(
                condition=Q(withdrawn_by=None, withdrawn_at=None)
                | Q(withdrawn_by__isnull=False, withdrawn_at__isnull=False),
                name="target_withdrawn_by_somebody",
            ),
        ]


class Endpoint(models.Model):
    """Where messages of the chosen types are sent, and how it stands.

    ``failing``: a message was given up, and nothing was taken since. ``disabled``: nothing is owed or sent to it.
    Secrets are locked with the service's own key; the previous ones sign too, until ``previous_until``.
    ``not_before`` and ``slots`` slow down: nothing is sent before that instant, and so many at once. ``system`` is the
    cashier system it belongs to, empty for none.
    """

    class State(models.TextChoices):
        ENABLED = "enabled"
        FAILING = "failing"
        DISABLED = "disabled"

    id = models.UUIDField(primary_key=True, editable=False)
    name = models.CharField(max_length=80, unique=True)
    url = models.CharField(max_length=500)
    host = models.CharField(max_length=253)
    port = models.IntegerField()
    types = ArrayField(models.CharField(max_length=20, choices=MessageType.choices))
    system = models.CharField(max_length=40)
    secret = models.TextField()
    previous_secret = models.TextField(null=True)  # noqa: DJ001 - none is not an empty secret
    previous_until = models.DateTimeField(null=True)
    state = models.CharField(max_length=10, choices=State.choices)
    not_before = models.DateTimeField(null=True)
    slots = models.SmallIntegerField()
    opened_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(state__in=["enabled", "failing", "disabled"]), name="endpoint_state_known"
            ),
            models.CheckConstraint(
                condition=Q(types__contained_by=MessageType.values) & Q(types__len__gte=1),
                name="endpoint_types_known",
            ),
            models.CheckConstraint(condition=Q(slots__gte=1), name="endpoint_has_a_slot"),
        ]


class EndpointChange(models.Model):
    """The list of endpoints, change by change: ``revision`` counts from 1 without gaps, over all endpoints.

    An endpoint is owed the messages written while its latest change opened it. Opening takes two people; the service
    itself closes one that answered that it is gone (nobody is named then).
    """

    revision = models.BigIntegerField(primary_key=True)
    endpoint = models.ForeignKey(Endpoint, on_delete=models.PROTECT, related_name="+")
    opens = models.BooleanField()
    reason = models.CharField(max_length=200)
    changed_by = models.ForeignKey(
        Person, on_delete=models.PROTECT, related_name="+", null=True, db_index=False
    )
    approved_by = models.ForeignKey(
        Person, on_delete=models.PROTECT, related_name="+", null=True, db_index=False
    )
    changed_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(opens=False)
                | Q(changed_by__isnull=False, approved_by__isnull=False) & ~Q(changed_by=F("approved_by")),
                name="endpoint_opened_by_two_people",
            ),
            models.CheckConstraint(condition=Q(revision__gte=1), name="endpoint_change_counted"),
        ]


class Delivery(models.Model):
    """That one message is owed to one endpoint, and how far that came.

    ``attempts`` goes up with every claim and fences it: whoever claimed with a lower number writes nothing.
    ``failures`` is the place in the schedule, started anew by a replay. A claim is good until ``lease_until`` by the
    database's clock.
    """

    class State(models.TextChoices):
        DUE = "due"
        CLAIMED = "claimed"
        DELIVERED = "delivered"
        GIVEN_UP = "given_up"

    id = models.BigAutoField(primary_key=True)
    message = models.ForeignKey(Message, on_delete=models.PROTECT, related_name="+", db_index=False)
    endpoint = models.ForeignKey(Endpoint, on_delete=models.PROTECT, related_name="+", db_index=False)
    state = models.CharField(max_length=10, choices=State.choices)
    due_at = models.DateTimeField()
    attempts = models.IntegerField()
    failures = models.SmallIntegerField()
    owner = models.CharField(max_length=80)
    lease_until = models.DateTimeField(null=True)
    last_result = models.CharField(max_length=40)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "deliveries"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["message", "endpoint"], name="delivery_once_per_endpoint"),
            models.CheckConstraint(
                condition=Q(state="due", lease_until=None, finished_at=None)
                | Q(state="claimed", lease_until__isnull=False, finished_at=None)
                | Q(state__in=["delivered", "given_up"], lease_until=None, finished_at__isnull=False),
                name="delivery_state_whole",
            ),
            models.CheckConstraint(
                condition=Q(attempts__gte=0, failures__gte=0), name="delivery_counts_possible"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["endpoint", "due_at"], condition=Q(state="due"), name="delivery_due"),
            models.Index(fields=["endpoint"], condition=Q(state="claimed"), name="delivery_claimed"),
            models.Index(fields=["endpoint", "-id"], name="delivery_of_endpoint"),
        ]


class Attempt(models.Model):
    """One try at one delivery and what came of it: ``result`` is ``delivered``, ``http_500`` and the like, or why
    nothing was answered (``timed_out``, ``target_refused``, …). ``status`` is None where no answer came."""

    id = models.BigAutoField(primary_key=True)
    delivery = models.ForeignKey(Delivery, on_delete=models.PROTECT, related_name="+", db_index=False)
    number = models.IntegerField()
    sent_at = models.DateTimeField()
    milliseconds = models.IntegerField()
    status = models.SmallIntegerField(null=True)
    result = models.CharField(max_length=40)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["delivery", "number"], name="attempt_once_per_claim"),
            models.CheckConstraint(condition=Q(number__gte=1), name="attempt_counted"),
        ]
