"""The second look: how far each inspection has come along the sealed log, and what it found to be otherwise."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from audit.models.log import LogEntry


class Inspection(models.Model):
    """One way along a log's leaves, from ``first`` up to ``last`` (not included; None: as far as there are).

    ``position`` is the next leaf to be looked at. ``verified_through`` is the instant of the last act up to which
    everything that was settled was found right, None before the first; it stops at the first thing that was not, until
    the inspection is begun anew. ``settlements`` and ``offending`` count what was looked at and what was not right.
    """

    name = models.CharField(max_length=80, primary_key=True)
    origin = models.CharField(max_length=120)
    first = models.BigIntegerField()
    last = models.BigIntegerField(null=True)
    position = models.BigIntegerField()
    settlements = models.BigIntegerField(default=0)
    offending = models.BigIntegerField(default=0)
    verified_through = models.DateTimeField(null=True)
    begun_at = models.DateTimeField()
    moved_at = models.DateTimeField()
    done_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(position__gte=F("first")) & (Q(last=None) | Q(position__lte=F("last"))),
                name="inspection_within_its_range",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Discrepancy(models.Model):
    """Something stored of a settlement that its events do not come to, named by the invariant it breaks."""

    id = models.BigAutoField(primary_key=True)
    inspection = models.ForeignKey(Inspection, on_delete=models.PROTECT, related_name="discrepancies")
    entry = models.ForeignKey(LogEntry, on_delete=models.PROTECT, related_name="+", db_index=False)
    settlement = models.UUIDField()
    invariant = models.CharField(max_length=4)
    subject = models.CharField(max_length=200)
    found = models.TextField()
    expected = models.TextField()
    found_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "discrepancies"
