"""Integrity analytics: which screens are to look at which gaming day, and what each found."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import F, Q


class Analysis(models.Model):
    """One screen's look at one gaming day: asked for once, and once more whenever somebody asks again.

    It is to be done while it was not ``done_at`` or after ``asked_at``. ``repeats`` counts how often it came to the
    digest that stands already.
    """

    id = models.BigAutoField(primary_key=True)
    screen = models.CharField(max_length=20)
    gaming_day = models.DateField()
    asked_at = models.DateTimeField()
    done_at = models.DateTimeField(null=True)
    repeats = models.IntegerField(default=0)

    class Meta:
        verbose_name_plural = "analyses"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["screen", "gaming_day"], name="analysis_once_per_screen_and_day"),
            models.CheckConstraint(condition=Q(repeats__gte=0), name="analysis_repeats_counted"),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["gaming_day", "id"],
                condition=Q(done_at=None) | Q(asked_at__gt=F("done_at")),
                name="analysis_due",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.screen} {self.gaming_day}"


class AnalysisResult(models.Model):
    """What a screen said of a day; another revision where the day's rounds, or the rules it looks by, have changed.

    ``digest`` is the SHA-256 of screen, day, ``version`` (of the rules) and ``body``: integers and texts alone.
    ``alarms`` counts those of note, ``expected`` how many chance alone gives.
    """

    id = models.BigAutoField(primary_key=True)
    analysis = models.ForeignKey(Analysis, on_delete=models.PROTECT, related_name="results", db_index=False)
    revision = models.IntegerField()
    version = models.IntegerField()
    rounds = models.IntegerField()
    alarms = models.IntegerField()
    expected = models.CharField(max_length=20)
    digest = models.CharField(max_length=64)
    body = models.JSONField()
    made_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["analysis", "revision"], name="analysis_result_once_per_revision"
            ),
            models.CheckConstraint(
                condition=Q(revision__gte=1, version__gte=1, rounds__gte=0, alarms__gte=0),
                name="analysis_result_counted",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.analysis_id}/{self.revision}"
