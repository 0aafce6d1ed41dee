"""The tree over the log: leaves, what proofs are made from, and signed checkpoints.

Only the sealer's role adds rows here; ``Frontier`` alone changes.
"""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from audit.models.log import LogEntry, TransactionField


class Leaf(models.Model):
    """An entry's place in the tree of its log (``origin``): numbered 0, 1, 2 … without gaps, and for good."""

    id = models.BigAutoField(primary_key=True)
    origin = models.CharField(max_length=120)
    index = models.BigIntegerField()
    entry = models.OneToOneField(LogEntry, on_delete=models.PROTECT, related_name="leaf")
    leaf_hash = models.BinaryField(max_length=32)
    numbered_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "leaves"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["origin", "index"], name="leaf_index_once"),
            models.CheckConstraint(condition=Q(index__gte=0), name="leaf_index_from_zero"),
        ]


class Subtree(models.Model):
    """The root over a complete range of 2^height leaves, kept at heights 8, 16, 24 …: a proof over a billion leaves
    reads a few hundred rows, and not the tree."""

    id = models.BigAutoField(primary_key=True)
    origin = models.CharField(max_length=120)
    height = models.SmallIntegerField()
    index = models.BigIntegerField()
    hash = models.BinaryField(max_length=32)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["origin", "height", "index"], name="subtree_once"),
        ]


class Frontier(models.Model):
    """The right edge of a log's tree: its size, the peaks that the next leaf joins, and the last entry numbered.

    ``stopped`` says why nothing is signed ("" while signing goes on); leaves are numbered all the same.
    """

    origin = models.CharField(max_length=120, primary_key=True)
    size = models.BigIntegerField()
    peaks = ArrayField(models.BinaryField(max_length=32))
    last_xid = TransactionField()
    last_id = models.BigIntegerField()
    numbered_at = models.DateTimeField(null=True)
    stopped = models.CharField(max_length=40, blank=True, default="")
    stopped_at = models.DateTimeField(null=True)


class Checkpoint(models.Model):
    """A signed note of the tree's size and root. ``note`` is the whole file as it was exported."""

    id = models.BigAutoField(primary_key=True)
    origin = models.CharField(max_length=120)
    size = models.BigIntegerField()
    root = models.BinaryField(max_length=32)
    note = models.TextField()
    signed_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["origin", "size"], name="checkpoint_once_per_size"),
            models.CheckConstraint(condition=Q(size__gte=1), name="checkpoint_of_something"),
        ]
