"""Rounds: append events, tell a round where it stands. The only writer of Round, RoundEvent,
RefusedEvent and RoundWaiver."""

from casino.rounds.append_events import append
from casino.rounds.decisions import KINDS as DECIDED_KINDS
from casino.rounds.decisions import decide, dispute, still
from casino.rounds.device_reports import CAMERA_KINDS, NEEDS_SIGNATURE, NEVER_LATE, Answer, Report
from casino.rounds.gap_waivers import waive_gap, waive_rounds
from casino.rounds.mispays import MispayFound, mispays_found
from casino.rounds.rulings import KINDS as RULED_KINDS
from casino.rounds.rulings import rule
from casino.rounds.status import Recorded, Told, due, recorded, stand

__all__ = [
    "CAMERA_KINDS",
    "DECIDED_KINDS",
    "NEEDS_SIGNATURE",
    "NEVER_LATE",
    "RULED_KINDS",
    "Answer",
    "MispayFound",
    "Recorded",
    "Report",
    "Told",
    "append",
    "decide",
    "dispute",
    "due",
    "mispays_found",
    "recorded",
    "rule",
    "stand",
    "still",
    "waive_gap",
    "waive_rounds",
]
