"""A judgement in words, Thai and English: what a sheet says, what a line came to, why a round waits, what is asked.

Values in, sentences out; the figures in them are those of the judgement. ``sheet(house)`` says every option of a rule
sheet, ``line`` and ``bank`` a wager's and a banker's arithmetic, ``held`` the reasons to wait, ``finding`` a flag.

Read in order: ``terms``, ``rule_options``, ``lines``, ``held_reasons``, ``flags`` (with ``play_flags``,
``device_flags``, ``analytics_flags``, ``cash_flags``, ``count_flags`` and ``house_flags``).
"""

from settlement.explanations.flags import FLAGGED, KINDS, finding
from settlement.explanations.held_reasons import HELD, held
from settlement.explanations.lines import bank, line, read_line
from settlement.explanations.rule_options import sheet
from settlement.explanations.terms import Said, card, hand, money, place

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
