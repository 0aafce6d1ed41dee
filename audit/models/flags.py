"""Flags: questions about play, raised by the service and answered by people."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from audit.models.log import LogEntry
from casino.models import Device, Person, Round, Table


class Flag(models.Model):
    """One question, once per (kind, subject); it accuses nobody and moves no money.

    ``subject`` is what the kind names: a round (``rounds/{id}``), a hand, slot or wager of it (``…#p1``,
    ``…#p1.3``, ``…#w2``), or numbers of a device (``devices/{code}#88-90``). ``detail`` holds the figures of its
    sentence. A flag is closed with a reason by somebody who may, or becomes a dispute.
    """

    class State(models.TextChoices):
        OPEN = "open"
        CLOSED = "closed"
        DISPUTED = "disputed"

    id = models.UUIDField(primary_key=True, editable=False)
    kind = models.CharField(max_length=40)
    subject = models.CharField(max_length=200)
    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="+", null=True, db_index=False)
    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="+", null=True, db_index=False)
    device = models.ForeignKey(Device, on_delete=models.PROTECT, related_name="+", null=True, db_index=False)
    detail = models.JSONField(default=dict)
    entry = models.ForeignKey(LogEntry, on_delete=models.PROTECT, related_name="+", null=True, db_index=False)
    raised_at = models.DateTimeField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    closed_by = models.ForeignKey(
        Person, on_delete=models.PROTECT, related_name="+", null=True, db_index=False
    )
    closed_at = models.DateTimeField(null=True)
    close_code = models.CharField(max_length=40, blank=True, default="")
    close_reason = models.CharField(max_length=500, blank=True, default="")
    dispute = models.UUIDField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["kind", "subject"], name="flag_once_per_kind_and_subject"),
            models.CheckConstraint(
                condition=Q(state="open", closed_by=None, closed_at=None, close_code="", dispute=None)
                | Q(state="closed", closed_by__isnull=False, closed_at__isnull=False, dispute=None)
                & ~Q(close_code="")
                | Q(state="disputed", dispute__isnull=False),
                name="flag_ends_with_a_reason_or_a_dispute",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["-raised_at", "-id"], condition=Q(state="open"), name="flag_queue"),
            models.Index(fields=["kind", "-raised_at", "-id"], name="flag_by_kind"),
            models.Index(fields=["table", "-raised_at", "-id"], name="flag_by_table"),
            models.Index(fields=["round"], condition=Q(round__isnull=False), name="flag_by_round"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject}"


class Reading(models.Model):
    """How far a reader of the sealed log has come: the next leaf it will look at."""

    name = models.CharField(max_length=40, primary_key=True)
    origin = models.CharField(max_length=120)
    position = models.BigIntegerField()
    read_at = models.DateTimeField()
