"""Comparing the books: runs and their chunks, what each came to, the breaks they found, and what became of each."""

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
    where an act did, with the ``level`` and the ``gaming_day`` that it looked at; ``seen_at`` when it was found last,
    and ``seen_run`` by which run.
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
    level = models.CharField(max_length=2, blank=True)
    gaming_day = models.DateField(null=True)
    fell_due_at = models.DateTimeField()
    found_at = models.DateTimeField()
    seen_at = models.DateTimeField()
    seen_run = models.UUIDField(null=True)
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
            models.Index(
                fields=["gaming_day", "level"],
                condition=~Q(state__in=["matched", "approved"]),
                name="break_open_by_day",
            ),
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


class Run(models.Model):
    """One comparison of the books over a half-open range of time, by the rules of its ``levels``.

    ``kind`` is ``nightly`` (one for each gaming day) or ``asked``; ``scope`` the property's code; ``rules`` the
    levels with the number of their rules (``R0.1 R1.1``). The same comparison asked again while it is under way is
    the same run, and afterwards the next ``edition``. ``until`` may lie before the end of a day that still runs.
    """

    class Kind(models.TextChoices):
        NIGHTLY = "nightly"
        ASKED = "asked"

    class Outcome(models.TextChoices):
        OPEN = ""
        MATCHED = "matched"
        BREAKS = "breaks"
        INCOMPLETE = "incomplete"

    id = models.UUIDField(primary_key=True, editable=False)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    scope = models.CharField(max_length=40)
    gaming_day = models.DateField()
    since = models.DateTimeField()
    until = models.DateTimeField()
    rules = models.CharField(max_length=80)
    edition = models.IntegerField(default=1)
    chunk_size = models.IntegerField()
    begun_by = models.ForeignKey(
        Person, on_delete=models.PROTECT, related_name="+", null=True, db_index=False
    )
    begun_at = models.DateTimeField()
    outcome = models.CharField(max_length=10, choices=Outcome.choices, blank=True, default=Outcome.OPEN)
    done_at = models.DateTimeField(null=True)
    digest = models.CharField(max_length=64, blank=True)
    report = models.JSONField(default=dict)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["kind", "scope", "rules", "since", "until", "edition"],
                name="run_once_per_range_and_rules",
            ),
            models.UniqueConstraint(
                fields=["kind", "scope", "rules", "since", "until"],
                condition=Q(done_at=None),
                name="run_one_open_per_range_and_rules",
            ),
            models.UniqueConstraint(
                fields=["scope", "gaming_day"], condition=Q(kind="nightly"), name="run_one_nightly_per_day"
            ),
            models.CheckConstraint(condition=Q(kind__in=["nightly", "asked"]), name="run_kind_known"),
            models.CheckConstraint(condition=Q(since__lt=F("until")), name="run_has_a_range"),
            models.CheckConstraint(condition=Q(chunk_size__gte=1), name="run_has_chunks_of_something"),
            models.CheckConstraint(
                condition=Q(done_at=None, outcome="", digest="", report={})
                | Q(
                    done_at__isnull=False,
                    outcome__in=["matched", "breaks", "incomplete"],
                )
                & ~Q(report={})
                & Q(digest__regex="^[0-9a-f]{64}$"),
                name="run_done_with_a_digest",
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["gaming_day"], name="run_by_day")]


class Chunk(models.Model):
    """A part of a run that one worker compares at a time: of ``level``, its ``part``, what lies from ``lower`` up to
    ``upper`` (milliseconds, or ids; the part knows).

    ``attempts`` counts the claims and is the fence: what a worker found is taken in only under the number it was
    given. ``lease_until`` is by the database's clock.
    """

    class State(models.TextChoices):
        WAITING = "waiting"
        CLAIMED = "claimed"
        DONE = "done"
        POISONED = "poisoned"

    id = models.BigAutoField(primary_key=True)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="chunks", db_index=False)
    level = models.CharField(max_length=2)
    part = models.CharField(max_length=20)
    lower = models.BigIntegerField()
    upper = models.BigIntegerField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    owner = models.CharField(max_length=80, blank=True)
    lease_until = models.DateTimeField(null=True)
    attempts = models.SmallIntegerField(default=0)
    trouble = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "level", "part", "lower"], name="chunk_once_per_range"),
            models.CheckConstraint(condition=Q(lower__lt=F("upper")), name="chunk_has_a_range"),
            models.CheckConstraint(
                condition=Q(state="claimed", lease_until__isnull=False) & ~Q(owner="")
                | Q(state__in=["waiting", "done", "poisoned"], lease_until=None, owner=""),
                name="chunk_claimed_with_a_lease",
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["level", "id"], condition=Q(state__in=["waiting", "claimed"]), name="chunk_to_do"
            ),
        ]


class Result(models.Model):
    """What one chunk came to, under the ``attempt`` that finished it; written once.

    ``sum`` is the sum of the SHA-256 of its single results, modulo 2^256, in hexadecimal: the sum over all chunks of
    a run is the same however the run was cut. ``broken`` counts by code, ``at_risk`` is money by currency, ``unseen``
    what could not be looked at and why.
    """

    chunk = models.OneToOneField(Chunk, on_delete=models.PROTECT, related_name="result", primary_key=True)
    attempt = models.SmallIntegerField()
    compared = models.IntegerField()
    matched = models.IntegerField()
    pending = models.IntegerField()
    broken = models.JSONField(default=dict)
    at_risk = models.JSONField(default=dict)
    files = models.JSONField(default=list)
    unseen = models.JSONField(default=list)
    sum = models.CharField(max_length=64)
    finished_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(sum__regex="^[0-9a-f]{64}$"), name="result_sum_is_a_hash"),
        ]
