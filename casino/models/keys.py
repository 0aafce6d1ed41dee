"""Keys: those by which another system comes in, and those by which an act is sent twice and done once."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from casino.models.floor import Person


class ApiKey(models.Model):
    """A key of another system (a cashier's): who it is, what it may ask for, where, from where, until when.

    ``system`` is what the system is called; several keys may be its, two of them while one replaces the other
    (``replaces``). ``scopes`` are rights by their names, ``tables`` and ``cages`` codes, ``addresses`` ranges in
    CIDR; of each list what is not named is not allowed. ``wallets`` says which guests' wallets it reaches. The secret
    itself is shown once and not stored.
    ``last_used_at`` is to the minute, and telemetry.
    """

    class Wallets(models.TextChoices):
        """None, the system's own (of its prefix, or opened by its first deposit), or all."""

        NONE = "none"
        OWN = "own"
        ALL = "all"

    id = models.UUIDField(primary_key=True, editable=False)
    system = models.CharField(max_length=30)
    secret_sha256 = models.BinaryField(max_length=32, unique=True)
    scopes = ArrayField(models.CharField(max_length=40))
    tables = ArrayField(models.CharField(max_length=20), default=list)
    cages = ArrayField(models.CharField(max_length=20), default=list)
    wallets = models.CharField(max_length=4, choices=Wallets.choices, default=Wallets.NONE, db_default="none")
    addresses = ArrayField(models.CharField(max_length=50))
    expires_at = models.DateTimeField()
    replaces = models.OneToOneField("self", on_delete=models.PROTECT, related_name="+", null=True)
    created_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    approved_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    revoked_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+", null=True)
    revoked_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=~Q(created_by=F("approved_by")), name="api_key_two_people"),
            models.CheckConstraint(
                condition=Q(system__regex=r"^[a-z0-9_]{1,30}$"), name="api_key_system_plain"
            ),
            models.CheckConstraint(condition=Q(expires_at__gt=F("created_at")), name="api_key_ends_later"),
            models.CheckConstraint(
                condition=~Q(scopes=[]) & ~Q(addresses=[]), name="api_key_for_something_from_somewhere"
            ),
            models.CheckConstraint(
                condition=Q(wallets__in=["none", "own", "all"]), name="api_key_wallets_known"
            ),
            models.CheckConstraint(
                condition=Q(revoked_at=None, revoked_by=None)
                | Q(revoked_at__isnull=False, revoked_by__isnull=False),
                name="api_key_revoked_by_someone_at_a_time",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.system} {self.id}"


class StoredAnswer(models.Model):
    """The first answer given to a client's Idempotency-Key; the row lives for ever and commits with its act.

    ``content`` are the answer's bytes, sent again as they are; ``language`` is that of a refusal's sentences. What was
    stored by a release that did not keep bytes has its ``body`` instead.
    """

    id = models.BigAutoField(primary_key=True)
    client = models.CharField(max_length=120)
    key = models.CharField(max_length=200)
    request_sha256 = models.BinaryField(max_length=32)
    status = models.IntegerField()
    body = models.JSONField(null=True)
    content = models.BinaryField(null=True)
    media_type = models.CharField(max_length=60, default="", db_default="")
    language = models.CharField(max_length=10, default="", db_default="")
    answered_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["client", "key"], name="stored_answer_once_per_client_and_key"),
            models.CheckConstraint(
                condition=Q(body=None, content__isnull=False) | Q(body__isnull=False, content=None),
                name="stored_answer_is_bytes_or_of_before",
            ),
        ]
