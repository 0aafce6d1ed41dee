"""Accounts by their codes: what a code says, balances, and the lock that money is moved under."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from django.db import connection

from casino import events
from casino.platform import refusals

refusals.register("unknown_account", 422, "There is no such account.", "ไม่มีบัญชีนี้")
refusals.register("day_sealed", 409, "That gaming day is sealed.", "วันทำการนั้นปิดผนึกแล้ว")
refusals.register("wrong_currency", 422, "The account is kept in another currency.", "บัญชีนี้ใช้สกุลเงินอื่น")

DAYS_LOCK = 1_145_132_356
"""Class of the advisory locks of gaming days; the other half of such a lock is the day's ordinal."""


@dataclass(frozen=True, slots=True)
class Balance:
    """Where an account stands: ``held`` of ``balance`` is set aside. ``floor`` None: it may fall without
    end."""

    id: int
    code: str
    currency: str
    balance: int
    held: int
    version: int
    floor: int | None

    @property
    def available(self) -> int:
        """What may be taken or set aside now, in minor units."""
        return self.balance - self.held - (self.floor or 0)


@dataclass(frozen=True, slots=True)
class _Grammar:
    kind: str
    pattern: re.Pattern[str]
    of_a_table: bool = False
    on_demand: bool = True
    floor: int | None = None


_CODES: tuple[_Grammar, ...] = (
    *(
        _Grammar(kind, re.compile(rf"table:(?P<place>[A-Z0-9]{{1,20}}):{kind}"), of_a_table=True)
        for kind in ("bank", "guests", "commission", "drop")
    ),
    _Grammar("wallet", re.compile(r"player:[A-Za-z0-9._-]{1,64}:wallet"), on_demand=False, floor=0),
    _Grammar("vault", re.compile(r"cage:(?P<place>[A-Z0-9]{1,20}):vault")),
    _Grammar("external", re.compile(r"external:[a-z0-9_]{1,30}:(?P<place>[A-Z0-9]{1,20})")),
    _Grammar("variance", re.compile(r"variance:(?P<place>[A-Z0-9]{1,20})")),
    _Grammar("suspense", re.compile(r"suspense:[a-z0-9_]{1,30}:(?P<place>[A-Z0-9]{1,20})")),
)


@dataclass(frozen=True, slots=True)
class _NewAccount:
    code: str
    kind: str
    place: str
    of_a_table: bool
    on_demand: bool
    floor: int | None


def _read_code(code: str) -> _NewAccount | None:
    for grammar in _CODES:
        match = grammar.pattern.fullmatch(code)
        if match:
            return _NewAccount(
                code=code,
                kind=grammar.kind,
                place=match.groupdict().get("place") or "",
                of_a_table=grammar.of_a_table,
                on_demand=grammar.on_demand,
                floor=grammar.floor,
            )
    return None


_READ = """
SELECT id, code, currency, balance, held, version, floor FROM settlement_account WHERE code = ANY(%(codes)s)
"""

# The ids come first, as one array: the plan stays an index scan in id order however many codes there are. A
# row that another act holds is read again once that act is over (READ COMMITTED re-evaluates the row it
# waited for), so the balances are those under our lock. Accounts that are missing are made after the locks
# on those that exist: their ids are higher, so the order of locks stays that of ids. A wallet that lives in a cashier
# system is none of ours. NO KEY: what these
# rows are locked for never changes a key.
_LOCK = """
WITH wanted AS MATERIALIZED (
    SELECT id, code, currency, balance, held, version, floor FROM settlement_account
    WHERE id = ANY(ARRAY(
        SELECT a.id FROM settlement_account a WHERE a.code = ANY(%(codes)s)
        UNION SELECT h.account_id FROM settlement_hold h WHERE h.id = ANY(%(holds)s)
    ))
    ORDER BY id FOR NO KEY UPDATE
), made AS (
    INSERT INTO settlement_account (code, kind, currency, balance, held, version, floor, table_id)
    SELECT n.code, n.kind, %(currency)s, 0, 0, 0, n.floor, t.id
    FROM unnest(%(new)s::text[], %(kinds)s::text[], %(places)s::text[], %(of_a_table)s::boolean[],
                %(floors)s::bigint[])
         AS n (code, kind, place, of_a_table, floor)
    LEFT JOIN casino_table t ON t.code = n.place
    WHERE n.code NOT IN (SELECT code FROM wanted)
      AND CASE WHEN n.of_a_table THEN t.id IS NOT NULL
               WHEN n.place = '' THEN TRUE
               WHEN t.id IS NOT NULL THEN n.kind <> 'vault'
               ELSE EXISTS (SELECT FROM casino_cage c WHERE c.code = n.place AND c.ended_at IS NULL) END
      AND NOT EXISTS (SELECT FROM settlement_cashiersystem s
                       WHERE n.kind = 'wallet' AND s.prefix = substring(n.code FROM '^player:([A-Za-z0-9]{1,20}[-_])'))
    ORDER BY n.code
    ON CONFLICT (code) DO NOTHING
    RETURNING id, code, currency, balance, held, version, floor
)
SELECT id, code, currency, balance, held, version, floor FROM wanted
UNION ALL
SELECT id, code, currency, balance, held, version, floor FROM made
"""


