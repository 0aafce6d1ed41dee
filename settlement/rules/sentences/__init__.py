"""A judgement in words, Thai and English: what a sheet says, what a line came to, why a round waits, what is asked.

Values in, sentences out; the figures in them are those of the judgement. ``sheet(house)`` says every option of a rule
sheet, ``line`` and ``bank`` a wager's and a banker's arithmetic, ``held`` the reasons to wait, ``finding`` a flag.

Read in order: ``words``, ``sheets``, ``lines``, ``waiting``, ``findings`` (with ``of_play``, ``of_reports``,
``of_analytics``, ``of_cash``, ``of_counts`` and ``of_house``).
"""

from settlement.rules.sentences.findings import FLAGGED, KINDS, finding
from settlement.rules.sentences.lines import bank, line, read_line
from settlement.rules.sentences.sheets import sheet
from settlement.rules.sentences.waiting import HELD, held
from settlement.rules.sentences.words import Said, card, hand, money, place

__all__ = [
    "FLAGGED",
    "HELD",
    "KINDS",
    "Said",
    "bank",
    "card",
    "finding",
    "hand",
    "held",
    "line",
    "money",
    "place",
    "read_line",
    "sheet",
]
