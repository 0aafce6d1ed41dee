"""Statements of accounts: ours, one per account and sealed gaming day; those of others, matched with ours.

``forms`` says what a statement is, ``spreadsheet`` and ``camt`` write and read it; ``making`` makes ours from the
``entries`` of the ledger, ``taking`` takes in a file, ``passes`` compares and ``matching`` keeps what came of it.
"""

from settlement.statements import camt, spreadsheet
from settlement.statements.making import draft, make, of_row, waiting_accounts
from settlement.statements.matching import Matched, add_rule, beyond_the_calendar, match, waiting
from settlement.statements.taking import Taken, of_file, of_key, progress, take

__all__ = [
    "Matched",
    "Taken",
    "add_rule",
    "beyond_the_calendar",
    "camt",
    "draft",
    "make",
    "match",
    "of_file",
    "of_key",
    "of_row",
    "progress",
    "spreadsheet",
    "take",
    "waiting",
    "waiting_accounts",
]
