"""Counts: what people counted without seeing each other's figures, what was accepted of it, and what it was worth."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import F, Func, Q

from casino.models import Person, Table, TableSession
from settlement.models.ledger import Journal


class CountKind(models.TextChoices):
    """What is counted: a table's float, while it opens, closes, changes shift or passes the start hour, or a drop
    box."""

    OPENER = "opener"
    CLOSER = "closer"
    SHIFT = "shift"
    ROLLOVER = "rollover"
    DROP = "drop"


FLOAT_KINDS = (CountKind.OPENER, CountKind.CLOSER, CountKind.SHIFT, CountKind.ROLLOVER)


class Grade(models.TextChoices):
    """How far a count was from what was expected, by the limits of the property that were in force.

    ``quiet`` is posted and explained by that; ``note`` a supervisor writes up; of an ``incident`` surveillance is
    told; ``notify`` goes to the regulator too. Empty: no difference, or nothing was expected.
    """

    NONE = ""
    QUIET = "quiet"
    NOTE = "note"
    INCIDENT = "incident"
    NOTIFY = "notify"


class Counting(models.Model):
    """One float or box being counted, from the request on: two people blind of each other, a third where they differ.

    While it is ``open``, what should come of it is in no answer. ``accepted`` names the count that was taken as true;
    a counting that was ``withdrawn`` (the chips moved meanwhile) keeps its counts and counts for nothing. An opener
    has no session yet. ``box`` names the float with whose count a drop box was carried off, ``carried_by`` who
    carried it, ``cage`` where its contents go.
    """

    class State(models.TextChoices):
        OPEN = "open"
        ACCEPTED = "accepted"
        WITHDRAWN = "withdrawn"

    id = models.UUIDField(primary_key=True, editable=False)
    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="+")
    session = models.ForeignKey(TableSession, on_delete=models.PROTECT, related_name="+", null=True)
    kind = models.CharField(max_length=10, choices=CountKind.choices)
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    asked_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+", db_index=False)
    asked_at = models.DateTimeField()
    box = models.ForeignKey("Float", on_delete=models.PROTECT, related_name="+", null=True)
    carried_by = models.ForeignKey(
        Person, on_delete=models.PROTECT, related_name="+", null=True, db_index=False
    )
    cage = models.CharField(max_length=20, blank=True)
    accepted = models.OneToOneField("Count", on_delete=models.PROTECT, related_name="+", null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(kind__in=CountKind.values), name="counting_kind_known"),
            models.UniqueConstraint(
                fields=["table"],
                condition=Q(state="open") & ~Q(kind="drop"),
                name="counting_one_float_at_a_time",
            ),
            models.UniqueConstraint(
                fields=["table"], condition=Q(state="open", kind="drop"), name="counting_one_box_at_a_time"
            ),
            models.CheckConstraint(
                condition=Q(state="open", accepted=None, ended_at=None)
                | Q(state="accepted", accepted__isnull=False, ended_at__isnull=False)
                | Q(state="withdrawn", accepted=None, ended_at__isnull=False),
                name="counting_ends_with_a_count_or_without",
            ),
            models.CheckConstraint(
                condition=Q(kind="drop", box__isnull=False, carried_by__isnull=False) & ~Q(cage="")
                | ~Q(kind="drop") & Q(box=None, carried_by=None, cage=""),
                name="counting_of_a_box_says_who_carried_it",
            ),
            models.CheckConstraint(
                condition=Q(kind="opener", session=None) | ~Q(kind="opener") & Q(session__isnull=False),
                name="counting_belongs_to_a_session",
            ),
        ]


class Count(models.Model):
    """Pieces by denomination, written by one named person without seeing what is expected or what another wrote.

    ``lines`` is ``[{"denomination": satang, "pieces": n}, …]``; ``amount`` is their value, worked out by the
    database. The first two are independent; where they differ a third, by somebody who made neither, decides, and
    all stay. A corrected count ``supersedes`` its maker's own, before anybody else counted. ``bank_version`` is the
    version of the table's bank at that moment: chips that moved later are not in it (None for a box and an opener).
    The log holds a hash of ``salt`` and the pieces, so that its readers stay blind too.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    counting = models.ForeignKey(Counting, on_delete=models.PROTECT, related_name="counts", db_index=False)
    ordinal = models.SmallIntegerField()
    lines = models.JSONField()
    amount = models.GeneratedField(
        expression=Func(F("lines"), function="settlement_value_of_pieces"),
        output_field=models.BigIntegerField(),
        db_persist=True,
    )
    currency = models.CharField(max_length=3)
    counted_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+", db_index=False)
    counted_at = models.DateTimeField()
    supersedes = models.OneToOneField("self", on_delete=models.PROTECT, related_name="+", null=True)
    salt = models.CharField(max_length=32)
    bank_version = models.BigIntegerField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["counting", "ordinal"], condition=Q(supersedes=None), name="count_ordinal_once"
            ),
            models.UniqueConstraint(
                fields=["counting", "counted_by"], condition=Q(supersedes=None), name="count_once_per_person"
            ),
            models.CheckConstraint(condition=Q(ordinal__gte=1, ordinal__lte=3), name="count_three_at_most"),
        ]
        indexes: ClassVar = [models.Index(fields=["counting", "ordinal"], name="count_by_counting")]


