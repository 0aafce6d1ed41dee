"""The registers of the house: its places, who may do what from when, and codes by which people and devices come in."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q


class AddedByTwo(models.Model):
    """``added_by`` is a manager and ``added_with`` another or an administrator, ``ended_by`` and ``ended_with`` alike.

    What was there before people were asked has neither; a CHECK keeps each of them whole and of two different people,
    and a trigger asks who they are.
    """

    added_by = models.ForeignKey("casino.Person", on_delete=models.PROTECT, related_name="+", null=True)
    added_with = models.ForeignKey("casino.Person", on_delete=models.PROTECT, related_name="+", null=True)
    added_at = models.DateTimeField(null=True)
    ended_by = models.ForeignKey("casino.Person", on_delete=models.PROTECT, related_name="+", null=True)
    ended_with = models.ForeignKey("casino.Person", on_delete=models.PROTECT, related_name="+", null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True
        constraints: ClassVar = [
            models.CheckConstraint(
                # Said outright for each: a CHECK that comes to NULL lets a row pass.
                condition=Q(added_by=None, added_with=None, added_at=None)
                | Q(added_by__isnull=False, added_with__isnull=False, added_at__isnull=False)
                & ~Q(added_by=F("added_with")),
                name="%(class)s_added_by_two",
            ),
            models.CheckConstraint(
                condition=Q(ended_by=None, ended_with=None, ended_at=None)
                | Q(ended_by__isnull=False, ended_with__isnull=False, ended_at__isnull=False)
                & ~Q(ended_by=F("ended_with")),
                name="%(class)s_ended_by_two",
            ),
        ]


class Cage(AddedByTwo):
    """A cashiers' department with its vault. The property's main cage is there from the installation on."""

    code = models.CharField(max_length=20, primary_key=True)

    class Meta(AddedByTwo.Meta):
        abstract = False
        constraints: ClassVar = [
            *AddedByTwo.Meta.constraints,
            models.CheckConstraint(condition=Q(code__regex=r"^[A-Z0-9]{1,20}$"), name="cage_code_plain"),
        ]

    def __str__(self) -> str:
        return self.code


NEEDS_ONE = ("dealer", "surveillance")
"""Roles that neither move nor decide money by themselves; every other, and every permission, takes two people."""


class Appointment(models.Model):
    """What a person may do from an instant on (``until`` another): a decision of two people, and never changed.

    The newest one in force counts; where none is, the person may do nothing. ``proposed_by`` is an administrator and
    ``approved_by`` a manager; a house that is being furnished, before anybody was appointed by people, has neither.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    person = models.ForeignKey("casino.Person", on_delete=models.PROTECT, related_name="appointments")
    role = models.CharField(max_length=20)
    permissions = ArrayField(models.CharField(max_length=40), default=list)
    from_at = models.DateTimeField()
    until_at = models.DateTimeField(null=True)
    proposed_by = models.ForeignKey("casino.Person", on_delete=models.PROTECT, related_name="+", null=True)
    approved_by = models.ForeignKey("casino.Person", on_delete=models.PROTECT, related_name="+", null=True)
    made_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(until_at=None) | Q(until_at__gt=F("from_at")), name="appointment_ends_later"
            ),
            models.CheckConstraint(
                condition=(Q(proposed_by=None) | ~Q(proposed_by=F("person")))
                & (Q(approved_by=None) | ~Q(approved_by=F("person"))),
                name="appointment_by_others",
            ),
            models.CheckConstraint(
                condition=Q(proposed_by=None, approved_by=None)
                | Q(proposed_by__isnull=False)
                & (
                    Q(approved_by__isnull=False) & ~Q(approved_by=F("proposed_by"))
                    | Q(approved_by=None, role__in=NEEDS_ONE, permissions=[])
                ),
                name="appointment_by_two",
            ),
            models.CheckConstraint(
                condition=~Q(role="administrator") | Q(permissions=[]), name="appointment_administrator_alone"
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["person", "-id"], name="appointment_of_a_person")]


class HandOver(models.Model):
    """A code by which a person takes over their account, once, and chooses their own secrets: at their hiring, or when
    these were lost. Its text is shown once and not stored."""

    id = models.UUIDField(primary_key=True, editable=False)
    person = models.ForeignKey("casino.Person", on_delete=models.PROTECT, related_name="+")
    sha256 = models.BinaryField(max_length=32, unique=True)
    made_by = models.ForeignKey("casino.Person", on_delete=models.PROTECT, related_name="+", null=True)
    approved_by = models.ForeignKey("casino.Person", on_delete=models.PROTECT, related_name="+", null=True)
    made_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=(Q(made_by=None) | ~Q(made_by=F("person")))
                & (Q(approved_by=None) | ~Q(approved_by=F("person")) & ~Q(approved_by=F("made_by"))),
                name="hand_over_by_others",
            ),
            models.CheckConstraint(condition=Q(expires_at__gte=F("made_at")), name="hand_over_ends_later"),
        ]


class Enrolment(models.Model):
    """A code by which one device comes to one table, once and within ten minutes. Its text is shown once and not
    stored; ``device`` is the one that used it."""

    id = models.UUIDField(primary_key=True, editable=False)
    code = models.CharField(max_length=60)
    kind = models.CharField(max_length=10)
    table = models.ForeignKey("casino.Table", on_delete=models.PROTECT, related_name="+")
    sha256 = models.BinaryField(max_length=32, unique=True)
    made_by = models.ForeignKey("casino.Person", on_delete=models.PROTECT, related_name="+")
    made_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    device = models.OneToOneField("casino.Device", on_delete=models.PROTECT, related_name="+", null=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(kind__in=["terminal", "camera"]), name="enrolment_kind_known"),
            models.CheckConstraint(
                condition=Q(used_at=None, device=None) | Q(used_at__isnull=False, device__isnull=False),
                name="enrolment_used_by_a_device",
            ),
            models.CheckConstraint(
                condition=Q(expires_at__gt=F("made_at"), used_at=None)
                | Q(expires_at__gt=F("made_at"), used_at__lte=F("expires_at")),
                name="enrolment_used_in_time",
            ),
        ]
