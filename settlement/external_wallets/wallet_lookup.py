"""Which wallets live elsewhere: a reference says so by how it begins."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

_BEGINS = re.compile(r"player:([A-Za-z0-9]{1,20}[-_])")

SYSTEMS = """(SELECT jsonb_agg(jsonb_build_array(id, code, prefix, dialect, enabled)) FROM settlement_cashiersystem)"""
"""All cashier systems as one column of a statement, so that asking where wallets are kept takes none of its own."""


@dataclass(frozen=True, slots=True)
class System:
    """A cashier system as whoever moves money sees it."""

    id: UUID
    code: str
    prefix: str
    dialect: str
    enabled: bool


@dataclass(frozen=True, slots=True)
class Kept:
    """What is, or is to be, set aside elsewhere for one wager. ``account`` is the guest's (``player:royal-A17``),
    amounts in minor units of ``currency``; the rest as in ExternalHold."""

    id: UUID
    system: System
    round: UUID
    wager: str
    account: str
    stake: int
    exposure: int
    currency: str
    state: str
    reason: str = ""
    late: bool = False

    @property
    def is_open(self) -> bool:
        return self.state in ("asked", "held")


def read(column: str | None) -> dict[str, System]:
    """Return the systems that the column ``SYSTEMS`` gave, by prefix."""
    return {
        prefix: System(UUID(id), code, prefix, *rest)
        for id, code, prefix, *rest in json.loads(column or "[]")
    }


def keeper_of(account: str, systems: Mapping[str, System]) -> System | None:
    """Return who keeps the wallet of ``player:…``; None: it is kept here, if there is one."""
    begins = _BEGINS.match(account) if systems else None
    return systems.get(begins[1]) if begins else None


def mirror(system: str, *, table: str) -> str:
    """Return the account that mirrors what a system has of a table's play."""
    return f"external:{system}:{table}"
