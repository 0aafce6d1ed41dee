"""Breaks: two books differ, and somebody has to say why.

``finding`` writes down what a comparison found, ``catalogue`` says what each code means. Break rows are locked last of
all, behind the accounts of ``casino.events``, in the order of code, subject and fingerprint.
"""

from settlement.breaks.catalogue import CATALOGUE, Kind, Lasts
from settlement.breaks.finding import NewBreak, fingerprint, found

__all__ = ["CATALOGUE", "Kind", "Lasts", "NewBreak", "fingerprint", "found"]
