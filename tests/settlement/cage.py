"""A cage and who comes to it over HTTP: cashiers, and cashier systems with their keys."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.test import Client
from django.utils import timezone

from casino import keys, people
from casino.keys import Wanted
from casino.models import ApiKey, Person
from tests import world
from tests.settlement.doors import thb

AT = timezone.now().replace(microsecond=0).isoformat().replace("+00:00", "Z")
"""When cash changed hands, by the cage's clock: a moment ago."""


def a_cashier(badge: str = "C01") -> Person:
    return world.a_person(role="cashier", badge=badge)


def a_key(
    system: str = "cage_a",
    *,
    scopes: Sequence[str] = (),
    tables: Sequence[str] = (),
    cages: Sequence[str] = ("C1",),
    wallets: str = "all",
    addresses: Sequence[str] = ("127.0.0.1/32",),
    now: datetime | None = None,
    days: int = 30,
) -> tuple[ApiKey, str]:
    """A key for everything that keys are made for, unless a test says for what."""
    now = now or timezone.now()
    wanted = Wanted(
        scopes=scopes or sorted(people.scopes_of_keys()),
        addresses=addresses,
        expires_at=now + timedelta(days=days),
        tables=tables,
        cages=cages,
        wallets=wallets,
    )
    with world.acting(now=now):
        return keys.make(system=system, wanted=wanted, by=an_administrator(), approved_by=a_second())


def an_administrator() -> Person:
    return Person.objects.filter(badge="X01").first() or world.a_person(role="administrator", badge="X01")


def a_second() -> Person:
    return Person.objects.filter(badge="M09").first() or world.a_manager(badge="M09")


@dataclass(slots=True)
class AtCage:
    """Somebody who asks over HTTP, a signed-in person or a system with its key; each act has a fresh Idempotency-Key
    unless one is given."""

    person: Person | None = None
    token: str = ""
    address: str = "127.0.0.1"
    client: Client = field(default_factory=Client)

    def __post_init__(self) -> None:
        if self.person is not None:
            self.client.force_login(self.person)

    def asks(self, method: str, path: str, body: Any = None, *, key: str | None = "", **headers: str) -> Any:
        said = dict(headers)
        if self.token:
            said["Authorization"] = f"Bearer {self.token}"
        if method == "POST" and key is not None:
            said["Idempotency-Key"] = key or f'"{uuid.uuid4()}"'
        sent = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        return self.client.generic(
            method, f"/api/v1/{path}", sent, "application/json", headers=said, REMOTE_ADDR=self.address
        )

    def deposits(self, ref: str, amount: int, *, key: str | None = "", **more: Any) -> Any:
        return self.asks("POST", f"wallets/{ref}/deposits", paid(amount, **more), key=key)

    def withdraws(self, ref: str, amount: int, *, key: str | None = "", **more: Any) -> Any:
        return self.asks("POST", f"wallets/{ref}/withdrawals", paid(amount, **more), key=key)


def paid(amount: int, **more: Any) -> dict[str, Any]:
    """The body of a deposit or a withdrawal."""
    usual = {
        "amount": thb(amount),
        "cage": "C1",
        "till": "T3",
        "means": "cash",
        "document": "CR-2026-001182",
        "happened_at": AT,
    }
    return usual | more


def said(answer: Any) -> tuple[int, str]:
    """Status and, of a refusal, its code."""
    return answer.status_code, answer.json().get("code", "")
