"""People, tables, devices, and rounds as they were reported."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from casino.models.registers import AddedByTwo


class Role(models.TextChoices):
    """The roles of people, one list for every page."""

    DEALER = "dealer"
    SUPERVISOR = "supervisor"
    MANAGER = "manager"
    SURVEILLANCE = "surveillance"
    CASHIER = "cashier"
    AUDITOR = "auditor"
    ADMINISTRATOR = "administrator"


class People(BaseUserManager["Person"]):
    """Looks people up by badge, as Django's sign-in asks."""

    def get_by_natural_key(self, username: str | None) -> Person:
        return self.get(badge=username)


class Person(AbstractBaseUser):
    """One member of the staff, with one active account. ``badge`` names them at a terminal and at sign-in; ``pin``
    is a hash like the password. ``permissions`` are narrower duties inside the role (``see_expected``).

    Role, permissions and whether the account is active are those of the newest appointment in force, put down when it
    began; ``turns_at`` is when that changes next. ``staff_no`` is the house's own number of who this is: nobody has two
    active accounts. Whoever left stays as a row."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    badge = models.CharField(max_length=40, unique=True)
    display_name = models.CharField(max_length=200)
    role = models.CharField(max_length=20, choices=Role.choices)
    permissions = ArrayField(models.CharField(max_length=40), default=list, blank=True)
    pin = models.CharField(max_length=200, blank=True)
    is_active = models.BooleanField(default=True)
    staff_no = models.CharField(max_length=40, blank=True, default="", db_default="")
    turns_at = models.DateTimeField(null=True)
    ended_by = models.ForeignKey("self", on_delete=models.PROTECT, related_name="+", null=True)
    ended_at = models.DateTimeField(null=True)
    last_login = None  # when somebody signed in is an entry of the log

    USERNAME_FIELD = "badge"
    REQUIRED_FIELDS: ClassVar[list[str]] = ["display_name", "role"]
    objects = People()

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(role__in=Role.values), name="person_role_known"),
            models.UniqueConstraint(
                fields=["staff_no"],
                condition=Q(is_active=True) & ~Q(staff_no=""),
                name="person_one_active_account",
            ),
            models.CheckConstraint(
                condition=Q(ended_at=None) | Q(is_active=False), name="person_who_left_is_not_active"
            ),
            models.CheckConstraint(
                condition=Q(ended_by=None) | ~Q(ended_by=models.F("id")), name="person_ended_by_another"
            ),
            models.CheckConstraint(
                condition=~Q(role="administrator") | Q(permissions=[]), name="person_administrator_alone"
            ),
        ]

    def __str__(self) -> str:
        return self.badge

    def has_duty(self, name: str) -> bool:
        """Say whether the person holds the narrower permission ``name``."""
        return self.is_active and name in self.permissions

    # The admin site asks these three; it is read-only, so a right to view is all there is to give.
    @property
    def is_staff(self) -> bool:
        return self.is_active and self.role in (Role.AUDITOR, Role.ADMINISTRATOR, Role.SURVEILLANCE)

    def has_perm(self, perm: str, obj: object | None = None) -> bool:  # noqa: ARG002 - Django passes it
        """Say whether Django's admin may show something: auditors and surveillance see record, ledger and log;
        an administrator sees people and devices alone, because who grants rights does not read the money."""
        app, _, name = perm.partition(".")
        if not self.is_staff or not name.startswith("view_"):
            return False
        staff_models = (
            "person", "appointment", "handover", "device", "enrolment", "table", "cage", "apikey",
        )  # fmt: skip
        if self.role == Role.ADMINISTRATOR:
            return app == "casino" and name.removeprefix("view_") in staff_models
        return app in ("casino", "settlement", "audit")

    def has_module_perms(self, app_label: str) -> bool:
        if self.role == Role.ADMINISTRATOR:
            return self.is_staff and app_label == "casino"
        return self.is_staff and app_label in ("casino", "settlement", "audit")


class Table(AddedByTwo):
    """A table of the house. ``camera_grace_ms`` is how long a closed round waits for the camera's last reads."""

    class State(models.TextChoices):
        CLOSED = "closed"
        OPEN = "open"
        STOPPED = "stopped"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    code = models.CharField(max_length=20, unique=True)
    currency = models.CharField(max_length=3)
    camera = models.BooleanField(default=False)
    camera_grace_ms = models.IntegerField(default=1000)
    state = models.CharField(max_length=10, choices=State.choices, default=State.CLOSED)
    stop_reason = models.CharField(max_length=200, blank=True)

    class Meta(AddedByTwo.Meta):
        abstract = False
        constraints: ClassVar = [
            *AddedByTwo.Meta.constraints,
            models.CheckConstraint(condition=Q(code__regex=r"^[A-Z0-9]{1,20}$"), name="table_code_plain"),
            models.CheckConstraint(
                condition=~Q(state="stopped") | ~Q(stop_reason=""), name="table_stopped_with_a_reason"
            ),
        ]

    def __str__(self) -> str:
        return self.code


