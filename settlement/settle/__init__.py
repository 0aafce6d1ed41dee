"""Settle rounds: record → judge → post, exactly once.

``cases`` reads what a round is judged on, ``judgement`` judges it, ``docket`` hears one round after the other,
``postings`` turns a verdict into journals, ``writing`` writes what came of them, ``settling`` is the act: the same path
for one round and for ten thousand. ``covering`` sets money aside before the cards and shows what would come of a round
now. A fault in judging can never lose a card: recording is over before any of this begins.
"""

from settlement.settle.cases import Case, Gathered, gather, read
from settlement.settle.considering import STANDS, Considered, Question, question
from settlement.settle.covering import Cover, Refused, cover, preview
from settlement.settle.docket import Settled
from settlement.settle.findings import Reviewed, reviewed, reviewed_rounds
from settlement.settle.lines import LINE_FIELDS, lines_sha256, of_bank, of_line
from settlement.settle.settling import after_decision, correct, effective, keep_days_open, settle_rounds

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
