"""What a flag can be, and one that is about to be raised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from settlement.rules import conduct

OF_ANALYTICS = frozenset(
    {
        "cards_uneven",
        "hold_band",
        "late_bet_wins",
        "mispay_rate",
        "pace",
        "short_deck",
        "unchecked_hands",
    }
)
"""Kinds that many rounds show together, and no round by itself."""

OF_CASH = frozenset({"cash_across_days", "chips_exceed_outstanding", "ctr_due"})
"""Kinds about cash and chips at the cages, and no table's."""

OF_COUNTS = frozenset({"count_variance"})
"""Kinds about what people counted."""

OF_THE_HOUSE = frozenset({"signin_failures", "uncomputable"})
"""Kinds about who tries to come in, and about what is stored and cannot be computed with."""

KINDS = (
    conduct.KINDS
    | {"clock_drift_burst", "off_duty", "sequence_too_far", "shortfall", "uncovered"}
    | OF_ANALYTICS
    | OF_CASH
    | OF_COUNTS
    | OF_THE_HOUSE
)
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
    """A flag about to be raised: ``subject`` as ``Flag`` has it, ``entry`` the log's entry that showed it (None: no
    single one did)."""

    kind: str
    subject: str
    detail: dict[str, Any]
    entry: int | None = None
    table: str = ""
    round: UUID | None = None
    device: str = ""
