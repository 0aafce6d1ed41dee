"""The float of a table and its drop: counted blind, posted, and their difference from the books named.

``taking`` is the one way in for a count, whoever counts what; ``sessions`` opens and closes a table with what was
counted and accepted; ``rundown`` turns counts, slips and drop into win.
"""

from settlement.floats import rundown
from settlement.floats.boxes import take_back
from settlement.floats.counting import COUNT_OPEN, BlindCount, Box, Saved, hidden_from, withdraw
from settlement.floats.ending import end_table
from settlement.floats.sessions import Closed, close_table, open_table
from settlement.floats.standings import SessionStanding, standings
from settlement.floats.taking import count

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
