"""Counted floats: what people counted, and what was accepted of it."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import F, Func, Q

from casino.models import Person, TableSession
from settlement.models.ledger import Journal


class CountKind(models.TextChoices):
    """The counts of a table's session that move its float."""

    OPENER = "opener"
    CLOSER = "closer"


class Count(models.Model):
    """Pieces by denomination, written by one named person without seeing what is expected or what another
    wrote.

    ``lines`` is ``[{"denomination": satang, "pieces": n}, …]``; ``amount`` is their value, worked out by
    the database. The first two are independent; where they differ a third, by somebody who made neither,
    decides, and all stay.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    session = models.ForeignKey(TableSession, on_delete=models.PROTECT, related_name="+", db_index=False)
    kind = models.CharField(max_length=10, choices=CountKind.choices)
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

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["session", "kind", "ordinal"], name="count_ordinal_once"),
            models.UniqueConstraint(fields=["session", "kind", "counted_by"], name="count_once_per_person"),
            models.CheckConstraint(condition=Q(kind__in=CountKind.values), name="count_kind_known"),
            models.CheckConstraint(condition=Q(ordinal__gte=1, ordinal__lte=3), name="count_three_at_most"),
        ]


class Float(models.Model):
    """The counted float of a session as it was accepted: its ``opener`` and its ``closer``.

    ``count`` is the one that was taken as true and ``expected`` what the books said before it (None at a
    first opening). ``journal`` moved the chips between ``cage`` and table; None where the float stayed
    locked on the table (``cage`` is empty). ``clearing``, ``chips_left`` and ``variance`` were posted
    beside it, where there was anything to post. ``bank_version`` is the version of the table's bank when
    all of that was done: what came after it has not been cleared with the cage.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    session = models.ForeignKey(TableSession, on_delete=models.PROTECT, related_name="+", db_index=False)
    kind = models.CharField(max_length=10, choices=CountKind.choices)
    count = models.OneToOneField(Count, on_delete=models.PROTECT, related_name="+")
    expected = models.BigIntegerField(null=True)
    cage = models.CharField(max_length=20, blank=True)
    journal = models.OneToOneField(Journal, on_delete=models.PROTECT, related_name="+", null=True)
    clearing = models.OneToOneField(Journal, on_delete=models.PROTECT, related_name="+", null=True)
    chips_left = models.OneToOneField(Journal, on_delete=models.PROTECT, related_name="+", null=True)
    variance = models.OneToOneField(Journal, on_delete=models.PROTECT, related_name="+", null=True)
    bank_version = models.BigIntegerField()
    accepted_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["session", "kind"], name="float_once_per_session_and_kind"),
            models.CheckConstraint(condition=Q(kind__in=CountKind.values), name="float_kind_known"),
            models.CheckConstraint(
                condition=Q(kind="closer") | Q(clearing=None, chips_left=None),
                name="float_cleared_at_the_close",
            ),
        ]
