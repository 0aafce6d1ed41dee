"""Disputes: raise, claim, propose, decide. Deciding chooses facts; what they are worth, settlement says, and posts.

``raising`` opens a dispute, ``options`` are the facts at hand with their consequences, ``claiming`` is the lease,
``deciding`` the end.
"""

from audit.disputes.claiming import claim, renew, snooze, take_over
from audit.disputes.deciding import decide, propose, propose_and_decide, withdraw
from audit.disputes.options import Option, options_of
from audit.disputes.raising import raise_dispute

__all__ = [
    "Option",
    "claim",
    "decide",
    "options_of",
    "propose",
    "propose_and_decide",
    "raise_dispute",
    "renew",
    "snooze",
    "take_over",
    "withdraw",
]
