"""What rounds are worth: rule sheets, the ledger, settlements and counted floats.

Amounts are whole minor units (satang) beside their currency. Rows of ``APPEND_ONLY`` are added and never
changed, by trigger and by grant; an account changes its balance, a hold ends once, a proposed sheet is
approved once. That a journal is whole and adds up to nothing is checked by the database itself, whoever
writes it.

Read in order: rule sheets, the ledger, settlements, counts.
"""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Func, Q

from casino.models import Person, Round, Table, TableSession


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


class AccountKind(models.TextChoices):
    """What an account is for; its code says which."""

    BANK = "bank"
    GUESTS = "guests"
    COMMISSION = "commission"
    DROP = "drop"
    WALLET = "wallet"
    VAULT = "vault"
    EXTERNAL = "external"
    VARIANCE = "variance"
    SUSPENSE = "suspense"


class Account(models.Model):
    """One account: a balance is what its holder has. ``held`` is set aside of it, ``version`` counts its
    entries.

    ``floor`` guards it: balance − held stays at or above (wallets: 0). None leaves it free, as a table's
    bank, from which a payout is never refused. ``table`` is the table that a code names, and the accounts
    of one table are what that table locks.
    """

    id = models.BigAutoField(primary_key=True)
    code = models.CharField(max_length=120)
    kind = models.CharField(max_length=12, choices=AccountKind.choices)
    currency = models.CharField(max_length=3)
    balance = models.BigIntegerField(default=0)
    held = models.BigIntegerField(default=0)
    version = models.BigIntegerField(default=0)
    floor = models.BigIntegerField(null=True)
    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="+", null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["code"], name="account_code_once"),
            models.CheckConstraint(
                condition=Q(floor=None) | Q(floor__lte=F("balance") - F("held")),
                name="account_never_below_its_floor",
            ),
            models.CheckConstraint(condition=Q(held__gte=0), name="account_holds_are_not_negative"),
            models.CheckConstraint(condition=Q(version__gte=0), name="account_version_counts_up"),
            models.CheckConstraint(condition=Q(currency__regex="^[A-Z]{3}$"), name="account_currency_plain"),
            models.CheckConstraint(
                condition=Q(code__regex=r"^table:[A-Z0-9]{1,20}:bank$", kind="bank", floor=None)
                | Q(code__regex=r"^table:[A-Z0-9]{1,20}:guests$", kind="guests", floor=None)
                | Q(code__regex=r"^table:[A-Z0-9]{1,20}:commission$", kind="commission", floor=None)
                | Q(code__regex=r"^table:[A-Z0-9]{1,20}:drop$", kind="drop", floor=None)
                | Q(code__regex=r"^player:[A-Za-z0-9._-]{1,64}:wallet$", kind="wallet", floor__isnull=False)
                | Q(code__regex=r"^cage:[A-Z0-9]{1,20}:vault$", kind="vault", floor=None)
                | Q(code__regex=r"^external:[a-z0-9_]{1,30}:[A-Z0-9]{1,20}$", kind="external", floor=None)
                | Q(code__regex=r"^variance:[A-Z0-9]{1,20}$", kind="variance", floor=None)
                | Q(code__regex=r"^suspense:[a-z0-9_]{1,30}:[A-Z0-9]{1,20}$", kind="suspense", floor=None),
                name="account_code_says_its_kind",
            ),
        ]

    def __str__(self) -> str:
        return self.code


class JournalKind(models.TextChoices):
    """Everything that may move money; there is no "other".

    A take, a pay and a commission are entries of ``round``. What a later revision takes back, a shortfall
    among it, is a ``round_reversal``.
    """

    OPENER = "opener"
    CLOSER = "closer"
    FILL = "fill"
    CREDIT = "credit"
    BUY_IN = "buy_in"
    VARIANCE = "variance"
    WALLET_CLEARING = "wallet_clearing"
    CHIPS_LEFT = "chips_left"
    ROUND = "round"
    ROUND_REVERSAL = "round_reversal"
    HOLD_SHORTFALL = "hold_shortfall"
    SHORTFALL_RECOVERED = "shortfall_recovered"
    PAY_SLIP_ISSUED = "pay_slip_issued"
    PAY_SLIP_PAID = "pay_slip_paid"
    PAY_SLIP_VOID = "pay_slip_void"
    DEPOSIT = "deposit"
    WITHDRAWAL = "withdrawal"
    CHIP_SALE = "chip_sale"
    CHIP_REDEMPTION = "chip_redemption"
    DROP_COUNTED = "drop_counted"
    EXTERNAL_MIRROR = "external_mirror"
    BREAK_RESOLVED = "break_resolved"


