"""Statements of accounts: ours, one per account and sealed gaming day; those of others, matched with ours.

``statement_values`` says what a statement is, ``csv_format`` and ``camt053`` write and read it; ``issuing`` makes ours
from the ``ledger_lines`` of the ledger, ``file_import`` takes in a file, ``matching_passes`` compares and ``matching``
keeps what came of it.
"""

from settlement.statements import camt053, csv_format
from settlement.statements.file_import import Taken, of_file, of_key, progress, take
from settlement.statements.issuing import draft, make, of_row, waiting_accounts
from settlement.statements.matching import Matched, add_rule, beyond_the_calendar, match, waiting

__all__ = [
    "Matched",
    "Taken",
    "add_rule",
    "beyond_the_calendar",
    "camt053",
    "csv_format",
    "draft",
    "make",
    "match",
    "of_file",
    "of_key",
    "of_row",
    "progress",
    "take",
    "waiting",
    "waiting_accounts",
]
