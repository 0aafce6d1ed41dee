"""Wallets that live in a cashier's system: which those are, what was asked of them, and what is owed to be told.

Such a wallet has no account here. What rounds moved stands in ``external:{system}:{table}``, the house's own mirror of
what that system has (below zero: owes) for the table's play.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from casino.models import Person, Round


class CashierSystem(models.Model):
    """A cashier's system that keeps wallets of its own: all those whose reference begins with ``prefix``, for ever.

    A wallet is therefore kept here or there, never both, and its reference says where. ``dialect`` is how the system
    is spoken to: ``holds`` sets aside, settles and releases; ``bet_win_rollback`` knows only bets and wins. A system
    that is not ``enabled`` is asked for no hold; what is owed to it is told all the same. ``secret`` signs what is sent
    and is locked with the service's own key.
    """

    class Dialect(models.TextChoices):
        HOLDS = "holds"
        BET_WIN_ROLLBACK = "bet_win_rollback"

    id = models.UUIDField(primary_key=True, editable=False)
    code = models.CharField(max_length=30)
    prefix = models.CharField(max_length=21)
    url = models.CharField(max_length=400)
    host = models.CharField(max_length=253)
    port = models.IntegerField()
    dialect = models.CharField(max_length=16, choices=Dialect.choices)
    secret = models.TextField()
    enabled = models.BooleanField()
    set_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+", db_index=False)
    approved_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+", db_index=False)
    set_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["code"], name="cashier_system_code_once"),
            models.UniqueConstraint(fields=["prefix"], name="cashier_system_prefix_once"),
            models.CheckConstraint(condition=~Q(set_by=F("approved_by")), name="cashier_system_two_people"),
            models.CheckConstraint(
                condition=Q(code__regex=r"^[a-z0-9_]{1,30}$") & ~Q(code="cash"),
                name="cashier_system_code_plain",
            ),
            # It ends with its one separator, so that no prefix begins another.
            models.CheckConstraint(
                condition=Q(prefix__regex=r"^[A-Za-z0-9]{1,20}[-_]$"), name="cashier_system_prefix_plain"
            ),
            models.CheckConstraint(
                condition=Q(dialect__in=["holds", "bet_win_rollback"]), name="cashier_system_dialect_known"
            ),
        ]

    def __str__(self) -> str:
        return self.code


class ExternalHold(models.Model):
    """What was asked of a wallet kept elsewhere for one wager (``bank``: for a player's bank); ``id`` is the key that
    it was asked under.

    ``asked`` until the answer is stored; ``held``, or ``refused`` with the ``reason``. It ends once: ``settled`` with
    the round, ``released`` without money, ``changed`` because the bet was. ``late`` is one that nobody had asked for
    when the cards came: it is made by the settlement, so that what was won or lost has a hold to be settled under.
    Amounts in minor units; ``account`` is the guest's, ``player:royal-A17``.
    """

    class State(models.TextChoices):
        ASKED = "asked"
        HELD = "held"
        REFUSED = "refused"
        SETTLED = "settled"
        RELEASED = "released"
        CHANGED = "changed"

    id = models.UUIDField(primary_key=True, editable=False)
    system = models.ForeignKey(CashierSystem, on_delete=models.PROTECT, related_name="+")
    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="+")
    wager = models.CharField(max_length=40)
    account = models.CharField(max_length=120)
    stake = models.BigIntegerField()
    exposure = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    late = models.BooleanField()
    state = models.CharField(max_length=10, choices=State.choices)
    reason = models.CharField(max_length=40, blank=True)
    asked_at = models.DateTimeField()
    answered_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(stake__gte=0, exposure__gte=0) & (Q(late=True) | Q(exposure__gt=0)),
                name="external_hold_sets_something_aside",
            ),
            models.CheckConstraint(
                condition=Q(state="asked", answered_at=None, ended_at=None)
                | Q(state="held", answered_at__isnull=False, ended_at=None)
                | Q(state__in=["refused", "settled", "released", "changed"], ended_at__isnull=False),
                name="external_hold_state_whole",
            ),
            models.CheckConstraint(
                condition=Q(late=False) | Q(state="settled", answered_at=None),
                name="external_hold_late_is_settled",
            ),
            models.CheckConstraint(
                condition=~Q(state="refused") | ~Q(reason=""), name="external_hold_refused_for_a_reason"
            ),
            models.UniqueConstraint(
                fields=["round", "wager"], condition=Q(ended_at=None), name="external_hold_one_open_per_wager"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["asked_at"], condition=Q(ended_at=None), name="external_hold_open"),
        ]


class ExternalCall(models.Model):
    """One call owed to a cashier system, in the bytes that every try sends; ``id`` is its Idempotency-Key, and names at
    the other side what it did there.

    The calls of one wager go out one after the other, by ``place``. ``revision`` is the settlement it follows (a
    ``reverse``: the one it takes back; 0: none yet), ``moves`` what it adds to the guest's wallet there. It is ``due``
    until acknowledged, however long that takes. ``attempts`` goes up with every claim and fences it; ``failures`` is
    the place in the schedule.
    """

    class Verb(models.TextChoices):
        HOLD = "hold"
        SETTLE = "settle"
        RELEASE = "release"
        REVERSE = "reverse"

    class State(models.TextChoices):
        DUE = "due"
        CLAIMED = "claimed"
        ACKNOWLEDGED = "acknowledged"

    id = models.UUIDField(primary_key=True, editable=False)
    hold = models.ForeignKey(ExternalHold, on_delete=models.PROTECT, related_name="calls", db_index=False)
    place = models.IntegerField()
    verb = models.CharField(max_length=8, choices=Verb.choices)
    revision = models.IntegerField()
    moves = models.BigIntegerField()
    path = models.CharField(max_length=200)
    body = models.TextField()
    reverses = models.OneToOneField("self", on_delete=models.PROTECT, related_name="+", null=True)
    written_at = models.DateTimeField()
    state = models.CharField(max_length=12, choices=State.choices)
    due_at = models.DateTimeField()
    attempts = models.IntegerField()
    failures = models.IntegerField()
    owner = models.CharField(max_length=80, blank=True)
    lease_until = models.DateTimeField(null=True)
    last_result = models.CharField(max_length=40, blank=True)
    acknowledged_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["hold", "place"], name="external_call_in_one_order"),
            models.UniqueConstraint(fields=["hold", "revision", "verb"], name="external_call_once"),
            models.CheckConstraint(
                condition=Q(verb="reverse", reverses__isnull=False)
                | Q(verb__in=["hold", "settle", "release"], reverses=None),
                name="external_call_reversal_says_so",
            ),
            models.CheckConstraint(
                condition=Q(verb__in=["settle", "reverse"], revision__gte=1)
                | Q(verb__in=["hold", "release"], revision__gte=0, moves=0),
                name="external_call_moves_by_a_revision",
            ),
            models.CheckConstraint(
                condition=Q(state="due", lease_until=None, acknowledged_at=None)
                | Q(state="claimed", lease_until__isnull=False, acknowledged_at=None)
                | Q(state="acknowledged", lease_until=None, acknowledged_at__isnull=False),
                name="external_call_state_whole",
            ),
            models.CheckConstraint(
                condition=Q(place__gte=1, attempts__gte=0, failures__gte=0),
                name="external_call_counts_possible",
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["due_at", "id"],
                condition=Q(state__in=["due", "claimed"]),
                name="external_call_unacknowledged",
            ),
        ]