class TableSession(models.Model):
    """One table from its opener to its closer. Round numbers run 1..``last_round`` in it, stated at the close."""

    id = models.UUIDField(primary_key=True, editable=False)
    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="sessions")
    opened_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)
    last_round = models.IntegerField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["table"], condition=Q(closed_at=None), name="table_session_one_open_per_table"
            ),
            models.CheckConstraint(
                condition=Q(closed_at=None, last_round=None)
                | Q(closed_at__isnull=False, last_round__isnull=False, last_round__gte=0),
                name="table_session_closed_states_its_last_round",
            ),
        ]


class Duty(models.Model):
    """Who dealt or watched a session in which interval; a sign-in is not a duty."""

    session = models.ForeignKey(TableSession, on_delete=models.PROTECT, related_name="duties")
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="duties")
    role = models.CharField(max_length=20, choices=[("dealer", "dealer"), ("supervisor", "supervisor")])
    on_at = models.DateTimeField()
    off_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["session", "role"], condition=Q(off_at=None), name="duty_one_at_a_time"
            ),
            models.CheckConstraint(
                condition=Q(off_at=None) | Q(off_at__gte=models.F("on_at")), name="duty_ends_later"
            ),
        ]


class Device(models.Model):
    """A terminal or a camera bound to one table.

    ``last_seq`` is the highest number that arrived and ``holes`` the ranges below it that did not, ``[[first, last],
    …]`` in ascending order, without those that were waived. The row is locked while numbers are claimed.
    ``next_sha256`` is of the token that will take the place of the one in use, with its first request; both are live.
    """

    class Kind(models.TextChoices):
        TERMINAL = "terminal"
        CAMERA = "camera"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    code = models.CharField(max_length=60, unique=True)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="devices")
    token_sha256 = models.BinaryField(max_length=32, unique=True)
    next_sha256 = models.BinaryField(max_length=32, unique=True, null=True)
    enrolled_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)
    revoked_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+", null=True)
    last_seq = models.BigIntegerField(default=0)
    holes = models.JSONField(default=list)
    last_contact_at = models.DateTimeField(null=True)
    stated = models.JSONField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(kind__in=["terminal", "camera"]), name="device_kind_known"),
        ]

    def __str__(self) -> str:
        return self.code


class GapWaiver(models.Model):
    """Numbers of a device that a supervisor gave up waiting for; they hold no round any more."""

    device = models.ForeignKey(Device, on_delete=models.PROTECT, related_name="waivers")
    first = models.BigIntegerField()
    last = models.BigIntegerField()
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    reason = models.CharField(max_length=500)
    waived_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["device", "first", "last"], name="gap_waiver_once"),
            models.CheckConstraint(
                condition=Q(first__gte=1, last__gte=models.F("first")), name="gap_waiver_range"
            ),
        ]


class RoundWaiver(models.Model):
    """Round numbers of a session that a supervisor gave up waiting for: nobody played them, or nobody can say.

    Should one be opened after all, its round is recorded like any other.
    """

    session = models.ForeignKey(TableSession, on_delete=models.PROTECT, related_name="waived_rounds")
    first = models.IntegerField()
    last = models.IntegerField()
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    reason = models.CharField(max_length=500)
    waived_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["session", "first", "last"], name="round_waiver_once"),
            models.CheckConstraint(
                condition=Q(first__gte=1, last__gte=models.F("first")), name="round_waiver_range"
            ),
        ]


class Signature(models.Model):
    """A person's sign-off, given by badge and secret at a terminal, for exactly the bytes of ``sha256``."""

    id = models.UUIDField(primary_key=True, editable=False)
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    device = models.ForeignKey(Device, on_delete=models.PROTECT, related_name="+", null=True)
    session = models.ForeignKey(TableSession, on_delete=models.PROTECT, related_name="+", null=True)
    sha256 = models.BinaryField(max_length=32)
    may_rule = models.BooleanField()
    signed_at = models.DateTimeField()


class Standing(models.TextChoices):
    """Where a round stands, as the layers above told casino; empty while the round is being played."""

    PLAYING = ""
    DUE = "due"
    HELD = "held"
    SETTLED = "settled"
    VOIDED = "voided"


