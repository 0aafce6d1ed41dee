"""R0, structure: journals are complete and zero, accounts are the running sum of their entries, holds add up.

Each journal of the window is looked at with its entries, and each of these beside the one before it in its account;
what came before was looked at by the runs before. The account rows are compared with where their entries end.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from django.db import connection

from settlement.breaks import NewBreak
from settlement.reconciliation.results import Single
from settlement.reconciliation.window import (
    MS_OF_ID,
    Found,
    Level,
    Piece,
    Slice,
    Window,
    cut_by,
    first_id,
    grace,
    rows_of,
)

ACCOUNTS = 500
"""Account rows in one slice of their ids."""


def cut(window: Window, size: int) -> Iterator[Slice]:
    yield from cut_by(
        "journals",
        window,
        at=MS_OF_ID.format(id="id"),
        rows="settlement_journal WHERE id >= %(low)s AND id < %(high)s",
        size=size,
    )
    with connection.cursor() as cursor:
        cursor.execute("SELECT coalesce(max(id), 0) FROM settlement_account")
        (last,) = cursor.fetchone()
    for lower in range(0, last + 1, ACCOUNTS):
        yield Slice("accounts", lower, lower + ACCOUNTS)
    yield Slice("holds", window.lower, window.upper)
    yield Slice("trial", 0, 1)


_JOURNALS = """
SELECT j.id, j.currency, j.entry_count, count(e.id), count(DISTINCT e.ordinal), coalesce(min(e.ordinal), 0),
       coalesce(max(e.ordinal), -1), coalesce(sum(e.amount), 0)::bigint,
       count(*) FILTER (WHERE e.amount = 0),
       count(*) FILTER (WHERE e.currency <> a.currency OR e.currency <> j.currency),
       coalesce(jsonb_agg(jsonb_build_array(a.code, e.version, e.amount, e.balance_after, before.balance_after,
                                            twice.id IS NOT NULL)
                          ORDER BY e.id)
                FILTER (WHERE e.version < 1 OR (e.version = 1) <> (before.id IS NULL)
                           OR e.balance_after <> coalesce(before.balance_after, 0) + e.amount
                           OR twice.id IS NOT NULL), '[]')
  FROM settlement_journal j
  LEFT JOIN settlement_entry e ON e.journal_id = j.id
  LEFT JOIN settlement_account a ON a.id = e.account_id
  LEFT JOIN LATERAL (SELECT b.id, b.balance_after FROM settlement_entry b
                      WHERE b.account_id = e.account_id AND b.version = e.version - 1 LIMIT 1) before ON TRUE
  LEFT JOIN LATERAL (SELECT t.id FROM settlement_entry t
                      WHERE t.account_id = e.account_id AND t.version = e.version AND t.id <> e.id
                      LIMIT 1) twice ON TRUE
 WHERE j.id >= %(low)s AND j.id < %(high)s
 GROUP BY j.id ORDER BY j.id
"""


def journals(piece: Piece) -> Iterator[Found]:
    """Each journal: the entries that it states, nothing of zero, one currency, a sum of zero; each entry chained."""
    for id, currency, stated, entries, ordinals, low, high, total, zeros, foreign, loose in rows_of(
        _JOURNALS, piece.ids
    ):
        found: list[NewBreak] = []
        subject = f"journals/{id}"
        detail = {"stated": stated, "entries": entries, "sum": total}
        if entries != stated or ordinals != entries or (low, high) != (0, stated - 1) or zeros:
            code = "DUPLICATE" if entries > stated else "MISSING_LEDGER"
            found.append(NewBreak(code, subject, f"{entries} of {stated}", detail | {"zeros": zeros}))
        if total:
            found.append(NewBreak("BALANCE_DRIFT", subject, "sum", detail, amount=total, currency=currency))
        if foreign:
            found.append(NewBreak("CURRENCY", subject, "entries", detail | {"foreign": foreign}))
        found += [_loose(currency, *one) for one in json.loads(loose)]
        yield Single(subject, [currency, stated, entries, total], tuple(found))


def _loose(
    currency: str, code: str, version: int, amount: int, after: int, before: int | None, twice: bool
) -> NewBreak:
    subject = f"accounts/{code}"
    detail = {"version": version, "amount": amount, "balance_after": after, "before": before}
    if twice or (before is None) != (version == 1):
        return NewBreak("VERSION_GAP", subject, f"version {version}", detail)
    drift = after - (before or 0) - amount
    return NewBreak("BALANCE_DRIFT", subject, f"version {version}", detail, amount=drift, currency=currency)


_ACCOUNTS = """
SELECT a.code, a.currency, a.version, a.balance, a.held, a.floor, coalesce(last.version, 0),
       coalesce(last.balance_after, 0), coalesce(held.amount, 0)::bigint, ended.version, ended.balance_after
  FROM settlement_account a
  LEFT JOIN LATERAL (SELECT e.version, e.balance_after FROM settlement_entry e WHERE e.account_id = a.id
                      ORDER BY e.version DESC LIMIT 1) last ON TRUE
  LEFT JOIN LATERAL (SELECT sum(h.amount) AS amount FROM settlement_hold h
                      WHERE h.account_id = a.id AND h.ended_at IS NULL) held ON TRUE
  JOIN LATERAL (SELECT e.version, e.balance_after FROM settlement_entry e WHERE e.account_id = a.id
                   AND e.journal_id < %(end)s ORDER BY e.version DESC LIMIT 1) ended ON TRUE
 WHERE a.id >= %(lower)s AND a.id < %(upper)s ORDER BY a.id
