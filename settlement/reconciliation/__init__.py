"""Comparing the books with each other and with what came from outside.

A *run* compares a gaming day, or what of it is over, on some *levels*; each is a module, ``r0_structure`` to
``r4_outside``, and R5 is audit's, which claims its own chunks. ``runs`` begins a run and cuts it into ``chunks``, which
any number of workers on any number of hosts claim, compare and finish; whoever finishes last closes the run. All of
that is rows: a worker that dies costs its lease. ``results`` adds single results up so that neither the cut nor the
order shows in the digest.
"""

from settlement.reconciliation.chunk_runner import PARTS, Look, Part, look, look_on
from settlement.reconciliation.chunks import ATTEMPTS, Claim, claim, failed, finish, sweep
from settlement.reconciliation.results import File, Single, Tally, Unseen
from settlement.reconciliation.runs import LEVELS, Progress, begin, begin_nightly, progress, ring_with
from settlement.reconciliation.window import Found, Piece, Window, reading

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
