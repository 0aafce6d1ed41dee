"""Integrity analytics: what a gaming day's play shows when it is counted, and decks watched while they are in play.

``runs`` lets the screens of ``audit.statistics`` look at whole days, which ``day_reader`` takes from the rows;
``deck_watch`` follows the decks in play and stops a table whose deck should be counted; ``affected_rounds`` lists what
was played with it.
"""

from audit.analytics.affected_rounds import Affected, affected
from audit.analytics.deck_watch import playing, watch
from audit.analytics.runs import (
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
