"""What rounds came to, line by line, and which wagers met cards without cover."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from casino.models import Person, Round
from settlement.models.ledger import Journal
from settlement.models.rule_sheets import RuleSheet


class RefusedCover(models.Model):
    """A wager that a wallet could not cover when it was asked before the cards, and what the wallet had
    then."""

    id = models.BigAutoField(primary_key=True)
    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="+")
    wager = models.CharField(max_length=40)
    account_code = models.CharField(max_length=120)
    exposure = models.BigIntegerField()
    available = models.BigIntegerField()
    asked_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "refused covers"


UNCOVERED = ("offline", "refused", "changed", "changed_since")


class Uncovered(models.Model):
    """A wallet's wager that met cards without its exposure set aside, and why: the terminal was
    ``offline``, the wallet ``refused`` it, or the bet ``changed_since`` it was covered (in older rows
    ``changed``)."""

    id = models.BigAutoField(primary_key=True)
    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="+", db_index=False)
    wager = models.CharField(max_length=40)
    account_code = models.CharField(max_length=120)
    exposure = models.BigIntegerField()
    reason = models.CharField(max_length=16, choices=[(reason, reason) for reason in UNCOVERED])
    recorded_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "uncovered wagers"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["round", "wager"], name="uncovered_once_per_wager"),
            models.CheckConstraint(
                condition=Q(reason__in=UNCOVERED),
                name="uncovered_with_a_known_reason",
            ),
            models.CheckConstraint(condition=Q(exposure__gt=0), name="uncovered_exposes_something"),
        ]


class Settlement(models.Model):
    """One revision of what a round came to; the highest is the effective one.

    ``upto`` is the last event (``RoundEvent.id``) that was folded and ``cites`` the late ones named beside
    them; ``inputs`` what judging took from outside the record: ``{"bank": amount or null, "not_in_play":
    [wager, …]}``. ``journal`` is None where every wager pushed or the round is void. ``shortfall`` is the
    journal of what wallets could not pay. A revision takes back what came before it by ``reversal`` and
    ``shortfall_reversal``, unless it ``changes_nothing``: then the journals of the one before are its own, and nothing
    is posted or told. It says ``because`` of which decision, or which two people.
    """

    class Outcome(models.TextChoices):
        SETTLED = "settled"
        VOIDED = "voided"

    id = models.UUIDField(primary_key=True, editable=False)
    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="+", db_index=False)
    revision = models.IntegerField()
    outcome = models.CharField(max_length=10, choices=Outcome.choices)
    sheet = models.ForeignKey(
        RuleSheet, on_delete=models.PROTECT, related_name="+", null=True, db_index=False
    )
    journal = models.ForeignKey(Journal, on_delete=models.PROTECT, related_name="+", null=True)
    shortfall = models.ForeignKey(Journal, on_delete=models.PROTECT, related_name="+", null=True)
    reversal = models.OneToOneField(Journal, on_delete=models.PROTECT, related_name="+", null=True)
    shortfall_reversal = models.OneToOneField(Journal, on_delete=models.PROTECT, related_name="+", null=True)
    supersedes = models.OneToOneField("self", on_delete=models.PROTECT, related_name="+", null=True)
    changes_nothing = models.BooleanField(default=False)
    because = models.UUIDField(null=True)
    acted_by = models.ForeignKey(
        Person, on_delete=models.PROTECT, related_name="+", null=True, db_index=False
    )
    approved_by = models.ForeignKey(
        Person, on_delete=models.PROTECT, related_name="+", null=True, db_index=False
    )
    upto = models.BigIntegerField()
    cites = ArrayField(models.BigIntegerField(), default=list)
    inputs = models.JSONField(default=dict)
    record_sha256 = models.CharField(max_length=64)
    house_net = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    gaming_day = models.DateField()
    settled_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["round", "revision"], name="settlement_once_per_revision"),
            models.CheckConstraint(
                condition=Q(revision=1, supersedes=None) | Q(revision__gt=1, supersedes__isnull=False),
                name="settlement_supersedes_the_one_before",
            ),
            models.CheckConstraint(
                condition=Q(revision__gt=1) | Q(reversal=None, shortfall_reversal=None),
                name="settlement_first_takes_nothing_back",
            ),
            models.UniqueConstraint(
                fields=["journal"], condition=Q(changes_nothing=False), name="settlement_journal_posted_once"
            ),
            models.UniqueConstraint(
                fields=["shortfall"],
                condition=Q(changes_nothing=False),
                name="settlement_shortfall_posted_once",
            ),
            models.CheckConstraint(
                condition=Q(changes_nothing=False)
                | Q(revision__gt=1, reversal=None, shortfall_reversal=None),
                name="settlement_that_changes_nothing_moves_nothing",
            ),
            models.CheckConstraint(
                condition=Q(outcome="voided", journal=None, house_net=0)
                | Q(outcome="settled", sheet__isnull=False),
                name="settlement_void_moves_nothing",
            ),
            models.CheckConstraint(
                condition=Q(acted_by=None) | Q(approved_by=None) | ~Q(acted_by=F("approved_by")),
                name="settlement_two_people",
            ),
            models.CheckConstraint(
                condition=Q(revision=1)
                | Q(because__isnull=False)
                | Q(acted_by__isnull=False, approved_by__isnull=False),
                name="settlement_corrected_with_a_reason",
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["gaming_day"], name="settlement_by_day")]


class Line(models.Model):
    """What became of one wager, and why: both hands, the dealer's cards met, the step that decided, the
    money.

    ``account`` is where its net was posted. A player's bank has a line of its own, ``wager`` and ``hand``
    "bank", whose ``stake`` is what was put up and ``gross`` what play added to it; it has no hands, step or
    multiple. ``rounding_bp`` is what rounding added to the commission, in ten-thousandths of a minor unit.
    """

    id = models.BigAutoField(primary_key=True)
    settlement = models.ForeignKey(Settlement, on_delete=models.PROTECT, related_name="lines", db_index=False)
    ordinal = models.IntegerField()
    wager = models.CharField(max_length=40)
    hand = models.CharField(max_length=10)
    owner_kind = models.CharField(max_length=10)
    owner_ref = models.CharField(max_length=120)
    account = models.CharField(max_length=120)
    stake = models.BigIntegerField()
    cards = ArrayField(models.CharField(max_length=2), default=list)
    hand_kind = models.CharField(max_length=16, blank=True)
    hand_taem = models.SmallIntegerField(null=True)
    hand_deng = models.SmallIntegerField(null=True)
    dealer_cards = ArrayField(models.CharField(max_length=2), default=list)
    dealer_kind = models.CharField(max_length=16, blank=True)
    dealer_taem = models.SmallIntegerField(null=True)
    dealer_deng = models.SmallIntegerField(null=True)
    step = models.CharField(max_length=24, blank=True)
    multiple = models.SmallIntegerField()
    gross = models.BigIntegerField()
    uncovered = models.BigIntegerField(default=0)
    commission = models.BigIntegerField(default=0)
    net = models.BigIntegerField()
    rounding_bp = models.BigIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["settlement", "ordinal"], name="line_ordinal_once"),
            models.UniqueConstraint(fields=["settlement", "wager"], name="line_once_per_wager"),
            models.CheckConstraint(
                condition=Q(wager="bank") | Q(gross=F("stake") * F("multiple")),
                name="line_gross_is_stakes_moved",
            ),
            models.CheckConstraint(
                condition=Q(net=F("gross") - F("uncovered") - F("commission")), name="line_net_adds_up"
            ),
            models.CheckConstraint(
                condition=Q(uncovered__gte=0, commission__gte=0), name="line_takes_nothing_twice"
            ),
        ]
