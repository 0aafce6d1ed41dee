"""Disputes: a person objects, another looks, facts are chosen, and the money follows from them."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from casino.models import Person, Round


class Dispute(models.Model):
    """One question about a round. It goes open → claimed → proposed → decided, and is never decided twice: whoever
    objects to the decision raises another that ``follows`` it.

    ``subject`` is the round, hand, slot or wager (``""``, ``p1``, ``p1.3``, ``w2``). ``money_at_risk`` (minor units) is
    the most that lies between two outcomes at hand; above the house's threshold ``needs_two`` people decide. A claim
    is a lease: ``claim_token`` in the form decides, until ``claim_until``.
    """

    class State(models.TextChoices):
        OPEN = "open"
        CLAIMED = "claimed"
        PROPOSED = "proposed"
        DECIDED = "decided"

    id = models.UUIDField(primary_key=True, editable=False)
    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="+")
    subject = models.CharField(max_length=40, blank=True)
    reason_code = models.CharField(max_length=40)
    reason = models.CharField(max_length=2000)
    raised_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+", db_index=False)
    raised_at = models.DateTimeField()
    deadline_at = models.DateTimeField()
    money_at_risk = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    needs_two = models.BooleanField()
    follows = models.OneToOneField("self", on_delete=models.PROTECT, related_name="followed_by", null=True)
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    claimed_by = models.ForeignKey(
        Person, on_delete=models.PROTECT, related_name="+", null=True, db_index=False
    )
    claim_token = models.UUIDField(null=True)
    claim_until = models.DateTimeField(null=True)
    snoozed_until = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["round", "subject"],
                condition=~Q(state="decided"),
                name="dispute_one_open_per_subject",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["open", "claimed", "proposed", "decided"]), name="dispute_state_known"
            ),
            models.CheckConstraint(
                condition=~Q(state="claimed")
                | Q(claimed_by__isnull=False, claim_token__isnull=False, claim_until__isnull=False),
                name="dispute_claimed_by_somebody",
            ),
            models.CheckConstraint(
                condition=Q(claimed_by=None) | ~Q(claimed_by=models.F("raised_by")),
                name="dispute_not_claimed_by_its_raiser",
            ),
            models.CheckConstraint(
                condition=Q(money_at_risk__gte=0), name="dispute_risks_something_or_nothing"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["deadline_at", "id"], condition=~Q(state="decided"), name="dispute_queue"),
            models.Index(fields=["-raised_at", "-id"], name="dispute_by_time"),
        ]

    def __str__(self) -> str:
        return f"dispute {self.id}"


class Proposal(models.Model):
    """Facts that one person proposes, and what would come of them as it was shown; ``sha256`` binds both.

    ``facts`` are acts of the record (``{"kind": "card_ruled", "hand": …}``), or one ``{"kind": "stands"}``: it stays as
    it is. A proposal is withdrawn, never changed.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    dispute = models.ForeignKey(Dispute, on_delete=models.PROTECT, related_name="proposals")
    ordinal = models.IntegerField()
    facts = models.JSONField()
    consequences = models.JSONField()
    sha256 = models.CharField(max_length=64)
    reason_code = models.CharField(max_length=40)
    note = models.CharField(max_length=2000, blank=True)
    proposed_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+", db_index=False)
    proposed_at = models.DateTimeField()
    withdrawn_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["dispute", "ordinal"], name="proposal_ordinal_once"),
            models.UniqueConstraint(
                fields=["dispute"], condition=Q(withdrawn_at=None), name="proposal_one_standing_per_dispute"
            ),
        ]


class Decision(models.Model):
    """The end of a dispute: which proposal, by whom, and the revision that followed (None where no money moved and the
    round stayed as it was). ``events`` are the acts it added to the round (RoundEvent ids)."""

    id = models.UUIDField(primary_key=True, editable=False)
    dispute = models.OneToOneField(Dispute, on_delete=models.PROTECT, related_name="decision")
    proposal = models.OneToOneField(Proposal, on_delete=models.PROTECT, related_name="+")
    decided_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+", db_index=False)
    decided_at = models.DateTimeField()
    settlement = models.UUIDField(null=True)
    outcome = models.CharField(max_length=10)
    events = ArrayField(models.BigIntegerField(), default=list)
