"""The float of a table and its drop: counted blind, posted, and their difference from the books named.

``counts`` is the one way in for a count, whoever counts what; ``open_and_close`` opens and closes a table with what was
counted and accepted; ``rundown`` turns counts, slips and drop into win.
"""

from settlement.table_floats import rundown
from settlement.table_floats.blind_counts import COUNT_OPEN, BlindCount, Box, Saved, hidden_from, withdraw
from settlement.table_floats.counts import count
from settlement.table_floats.drop_boxes import take_back
from settlement.table_floats.ending import end_table
from settlement.table_floats.open_and_close import Closed, close_table, open_table
from settlement.table_floats.session_status import SessionStanding, standings

__all__ = [
    "COUNT_OPEN",
    "BlindCount",
    "Box",
    "Closed",
    "Saved",
    "SessionStanding",
    "close_table",
    "count",
    "end_table",
    "hidden_from",
    "open_table",
    "rundown",
    "standings",
    "take_back",
    "withdraw",
]