class Float(models.Model):
    """A table's counted float as it was accepted: a session's ``opener``, its ``closer``, and the counts between.

    ``count`` is the one that was taken as true and ``expected`` what the books said before it (None at a first
    opening). ``journal`` moved the chips between ``cage`` and table; None where the float stayed locked on the table
    (``cage`` is empty). ``clearing``, ``slip_clearing``, ``chips_left`` and ``variance`` were posted beside it, where
    there was anything to post. The versions are those of the table's accounts when all of that was done: what came
    later belongs to the next float. ``gaming_day`` is the day whose figures it ends (an opener begins), which for a
    rollover is the day before it was counted.

    ``grade`` is by the limits in force from ``limits_from``. ``held`` lists rounds that wait for a person at the
    close, with what their holds lock, ``[[round, number, minor units], …]``. ``missing`` are device numbers that had
    not arrived when two people closed all the same, ``{device: [[first, last], …]}``: such a close is provisional.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    session = models.ForeignKey(TableSession, on_delete=models.PROTECT, related_name="+", db_index=False)
    kind = models.CharField(max_length=10, choices=CountKind.choices)
    count = models.OneToOneField(Count, on_delete=models.PROTECT, related_name="+")
    expected = models.BigIntegerField(null=True)
    cage = models.CharField(max_length=20, blank=True)
    journal = models.OneToOneField(Journal, on_delete=models.PROTECT, related_name="+", null=True)
    clearing = models.OneToOneField(Journal, on_delete=models.PROTECT, related_name="+", null=True)
    slip_clearing = models.OneToOneField(Journal, on_delete=models.PROTECT, related_name="+", null=True)
    chips_left = models.OneToOneField(Journal, on_delete=models.PROTECT, related_name="+", null=True)
    variance = models.OneToOneField(Journal, on_delete=models.PROTECT, related_name="+", null=True)
    bank_version = models.BigIntegerField()
    guests_version = models.BigIntegerField()
    commission_version = models.BigIntegerField()
    drop_version = models.BigIntegerField()
    gaming_day = models.DateField()
    grade = models.CharField(max_length=10, choices=Grade.choices, blank=True, default=Grade.NONE)
    limits_from = models.DateField(null=True)
    held = models.JSONField(default=list)
    missing = models.JSONField(default=dict)
    override_first = models.ForeignKey(
        Person, on_delete=models.PROTECT, related_name="+", null=True, db_index=False
    )
    override_second = models.ForeignKey(
        Person, on_delete=models.PROTECT, related_name="+", null=True, db_index=False
    )
    accepted_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["session", "kind"],
                condition=Q(kind__in=["opener", "closer"]),
                name="float_opened_and_closed_once",
            ),
            models.CheckConstraint(condition=Q(kind__in=FLOAT_KINDS), name="float_kind_known"),
            models.CheckConstraint(condition=Q(grade__in=Grade.values), name="float_grade_known"),
            models.CheckConstraint(
                condition=Q(kind="closer")
                | Q(clearing=None, slip_clearing=None, chips_left=None, held=[], missing={}),
                name="float_cleared_at_the_close",
            ),
            models.CheckConstraint(
                condition=Q(missing={}, override_first=None, override_second=None)
                | ~Q(missing={})
                & Q(override_first__isnull=False, override_second__isnull=False)
                & ~Q(override_first=F("override_second")),
                name="float_provisional_by_two_people",
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["session", "bank_version"], name="float_by_session")]


class Drop(models.Model):
    """A drop box as it was counted: carried off with the count of the float ``until``, holding what went in since
    the box before it.

    ``recorded`` is what was recorded as put in, the estimated drop; the difference from ``count`` is ``variance``.
    ``journal`` brought what was counted to the vault of ``cage``; None for an empty box. A count of the wrong box is
    ``withdrawn``: what it posted is posted back (``journal_back``, ``variance_back``), and the box waits again.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    session = models.ForeignKey(TableSession, on_delete=models.PROTECT, related_name="+")
    until = models.ForeignKey(Float, on_delete=models.PROTECT, related_name="+")
    count = models.OneToOneField(Count, on_delete=models.PROTECT, related_name="+")
    recorded = models.BigIntegerField()
    cage = models.CharField(max_length=20)
    journal = models.OneToOneField(Journal, on_delete=models.PROTECT, related_name="+", null=True)
    variance = models.OneToOneField(Journal, on_delete=models.PROTECT, related_name="+", null=True)
    gaming_day = models.DateField()
    grade = models.CharField(max_length=10, choices=Grade.choices, blank=True, default=Grade.NONE)
    limits_from = models.DateField(null=True)
    accepted_at = models.DateTimeField()
    withdrawn_by = models.ForeignKey(
        Person, on_delete=models.PROTECT, related_name="+", null=True, db_index=False
    )
    withdrawn_at = models.DateTimeField(null=True)
    withdrawn_reason = models.CharField(max_length=500, blank=True)
    journal_back = models.OneToOneField(Journal, on_delete=models.PROTECT, related_name="+", null=True)
    variance_back = models.OneToOneField(Journal, on_delete=models.PROTECT, related_name="+", null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["until"], condition=Q(withdrawn_at=None), name="drop_counted_once_unless_withdrawn"
            ),
            models.CheckConstraint(
                condition=Q(
                    withdrawn_at=None,
                    withdrawn_by=None,
                    withdrawn_reason="",
                    journal_back=None,
                    variance_back=None,
                )
                | Q(withdrawn_at__isnull=False, withdrawn_by__isnull=False)
                & ~Q(withdrawn_reason="")
                & (Q(journal=None, journal_back=None) | Q(journal__isnull=False, journal_back__isnull=False))
                & (
                    Q(variance=None, variance_back=None)
                    | Q(variance__isnull=False, variance_back__isnull=False)
                ),
                name="drop_withdrawn_whole",
            ),
            models.CheckConstraint(condition=Q(grade__in=Grade.values), name="drop_grade_known"),
            models.CheckConstraint(condition=Q(recorded__gte=0), name="drop_recorded_not_negative"),
        ]


class FormulaDate(models.Model):
    """The gaming day from which on a version of the rundown's formula is in force in this house.

    Written by the migration that brings a version to a house that has days already: those keep the one before. A house
    without a row for a version has had it from its first day on.
    """

    version = models.SmallIntegerField(primary_key=True)
    from_day = models.DateField()