def balances(codes: Collection[str]) -> dict[str, Balance]:
    """Return where these accounts stand, as of this statement; those that do not exist are not in it."""
    with connection.cursor() as cursor:
        cursor.execute(_READ, {"codes": list(codes)})
        return _by_code(cursor.fetchall())


def lock(codes: Collection[str], *, currency: str, holds: Sequence[UUID] = ()) -> dict[str, Balance]:
    """Lock these accounts, and those of ``holds``, until the act ends; return where they stand under the
    lock.

    Accounts of a table, a cage or a suspense that are missing are made, in ``currency``; wallets are not,
    and are then missing from the answer, as is any code that is no account's. One statement, in the order
    of ids.
    """
    events.current()
    return _locked(codes, currency=currency, holds=holds, wallets=False)


def ensure_accounts(codes: Collection[str], *, currency: str) -> dict[str, Balance]:
    """Make the accounts that are missing, wallets too, and lock them all. Raises Refusal
    ``unknown_account`` for a code that says no account, and ``wrong_currency`` for one that is kept in
    another."""
    events.current()
    found = _locked(codes, currency=currency, holds=(), wallets=True)
    missing = sorted(set(codes) - set(found))
    if missing:
        raise refusals.Refusal("unknown_account", accounts=missing)
    require_currency(found, currency=currency)
    return found


def open_wallet(*, ref: str, currency: str) -> Balance:
    """Make the wallet of ``player:{ref}``, empty; return it as it stands if it is there already."""
    code = f"player:{ref}:wallet"
    return ensure_accounts([code], currency=currency)[code]


def share_day(days: Collection[date]) -> date | None:
    """Keep these gaming days from being sealed until the act ends; many acts may do so at once.

    Return the last sealed day, None where none is: it is read behind the lock, and what is dated on it or before is
    refused (``day_sealed``) when it is posted. One statement.
    """
    events.current()
    with connection.cursor() as cursor:
        cursor.execute("SELECT settlement_share_days(%s::date[])", [sorted(set(days))])
        (last_sealed,) = cursor.fetchone()
    found: date | None = last_sealed
    return found


def hold_days_alone(*, first: date, last: date) -> None:
    """Wait for every act that posts in these gaming days, oldest day first, and keep others out until the act ends."""
    events.current()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(pg_advisory_xact_lock(%s, day)) FROM generate_series(%s, %s) AS day",
            [DAYS_LOCK, first.toordinal(), last.toordinal()],
        )


def require_currency(found: Mapping[str, Balance], *, currency: str) -> None:
    """Raise Refusal ``wrong_currency`` where one of the accounts is kept in another."""
    others = sorted(code for code, balance in found.items() if balance.currency != currency)
    if others:
        raise refusals.Refusal("wrong_currency", accounts=others)


def _locked(
    codes: Collection[str], *, currency: str, holds: Sequence[UUID], wallets: bool
) -> dict[str, Balance]:
    read = [_read_code(code) for code in sorted(set(codes))]
    new = [account for account in read if account is not None and (account.on_demand or wallets)]
    values: dict[str, Any] = {
        "codes": list(codes),
        "holds": list(holds),
        "currency": currency,
        "new": [account.code for account in new],
        "kinds": [account.kind for account in new],
        "places": [account.place for account in new],
        "of_a_table": [account.of_a_table for account in new],
        "floors": [account.floor for account in new],
    }
    with connection.cursor() as cursor:
        cursor.execute(_LOCK, values)
        found = _by_code(cursor.fetchall())
        if any(account.code not in found for account in new):
            # Another act made one of them meanwhile and was not over when this statement began; now it is.
            # (Or there is no such table, and asking again does not help.)
            cursor.execute(_LOCK, values)
            found = _by_code(cursor.fetchall())
    return found


def _by_code(rows: Sequence[tuple[Any, ...]]) -> dict[str, Balance]:
    return {row[1]: Balance(*row) for row in rows}
