"""What the witness keeps: the log, its tree, and what people made of what they found in it."""

from __future__ import annotations

from django.db import models

from audit.models.analytics import Analysis, AnalysisResult
from audit.models.disputes import Decision, Dispute, Proposal
from audit.models.flags import Flag, Reading
from audit.models.inspection import Discrepancy, Inspection
from audit.models.log import CurrentTransaction, LogEntry, TransactionField
from audit.models.tree import Checkpoint, Frontier, Leaf, Subtree

APPEND_ONLY: tuple[type[models.Model], ...] = (
    LogEntry,
    Leaf,
    Subtree,
    Checkpoint,
    Decision,
    Discrepancy,
    AnalysisResult,
)
"""Tables of this app that triggers and grants keep from ever being changed."""

__all__ = [
    "APPEND_ONLY",
    "Analysis",
    "AnalysisResult",
    "Checkpoint",
    "CurrentTransaction",
    "Decision",
    "Discrepancy",
    "Dispute",
    "Flag",
    "Frontier",
    "Inspection",
    "Leaf",
    "LogEntry",
    "Proposal",
    "Reading",
    "Subtree",
    "TransactionField",
]
