"""The house that every case begins with: furnished once, and copied for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.utils import timezone

from casino import events, keys, people
from casino.models import Person
from deploy import demonstration
from settlement import cashier, webhooks
from settlement.webhooks import addresses, endpoints, targets
from tests import database
from tests.faults.load import WALLETS
from tests.faults.proxy import Proxy
from tests.faults.servers import Postgres, Valkey

FLOOR: Mapping[str, dict[str, Any]] = {
    "PD01": {"sheet": {"preset": "seed_base", "options": {}}, "camera": True},
    "PD02": {"sheet": {"preset": "seed_base", "options": {"junk_draw": "forced"}}, "camera": False},
    "PD03": {"sheet": {"preset": "seed_sam_deng", "options": {}}, "camera": False},
    "PD04": {"sheet": {"preset": "seed_table", "options": {}}, "camera": False},
}
WATCHED: Mapping[str, dict[str, Any]] = {
    code: {"sheet": {"preset": "seed_base", "options": {"requires": {"camera": True}}}, "camera": True}
    for code in ("PD05", "PD06")
}
"""Two tables alike whose sheet wants the camera to have read every face."""
SYSTEMS = ("cage_a", "cage_b")
PAID_IN = 1_000_000
"""What each wallet begins with, in satang."""
TOLD = ("wallet.deposited", "wallet.withdrawn", "round.settled", "round.held", "round.voided")
ENDPOINTS = 4
"""Who is told of everything: the last of them at a receiver of its own."""


@dataclass
class Furnished:
    """The servers, the database to copy, and what is known of it only here: tokens, keys, passwords.

    ``receivers`` stand before whoever receives webhooks: the first before all endpoints but the last.
    """

    postgres: Postgres
    valkey: Valkey
    rooms: database.House
    receivers: tuple[Proxy, Proxy]
    tokens: dict[str, str]
    keys: dict[str, str]
    people: dict[str, dict[str, str]]


def furnish(*, postgres: Postgres, valkey: Valkey, receivers: tuple[Proxy, Proxy]) -> Furnished:
    """Migrate a database, furnish it, and make it the one that is copied."""
    floor = {**FLOOR, **WATCHED}
    rooms = database.House(addresses=postgres.addresses(redis_url=valkey.url()))
    rooms.prepare()
    furnished = rooms.clone()
    known = demonstration.Keys(postgres.folder / "keys.json")
    before = rooms.use(furnished)
    rooms.template = furnished
    try:
        with _nobody_is_rung():
            now = timezone.now()
            demonstration.furnish(
                keys=known,
                floor=floor,
                wallets={},
                codes=demonstration.device_codes(floor),
                reopen=False,
                now=now,
            )
            systems = _open_to_others(receivers, now=now)
    finally:
        rooms.use(before)
    return Furnished(postgres, valkey, rooms, receivers, known.devices, systems, known.people)


def _open_to_others(receivers: tuple[Proxy, Proxy], *, now: datetime) -> dict[str, str]:
    administrator, manager = Person.objects.get(badge="X01"), Person.objects.get(badge="M01")
    wanted = keys.Wanted(
        scopes=sorted(people.scopes_of_keys()),
        addresses=["127.0.0.1/32"],
        expires_at=now + timedelta(days=1),
        cages=["C1"],
        wallets="all",
        tables=sorted({**FLOOR, **WATCHED}),
    )
    with events.act(actor=events.SERVICE, request_id="faults", now=now):
        for ref in WALLETS:
            cashier.deposit(ref=ref, amount=PAID_IN, cage="C1", document=f"first {ref}")
        systems = {
            system: keys.make(system=system, wanted=wanted, by=administrator, approved_by=manager)[1]
            for system in SYSTEMS
        }
        for receiver in receivers:
            targets.approve(
                host="127.0.0.1", port=receiver.port, ranges=(), by=administrator, approved_by=manager
            )
        for number in range(1, ENDPOINTS + 1):
            url = f"http://127.0.0.1:{receivers[number == ENDPOINTS].port}/endpoint{number}"
            target = addresses.parse(url, demonstration=True)
            wanted_there = endpoints.Wanted(name=f"endpoint{number}", url=url, target=target, types=TOLD)
            endpoints.open_new(wanted_there, by=administrator, approved_by=manager)
    return systems


@contextmanager
def _nobody_is_rung() -> Iterator[None]:
    """While a house is furnished no worker listens, its webhooks may go to this machine, and hashes cost little."""
    ringer, before = list(webhooks.owing._ringer), settings.WEBHOOKS
    memory, Argon2PasswordHasher.memory_cost = Argon2PasswordHasher.memory_cost, 1024
    webhooks.owing._ringer[:] = []
    settings.WEBHOOKS = before | {"demonstration": True}
    try:
        yield
    finally:
        webhooks.owing._ringer[:] = ringer
        settings.WEBHOOKS = before
        Argon2PasswordHasher.memory_cost = memory
