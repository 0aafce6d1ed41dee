"""Doors of the ledger: balances, entries and journals. Those of a table are for who may see expected figures."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import Q, QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.door import Door, Number, PageQuery, Place, SignedMoney, described, money
from casino.api.operations import refuses
from casino.models import Role
from casino.platform.refusals import Refusal
from settlement import table_floats
from settlement.models import Account, AccountKind, Entry, Journal, JournalKind

OF_A_TABLE = (
    AccountKind.BANK,
    AccountKind.GUESTS,
    AccountKind.COMMISSION,
    AccountKind.DROP,
    AccountKind.VARIANCE,
    AccountKind.SUSPENSE,
)
"""What a tray should hold can be worked out from these."""

AccountShown = described(
    "Account",
    {
        "code": serializers.CharField(),
        "kind": serializers.ChoiceField(AccountKind.values),
        "balance": SignedMoney(allow_null=True),
        "held": SignedMoney(allow_null=True),
        "available": SignedMoney(allow_null=True),
        "version": serializers.IntegerField(allow_null=True),
        "reason": serializers.CharField(
            required=False, help_text="why figures are null: count_open, the table is being counted"
        ),
    },
)
EntryShown = described(
    "Entry",
    {
        "journal": serializers.UUIDField(),
        "account": serializers.CharField(),
        "amount": SignedMoney(),
        "version": serializers.IntegerField(),
        "balance_after": SignedMoney(),
        "wager": serializers.CharField(),
    },
)


def accounts_in_scope(door: Door) -> QuerySet[Account]:
    """Return the accounts that the person may see; the others do not exist for them."""
    person = door.person
    found = Account.objects.select_related("table")
    if not person.has_duty("see_expected"):
        found = found.exclude(kind__in=OF_A_TABLE)
    if person.role == Role.CASHIER:
        found = found.filter(
            Q(kind=AccountKind.WALLET) | Q(kind=AccountKind.VAULT) | Q(kind=AccountKind.EXTERNAL)
        )
    return found


def hidden_from(door: Door) -> set[str]:
    """Return the tables of which no figure is shown now to the person who knocks: those that are being counted."""
    return table_floats.hidden_from(door.person)


def is_hidden(account: Account, hidden: Collection[str]) -> bool:
    return account.table is not None and account.table.code in hidden


def account_shown(account: Account, *, hidden: Collection[str] = ()) -> dict[str, Any]:
    """Return an account as its balance stands; of a table in ``hidden``, without its figures."""
    if is_hidden(account, hidden):
        nothing = dict.fromkeys(("balance", "held", "available", "version"))
        return {"code": account.code, "kind": account.kind, **nothing, "reason": table_floats.COUNT_OPEN}
    available = account.balance - account.held - (account.floor or 0)
    return {
        "code": account.code,
        "kind": account.kind,
        "balance": money(account.balance, account.currency),
        "held": money(account.held, account.currency),
        "available": money(available, account.currency),
        "version": account.version,
    }


def _entry_shown(entry: Entry) -> dict[str, Any]:
    return {
        "journal": str(entry.journal_id),
        "account": entry.account.code,
        "amount": money(entry.amount, entry.currency),
        "version": entry.version,
        "balance_after": money(entry.balance_after, entry.currency),
        "wager": entry.wager,
    }


class AccountsQuery(PageQuery):
    """Which accounts; after a code."""

    cursor = Place()
    prefix = serializers.CharField(
        required=False, max_length=120, help_text="of the code: `player:`, `table:PD01:`"
    )


class EntriesQuery(PageQuery):
    """Which page; after a version."""

    cursor = Number(required=False, help_text="`next` of the page before")


class Accounts(Door):
    """Accounts and their balances."""

    declares: ClassVar = {"GET": "read_ledger"}
    queries: ClassVar = {"GET": AccountsQuery}

    @extend_schema(
        operation_id="listAccounts",
        responses={
            200: described(
                "Accounts",
                {
                    "accounts": AccountShown(many=True),
                    "next": serializers.CharField(allow_null=True),
                },
            )
        },
    )
    @refuses("not_found")
    def get(self, request: Request) -> Response:
        """List a page of accounts by code."""
        page = self.page
        hidden = hidden_from(self)
        found = accounts_in_scope(self).order_by("code")
        prefix = self.query.get("prefix", "")
        if prefix:
            found = found.filter(code__gte=prefix, code__lt=prefix + "\uffff")
        if page.cursor:
            found = found.filter(code__gt=page.cursor)
        shown, last = page.cut(found)
        return Response(
            {
                "accounts": [account_shown(account, hidden=hidden) for account in shown],
                "next": last.code if last else None,
            }
        )


class AccountDetail(Door):
    """One account."""

    declares: ClassVar = {"GET": "read_ledger"}

    @extend_schema(operation_id="readAccount", responses={200: AccountShown})
    def get(self, request: Request, code: str) -> Response:
        """Read an account's balance."""
        return Response(account_shown(_account(self, code), hidden=hidden_from(self)))


