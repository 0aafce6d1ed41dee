"""Journals: complete sets of postings, posted once each, taken back once each."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from types import MappingProxyType
from typing import Any
from uuid import UUID

from django.db import IntegrityError, connection, transaction

from casino import events
from casino.platform import refusals
from settlement.ledger import accounts, holds
from settlement.ledger.accounts import Balance

refusals.register("insufficient_funds", 422, "The account does not hold that much.", "ยอดเงินในบัญชีไม่พอ")

NONE: Mapping[UUID, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Posting:
    """``amount`` minor units to ``account`` (below zero: from it), for one ``wager`` of the round or none
    ("")."""

    account: str
    amount: int
    wager: str = ""


@dataclass(frozen=True, slots=True)
class NewJournal:
    """A journal to be posted; its postings add up to zero. ``key`` names the act (``round:{uuid}:1``):
    posted again, it is the same journal. ``orig_day`` is the gaming day that a correction is about, where
    it is not ``gaming_day``."""

    kind: str
    key: str
    gaming_day: date
    currency: str
    postings: tuple[Posting, ...]
    round: UUID | None = None
    reverses: UUID | None = None
    orig_day: date | None = None

    def described(self, id: UUID) -> dict[str, Any]:
        """Return the journal as an act tells it to the witness, every amount included."""
        return {
            "id": str(id),
            "kind": self.kind,
            "key": self.key,
            "gaming_day": self.gaming_day.isoformat(),
            "orig_day": self.orig_day.isoformat() if self.orig_day else None,
            "currency": self.currency,
            "reverses": str(self.reverses) if self.reverses else None,
            "postings": [[posting.account, posting.amount, posting.wager] for posting in self.postings],
        }


def post(
    journals: Sequence[NewJournal],
    *,
    release: Mapping[UUID, str] = NONE,
    locked: Mapping[str, Balance] | None = None,
) -> list[UUID]:
    """Post the journals in this order and end the holds of ``release`` (id → outcome); return the journals'
    ids.

    A key that was posted before moves nothing and gives the first journal's id; with other contents it is
    refused (``idempotency_key_reused``; the day may differ, as an act sent again may come in the next).
    ``locked`` is what ``lock`` gave earlier in this act, if it did: those rows are not locked again.

    What counts for a guarded account is where all of it ends: a reversal may pass below the floor when the
    journal behind it comes back above. Below floor + held at the end: Refusal ``insufficient_funds``. Also
    raises ``unknown_account``, ``wrong_currency``, ``day_sealed``, and ValueError for a journal that is not one.

    Four statements, five with holds to end, one less when ``locked`` has every account; none for no
    journals and no holds. A key in use by another act at this moment is waited for.
    """
    act = events.current()
    for journal in journals:
        _require_whole(journal)
    if not journals and not release:
        return []
    standing = _standing(journals, release=release, locked=locked)
    for _ in range(2):
        posted = _posted_before(journals)
        fresh = _fresh(journals, posted=posted)
        try:
            with transaction.atomic():
                _write(fresh, standing=standing, release=release, act=act)
        except IntegrityError as fault:
            if _constraint(fault) == "journal_in_an_open_day":
                raise refusals.Refusal("day_sealed") from fault
            if _constraint(fault) != "journal_key_once":
                raise
            # An act that locked other accounts posted this key since we looked; it is over now, so look
            # again.
            continue
        return [posted[journal.key] for journal in journals]
    raise RuntimeError("a journal's key is in use, and yet it is not")


def reversal_of(ids: Sequence[UUID], *, gaming_day: date) -> list[NewJournal]:
    """Return the journals that take these back exactly, posted in ``gaming_day``; in the order of ``ids``.

    A journal is reversed at most once, and no reversal is reversed: the database refuses both. One statement.
    """
    return [
        replace(
            journal,
            kind="round_reversal",
            key=f"reversal:{journal.key}",
            gaming_day=gaming_day,
            orig_day=day if (day := journal.orig_day or journal.gaming_day) != gaming_day else None,
            postings=tuple(
                Posting(posting.account, -posting.amount, posting.wager) for posting in journal.postings
            ),
            reverses=id,
        )
        for id, journal in zip(ids, posted_as(ids), strict=True)
    ]


_POSTED = """
SELECT j.id, j.kind, j.key, j.gaming_day, j.currency, j.round, j.reverses_id, j.orig_day,
       array_agg(a.code ORDER BY e.ordinal), array_agg(e.amount ORDER BY e.ordinal),
       array_agg(e.wager ORDER BY e.ordinal)
  FROM settlement_journal j JOIN settlement_entry e ON e.journal_id = j.id
  JOIN settlement_account a ON a.id = e.account_id
 WHERE j.id = ANY(%s) GROUP BY j.id
