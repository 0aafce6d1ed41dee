"""Endpoints and what is owed them: builders for the tests of webhooks."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from settlement import webhooks
from settlement.models import Delivery, Endpoint
from settlement.webhooks import addresses, delivering, endpoints, sending, targets
from settlement.webhooks.signing import Secret
from tests.settlement.books import NOW, a_person, act
from tests.settlement.receiver import Receiver

TYPES = ("day.sealed", "round.settled", "round.corrected")


def at_home(settings: Any, **other: Any) -> None:
    """Let webhooks go to this machine, as a demonstration may."""
    settings.WEBHOOKS = settings.WEBHOOKS | {"demonstration": True} | other


def an_approved_target(host: str, port: int, ranges: Sequence[str] = ()) -> None:
    with act():
        targets.approve(
            host=host,
            port=port,
            ranges=ranges,
            by=a_person("AD1", "administrator"),
            approved_by=a_person("M1", "manager"),
        )


def an_endpoint(
    receiver: Receiver | None = None,
    *,
    name: str = "cage",
    types: Sequence[str] = TYPES,
    url: str = "",
    system: str = "",
) -> tuple[Endpoint, Secret]:
    """An endpoint at a receiver, its target approved."""
    url = url or (receiver.url if receiver is not None else "http://127.0.0.1:9/")
    target = addresses.parse(url, demonstration=True)
    an_approved_target(target.host, target.port)
    with act():
        return endpoints.open_new(
            endpoints.Wanted(name=name, url=url, target=target, types=types, system=system),
            by=a_person("AD1", "administrator"),
            approved_by=a_person("M1", "manager"),
        )


def owed(many: int = 1, *, type: str = "day.sealed", now: datetime = NOW, **more: Any) -> list[UUID]:
    with act(now=now):
        return webhooks.owe([webhooks.Owed(type, {"place": place}, **more) for place in range(many)])


def delivered(*, at: datetime = NOW, send: Callable[..., sending.Answer] = sending.send) -> int:
    """Deliver all that is due at a moment, at that same moment."""
    return delivering.deliver(owner="worker", clock=lambda: at, until=at + timedelta(seconds=1), send=send)


def delivered_within(seconds: float, *, at: datetime = NOW) -> int:
    """Deliver what is due while the time goes on; claim nothing after so many seconds of it."""
    began = time.monotonic()
    return delivering.deliver(
        owner="worker",
        clock=lambda: at + timedelta(seconds=time.monotonic() - began),
        until=at + timedelta(seconds=seconds),
    )


def states(endpoint: Endpoint | None = None) -> dict[str, int]:
    found = Delivery.objects.filter(endpoint=endpoint) if endpoint else Delivery.objects.all()
    counted: dict[str, int] = {}
    for state in found.values_list("state", flat=True):
        counted[state] = counted.get(state, 0) + 1
    return counted


def due_of(endpoint: Endpoint) -> datetime:
    """When the one delivery of an endpoint is due."""
    return Delivery.objects.get(endpoint=endpoint).due_at