"""


def accounts(piece: Piece) -> Iterator[Found]:
    """Each account's row is where its entries end, what is set aside is the sum of its open holds, and where it is
    guarded it stands above its floor. Compared by what it was when the window ended."""
    parameters = {"lower": piece.lower, "upper": piece.upper, "end": first_id(piece.window.upper)}
    for row in rows_of(_ACCOUNTS, parameters):
        code, currency, version, balance, held, floor, last_version, last_balance, open_holds, *then = row
        subject = f"accounts/{code}"
        found = []
        if version != last_version:
            detail = {"version": version, "last": last_version}
            found.append(NewBreak("VERSION_GAP", subject, f"row {version} of {last_version}", detail))
        if balance != last_balance:
            detail = {"balance": balance, "last": last_balance}
            found.append(
                NewBreak(
                    "BALANCE_DRIFT", subject, "row", detail, amount=balance - last_balance, currency=currency
                )
            )
        if held != open_holds:
            detail = {"held": held, "holds": open_holds}
            found.append(
                NewBreak(
                    "BALANCE_DRIFT", subject, "held", detail, amount=held - open_holds, currency=currency
                )
            )
        if floor is not None and balance - held < floor:
            detail = {"balance": balance, "held": held, "floor": floor}
            found.append(
                NewBreak(
                    "BALANCE_DRIFT",
                    subject,
                    "floor",
                    detail,
                    amount=balance - held - floor,
                    currency=currency,
                )
            )
        yield Single(subject, [currency, *then], tuple(found))


_HOLDS = """
SELECT h.id, a.code, a.currency, h.amount, h.round_id, r.standing,
       (SELECT max(s.settled_at) FROM settlement_settlement s WHERE s.round_id = h.round_id),
       h.id >= %(low)s AND h.id < %(high)s, h.ended_at IS NULL AND r.standing IN ('settled', 'voided')
  FROM settlement_hold h JOIN settlement_account a ON a.id = h.account_id JOIN casino_round r ON r.id = h.round_id
 WHERE (h.id >= %(low)s AND h.id < %(high)s)
    OR (h.ended_at IS NULL AND h.id < %(high)s AND r.standing IN ('settled', 'voided'))
 ORDER BY h.id
"""


def holds(piece: Piece) -> Iterator[Found]:
    """No hold outlives its round's settlement or void by more than the grace. Those of the window are counted, and
    whatever is stale from before."""
    for id, code, currency, amount, round, standing, settled_at, is_of_window, is_stale in rows_of(
        _HOLDS, piece.ids
    ):
        found: tuple[NewBreak, ...] = ()
        if is_stale:
            due = (settled_at or piece.ends) + grace()
            detail = {"account": code, "round": str(round), "standing": standing, "held": amount}
            found = (
                NewBreak(
                    "HOLD_STALE",
                    f"holds/{id}",
                    "open",
                    detail,
                    amount=amount,
                    currency=currency,
                    fell_due_at=due,
                ),
            )
        if is_of_window or found:
            is_due = not found or found[0].fell_due_at is None or found[0].fell_due_at <= piece.now
            yield Single(f"holds/{id}", [amount], found if is_due else (), is_pending=not is_due)


def trial(piece: Piece) -> Iterator[Found]:  # noqa: ARG001 - every part is asked the same way
    """The whole ledger adds up to nothing in each currency."""
    for currency, total in rows_of(
        "SELECT currency, sum(balance)::bigint FROM settlement_account GROUP BY currency ORDER BY currency",
        {},
    ):
        found = (
            NewBreak("BALANCE_DRIFT", "ledger", currency, {"sum": total}, amount=total, currency=currency),
        )
        yield Single(f"trial/{currency}", [], found if total else ())


LEVEL = Level(
    number=1,
    cut=cut,
    parts={"journals": journals, "accounts": accounts, "holds": holds, "trial": trial},
)
