"""Rule sheets, and from when on a table is judged by one."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import F, Func, Q

from casino.models import Person, Table


class RuleSheet(models.Model):
    """A rule sheet as proposed by one person and approved by another.

    ``canonical`` holds the bytes that ``sha256`` names; once approved it judges rounds, now and in ten years.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    name = models.CharField(max_length=120)
    canonical = models.TextField()
    sha256 = models.CharField(max_length=64, unique=True)
    proposed_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    proposed_at = models.DateTimeField()
    approved_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+", null=True)
    approved_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(approved_by=None) | ~Q(approved_by=F("proposed_by")), name="rule_sheet_two_people"
            ),
            models.CheckConstraint(
                condition=Q(approved_by=None, approved_at=None)
                | Q(approved_by__isnull=False, approved_at__isnull=False),
                name="rule_sheet_approved_by_someone_at_a_time",
            ),
            models.CheckConstraint(
                condition=Q(
                    sha256=Func(
                        Func(F("canonical"), models.Value("UTF8"), function="convert_to"),
                        function="sha256",
                        template="encode(%(function)s(%(expressions)s), 'hex')",
                        output_field=models.CharField(),
                    )
                ),
                name="rule_sheet_hash_of_its_bytes",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.sha256[:12]}"


class TableRules(models.Model):
    """From ``in_force_from`` on, rounds that open at the table are judged by the sheet; until the next such
    row."""

    id = models.BigAutoField(primary_key=True)
    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="+")
    sheet = models.ForeignKey(RuleSheet, on_delete=models.PROTECT, related_name="+")
    in_force_from = models.DateTimeField()
    set_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    approved_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    set_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "table rules"
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["table", "in_force_from"], name="table_rules_one_sheet_at_a_time"
            ),
            models.CheckConstraint(condition=~Q(set_by=F("approved_by")), name="table_rules_two_people"),
            models.CheckConstraint(
                condition=Q(in_force_from__gte=F("set_at")), name="table_rules_never_for_the_past"
            ),
        ]
