"""What devices report, as the door parsed it, and what is answered."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from casino.platform.refusals import Refusal

CAMERA_KINDS = frozenset({"card_dealt"})
NEEDS_SIGNATURE = frozenset(
    {
        "bet_ruled",
        "card_removed",
        "card_ruled",
        "hold_waived",
        "mispay_found",
        "mispay_put_right",
        "recorder_changed",
        "round_voided",
    }
)
"""Kinds that count only with a sign-off (a bare draw mark may be removed without one: the fold knows)."""

NEVER_LATE = frozenset({"mispay_put_right", "mispay_found", "note"})
"""Kinds that say something of a round whenever they come, also once it is settled and its day sealed. None of them
moves money."""


@dataclass(frozen=True, slots=True)
class Report:
    """One event as the door parsed it. ``refusal`` says what the door found wrong: the number is used up all the
    same, and number, hash and code are kept. ``sha256`` is of the envelope without its ``id``."""

    seq: int
    sha256: bytes
    event_id: str = ""
    kind: str = ""
    round: UUID | None = None
    data: dict[str, Any] = field(default_factory=dict)
    content_sha256: bytes = b""
    person: UUID | None = None
    signature: UUID | None = None
    happened_at: datetime | None = None
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of one report: ``recorded``, ``duplicate``, or ``refused`` with the refusal."""

    seq: int
    outcome: str
    code: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