class Round(models.Model):
    """One round of a session: the id was made by the device that first reported it.

    ``number`` is None until the opening arrives. ``alias_of`` names the round that another terminal had opened under
    the same number; an alias never stands for itself. ``record`` caches the fold of the events it was last judged
    on, and ``cards_seen`` the cards of it as a 52-bit set.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="+")
    session = models.ForeignKey(TableSession, on_delete=models.PROTECT, related_name="rounds")
    number = models.IntegerField(null=True)
    recorder = models.ForeignKey(Device, on_delete=models.PROTECT, related_name="+", null=True)
    alias_of = models.ForeignKey("self", on_delete=models.PROTECT, related_name="aliases", null=True)
    standing = models.CharField(max_length=10, choices=Standing.choices, blank=True, default=Standing.PLAYING)
    reasons = ArrayField(models.CharField(max_length=40), default=list)
    in_dispute = models.BooleanField(default=False)
    due_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField()
    opened_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)
    gaming_day = models.DateField(null=True)
    event_count = models.IntegerField(default=0)
    record = models.JSONField(null=True)
    cards_seen = models.BigIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["session", "number"], condition=Q(alias_of=None), name="round_number_once_per_session"
            ),
            models.CheckConstraint(condition=Q(standing__in=Standing.values), name="round_standing_known"),
            models.CheckConstraint(condition=Q(number=None) | Q(number__gte=1), name="round_number_from_one"),
            models.CheckConstraint(
                condition=(Q(standing="held") & ~Q(reasons=[])) | (~Q(standing="held") & Q(reasons=[])),
                name="round_held_with_reasons",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["due_at"], condition=Q(standing="due"), name="round_due"),
            models.Index(fields=["session"], condition=Q(standing="held"), name="round_held"),
            models.Index(fields=["table", "-created_at"], name="round_by_table"),
            models.Index(fields=["alias_of"], condition=Q(alias_of__isnull=False), name="round_aliases"),
        ]


class RoundEvent(models.Model):
    """One report of a round, as it came: evidence.

    ``id`` is the order of recording in the whole service, ``seq`` in the round. ``happened_at`` is the device's
    word, ``instant`` that put right by the request's offset, ``recorded_at`` ours. ``late``: it came when the round
    stood settled or voided, and fills no slot unless a ruling or decision names it. ``signed`` says how a sign-off
    was given: not at all, by ``signature``, by the supervisor ``on_duty`` (demonstrations only), or by the page or
    decision it came from. ``jumped_from`` is the table's last number where an opening gave one far above it.
    """

    class Signed(models.TextChoices):
        NOT = ""
        SIGNATURE = "signature"
        ON_DUTY = "on_duty"
        PAGE = "page"
        DECISION = "decision"

    id = models.BigAutoField(primary_key=True)
    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="events")
    seq = models.IntegerField()
    kind = models.CharField(max_length=30)
    payload = models.JSONField()
    source = models.CharField(max_length=120)
    event_id = models.CharField(max_length=64)
    device = models.ForeignKey(Device, on_delete=models.PROTECT, related_name="+", null=True)
    device_seq = models.BigIntegerField(null=True)
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+", null=True)
    signature = models.ForeignKey(Signature, on_delete=models.PROTECT, related_name="+", null=True)
    signer = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+", null=True)
    signed = models.CharField(max_length=10, choices=Signed.choices, blank=True, default=Signed.NOT)
    happened_at = models.DateTimeField()
    instant = models.DateTimeField()
    clock_off = models.BooleanField(default=False)
    recorded_at = models.DateTimeField()
    offset_ms = models.BigIntegerField(null=True)
    sha256 = models.BinaryField(max_length=32)
    late = models.BooleanField(default=False)
    jumped_from = models.IntegerField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["round", "seq"], name="round_event_seq_once"),
            models.UniqueConstraint(fields=["device", "device_seq"], name="round_event_device_seq_once"),
            models.CheckConstraint(
                # Neither without the other, said outright: a CHECK that comes to NULL lets a row pass.
                condition=Q(device=None, device_seq=None)
                | Q(device__isnull=False, device_seq__isnull=False, device_seq__gte=1),
                name="round_event_device_with_its_number",
            ),
            models.CheckConstraint(
                condition=Q(instant__lte=models.F("recorded_at")), name="round_event_not_from_later"
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["recorded_at"], condition=Q(kind="mispay_found"), name="round_event_mispays_found"
            ),
        ]


class RefusedEvent(models.Model):
    """A number of a device that was used by an event the service refused: sent again, it gets the same refusal.

    A second event under a used number is kept here too (``sequence_reused``), so (device, device_seq) may repeat;
    ``claims`` says whether this row is what uses up the number.
    """

    id = models.BigAutoField(primary_key=True)
    device = models.ForeignKey(Device, on_delete=models.PROTECT, related_name="+")
    device_seq = models.BigIntegerField()
    claims = models.BooleanField()
    sha256 = models.BinaryField(max_length=32)
    code = models.CharField(max_length=60)
    fields = models.JSONField(default=dict)
    extra = models.JSONField(default=dict)
    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="+", null=True)
    recorded_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["device", "device_seq"], condition=Q(claims=True), name="refused_event_claims_once"
            ),
            models.UniqueConstraint(
                fields=["device", "device_seq", "sha256"], name="refused_event_same_bytes_once"
            ),
        ]
