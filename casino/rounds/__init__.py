"""Rounds: append events, tell a round where it stands. The only writer of Round, RoundEvent and RefusedEvent."""

from casino.rounds.batch import append
from casino.rounds.decisions import KINDS as DECIDED_KINDS
from casino.rounds.decisions import decide, dispute, still
from casino.rounds.reports import NEEDS_SIGNATURE, Answer, Report
from casino.rounds.standings import Recorded, Told, due, recorded, stand
from casino.rounds.waivers import waive_gap

__all__ = [
    "DECIDED_KINDS",
    "NEEDS_SIGNATURE",
    "Answer",
    "Recorded",
    "Report",
    "Told",
    "append",
    "decide",
    "dispute",
    "due",
    "recorded",
    "stand",
    "still",
    "waive_gap",
]
