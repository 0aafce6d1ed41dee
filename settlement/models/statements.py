"""Statements of accounts: ours, and those of others with what was matched of them."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from casino.models import ApiKey, Person
from settlement.models.ledger import Account, Entry


class Statement(models.Model):
    """What an account did up to a sealed gaming day since its statement before: ``number`` 1, 2, 3 … per account.

    Its lines are the account's entries posted in the days after ``previous`` up to this one. Every entry up to
    ``covered_version`` of the account is in this statement or in one before it, so nobody looks further back.
    ``csv_sha256`` and ``camt_sha256`` are what its two forms hash to, today and in ten years.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="+", db_index=False)
    number = models.IntegerField()
    previous = models.OneToOneField("self", on_delete=models.PROTECT, related_name="+", null=True)
    gaming_day = models.DateField()
    currency = models.CharField(max_length=3)
    opening = models.BigIntegerField()
    closing = models.BigIntegerField()
    lines = models.IntegerField()
    covered_version = models.BigIntegerField()
    csv_sha256 = models.BinaryField(max_length=32)
    camt_sha256 = models.BinaryField(max_length=32)
    made_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["account", "number"], name="statement_number_once"),
            models.UniqueConstraint(fields=["account", "gaming_day"], name="statement_once_a_day"),
            models.CheckConstraint(
                condition=Q(number=1, previous=None) | Q(number__gt=1, previous__isnull=False),
                name="statement_follows_another",
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["gaming_day", "account"], name="statement_by_day")]

    def __str__(self) -> str:
        return f"{self.account_id} {self.number}"


class StatementDay(models.Model):
    """A sealed day of which every account that moved has its statement; days are finished in their order."""

    gaming_day = models.DateField(primary_key=True)
    statements = models.IntegerField()
    finished_at = models.DateTimeField()


class MatchingRule(models.Model):
    """What an outside file may differ in by agreement, from ``first_day`` to ``last_day`` (None: until further notice),
    on accounts whose code begins with ``accounts``. Set by two people; never changed, only followed by another."""

    id = models.CharField(primary_key=True, max_length=60)
    kind = models.CharField(max_length=20, choices=[("EXT_FEE", "fee"), ("EXT_ROUNDING", "rounding")])
    accounts = models.CharField(max_length=120)
    code = models.CharField(max_length=35, blank=True)
    most = models.BigIntegerField()
    first_day = models.DateField()
    last_day = models.DateField(null=True)
    set_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+", db_index=False)
    approved_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+", db_index=False)
    set_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(kind__in=["EXT_FEE", "EXT_ROUNDING"]), name="matching_rule_known"
            ),
            models.CheckConstraint(condition=Q(most__gt=0), name="matching_rule_has_a_limit"),
            models.CheckConstraint(condition=~Q(set_by=F("approved_by")), name="matching_rule_by_two"),
            models.CheckConstraint(
                condition=Q(last_day=None) | Q(last_day__gte=F("first_day")),
                name="matching_rule_ends_after_it_begins",
            ),
        ]

    def __str__(self) -> str:
        return self.id


class OutsideFile(models.Model):
    """A file as it came in, whole: its bytes are what it is known by, so it is taken in once."""

    id = models.UUIDField(primary_key=True, editable=False)
    sha256 = models.BinaryField(max_length=32)
    form = models.CharField(max_length=10, choices=[("csv", "CSV"), ("camt.053", "camt.053")])
    bytes = models.BinaryField()
    taken_by = models.ForeignKey(
        Person, on_delete=models.PROTECT, related_name="+", null=True, db_index=False
    )
    key = models.ForeignKey(ApiKey, on_delete=models.PROTECT, related_name="+", null=True, db_index=False)
    taken_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["sha256"], name="outside_file_once"),
            models.CheckConstraint(
                condition=Q(taken_by=None, key__isnull=False) | Q(taken_by__isnull=False, key=None),
                name="outside_file_taken_by_somebody",
            ),
        ]


class OutsideStatement(models.Model):
    """One statement of a file: of the account of ours that it names, under the sender's own ``number``, which may begin
    anew each year."""

    id = models.UUIDField(primary_key=True, editable=False)
    file = models.ForeignKey(OutsideFile, on_delete=models.PROTECT, related_name="statements", db_index=False)
    ordinal = models.SmallIntegerField()
    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="+", db_index=False)
    number = models.CharField(max_length=40)
    gaming_day = models.DateField()
    currency = models.CharField(max_length=3)
    opening = models.BigIntegerField()
    closing = models.BigIntegerField()
    lines = models.IntegerField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["file", "ordinal"], name="outside_statement_ordinal_once"),
            models.UniqueConstraint(
                fields=["account", "number", "gaming_day"], name="outside_statement_once_a_day"
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["account", "gaming_day"], name="outside_statement_by_day")]


class Match(models.Model):
    """Lines of others and entries of ours that say the same, and the pass that found it."""

    class By(models.TextChoices):
        KEY = "key"
        FIELDS = "fields"
        TOTAL = "total"
        RULE = "rule"
        CUTOFF = "cutoff"

    id = models.UUIDField(primary_key=True, editable=False)
    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="+")
    by = models.CharField(max_length=10, choices=By.choices)
    rule = models.ForeignKey(
        MatchingRule, on_delete=models.PROTECT, related_name="+", null=True, db_index=False
    )
    amount = models.BigIntegerField()
    matched_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "matches"
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(by__in=["key", "fields", "total", "rule", "cutoff"]), name="match_pass_known"
            ),
            models.CheckConstraint(
                condition=Q(by="rule", rule__isnull=False) | ~Q(by="rule") & Q(rule=None),
                name="match_names_its_rule",
            ),
        ]


class OutsideLine(models.Model):
    """One line of somebody else's statement, seen from the account; ``match`` is set once, when it has one. ``names``
    is what the transactions name for which it stands, where there are several; it has no ``reference`` then."""

    id = models.BigAutoField(primary_key=True)
    statement = models.ForeignKey(
        OutsideStatement, on_delete=models.PROTECT, related_name="entries", db_index=False
    )
    number = models.IntegerField()
    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="+", db_index=False)
    amount = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    booked = models.DateField()
    played = models.DateField()
    code = models.CharField(max_length=35, blank=True)
    journal = models.CharField(max_length=35, blank=True)
    reference = models.CharField(max_length=120, blank=True)
    names = ArrayField(models.CharField(max_length=120), default=list)
    reversal = models.BooleanField(default=False)
    pending = models.BooleanField(default=False)
    match = models.ForeignKey(
        Match, on_delete=models.PROTECT, related_name="lines", null=True, db_index=False
    )

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["statement", "number"], name="outside_line_number_once"),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["account", "booked"],
                condition=Q(match=None, pending=False),
                name="outside_line_unmatched",
            ),
            models.Index(fields=["match"], condition=Q(match__isnull=False), name="outside_line_by_match"),
        ]


class MatchedEntry(models.Model):
    """An entry of ours that a match explains; an entry is explained once."""

    id = models.BigAutoField(primary_key=True)
    match = models.ForeignKey(Match, on_delete=models.PROTECT, related_name="entries")
    entry = models.OneToOneField(Entry, on_delete=models.PROTECT, related_name="+", db_constraint=False)

    class Meta:
        verbose_name_plural = "matched entries"
