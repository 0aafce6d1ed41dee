"""Breaks: two books differ, and somebody has to say why.

``opening`` writes down what a comparison found, ``resolving`` what becomes of it, ``break_kinds`` says what each code
means, ``ages`` how long it has been due. Break rows are locked last of all, behind the accounts of ``casino.events``,
in the order of code, subject and fingerprint.
"""

from settlement.breaks import ages
from settlement.breaks.break_kinds import CATALOGUE, Kind, Lasts
from settlement.breaks.opening import NewBreak, fingerprint, found
from settlement.breaks.resolving import Gone, approve, assign, cleared, explain, not_found_again, resolve

__all__ = [
    "CATALOGUE",
    "Gone",
    "Kind",
    "Lasts",
    "NewBreak",
    "ages",
    "approve",
    "assign",
    "cleared",
    "explain",
    "fingerprint",
    "found",
    "not_found_again",
    "resolve",
]
