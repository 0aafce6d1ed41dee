"""What a flag can be, and one that is about to be raised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from settlement.rules import conduct

KINDS = conduct.KINDS | {"clock_drift_burst", "shortfall", "uncovered"}
"""Every kind of flag; a further one enters this list, and gets its sentences, before it is raised."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A sealed entry as far as the reader needs it. ``index`` is its leaf, ``device`` the code it came through."""

    index: int
    entry: int
    action: str
    round: UUID | None
    table: str
    device: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Raised:
    """A flag about to be raised: ``subject`` as ``Flag`` has it, ``entry`` the log's entry that showed it."""

    kind: str
    subject: str
    detail: dict[str, Any]
    entry: int
    table: str = ""
    round: UUID | None = None
    device: str = ""
