"""The ledger: accounts, journals of entries, and what of an account is set aside."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from casino.models import Round, Table


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
    SLIP_CLEARING = "slip_clearing"
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
            models.Index(
                fields=["orig_day"], condition=Q(orig_day__isnull=False), name="journal_about_earlier_day"
            ),
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