class Journal(models.Model):
    """One complete set of entries, posted in one statement; per currency it adds up to nothing.

    ``key`` is the client's name for the act (``round:{uuid}:1``): the same key again is the same journal.
    ``gaming_day`` is the day it is posted in; ``orig_day`` the day of what a late correction is about.
    ``reverses`` names the journal that this one takes back, entry for entry.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    kind = models.CharField(max_length=24, choices=JournalKind.choices)
    key = models.CharField(max_length=200)
    gaming_day = models.DateField()
    orig_day = models.DateField(null=True)
    currency = models.CharField(max_length=3)
    entry_count = models.IntegerField()
    reverses = models.ForeignKey(
        "self", on_delete=models.PROTECT, related_name="+", null=True, db_index=False
    )
    round = models.UUIDField(null=True)
    recorded_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["key"], name="journal_key_once"),
            models.UniqueConstraint(
                fields=["reverses"], condition=Q(reverses__isnull=False), name="journal_reversed_once"
            ),
            models.CheckConstraint(condition=Q(kind__in=JournalKind.values), name="journal_kind_known"),
            models.CheckConstraint(condition=Q(entry_count__gte=2), name="journal_two_entries_or_more"),
            models.CheckConstraint(
                condition=Q(reverses=None) & ~Q(kind="round_reversal")
                | Q(reverses__isnull=False, kind__in=["round_reversal", "pay_slip_void"]),
                name="journal_reversal_says_so",
            ),
            models.CheckConstraint(
                condition=~Q(kind__in=["round", "round_reversal", "hold_shortfall"]) | Q(round__isnull=False),
                name="journal_of_a_round_names_it",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["round"], condition=Q(round__isnull=False), name="journal_by_round"),
            models.Index(fields=["gaming_day", "kind"], name="journal_by_day"),
        ]

    def __str__(self) -> str:
        return self.key


class Entry(models.Model):
    """One amount in one account. ``version`` is its place in the account, without gaps, and
    ``balance_after`` what the account held then, so that any past balance is one row. ``wager`` names the
    wager of its journal's round that it pays or takes; empty for what concerns the whole round, or no
    round.

    Journal and account exist because the trigger that adds entries up reads both, once per statement, and
    because neither is ever deleted: a foreign key, which asks once per row, took 40 % of the time of
    posting.
    """

    id = models.BigAutoField(primary_key=True)
    journal = models.ForeignKey(
        Journal, on_delete=models.PROTECT, related_name="entries", db_index=False, db_constraint=False
    )
    ordinal = models.IntegerField()
    account = models.ForeignKey(
        Account, on_delete=models.PROTECT, related_name="entries", db_index=False, db_constraint=False
    )
    amount = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    version = models.BigIntegerField()
    balance_after = models.BigIntegerField()
    wager = models.CharField(max_length=40, blank=True)

    class Meta:
        verbose_name_plural = "entries"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["journal", "ordinal"], name="entry_ordinal_once"),
            models.UniqueConstraint(fields=["account", "version"], name="entry_version_once"),
            models.CheckConstraint(condition=~Q(amount=0), name="entry_moves_something"),
        ]


class Hold(models.Model):
    """Money of an account set aside for one wager of a round (``bank``: for a player's bank), before the
    cards.

    It ends once: ``settled`` with the round, ``released`` by a void, or ``changed`` because the bet was.
    """

    class Outcome(models.TextChoices):
        OPEN = ""
        SETTLED = "settled"
        RELEASED = "released"
        CHANGED = "changed"

    id = models.UUIDField(primary_key=True, editable=False)
    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="holds")
    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="+")
    wager = models.CharField(max_length=40)
    amount = models.BigIntegerField()
    opened_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=10, choices=Outcome.choices, blank=True, default=Outcome.OPEN)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(amount__gt=0), name="hold_sets_something_aside"),
            models.CheckConstraint(
                condition=Q(ended_at=None, outcome="")
                | Q(ended_at__isnull=False, outcome__in=["settled", "released", "changed"]),
                name="hold_ends_with_an_outcome",
            ),
            models.UniqueConstraint(
                fields=["round", "wager"], condition=Q(ended_at=None), name="hold_one_open_per_wager"
            ),
        ]


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


class Uncovered(models.Model):
    """A wallet's wager that met cards without its exposure set aside, and why: the terminal was
    ``offline``, the wallet ``refused`` it, or the bet was ``changed`` since it was covered."""

    id = models.BigAutoField(primary_key=True)
    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="+", db_index=False)
    wager = models.CharField(max_length=40)
    account_code = models.CharField(max_length=120)
    exposure = models.BigIntegerField()
    reason = models.CharField(
        max_length=10, choices=[("offline", "offline"), ("refused", "refused"), ("changed", "changed")]
    )
    recorded_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "uncovered wagers"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["round", "wager"], name="uncovered_once_per_wager"),
            models.CheckConstraint(
                condition=Q(reason__in=["offline", "refused", "changed"]),
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
    ``shortfall_reversal``, and says ``because`` of which decision, or which two people.
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
    journal = models.OneToOneField(Journal, on_delete=models.PROTECT, related_name="+", null=True)
    shortfall = models.OneToOneField(Journal, on_delete=models.PROTECT, related_name="+", null=True)
    reversal = models.OneToOneField(Journal, on_delete=models.PROTECT, related_name="+", null=True)
    shortfall_reversal = models.OneToOneField(Journal, on_delete=models.PROTECT, related_name="+", null=True)
    supersedes = models.OneToOneField("self", on_delete=models.PROTECT, related_name="+", null=True)
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


APPEND_ONLY: tuple[type[models.Model], ...] = (
    TableRules,
    Journal,
    Entry,
    RefusedCover,
    Uncovered,
    Settlement,
    Line,
    Count,
    Float,
)
"""Tables of this app that triggers and grants keep from ever being changed."""

CHANGES: dict[type[models.Model], tuple[str, ...]] = {
    RuleSheet: ("approved_by_id", "approved_at"),
    Account: ("balance", "held", "version"),
    Hold: ("ended_at", "outcome"),
}
"""What may change in the rows of the other tables; nothing of them is ever deleted."""
