"""Numbered papers between table and cage: slips that carry chips, and pay slips that are claims on the cage.

A number is taken from its ``Series`` by the act that issues, under the lock of that row, and never by a sequence: what
is rolled back takes its number back. A slip that is void keeps its number; one that was voided before it was issued
never had one.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import F, Func, Q

from casino.models import ApiKey, Person, Round, Table, TableSession
from settlement.models.ledger import Journal
from settlement.models.settlements import Line, Settlement


class SeriesKind(models.TextChoices):
    """What is numbered."""

    FILL = "fill"
    CREDIT = "credit"
    PAY_SLIP = "pay_slip"


class Series(models.Model):
    """The last number given in a property, a kind of paper and the year of the gaming day; 1, 2, 3 … without holes."""

    id = models.BigAutoField(primary_key=True)
    property = models.CharField(max_length=40)
    kind = models.CharField(max_length=10, choices=SeriesKind.choices)
    year = models.SmallIntegerField()
    last = models.IntegerField()

    class Meta:
        verbose_name_plural = "series"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["property", "kind", "year"], name="series_once_a_year"),
            models.CheckConstraint(condition=Q(kind__in=SeriesKind.values), name="series_kind_known"),
            models.CheckConstraint(condition=Q(last__gte=1), name="series_begins_with_one"),
        ]

    def __str__(self) -> str:
        return f"{self.property} {self.kind} {self.year}"


class SlipState(models.TextChoices):
    """Where a slip is on its way; void from the first two alone."""

    REQUESTED = "requested"
    ISSUED = "issued"
    IN_TRANSIT = "in_transit"
    RECEIVED = "received"
    DEPOSITED = "deposited"
    VOID = "void"


class Slip(models.Model):
    """Chips brought from the cage to a table (``fill``) or carried from a table to the cage (``credit``).

    ``lines`` is ``[{"denomination": satang, "pieces": n}, …]``, as asked for; ``amount`` is their value, worked out by
    the database. ``series``, ``number`` and ``cage`` are there from the issue on. ``manual_number`` is the number of a
    paper slip that was written while the system was down and entered afterwards; empty otherwise. ``gaming_day`` is
    that of the request. Who signed what, and when, are its steps.
    """

    class Kind(models.TextChoices):
        FILL = "fill"
        CREDIT = "credit"

    id = models.UUIDField(primary_key=True, editable=False)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="+", db_index=False)
    session = models.ForeignKey(TableSession, on_delete=models.PROTECT, related_name="+")
    lines = models.JSONField()
    amount = models.GeneratedField(
        expression=Func(F("lines"), function="settlement_value_of_pieces"),
        output_field=models.BigIntegerField(),
        db_persist=True,
    )
    currency = models.CharField(max_length=3)
    manual_number = models.CharField(max_length=40, blank=True)
    gaming_day = models.DateField()
    requested_at = models.DateTimeField()
    state = models.CharField(max_length=10, choices=SlipState.choices, default=SlipState.REQUESTED)
    series = models.ForeignKey(Series, on_delete=models.PROTECT, related_name="+", null=True, db_index=False)
    number = models.IntegerField(null=True)
    cage = models.CharField(max_length=20, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["series", "number"], name="slip_number_once"),
            models.UniqueConstraint(
                fields=["kind", "manual_number"],
                condition=~Q(manual_number=""),
                name="slip_of_a_paper_once",
            ),
            models.CheckConstraint(condition=Q(kind__in=["fill", "credit"]), name="slip_kind_known"),
            models.CheckConstraint(condition=Q(state__in=SlipState.values), name="slip_state_known"),
            models.CheckConstraint(condition=Q(amount__gt=0), name="slip_carries_something"),
            models.CheckConstraint(
                condition=Q(state__in=["requested", "void"], series=None, number=None, cage="")
                | ~Q(state="requested") & ~Q(cage="") & Q(series__isnull=False, number__isnull=False),
                name="slip_numbered_at_its_issue",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["table", "-id"], name="slip_by_table"),
            models.Index(fields=["gaming_day"], name="slip_by_day"),
            models.Index(
                fields=["table"],
                condition=Q(state__in=["requested", "issued", "in_transit"]),
                name="slip_under_way",
            ),
        ]


class SlipStep(models.Model):
    """One act on a slip: who signed it (``by``, and ``second`` where two count), when, and what they counted or read.

    ``step`` is the state the slip came to, or ``counted``: a count on arrival that differed, which moved nothing, or
    ``compared``: somebody who signed none of it held a slip entered afterwards against its paper. ``journal`` moved
    the chips: at ``in_transit`` from where they were, at ``received`` to where they came.
    """

    class Step(models.TextChoices):
        REQUESTED = "requested"
        ISSUED = "issued"
        IN_TRANSIT = "in_transit"
        COUNTED = "counted"
        RECEIVED = "received"
        DEPOSITED = "deposited"
        VOID = "void"
        COMPARED = "compared"

    id = models.BigAutoField(primary_key=True)
    slip = models.ForeignKey(Slip, on_delete=models.PROTECT, related_name="steps", db_index=False)
    ordinal = models.SmallIntegerField()
    step = models.CharField(max_length=10, choices=Step.choices)
    by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    second = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+", null=True, db_index=False)
    lines = models.JSONField()
    amount = models.GeneratedField(
        expression=Func(F("lines"), function="settlement_value_of_pieces"),
        output_field=models.BigIntegerField(),
        db_persist=True,
    )
    reason = models.CharField(max_length=500, blank=True)
    journal = models.OneToOneField(Journal, on_delete=models.PROTECT, related_name="+", null=True)
    taken_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["slip", "ordinal"], name="slip_step_ordinal_once"),
            models.UniqueConstraint(
                fields=["slip", "step"], condition=~Q(step="counted"), name="slip_step_once"
            ),
            models.CheckConstraint(
                condition=Q(
                    step__in=[
                        "requested",
                        "issued",
                        "in_transit",
                        "counted",
                        "received",
                        "deposited",
                        "void",
                        "compared",
                    ]
                ),
                name="slip_step_known",
            ),
            models.CheckConstraint(
                condition=Q(second=None) | Q(step__in=["counted", "received"]) & ~Q(by=F("second")),
                name="slip_step_two_people",
            ),
            models.CheckConstraint(
                condition=Q(step__in=["in_transit", "received"], journal__isnull=False)
                | ~Q(step__in=["in_transit", "received"]) & Q(journal=None),
                name="slip_step_moves_chips_twice",
            ),
            models.CheckConstraint(
                condition=~Q(step="void") | ~Q(reason=""), name="slip_step_void_with_a_reason"
            ),
        ]


class PaySlipState(models.TextChoices):
    """A pay slip is in force once issued, until it is paid or void."""

    ISSUED = "issued"
    PAID = "paid"
    VOID = "void"


class PaySlip(models.Model):
    """A claim on the cage for one wager of one revision that the table did not pay in chips.

    ``line`` is that wager's of ``settlement``. ``settled_before`` is what the guest has of it already: the wager's net
    in the last revision that was settled in chips or by a pay slip (0 where none was), so ``amount`` = the line's net −
    ``settled_before``: who lost 100 and is found to have won 100 is owed 200. Either a person paid (``paid_by``, above
    the property's limit with ``paid_second``), or a cashier system (``paid_key``). Either a person voided it, with a
    reason, or the later revision ``superseded_by`` did. ``void_in_chips``: it is void because the table paid after all.
    ``void_clearing`` brought back what the close of its table had cleared with the cage for it.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    series = models.ForeignKey(Series, on_delete=models.PROTECT, related_name="+", db_index=False)
    number = models.IntegerField()
    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="+", db_index=False)
    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="+", db_index=False)
    wager = models.CharField(max_length=40)
    settlement = models.ForeignKey(Settlement, on_delete=models.PROTECT, related_name="+", db_index=False)
    line = models.ForeignKey(Line, on_delete=models.PROTECT, related_name="+", db_index=False)
    settled_before = models.BigIntegerField()
    amount = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    gaming_day = models.DateField()
    issued_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+", db_index=False)
    issued_at = models.DateTimeField()
    issue_journal = models.OneToOneField(Journal, on_delete=models.PROTECT, related_name="+")
    state = models.CharField(max_length=10, choices=PaySlipState.choices, default=PaySlipState.ISSUED)
    cage = models.CharField(max_length=20, blank=True)
    paid_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+", null=True, db_index=False)
    paid_second = models.ForeignKey(
        Person, on_delete=models.PROTECT, related_name="+", null=True, db_index=False
    )
    paid_key = models.ForeignKey(
        ApiKey, on_delete=models.PROTECT, related_name="+", null=True, db_index=False
    )
    paid_at = models.DateTimeField(null=True)
    payment_journal = models.OneToOneField(Journal, on_delete=models.PROTECT, related_name="+", null=True)
    voided_by = models.ForeignKey(
        Person, on_delete=models.PROTECT, related_name="+", null=True, db_index=False
    )
    voided_at = models.DateTimeField(null=True)
    void_reason = models.CharField(max_length=500, blank=True)
    void_in_chips = models.BooleanField(default=False)
    void_journal = models.OneToOneField(Journal, on_delete=models.PROTECT, related_name="+", null=True)
    void_clearing = models.OneToOneField(Journal, on_delete=models.PROTECT, related_name="+", null=True)
    superseded_by = models.ForeignKey(
        Settlement, on_delete=models.PROTECT, related_name="+", null=True, db_index=False
    )

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["series", "number"], name="pay_slip_number_once"),
            models.UniqueConstraint(
                fields=["round", "wager"], condition=Q(state="issued"), name="pay_slip_one_in_force"
            ),
            models.UniqueConstraint(
                fields=["settlement", "wager"], condition=~Q(state="void"), name="pay_slip_one_per_line"
            ),
            models.CheckConstraint(condition=Q(amount__gt=0), name="pay_slip_of_something"),
            models.CheckConstraint(
                condition=Q(
                    state="issued", cage="", paid_by=None, paid_second=None, paid_key=None, paid_at=None,
                    payment_journal=None, voided_by=None, voided_at=None, void_reason="", void_in_chips=False,
                    void_journal=None, void_clearing=None, superseded_by=None,
                )
                | Q(
                    state="paid", paid_at__isnull=False, payment_journal__isnull=False, voided_by=None,
                    voided_at=None, void_reason="", void_in_chips=False, void_journal=None, void_clearing=None,
                    superseded_by=None,
                )
                & ~Q(cage="")
                & (Q(paid_by__isnull=False, paid_key=None) | Q(paid_by=None, paid_key__isnull=False))
                | Q(
                    state="void", cage="", paid_by=None, paid_second=None, paid_key=None, paid_at=None,
                    payment_journal=None, voided_at__isnull=False, void_journal__isnull=False,
                )
                & (
                    Q(voided_by__isnull=False, superseded_by=None) & ~Q(void_reason="")
                    | Q(voided_by=None, superseded_by__isnull=False, void_reason="", void_in_chips=False)
                ),
                name="pay_slip_paid_or_void_once",
            ),
            models.CheckConstraint(
                condition=(Q(paid_by=None) | ~Q(paid_by=F("issued_by")))
                & (
                    Q(paid_second=None)
                    | Q(paid_by__isnull=False)
                    & ~Q(paid_second=F("paid_by"))
                    & ~Q(paid_second=F("issued_by"))
                ),
                name="pay_slip_paid_by_others",
            ),
        ]  # fmt: skip
        indexes: ClassVar = [
            models.Index(fields=["table", "-id"], name="pay_slip_by_table"),
            models.Index(fields=["settlement"], name="pay_slip_by_revision"),
            models.Index(fields=["table"], condition=Q(state="issued"), name="pay_slip_in_force"),
        ]
