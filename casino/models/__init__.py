"""What the floor knows: people, tables, devices, rounds as they were reported, and the keys of other systems.

Rows of ``RoundEvent``, ``RefusedEvent``, ``Signature``, ``GapWaiver`` and ``RoundWaiver`` are evidence: added, never
changed (trigger and grant). A ``Round`` row is a summary for lists and a lock; what happened is its events.
"""

from __future__ import annotations

from django.db import models

from casino.models.floor import (
    Device,
    Duty,
    GapWaiver,
    People,
    Person,
    RefusedEvent,
    Role,
    Round,
    RoundEvent,
    RoundWaiver,
    Signature,
    Standing,
    Table,
    TableSession,
)
from casino.models.keys import ApiKey, StoredAnswer
from casino.models.registers import NEEDS_ONE, Appointment, Cage, Enrolment, HandOver
from casino.models.tries import FailedSignIn, WrongTries
from casino.models.upkeep import Aside, Program, Sweep, Unread, UnreadCount

__all__ = [
    "APPEND_ONLY",
    "NEEDS_ONE",
    "ApiKey",
    "Appointment",
    "Aside",
    "Cage",
    "Device",
    "Duty",
    "Enrolment",
    "FailedSignIn",
    "GapWaiver",
    "HandOver",
    "People",
    "Person",
    "Program",
    "RefusedEvent",
    "Role",
    "Round",
    "RoundEvent",
    "RoundWaiver",
    "Signature",
    "Standing",
    "StoredAnswer",
    "Sweep",
    "Table",
    "TableSession",
    "Unread",
    "UnreadCount",
    "WrongTries",
]

APPEND_ONLY: tuple[type[models.Model], ...] = (
    RoundEvent,
    RefusedEvent,
    GapWaiver,
    RoundWaiver,
    Signature,
    StoredAnswer,
    Appointment,
)
"""Tables of this app that triggers and grants keep from ever being changed."""
