"""Integrity analytics: what a gaming day's play shows when it is counted, and decks watched while they are in play.

``running`` lets the screens of ``audit.figures`` look at whole days, which ``reading`` takes from the rows;
``watching`` follows the decks in play and stops a table whose deck should be counted; ``affected`` lists what was
played with it.
"""

from audit.analytics.affected import Affected, affected
from audit.analytics.running import (
    SCREENS,
    VERSION,
    ask,
    ask_for_ended_days,
    beyond_the_calendar,
    due_days,
    newest,
    rounds_of,
    said,
    work_on,
)
from audit.analytics.watching import playing, watch

__all__ = [
    "SCREENS",
    "VERSION",
    "Affected",
    "affected",
    "ask",
    "ask_for_ended_days",
    "beyond_the_calendar",
    "due_days",
    "newest",
    "playing",
    "rounds_of",
    "said",
    "watch",
    "work_on",
]
