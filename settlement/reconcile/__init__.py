"""Comparing the books with each other and with what came from outside.

A *run* compares a gaming day, or what of it is over, on some *levels*; each is a module, ``r0`` to ``r4``, and R5 is
audit's, which claims its own chunks. ``runs`` begins a run and cuts it into ``chunks``, which any number of workers on
any number of hosts claim, compare and finish; whoever finishes last closes the run. All of that is rows: a worker that
dies costs its lease. ``tally`` adds single results up so that neither the cut nor the order shows in the digest.
"""

from settlement.reconcile.chunks import ATTEMPTS, Claim, claim, failed, finish, sweep
from settlement.reconcile.looking import PARTS, Look, Part, look, look_on
from settlement.reconcile.runs import LEVELS, Progress, begin, begin_nightly, progress, ring_with
from settlement.reconcile.tally import File, Single, Tally, Unseen
from settlement.reconcile.window import Found, Piece, Window, reading

__all__ = [
    "ATTEMPTS",
    "LEVELS",
    "PARTS",
    "Claim",
    "File",
    "Found",
    "Look",
    "Part",
    "Piece",
    "Progress",
    "Single",
    "Tally",
    "Unseen",
    "Window",
    "begin",
    "begin_nightly",
    "claim",
    "failed",
    "finish",
    "look",
    "look_on",
    "progress",
    "reading",
    "ring_with",
    "sweep",
]
