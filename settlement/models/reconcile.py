"""What a comparison of two books came to: the breaks it found, and what became of each."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from casino.models import Person
from settlement.models.ledger import Journal


class BreakCode(models.TextChoices):
    """Every way in which two books can differ; ``settlement.breaks.CATALOGUE`` says what each means."""

    SEQ_GAP = "SEQ_GAP"
    MISSING_LEDGER = "MISSING_LEDGER"
    MISSING_SOURCE = "MISSING_SOURCE"
    AMOUNT = "AMOUNT"
    CURRENCY = "CURRENCY"
    DUPLICATE = "DUPLICATE"
    JUDGE_DIFF = "JUDGE_DIFF"
    SHEET_UNKNOWN = "SHEET_UNKNOWN"
    BALANCE_DRIFT = "BALANCE_DRIFT"
    VERSION_GAP = "VERSION_GAP"
    HOLD_STALE = "HOLD_STALE"
    SEAL_LAG = "SEAL_LAG"
    FORK = "FORK"
    LEAF_DIFF = "LEAF_DIFF"
    PROOF_FAIL = "PROOF_FAIL"
    CUTOFF = "CUTOFF"
    COUNT_VARIANCE = "COUNT_VARIANCE"
    COUNT_MISMATCH = "COUNT_MISMATCH"
    SLIP_GAP = "SLIP_GAP"
    TRANSIT_LEFT = "TRANSIT_LEFT"
    EXT_FEE = "EXT_FEE"
    EXT_ROUNDING = "EXT_ROUNDING"
    POISONED = "POISONED"


class BreakState(models.TextChoices):
    """Where a break stands. ``expected`` is not due yet, and ``matched`` cleared itself."""

    EXPECTED = "expected"
    MATCHED = "matched"
    MISMATCHED = "mismatched"
    ASSIGNED = "assigned"
    EXPLAINED = "explained"
    RESOLVED = "resolved"
    APPROVED = "approved"


class Severity(models.TextChoices):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class Resolution(models.TextChoices):
    JOURNAL = "journal"
    RULE = "rule"
    NO_ACTION = "no_action"


class Break(models.Model):
    """Two books differ about ``subject``; ``fingerprint`` says in which way, so that the same difference found again
    is the same break. ``amount`` (minor units, of either sign) is how far they differ, 0 where no money does.

    ``steps`` counts its BreakSteps and ``state`` is that of the last. ``run`` is the run that first found it, None
    where an act did; ``seen_at`` when it was found last.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    code = models.CharField(max_length=20, choices=BreakCode.choices)
    subject = models.CharField(max_length=200)
    fingerprint = models.CharField(max_length=64)
    severity = models.CharField(max_length=10, choices=Severity.choices)
    detail = models.JSONField(default=dict)
    amount = models.BigIntegerField(default=0)
    currency = models.CharField(max_length=3, blank=True)
    run = models.UUIDField(null=True)
    fell_due_at = models.DateTimeField()
    found_at = models.DateTimeField()
    seen_at = models.DateTimeField()
    state = models.CharField(max_length=10, choices=BreakState.choices)
    steps = models.IntegerField(default=1)
    assigned_to = models.ForeignKey(
        Person, on_delete=models.PROTECT, related_name="+", null=True, db_index=False
    )
    resolution = models.CharField(max_length=10, choices=Resolution.choices, blank=True)
    rule = models.CharField(max_length=60, blank=True)
    journal = models.OneToOneField(Journal, on_delete=models.PROTECT, related_name="+", null=True)
    resolved_by = models.ForeignKey(
        Person, on_delete=models.PROTECT, related_name="+", null=True, db_index=False
    )
    approved_by = models.ForeignKey(
        Person, on_delete=models.PROTECT, related_name="+", null=True, db_index=False
    )

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["code", "subject", "fingerprint"], name="break_once_per_key"),
            models.CheckConstraint(condition=Q(code__in=BreakCode.values), name="break_code_known"),
            models.CheckConstraint(condition=Q(severity__in=Severity.values), name="break_severity_known"),
            models.CheckConstraint(condition=Q(state__in=BreakState.values), name="break_state_known"),
            models.CheckConstraint(
                condition=Q(amount=0) | Q(currency__regex="^[A-Z]{3}$"), name="break_amount_has_a_currency"
            ),
            models.CheckConstraint(
                condition=Q(assigned_to__isnull=False) | ~Q(state__in=["assigned", "explained"]),
                name="break_assigned_to_somebody",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["resolved", "approved"])
                & (
                    Q(resolution="journal", journal__isnull=False, resolved_by__isnull=False)
                    | Q(resolution="rule", journal=None, resolved_by__isnull=False) & ~Q(rule="")
                    | Q(resolution="no_action", journal=None, resolved_by__isnull=False)
                )
                | ~Q(state__in=["resolved", "approved"]) & Q(resolution="", journal=None, resolved_by=None),
                name="break_resolved_in_one_way",
            ),
            models.CheckConstraint(
                condition=Q(state="approved", approved_by__isnull=False) & ~Q(approved_by=F("resolved_by"))
                | ~Q(state="approved") & Q(approved_by=None),
                name="break_closed_and_approved_by_two",
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["fell_due_at"],
                condition=~Q(state__in=["matched", "approved"]),
                name="break_open_by_age",
            ),
            models.Index(fields=["subject"], name="break_by_subject"),
        ]


class BreakStep(models.Model):
    """One step of a break's life: the state it came to, who took it (None: the service), and why."""

    id = models.BigAutoField(primary_key=True)
    of = models.ForeignKey(Break, on_delete=models.PROTECT, related_name="history", db_index=False)
    ordinal = models.IntegerField()
    state = models.CharField(max_length=10, choices=BreakState.choices)
    by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+", null=True, db_index=False)
    reason = models.CharField(max_length=500, blank=True)
    taken_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["of", "ordinal"], name="break_step_once"),
            models.CheckConstraint(condition=Q(ordinal__gte=1), name="break_step_counted_from_one"),
        ]