"""


def posted_as(ids: Sequence[UUID]) -> list[NewJournal]:
    """Return these journals as they were posted, in the order of ``ids``. One statement."""
    with connection.cursor() as cursor:
        cursor.execute(_POSTED, [list(ids)])
        found = {row[0]: row[1:] for row in cursor.fetchall()}
    return [
        NewJournal(
            kind=kind,
            key=key,
            gaming_day=day,
            currency=currency,
            postings=tuple(Posting(*posting) for posting in zip(codes, amounts, wagers, strict=True)),
            round=round,
            reverses=reverses,
            orig_day=orig_day,
        )
        for kind, key, day, currency, round, reverses, orig_day, codes, amounts, wagers in map(
            found.__getitem__, ids
        )
    ]


# -- the steps of a post -----------------------------------------------------------------------------------


def _require_whole(journal: NewJournal) -> None:
    amounts = [posting.amount for posting in journal.postings]
    if len(amounts) < 2 or 0 in amounts or sum(amounts) != 0:
        raise ValueError(f"journal {journal.key} does not move what it gives: {amounts}")


def _standing(
    journals: Sequence[NewJournal], *, release: Collection[UUID], locked: Mapping[str, Balance] | None
) -> dict[str, Balance]:
    """Return the accounts that will move, by code, locked."""
    currencies: dict[str, str] = {}
    for journal in journals:
        for posting in journal.postings:
            if currencies.setdefault(posting.account, journal.currency) != journal.currency:
                raise refusals.Refusal("wrong_currency", accounts=[posting.account])
    standing = dict(locked or {})
    missing = [code for code in currencies if code not in standing]
    if missing or (release and locked is None):
        # One currency in one call is the rule; several take a lock each, in the order of their names.
        for currency in sorted({currencies[code] for code in missing}) or [""]:
            codes = [code for code in missing if currencies[code] == currency]
            standing |= accounts.lock(codes, currency=currency, holds=list(release) if locked is None else ())
    unknown = sorted(code for code in currencies if code not in standing)
    if unknown:
        raise refusals.Refusal("unknown_account", accounts=unknown)
    for code, currency in currencies.items():
        if standing[code].currency != currency:
            raise refusals.Refusal("wrong_currency", accounts=[code])
    return standing


def _posted_before(journals: Sequence[NewJournal]) -> dict[str, UUID]:
    """Return key → id of those that are posted already. Asked under the accounts' locks, and so after a
    twin that moves the same accounts is over."""
    with connection.cursor() as cursor:
        cursor.execute(
            """ SELECT j.key, j.id, j.kind, j.currency, j.round, j.reverses_id, ( SELECT
            jsonb_agg(jsonb_build_array(a.code, e.amount, e.wager) ORDER BY e.ordinal) FROM settlement_entry
            e JOIN settlement_account a ON a.id = e.account_id WHERE e.journal_id = j.id ) FROM
            settlement_journal j WHERE j.key = ANY(%s) """,
            [[journal.key for journal in journals]],
        )
        rows = {row[0]: row[1:] for row in cursor.fetchall()}
    for journal in journals:
        if journal.key in rows:
            _, *what, postings = rows[journal.key]
            _require_same(journal, first=(*what, json.loads(postings)))
    return {key: row[0] for key, row in rows.items()}


def _require_same(journal: NewJournal, *, first: tuple[Any, ...]) -> None:
    postings = [[posting.account, posting.amount, posting.wager] for posting in journal.postings]
    if first != (journal.kind, journal.currency, journal.round, journal.reverses, postings):
        raise refusals.Refusal("idempotency_key_reused", key=journal.key)


def _fresh(journals: Sequence[NewJournal], *, posted: dict[str, UUID]) -> list[tuple[UUID, NewJournal]]:
    """Give an id to every journal whose key is new, and enter it in ``posted``."""
    act = events.current()
    first: dict[str, NewJournal] = {}
    fresh = []
    for journal in journals:
        if journal.key in first:
            same = first[journal.key]
            if (same.kind, same.currency, same.round, same.reverses, same.postings) != (
                journal.kind,
                journal.currency,
                journal.round,
                journal.reverses,
                journal.postings,
            ):
                raise refusals.Refusal("idempotency_key_reused", key=journal.key)
        elif journal.key not in posted:
            first[journal.key] = journal
            posted[journal.key] = events.uuid7(act.now)
            fresh.append((posted[journal.key], journal))
    return fresh


def _write(
    fresh: Sequence[tuple[UUID, NewJournal]],
    *,
    standing: Mapping[str, Balance],
    release: Mapping[UUID, str],
    act: events.Act,
) -> None:
    freed = holds.ended(release, now=act.now) if release else {}
    entries = _Entries.of([journal for _, journal in fresh], standing=standing)
    by_id = {balance.id: balance for balance in standing.values()}
    moved = {standing[code].id: place for code, place in entries.last.items()}
    changed = []
    for id in moved.keys() | freed.keys():
        before = by_id[id]
        version, balance = moved.get(id, (before.version, before.balance))
        held = before.held - freed.get(id, 0)
        if before.floor is not None and balance - held < before.floor:
            raise _insufficient(before, asked=before.balance - balance)
        changed.append((id, balance, version, held))
    if changed:
        _update_accounts(changed)
    if fresh:
        _insert(fresh, entries=entries, act=act)


def _insufficient(account: Balance, *, asked: int) -> refusals.Refusal:
    def money(amount: int) -> dict[str, Any]:
        return {"amount": amount, "currency": account.currency}

    return refusals.Refusal(
        "insufficient_funds",
        account=account.code,
        asked=money(asked),
        balance=money(account.balance),
        held=money(account.held),
        available=money(account.available),
    )


@dataclass(frozen=True, slots=True)
class _Entries:
    """Entries as columns, and (version, balance) of each account, by code, behind the last of them.
    ``journals`` are places among the journals posted with them, from 1."""

    journals: list[int]
    ordinals: list[int]
    accounts: list[int]
    amounts: list[int]
    versions: list[int]
    balances: list[int]
    wagers: list[str]
    last: dict[str, tuple[int, int]]

    @classmethod
    def of(cls, journals: Sequence[NewJournal], *, standing: Mapping[str, Balance]) -> "_Entries":
        made = cls([], [], [], [], [], [], [], {})
        last = made.last
        for place, journal in enumerate(journals, start=1):
            for ordinal, posting in enumerate(journal.postings):
                code = posting.account
                account = standing[code]
                version, balance = last.get(code) or (account.version, account.balance)
                last[code] = version, balance = version + 1, balance + posting.amount
                made.journals.append(place)
                made.ordinals.append(ordinal)
                made.accounts.append(account.id)
                made.amounts.append(posting.amount)
                made.versions.append(version)
                made.balances.append(balance)
                made.wagers.append(posting.wager)
        return made


def _update_accounts(changed: Sequence[tuple[int, int, int, int]]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            """ UPDATE settlement_account a SET balance = n.balance, version = n.version, held = n.held FROM
            unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[]) AS n (id, balance, version, held)
            WHERE a.id = n.id """,
            [_array(column) for column in zip(*sorted(changed), strict=True)],
        )


# Journals and entries by one statement: the database refuses one without the other.
_INSERT = """
WITH new AS MATERIALIZED (
    SELECT * FROM unnest(%s::uuid[], %s::text[], %s::text[], %s::date[], %s::date[], %s::text[], %s::integer[],
                         %s::uuid[], %s::uuid[]) WITH ORDINALITY
         AS n (id, kind, key, gaming_day, orig_day, currency, entry_count, reverses, round, place)
), posted AS (
    INSERT INTO settlement_journal
        (id, kind, key, gaming_day, orig_day, currency, entry_count, reverses_id, round, recorded_at)
    SELECT id, kind, key, gaming_day, orig_day, currency, entry_count, reverses, round, %s FROM new ORDER BY place
)
INSERT INTO settlement_entry (journal_id, ordinal, account_id, amount, currency, version, balance_after, wager)
SELECT new.id, e.ordinal, e.account, e.amount, new.currency, e.version, e.balance_after, e.wager
FROM unnest(%s::integer[], %s::integer[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::text[])
     AS e (journal, ordinal, account, amount, version, balance_after, wager)
JOIN new ON new.place = e.journal
ORDER BY e.journal, e.ordinal
"""


def _insert(fresh: Sequence[tuple[UUID, NewJournal]], *, entries: _Entries, act: events.Act) -> None:
    journals = [journal for _, journal in fresh]
    with connection.cursor() as cursor:
        cursor.execute(
            _INSERT,
            [
                [id for id, _ in fresh],
                [journal.kind for journal in journals],
                [journal.key for journal in journals],
                [journal.gaming_day for journal in journals],
                [journal.orig_day for journal in journals],
                [journal.currency for journal in journals],
                _array([len(journal.postings) for journal in journals]),
                [journal.reverses for journal in journals],
                [journal.round for journal in journals],
                act.now,
                _array(entries.journals),
                _array(entries.ordinals),
                _array(entries.accounts),
                _array(entries.amounts),
                _array(entries.versions),
                _array(entries.balances),
                entries.wagers,
            ],
        )


def _array(integers: Sequence[int]) -> str:
    """Write integers as PostgreSQL writes an array: half of a post's time in Python went into the driver
    doing so, element by element."""
    return "{" + ",".join(map(str, integers)) + "}"


def _constraint(fault: IntegrityError) -> str:
    diagnosis = getattr(fault.__cause__, "diag", None)
    return getattr(diagnosis, "constraint_name", None) or ""
