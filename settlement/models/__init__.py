"""What rounds are worth: rule sheets, the ledger, settlements and counted floats.

Amounts are whole minor units (satang) beside their currency. Rows of ``APPEND_ONLY`` are added and never
changed, by trigger and by grant; an account changes its balance, a hold ends once, a proposed sheet is
approved once. That a journal is whole and adds up to nothing is checked by the database itself, whoever
writes it.

Read in order: rule sheets, the ledger, settlements, counts.
"""

from __future__ import annotations

from django.db import models

from settlement.models.cash import INWARD, CashAct, CashKind, Means
from settlement.models.counts import Count, CountKind, Float
from settlement.models.days import DayJob, DayState, GamingDay, Report, ReportFile, Shift
from settlement.models.external import CashierSystem, ExternalCall, ExternalHold
from settlement.models.ledger import Account, AccountKind, Entry, Hold, Journal, JournalKind
from settlement.models.outbox import (
    ApprovedTarget,
    Attempt,
    Delivery,
    Endpoint,
    EndpointChange,
    Message,
    MessageType,
)
from settlement.models.reconcile import (
    Break,
    BreakCode,
    BreakState,
    BreakStep,
    Chunk,
    Resolution,
    Result,
    Run,
    Severity,
)
from settlement.models.settlements import Line, RefusedCover, Settlement, Uncovered
from settlement.models.sheets import RuleSheet, TableRules
from settlement.models.slips import PaySlip, PaySlipState, Series, SeriesKind, Slip, SlipState, SlipStep
from settlement.models.statements import (
    Match,
    MatchedEntry,
    MatchingRule,
    OutsideFile,
    OutsideLine,
    OutsideStatement,
    Statement,
    StatementDay,
)

__all__ = [
    "APPEND_ONLY",
    "CHANGES",
    "INWARD",
    "Account",
    "AccountKind",
    "ApprovedTarget",
    "Attempt",
    "Break",
    "BreakCode",
    "BreakState",
    "BreakStep",
    "Chunk",
    "CashAct",
    "CashKind",
    "CashierSystem",
    "Count",
    "CountKind",
    "DayJob",
    "DayState",
    "Delivery",
    "Endpoint",
    "EndpointChange",
    "Entry",
    "ExternalCall",
    "ExternalHold",
    "Float",
    "GamingDay",
    "Hold",
    "Journal",
    "JournalKind",
    "Line",
    "Match",
    "MatchedEntry",
    "MatchingRule",
    "Means",
    "Message",
    "MessageType",
    "OutsideFile",
    "OutsideLine",
    "OutsideStatement",
    "PaySlip",
    "PaySlipState",
    "RefusedCover",
    "Report",
    "ReportFile",
    "Resolution",
    "Result",
    "RuleSheet",
    "Run",
    "Series",
    "SeriesKind",
    "Settlement",
    "Severity",
    "Shift",
    "Slip",
    "SlipState",
    "SlipStep",
    "Statement",
    "StatementDay",
    "TableRules",
    "Uncovered",
]

APPEND_ONLY: tuple[type[models.Model], ...] = (
    TableRules,
    Journal,
    Entry,
    RefusedCover,
    Uncovered,
    Settlement,
    Line,
    Count,
    Float,
    CashAct,
    Message,
    EndpointChange,
    Attempt,
    BreakStep,
    Result,
    SlipStep,
    Statement,
    StatementDay,
    MatchingRule,
    OutsideFile,
    OutsideStatement,
    Match,
    MatchedEntry,
    Report,
    ReportFile,
    DayJob,
)
"""Tables of this app that triggers and grants keep from ever being changed."""

CHANGES: dict[type[models.Model], tuple[str, ...]] = {
    CashierSystem: ("secret", "enabled"),
    ExternalHold: ("state", "reason", "answered_at", "ended_at"),
    ExternalCall: (
        "state",
        "due_at",
        "attempts",
        "failures",
        "owner",
        "lease_until",
        "last_result",
        "acknowledged_at",
    ),
    RuleSheet: ("approved_by_id", "approved_at"),
    Account: ("balance", "held", "version"),
    Hold: ("ended_at", "outcome"),
    OutsideLine: ("match_id",),
    Series: ("last",),
    Slip: ("state", "series_id", "number", "cage"),
    PaySlip: (
        "state",
        "cage",
        "paid_by_id",
        "paid_second_id",
        "paid_key_id",
        "paid_at",
        "payment_journal_id",
        "voided_by_id",
        "voided_at",
        "void_reason",
        "void_in_chips",
        "void_journal_id",
    ),
    GamingDay: (
        "state",
        "tables",
        "opened_by_id",
        "opened_at",
        "closing_by_id",
        "closing_at",
        "sealed_by_id",
        "seconded_by_id",
        "sealed_at",
        "last_entry",
        "journals",
    ),
    Shift: ("closed_by_id", "closed_with_id", "closed_at", "overdue"),
    ApprovedTarget: ("withdrawn_by_id", "withdrawn_at"),
    Endpoint: ("secret", "previous_secret", "previous_until", "state", "not_before", "slots"),
    Delivery: (
        "state",
        "due_at",
        "attempts",
        "failures",
        "owner",
        "lease_until",
        "last_result",
        "finished_at",
    ),
    Run: ("outcome", "done_at", "digest", "report"),
    Chunk: ("state", "owner", "lease_until", "attempts", "trouble"),
    Break: (
        "seen_at",
        "seen_run",
        "state",
        "steps",
        "assigned_to_id",
        "resolution",
        "rule",
        "journal_id",
        "resolved_by_id",
        "approved_by_id",
    ),
}
"""What may change in the rows of the other tables; nothing of them is ever deleted."""