class AccountEntries(Door):
    """An account's entries, newest first."""

    declares: ClassVar = {"GET": "read_ledger"}
    queries: ClassVar = {"GET": EntriesQuery}

    @extend_schema(
        operation_id="listEntries",
        responses={
            200: described(
                "Entries",
                {
                    "entries": EntryShown(many=True, allow_null=True),
                    "next": serializers.CharField(allow_null=True),
                    "reason": serializers.CharField(
                        required=False, help_text="why there are none: count_open"
                    ),
                },
            )
        },
    )
    def get(self, request: Request, code: str) -> Response:
        """List a page of entries by version."""
        page = self.page
        account = _account(self, code)
        if is_hidden(account, hidden_from(self)):
            return Response({"entries": None, "next": None, "reason": table_floats.COUNT_OPEN})
        found = Entry.objects.select_related("account").filter(account=account).order_by("-version")
        if page.cursor is not None:
            found = found.filter(version__lt=page.cursor)
        shown, last = page.cut(found)
        return Response(
            {
                "entries": [_entry_shown(entry) for entry in shown],
                "next": str(last.version) if last else None,
            }
        )


class JournalDetail(Door):
    """One journal with its entries."""

    declares: ClassVar = {"GET": "read_ledger"}

    @extend_schema(
        operation_id="readJournal",
        responses={
            200: described(
                "Journal",
                {
                    "id": serializers.UUIDField(),
                    "kind": serializers.ChoiceField(JournalKind.values),
                    "key": serializers.CharField(),
                    "gaming_day": serializers.DateField(),
                    "orig_day": serializers.DateField(allow_null=True),
                    "round": serializers.UUIDField(allow_null=True),
                    "reverses": serializers.UUIDField(allow_null=True),
                    "recorded_at": serializers.DateTimeField(),
                    "entries": EntryShown(many=True, allow_null=True),
                    "reason": serializers.CharField(
                        required=False, help_text="why there are none: count_open"
                    ),
                },
            )
        },
    )
    def get(self, request: Request, journal: UUID) -> Response:
        """Read a journal; one that touches an account out of scope does not exist."""
        found = Journal.objects.filter(pk=journal).first()
        if found is None:
            raise Refusal("not_found")
        entries = list(
            Entry.objects.select_related("account__table").filter(journal=found).order_by("ordinal")
        )
        touched = {entry.account_id for entry in entries}
        if accounts_in_scope(self).filter(pk__in=touched).count() != len(touched):
            raise Refusal("not_found")
        hidden = hidden_from(self)
        counted = any(is_hidden(entry.account, hidden) for entry in entries)
        return Response(
            {
                "id": str(found.id),
                "kind": found.kind,
                "key": found.key,
                "gaming_day": found.gaming_day,
                "orig_day": found.orig_day,
                "round": str(found.round) if found.round else None,
                "reverses": str(found.reverses_id) if found.reverses_id else None,
                "recorded_at": found.recorded_at,
                "entries": None if counted else [_entry_shown(entry) for entry in entries],
                **({"reason": table_floats.COUNT_OPEN} if counted else {}),
            }
        )


def _account(door: Door, code: str) -> Account:
    account = accounts_in_scope(door).filter(code=code).first()
    if account is None:
        raise Refusal("not_found")
    return account
