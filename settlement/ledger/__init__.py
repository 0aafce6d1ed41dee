"""Double entry, and the only writer of money: accounts, journals and holds.

``post`` takes many journals and runs the same few statements whatever their number:

    lock accounts in id order → read keys posted before → end holds → update accounts → insert journals with entries

A lock and what is read under it are two statements (or one that re-reads the row it waited for): the
snapshot of a statement is as old as its start, however long it waited. Amounts are whole minor units; a
posting above zero is money that the account gets. Everything here runs in an act and tells no witness: the
act says what it was about, with ``NewJournal.described``.
"""

from settlement.ledger.accounts import (
    Balance,
    balances,
    ensure_accounts,
    hold_days_alone,
    lock,
    open_wallet,
    share_day,
)
from settlement.ledger.holds import Held, NewHold, end_holds, hold, open_holds
from settlement.ledger.journals import NewJournal, Posting, post, posted_as, reversal_of

__all__ = [
    "Balance",
    "Held",
    "NewHold",
    "NewJournal",
    "Posting",
    "balances",
    "end_holds",
    "ensure_accounts",
    "hold",
    "hold_days_alone",
    "lock",
    "open_holds",
    "open_wallet",
    "post",
    "posted_as",
    "reversal_of",
    "share_day",
]
