"""Rounds: append events, tell a round where it stands. The only writer of Round, RoundEvent and RefusedEvent."""

from casino.rounds.batch import append
from casino.rounds.reports import NEEDS_SIGNATURE, Answer, Report
from casino.rounds.standings import Recorded, Told, due, recorded, stand
from casino.rounds.waivers import waive_gap

__all__ = [
    "NEEDS_SIGNATURE",
    "Answer",
    "Recorded",
    "Report",
    "Told",
    "append",
    "due",
    "recorded",
    "stand",
    "waive_gap",
]
