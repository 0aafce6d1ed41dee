"""Breaks: two books differ, and somebody has to say why.

``finding`` writes down what a comparison found, ``answering`` what becomes of it, ``catalogue`` says what each code
means, ``ages`` how long it has been due. Break rows are locked last of all, behind the accounts of ``casino.events``,
in the order of code, subject and fingerprint.
"""

from settlement.breaks import ages
from settlement.breaks.answering import Gone, approve, assign, cleared, explain, not_found_again, resolve
from settlement.breaks.catalogue import CATALOGUE, Kind, Lasts
from settlement.breaks.finding import NewBreak, fingerprint, found

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
