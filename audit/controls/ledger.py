"""I1 and I2: every journal is whole and balanced, every account is the running sum of its entries."""

from __future__ import annotations

from collections.abc import Iterator

from audit.controls.findings import Finding
from audit.controls.snapshot import Books

_WHOLE = """
SELECT j.id, j.entry_count, count(e.id), count(DISTINCT e.ordinal), coalesce(min(e.ordinal), 0),
       coalesce(max(e.ordinal), -1), count(*) FILTER (WHERE e.amount = 0),
       count(*) FILTER (WHERE e.currency <> a.currency)
  FROM settlement_journal j
  LEFT JOIN settlement_entry e ON e.journal_id = j.id
  LEFT JOIN settlement_account a ON a.id = e.account_id
 WHERE j.id >= %(since_id)s
 GROUP BY j.id
HAVING count(e.id) <> j.entry_count OR count(DISTINCT e.ordinal) <> count(e.id) OR min(e.ordinal) <> 0
    OR max(e.ordinal) <> j.entry_count - 1 OR count(*) FILTER (WHERE e.amount = 0 OR e.currency <> a.currency) > 0
    OR count(e.id) = 0
"""

_SUMS = """
SELECT e.journal_id, e.currency, sum(e.amount) FROM settlement_entry e
 WHERE e.journal_id >= %(since_id)s GROUP BY e.journal_id, e.currency HAVING sum(e.amount) <> 0
"""

_TOTAL = "SELECT currency, sum({amount}) FROM {table} GROUP BY currency HAVING sum({amount}) <> 0"


def whole_and_balanced(books: Books) -> Iterator[Finding]:
    """Each journal has the entries it states, ordinals 0 to n-1, nothing of zero, in its accounts' currency."""
    for id, stated, entries, ordinals, lowest, highest, zeros, foreign in books.rows(_WHOLE):
        yield Finding(
            f"journals/{id}",
            f"{entries} entries, {ordinals} ordinals {lowest} to {highest}, {zeros} of zero,"
            f" {foreign} in another currency than their account",
            f"{stated} entries, ordinals 0 to {stated - 1}, none of zero or in another currency",
        )
    for id, currency, total in books.rows(_SUMS):
        yield Finding(f"journals/{id}", f"sum {total} {currency}", "sum 0")


def ledger_balanced(books: Books) -> Iterator[Finding]:
    """The ledger as a whole adds up to nothing; a quick check adds the balances, a full one every entry."""
    table, amount = (
        ("settlement_entry", "amount") if books.scope.is_full else ("settlement_account", "balance")
    )
    for currency, total in books.rows(_TOTAL.format(table=table, amount=amount)):
        yield Finding("ledger", f"sum {total} {currency}", "sum 0")


_CHAIN = """
SELECT a.code, e.version, e.balance_after, before.balance_after, e.amount
  FROM settlement_entry e
  JOIN settlement_account a ON a.id = e.account_id
  LEFT JOIN settlement_entry before ON before.account_id = e.account_id AND before.version = e.version - 1
 WHERE e.journal_id >= %(since_id)s
   AND (e.version < 1 OR (e.version = 1) <> (before.id IS NULL)
        OR e.balance_after <> coalesce(before.balance_after, 0) + e.amount)
"""

_ENDS = """
SELECT a.code, a.version, a.balance, coalesce(last.version, 0), coalesce(last.balance_after, 0)
  FROM settlement_account a
  LEFT JOIN LATERAL (SELECT version, balance_after FROM settlement_entry e WHERE e.account_id = a.id
                      ORDER BY version DESC LIMIT 1) last ON TRUE
 WHERE a.version <> coalesce(last.version, 0) OR a.balance <> coalesce(last.balance_after, 0)
"""

_COUNTS = """
SELECT a.code, a.version, count(e.id) FROM settlement_account a JOIN settlement_entry e ON e.account_id = a.id
 GROUP BY a.id HAVING count(e.id) <> a.version
"""


def chained(books: Books) -> Iterator[Finding]:
    """Per account: versions 1 to n, each balance the one before plus the amount, the last that of the account."""
    for code, version, balance, before, amount in books.rows(_CHAIN):
        found = f"version {version}: {balance} after {amount:+}, before it {'nothing' if before is None else before}"
        yield Finding(f"accounts/{code}", found, "the balance before plus the amount, no version left out")
    for code, version, balance, last_version, last_balance in books.rows(_ENDS):
        yield Finding(
            f"accounts/{code}",
            f"version {version}, balance {balance}",
            f"version {last_version}, balance {last_balance}, as its last entry",
        )
    if books.scope.is_full:
        for code, version, entries in books.rows(_COUNTS):
            yield Finding(
                f"accounts/{code}", f"{entries} entries", f"{version} entries, one for each version"
            )
