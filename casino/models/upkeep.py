"""How the service itself runs. Telemetry: it is overwritten, moves no money, and nobody witnesses it."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q


class Sweep(models.Model):
    """A periodic task: when it last began, came to its end, and failed, with what it failed by."""

    name = models.CharField(max_length=60, primary_key=True)
    began_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    failed_at = models.DateTimeField(null=True)
    fault = models.CharField(max_length=300, blank=True, default="")


class Aside(models.Model):
    """An item that a work could not compute with: it stands still until ``due_at``, and all else goes on.

    ``work`` is what met it (``statement matching``), ``subject`` names it (``statement-lines/812``). It is solved once
    the same work was through with it.
    """

    id = models.BigAutoField(primary_key=True)
    work = models.CharField(max_length=60)
    subject = models.CharField(max_length=200)
    fault = models.CharField(max_length=300)
    times = models.IntegerField()
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()
    due_at = models.DateTimeField()
    solved_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["work", "subject"], name="aside_once_per_work_and_subject")
        ]
        indexes: ClassVar = [
            models.Index(fields=["work", "subject"], condition=Q(solved_at=None), name="aside_standing_still")
        ]


class Unread(models.Model):
    """A message of the broker that could not be read, kept in one of a hundred places: the newest stay."""

    place = models.SmallIntegerField(primary_key=True)
    reason = models.CharField(max_length=40)
    content = models.BinaryField()
    length = models.BigIntegerField(help_text="bytes of the message; 4,096 of them are kept")
    came_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(place__gte=0, place__lt=100), name="unread_in_a_hundred_places"
            )
        ]


class UnreadCount(models.Model):
    """How many messages could not be read for a reason, kept or not."""

    reason = models.CharField(max_length=40, primary_key=True)
    count = models.BigIntegerField()
    last_at = models.DateTimeField()


class Program(models.Model):
    """A program that `up` started: how often it ended by itself since the house was opened, and whether it was given
    up on. ``said`` is the last line of its log then."""

    class State(models.TextChoices):
        RUNNING = "running"
        GIVEN_UP = "given_up"

    name = models.CharField(max_length=20, primary_key=True)
    state = models.CharField(max_length=10, choices=State.choices)
    ended = models.IntegerField()
    said = models.CharField(max_length=300, blank=True, default="")
    changed_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(state__in=["running", "given_up"]), name="program_state_known")
        ]
