"""Wallets that live in a cashier's system: it is asked before the cards, and told afterwards.

``wallet_lookup`` says which those are, ``cashier_systems`` lets their keepers in. ``call_queue`` writes what an act
owes them, ``hold_requests`` asks for holds between two acts, ``calls`` sends what is owed until it is acknowledged;
``dialects`` has the words, ``call_attempt`` the one request, ``monitoring`` what is open.
"""

from settlement.external_wallets.call_queue import Dues, NewCall, Result, Settled, ring_with, told
from settlement.external_wallets.calls import call
from settlement.external_wallets.hold_requests import DISABLED, SILENT, Answers, Question, Taken, ask, take
from settlement.external_wallets.monitoring import Mirror, mirrors, replay, watch
from settlement.external_wallets.wallet_lookup import SYSTEMS, Kept, System, keeper_of, mirror, read

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
