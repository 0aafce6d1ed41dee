"""Rounds: append events, tell a round where it stands. The only writer of Round, RoundEvent and RefusedEvent."""

from casino.rounds.reports import Answer, Report, append
from casino.rounds.standings import Recorded, Told, due, recorded, stand

__all__ = ["Answer", "Recorded", "Report", "Told", "append", "due", "recorded", "stand"]
