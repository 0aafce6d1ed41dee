"""Cash and chips that crossed the house's line: at a cage, or at a table for chips."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import F, Func, Q

from casino.models import ApiKey, Device, Person, TableSession
from settlement.models.ledger import Journal


class CashKind(models.TextChoices):
    """What somebody's money came or went for; also the kind of its journal."""

    DEPOSIT = "deposit"
    WITHDRAWAL = "withdrawal"
    BUY_IN = "buy_in"
    CHIP_SALE = "chip_sale"
    CHIP_REDEMPTION = "chip_redemption"
    PAY_SLIP_PAID = "pay_slip_paid"


class Means(models.TextChoices):
    """What was handed over. Only ``cash`` counts for what is reported of cash."""

    CASH = "cash"
    CHEQUE = "cheque"
    CARD = "card"
    TRANSFER = "transfer"


INWARD = (CashKind.DEPOSIT, CashKind.BUY_IN, CashKind.CHIP_SALE)


class CashAct(models.Model):
    """Money of one person that came ``in`` to the house or went ``out`` of it, once.

    ``person`` is the cage's opaque reference (empty where it was not asked for); names are the cage's. It happened at
    a ``cage`` (and its ``till``) or, a buy-in, in a table's ``session``. ``lines`` are pieces by denomination where
    they were counted. ``happened_at`` is the client's word, ``recorded_at`` ours. ``acted_by`` is the person who took
    or gave it, ``device`` the terminal or ``key`` the system through which it came, ``approved_by`` the second person
    above a limit.
    ``chips_outside`` is what an exchange of chips left in guests' hands, in minor units. ``document`` is the client's
    own number for it; nothing keeps two acts from bearing the same.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    kind = models.CharField(max_length=20, choices=CashKind.choices)
    direction = models.CharField(max_length=3, choices=[("in", "in"), ("out", "out")])
    means = models.CharField(max_length=10, choices=Means.choices)
    person = models.CharField(max_length=64, blank=True)
    amount = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    lines = models.JSONField(default=list)
    cage = models.CharField(max_length=20, blank=True)
    till = models.CharField(max_length=20, blank=True)
    session = models.ForeignKey(TableSession, on_delete=models.PROTECT, related_name="+", null=True)
    document = models.CharField(max_length=120, blank=True)
    chips_outside = models.BigIntegerField(null=True)
    journal = models.OneToOneField(Journal, on_delete=models.PROTECT, related_name="+")
    gaming_day = models.DateField()
    acted_by = models.ForeignKey(
        Person, on_delete=models.PROTECT, related_name="+", null=True, db_index=False
    )
    approved_by = models.ForeignKey(
        Person, on_delete=models.PROTECT, related_name="+", null=True, db_index=False
    )
    device = models.ForeignKey(Device, on_delete=models.PROTECT, related_name="+", null=True, db_index=False)
    key = models.ForeignKey(ApiKey, on_delete=models.PROTECT, related_name="+", null=True, db_index=False)
    happened_at = models.DateTimeField()
    recorded_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(amount__gt=0), name="cash_act_moves_something"),
            models.CheckConstraint(condition=Q(means__in=Means.values), name="cash_act_means_known"),
            models.CheckConstraint(
                condition=Q(kind__in=INWARD, direction="in")
                | Q(kind__in=["withdrawal", "chip_redemption", "pay_slip_paid"], direction="out"),
                name="cash_act_kind_has_its_direction",
            ),
            models.CheckConstraint(
                condition=Q(kind="buy_in", session__isnull=False, cage="", till="")
                | ~Q(kind="buy_in") & Q(session=None) & ~Q(cage=""),
                name="cash_act_at_a_table_or_a_cage",
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["deposit", "withdrawal", "pay_slip_paid"], lines=[])
                | Q(
                    amount=Func(
                        F("lines"),
                        function="settlement_value_of_pieces",
                        output_field=models.BigIntegerField(),
                    )
                ),
                name="cash_act_pieces_add_up",
            ),
            models.CheckConstraint(
                condition=Q(acted_by=None) | Q(approved_by=None) | ~Q(acted_by=F("approved_by")),
                name="cash_act_two_people",
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["person", "gaming_day"],
                condition=Q(means="cash") & ~Q(person=""),
                name="cash_act_of_a_person",
            ),
            models.Index(fields=["gaming_day", "id"], name="cash_act_by_day"),
        ]
