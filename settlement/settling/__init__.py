"""Settle rounds: record → judge → post, exactly once.

``round_inputs`` reads what a round is judged on, ``judging`` judges it, ``settlement_batch`` hears one round after the
other, ``postings`` turns a verdict into journals, ``settlement_rows`` writes what came of them, ``settle_and_correct``
is the act: the same path for one round and for ten thousand. ``covering`` sets money aside before the cards and shows
what would come of a round now. A fault in judging can never lose a card: recording is over before any of this begins.
"""

from settlement.settling.covering import Cover, Refused, cover, preview
from settlement.settling.line_rows import LINE_FIELDS, lines_sha256, of_bank, of_line
from settlement.settling.review_findings import Reviewed, reviewed, reviewed_rounds
from settlement.settling.round_inputs import Case, Gathered, gather, read
from settlement.settling.settle_and_correct import (
    after_decision,
    correct,
    effective,
    keep_days_open,
    settle_rounds,
)
from settlement.settling.settlement_batch import Settled
from settlement.settling.what_if import STANDS, Considered, Question, question

__all__ = [
    "LINE_FIELDS",
    "STANDS",
    "Case",
    "Considered",
    "Cover",
    "Gathered",
    "Question",
    "Refused",
    "Reviewed",
    "Settled",
    "after_decision",
    "correct",
    "cover",
    "effective",
    "gather",
    "keep_days_open",
    "lines_sha256",
    "of_bank",
    "of_line",
    "preview",
    "question",
    "read",
    "reviewed",
    "reviewed_rounds",
    "settle_rounds",
]
