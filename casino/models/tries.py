"""Tries at secrets that were not right: who has to wait, and what the log is still to be told."""

from __future__ import annotations

from typing import ClassVar

from django.db import models


class WrongTries(models.Model):
    """Tries at a secret that were not right: of a badge from one origin (``pair:…@…``), of a badge anywhere
    (``badge:…``), from one origin (``at:…``). Of a badge there is the keyed hash. ``right_at``: when a try of the pair
    was right."""

    principal = models.CharField(max_length=160, primary_key=True)
    count = models.IntegerField()
    last_at = models.DateTimeField()
    right_at = models.DateTimeField(null=True)


class FailedSignIn(models.Model):
    """Failures of a badge (its keyed hash; "" for no particular one) from one origin within one minute, until the log
    was told: ``wrong`` were looked at, ``waited`` were not."""

    badge = models.CharField(max_length=64, blank=True)
    origin = models.CharField(max_length=120)
    minute = models.DateTimeField()
    wrong = models.IntegerField(default=0)
    waited = models.IntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["badge", "origin", "minute"], name="failed_sign_in_per_minute"),
        ]
