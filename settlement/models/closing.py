"""Gaming days, their shifts, and the reports that are fixed when one ends."""

from __future__ import annotations

from datetime import date, timedelta
from typing import ClassVar

from django.db import models
from django.db.models import DurationField, ExpressionWrapper, F, Func, Q, Value
from django.db.models.lookups import LessThanOrEqual

from casino.models import Person

LONGEST_SHIFT = timedelta(hours=24)
_LASTED = ExpressionWrapper(F("closed_at") - F("opened_at"), output_field=DurationField())


class DayState(models.TextChoices):
    """A day goes forward only. While it is closing no table opens in it; sealed, nothing is dated in it or before."""

    OPEN = "open"
    CLOSING = "closing"
    SEALED = "sealed"


class StartHour(models.Model):
    """From ``from_day`` on, gaming days start at ``hour`` by the clocks of ``zone``: proposed by one manager, approved
    by another, for a day so far off that neither it nor the day before it has begun.

    The first row is the one of the installation (``proposed_by`` nobody, ``from_day`` the first of all days). A
    proposal that nobody approved means nothing.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    from_day = models.DateField()
    hour = models.SmallIntegerField()
    zone = models.CharField(max_length=40)
    proposed_by = models.ForeignKey(
        Person, on_delete=models.PROTECT, related_name="+", null=True, db_index=False
    )
    proposed_at = models.DateTimeField()
    approved_by = models.ForeignKey(
        Person, on_delete=models.PROTECT, related_name="+", null=True, db_index=False
    )
    approved_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(hour__gte=0, hour__lte=23), name="start_hour_of_a_day"),
            models.CheckConstraint(
                condition=Q(proposed_by=None, approved_by=None, from_day=date.min, approved_at__isnull=False)
                | Q(proposed_by__isnull=False, approved_by=None, approved_at=None)
                | Q(proposed_by__isnull=False, approved_by__isnull=False, approved_at__isnull=False)
                & ~Q(proposed_by=F("approved_by")),
                name="start_hour_by_two_people",
            ),
            models.UniqueConstraint(
                fields=["from_day"], condition=Q(approved_at__isnull=False), name="start_hour_once_a_day"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.hour}:00 {self.zone} from {self.from_day}"


class GamingDay(models.Model):
    """One gaming day of the house, from ``begins_at`` up to ``ends_at`` by the zone and start hour then in force.

    A day without a row is open. ``begun_at`` is when the service made the row; ``opened_by`` the manager who opened it,
    if one did, with the ``tables`` that were to play: ``[{"table", "sheet", "sha256"}, …]``. At the seal ``last_entry``
    is the highest entry of the ledger there was, and ``journals`` how many the day has: what comes to the ledger later
    has higher entries and other days.
    """

    day = models.DateField(primary_key=True)
    zone = models.CharField(max_length=40)
    start_hour = models.SmallIntegerField()
    begins_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    begun_at = models.DateTimeField()
    state = models.CharField(max_length=8, choices=DayState.choices, default=DayState.OPEN)
    tables = models.JSONField(default=list)
    opened_by = models.ForeignKey(
        Person, on_delete=models.PROTECT, related_name="+", null=True, db_index=False
    )
    opened_at = models.DateTimeField(null=True)
    closing_by = models.ForeignKey(
        Person, on_delete=models.PROTECT, related_name="+", null=True, db_index=False
    )
    closing_at = models.DateTimeField(null=True)
    sealed_by = models.ForeignKey(
        Person, on_delete=models.PROTECT, related_name="+", null=True, db_index=False
    )
    seconded_by = models.ForeignKey(
        Person, on_delete=models.PROTECT, related_name="+", null=True, db_index=False
    )
    sealed_at = models.DateTimeField(null=True)
    last_entry = models.BigIntegerField(null=True)
    journals = models.BigIntegerField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(state__in=DayState.values), name="day_state_known"),
            models.CheckConstraint(condition=Q(begins_at__lt=F("ends_at")), name="day_begins_before_it_ends"),
            models.CheckConstraint(
                condition=Q(opened_by=None, opened_at=None, tables=[])
                | Q(opened_by__isnull=False, opened_at__isnull=False),
                name="day_opened_by_somebody",
            ),
            models.CheckConstraint(
                condition=Q(state="open", closing_by=None, closing_at=None)
                | Q(state__in=["closing", "sealed"], closing_by__isnull=False, closing_at__isnull=False),
                name="day_closing_by_somebody",
            ),
            models.CheckConstraint(
                condition=Q(
                    state="sealed",
                    sealed_by__isnull=False,
                    seconded_by__isnull=False,
                    sealed_at__gte=F("ends_at"),
                    sealed_at__isnull=False,
                    last_entry__isnull=False,
                    journals__isnull=False,
                )
                & ~Q(sealed_by=F("seconded_by"))
                & ~Q(sealed_by=F("closing_by"))
                & ~Q(seconded_by=F("closing_by"))
                | Q(
                    state__in=["open", "closing"],
                    sealed_by=None,
                    seconded_by=None,
                    sealed_at=None,
                    last_entry=None,
                    journals=None,
                ),
                name="day_sealed_by_two_people",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["begins_at"], condition=Q(state="closing"), name="day_closing"),
            models.Index(fields=["day"], condition=Q(state="sealed"), name="day_sealed"),
        ]

    def __str__(self) -> str:
        return str(self.day)


class Shift(models.Model):
    """A part of a day for which named people count and sign, 24 hours at most; the house has one at a time.

    Two people open it, and two close it of whom one counted. A shift that nobody closed in time is ended by the
    service: ``overdue``, with nobody's name, and nothing in its report is called counted. ``tables`` are the codes of
    those that were to play.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    day = models.ForeignKey(GamingDay, on_delete=models.PROTECT, related_name="+", db_index=False)
    number = models.SmallIntegerField()
    tables = models.JSONField(default=list)
    opened_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+", db_index=False)
    opened_with = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+", db_index=False)
    opened_at = models.DateTimeField()
    closed_by = models.ForeignKey(
        Person, on_delete=models.PROTECT, related_name="+", null=True, db_index=False
    )
    closed_with = models.ForeignKey(
        Person, on_delete=models.PROTECT, related_name="+", null=True, db_index=False
    )
    closed_at = models.DateTimeField(null=True)
    overdue = models.BooleanField(default=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["day", "number"], name="shift_number_once_a_day"),
            models.UniqueConstraint(
                fields=["overdue"], condition=Q(closed_at=None), name="shift_one_at_a_time"
            ),
            models.CheckConstraint(condition=Q(number__gte=1), name="shift_number_from_one"),
            models.CheckConstraint(
                condition=~Q(opened_by=F("opened_with")), name="shift_opened_by_two_people"
            ),
            models.CheckConstraint(
                condition=Q(closed_at=None, closed_by=None, closed_with=None, overdue=False)
                | Q(closed_at__isnull=False, closed_by=None, closed_with=None, overdue=True)
                | Q(
                    closed_at__isnull=False, closed_by__isnull=False, closed_with__isnull=False, overdue=False
                )
                & ~Q(closed_by=F("closed_with")),
                name="shift_closed_by_two_people",
            ),
            models.CheckConstraint(
                condition=Q(closed_at=None)
                | Q(closed_at__gte=F("opened_at")) & Q(LessThanOrEqual(_LASTED, LONGEST_SHIFT)),
                name="shift_lasts_a_day_at_most",
            ),
        ]


