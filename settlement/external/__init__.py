"""Wallets that live in a cashier's system: it is asked before the cards, and told afterwards.

``wallets`` says which those are, ``systems`` lets their keepers in. ``owing`` writes what an act owes them, ``asking``
asks for holds between two acts, ``calling`` sends what is owed until it is acknowledged; ``dialects`` has the words,
``sending`` the one request, ``watching`` what is open.
"""

from settlement.external.asking import DISABLED, SILENT, Answers, Question, Taken, ask, take
from settlement.external.calling import call
from settlement.external.owing import Dues, NewCall, Result, Settled, ring_with, told
from settlement.external.wallets import SYSTEMS, Kept, System, keeper_of, mirror, read
from settlement.external.watching import Mirror, mirrors, replay, watch

__all__ = [
    "DISABLED",
    "SILENT",
    "SYSTEMS",
    "Answers",
    "Dues",
    "Kept",
    "Mirror",
    "NewCall",
    "Question",
    "Result",
    "Settled",
    "System",
    "Taken",
    "ask",
    "call",
    "keeper_of",
    "mirror",
    "mirrors",
    "read",
    "replay",
    "ring_with",
    "take",
    "told",
    "watch",
]
