"""What should lie in a table's tray, from the accounts of the table under their lock.

    expected tray = bank + commission − wallet net + slips

(The commission lies in the tray as chips, though it is an account of its own. A wallet's money never was a chip, and
what the cage pays by a pay slip never left the tray.)
"""

from collections.abc import Collection
from dataclasses import dataclass

from django.db import connection

from casino.models import Table
from settlement import ledger
from settlement.ledger import Balance
from settlement.models import CountKind, Float

PARTS = ("bank", "guests", "commission", "drop")
"""The accounts of a table that a float states the versions of, and what is read of them in between."""


@dataclass(frozen=True, slots=True)
class Tray:
    """A table's accounts, locked. Since the last close: ``cleared`` is what wallets lost (won: below zero), which the
    cage owes the table, ``slips`` what pay slips that are not void pay at the cage, which the cage takes upon
    itself."""

    table: Table
    books: dict[str, Balance]
    cleared: int
    slips: int

    def of(self, part: str) -> Balance:
        return self.books[f"table:{self.table.code}:{part}"]

    @property
    def expected(self) -> int:
        """What the tray should hold, in minor units."""
        return self.of("bank").balance - self.cleared + self.slips + self.of("commission").balance


def lock(table: Table, *, cage: str = "", since_close: bool = True) -> Tray:
    """Lock what opening, closing or counting may move, and what it reads, in one go. An opener is expected to be the
    last closer and clears nothing (``since_close`` False): what came since is its session's."""
    code = table.code
    codes = [f"table:{code}:{part}" for part in PARTS]
    codes += [f"variance:{code}", f"suspense:clearing:{code}", f"suspense:chips:{code}"]
    codes += [f"cage:{cage}:vault"] if cage else []
    books = ledger.ensure_accounts(codes, currency=table.currency)
    net, slips = _since_close(table, books=books) if since_close else (0, 0)
    return Tray(table=table, books=books, cleared=-net, slips=slips)


def versions(tray: Tray, *, moved: Collection[str]) -> dict[str, int]:
    """Return the versions of the table's accounts after ``moved`` were posted to, by the names of a float's columns."""
    return {
        f"{part}_version": tray.of(part).version + list(moved).count(f"table:{tray.table.code}:{part}")
        for part in PARTS
    }


# By the versions of the table's accounts, which are those of our lock: a correction of an earlier session that came
# after its close is cleared with this one. Any of three accounts shows a round: where wallets lost to wallets, the
# bank did not move. A wallet kept elsewhere moves its mirror. What a shortfall account lent a wallet was no play and
# is not in it. Pay slips are those issued since; one that the close had cleared brought its money back when it was
# void.
_SINCE_CLOSE = """
WITH last AS (
    SELECT f.bank_version, f.guests_version, f.commission_version
      FROM settlement_float f JOIN casino_tablesession s ON s.id = f.session_id
     WHERE s.table_id = %(table)s AND f.kind = %(closer)s ORDER BY f.bank_version DESC, f.accepted_at DESC LIMIT 1
), since (account, version) AS (
    SELECT %(bank)s::bigint, coalesce((SELECT bank_version FROM last), 0)
     UNION ALL SELECT %(guests)s::bigint, coalesce((SELECT guests_version FROM last), 0)
     UNION ALL SELECT %(commission)s::bigint, coalesce((SELECT commission_version FROM last), 0)
), touched AS (
    SELECT DISTINCT e.journal_id FROM since JOIN settlement_entry e
        ON e.account_id = since.account AND e.version > since.version)
SELECT coalesce(sum(e.amount) FILTER (WHERE j.kind IN ('round', 'round_reversal')
                                        AND a.kind IN ('wallet', 'external')), 0)::bigint,
       coalesce(sum(-e.amount) FILTER (WHERE j.kind = 'pay_slip_issued' AND a.kind = 'guests' AND j.id IN (
           SELECT p.issue_journal_id FROM settlement_payslip p
            WHERE p.table_id = %(table)s AND p.state <> 'void' AND p.gaming_day >= coalesce(
                  (SELECT from_day FROM settlement_formuladate WHERE version = 2), '-infinity'))), 0)::bigint
  FROM touched t
  JOIN settlement_journal j ON j.id = t.journal_id AND j.kind IN ('round', 'round_reversal', 'pay_slip_issued')
  JOIN settlement_entry e ON e.journal_id = j.id
  JOIN settlement_account a ON a.id = e.account_id
"""


def _since_close(table: Table, *, books: dict[str, Balance]) -> tuple[int, int]:
    """Return what wallets won at the table (lost: below zero) in rounds and their corrections since its last close, and
    what pay slips issued since then are worth. One statement."""
    ids = {part: books[f"table:{table.code}:{part}"].id for part in ("bank", "guests", "commission")}
    with connection.cursor() as cursor:
        cursor.execute(_SINCE_CLOSE, {"table": table.id, "closer": CountKind.CLOSER.value, **ids})
        net, slips = cursor.fetchone()
    return int(net), int(slips)


def last_closer(table: Table) -> int | None:
    """Return what was counted when the table last closed, None before its first opening."""
    last = Float.objects.filter(session__table=table, kind=CountKind.CLOSER).order_by(
        "-bank_version", "-accepted_at"
    )
    return last.values_list("count__amount", flat=True).first()