class Report(models.Model):
    """What a sealed day or a closed shift came to: ``canonical`` is its JSON, and ``sha256`` fixes those bytes."""

    class Kind(models.TextChoices):
        DAY = "day"
        SHIFT = "shift"

    id = models.UUIDField(primary_key=True, editable=False)
    kind = models.CharField(max_length=5, choices=Kind.choices)
    day = models.ForeignKey(GamingDay, on_delete=models.PROTECT, related_name="+", db_index=False)
    shift = models.OneToOneField(Shift, on_delete=models.PROTECT, related_name="+", null=True)
    version = models.SmallIntegerField()
    canonical = models.BinaryField()
    sha256 = models.CharField(max_length=64)
    made_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["day"], condition=Q(kind="day"), name="report_once_a_day"),
            models.CheckConstraint(
                condition=Q(kind="day", shift=None) | Q(kind="shift", shift__isnull=False),
                name="report_of_a_day_or_a_shift",
            ),
            models.CheckConstraint(
                condition=Q(
                    sha256=Func(Func(F("canonical"), function="sha256"), Value("hex"), function="encode")
                ),
                name="report_is_its_bytes",
            ),
        ]


class ReportFile(models.Model):
    """A report as one of its files, made from its JSON alone, in the bytes that everybody gets for ever."""

    class Format(models.TextChoices):
        CSV = "csv"
        XLSX = "xlsx"
        PDF = "pdf"

    id = models.BigAutoField(primary_key=True)
    report = models.ForeignKey(Report, on_delete=models.PROTECT, related_name="files", db_index=False)
    format = models.CharField(max_length=4, choices=Format.choices)
    content = models.BinaryField()
    sha256 = models.CharField(max_length=64)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["report", "format"], name="report_file_once_per_format"),
            models.CheckConstraint(
                condition=Q(format__in=["csv", "xlsx", "pdf"]), name="report_file_format_known"
            ),
            models.CheckConstraint(
                condition=Q(
                    sha256=Func(Func(F("content"), function="sha256"), Value("hex"), function="encode")
                ),
                name="report_file_is_its_bytes",
            ),
        ]


class DayJob(models.Model):
    """That a job was done for a gaming day, in the transaction that did it: started twice, it is done once."""

    id = models.BigAutoField(primary_key=True)
    job = models.CharField(max_length=40)
    gaming_day = models.DateField()
    found = models.JSONField(default=dict)
    done_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["job", "gaming_day"], name="day_job_once_a_day"),
        ]
