"""Disputes: raise, claim, propose, decide. Deciding chooses facts; what they are worth, settlement says, and posts.

``raising`` opens a dispute, ``options`` are the facts at hand with their consequences (in words: ``option_texts``),
``leases`` is the lease, ``deciding`` the end, and ``separation_of_duties`` says who has no part in it.
"""

from audit.disputes.deciding import decide, propose, propose_and_decide, withdraw
from audit.disputes.leases import claim, renew, snooze, take_over
from audit.disputes.options import Option, options_of
from audit.disputes.raising import REASONS, SUBJECT, raise_dispute, raise_from_flag

__all__ = [
    "REASONS",
    "SUBJECT",
    "Option",
    "claim",
    "decide",
    "options_of",
    "propose",
    "propose_and_decide",
    "raise_dispute",
    "raise_from_flag",
    "renew",
    "snooze",
    "take_over",
    "withdraw",
]
