"""Endpoints: opened by two people, told what they chose, closed by one person or by their own answer."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection

from casino import events
from casino.events import Fact
from casino.models import Person
from casino.platform import refusals
from casino.platform.refusals import Refusal
from settlement.models import Delivery, Endpoint, EndpointChange, MessageType
from settlement.webhooks import signing, targets
from settlement.webhooks.addresses import Target
from settlement.webhooks.signing import Secret

refusals.register("endpoint_exists", 409, "An endpoint of that name is there.", "มีปลายทางชื่อนี้แล้ว")
refusals.register("endpoint_disabled", 409, "The endpoint is disabled.", "ปลายทางนี้ปิดใช้งานอยู่")
refusals.register("endpoint_open", 409, "The endpoint is not disabled.", "ปลายทางนี้เปิดใช้งานอยู่แล้ว")

SLOTS = 8
"""How many tries at one endpoint are under way at once, at most; a slow one starts over with one."""

_LIST_LOCK = 0x776562686F6F6B73
"""Held to commit by whoever changes the list of endpoints, so that its changes are counted without gaps."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """An endpoint to be opened. ``target`` is the URL as ``targets.look_at`` allowed it."""

    name: str
    url: str
    target: Target
    types: Sequence[str]
    system: str = ""


def open_new(wanted: Wanted, *, by: Person, approved_by: Person) -> tuple[Endpoint, Secret]:
    """Open an endpoint; return it and its secret, which is shown this once.

    It is owed what is booked from now on. ``by`` is an administrator, ``approved_by`` a manager. Refuses
    ``endpoint_exists``, ``invalid_value`` for types that are none, ``forbidden``, ``sod_violation``.
    """
    act = events.current()
    targets.require_two(by, approved_by)
    types = sorted(set(wanted.types))
    if not types or not set(types) <= set(MessageType.values):
        raise Refusal("invalid_value", fields={"types": "one or more of the published types"})
    secret = signing.new_secret()
    endpoint = Endpoint(
        id=events.uuid7(act.now),
        name=wanted.name,
        url=wanted.url,
        host=wanted.target.host,
        port=wanted.target.port,
        types=types,
        system=wanted.system,
        secret=signing.lock(secret),
        state=Endpoint.State.ENABLED,
        slots=SLOTS,
        opened_at=act.now,
    )
    Endpoint.objects.bulk_create([endpoint], ignore_conflicts=True)
    if not Endpoint.objects.filter(pk=endpoint.id).exists():
        raise Refusal("endpoint_exists")
    _change(endpoint, opens=True, reason="opened", by=by, approved_by=approved_by)
    return endpoint, secret


def enable(*, endpoint: UUID, target: Target, by: Person, approved_by: Person) -> Endpoint:
    """Open a disabled endpoint again, by the same two; it is owed what is booked from now on. ``target`` is its URL as
    it was looked at just now. Refuses ``endpoint_open``."""
    targets.require_two(by, approved_by)
    found = locked(endpoint)
    if found.state != Endpoint.State.DISABLED:
        raise Refusal("endpoint_open")
    assert (target.host, target.port) == (found.host, found.port)
    found.state, found.slots, found.not_before = Endpoint.State.ENABLED, 1, None
    found.save(update_fields=["state", "slots", "not_before"])
    _change(found, opens=True, reason="opened again", by=by, approved_by=approved_by)
    return found


def disable(*, endpoint: UUID, reason: str, by: Person) -> Endpoint:
    """Owe and send an endpoint nothing from now on, and give up what is due to it. Refuses ``endpoint_disabled``."""
    found = locked(endpoint)
    if found.state == Endpoint.State.DISABLED:
        raise Refusal("endpoint_disabled")
    close(found, reason=reason, by=by)
    return found


def close(endpoint: Endpoint, *, reason: str, by: Person | None) -> None:
    """Disable a locked endpoint: a person did, or (None) its receiver answered that it is gone."""
    endpoint.state = Endpoint.State.DISABLED
    endpoint.save(update_fields=["state"])
    _change(endpoint, opens=False, reason=reason, by=by, approved_by=None)
    give_up_due([endpoint.id])


def rotate(*, endpoint: UUID, by: Person, approved_by: Person) -> tuple[Endpoint, Secret]:
    """Give an endpoint a new secret, shown this once; the one before signs beside it for the time the house set."""
    act = events.current()
    targets.require_two(by, approved_by)
    found = locked(endpoint)
    secret = signing.new_secret()
    found.previous_secret, found.secret = found.secret, signing.lock(secret)
    found.previous_until = act.now + timedelta(hours=settings.WEBHOOKS["rotation_hours"])
    found.save(update_fields=["previous_secret", "secret", "previous_until"])
    data = {"public_key": secret.public, "previous_until": found.previous_until.isoformat()}
    events.announce([_fact("endpoint.rotated", found, data | {"approved_by": str(approved_by.id)})])
    return found, secret


def secrets_of(*, secret: str, previous: str | None, until: datetime | None, now: datetime) -> list[Secret]:
    """Return what signs now, newest first: the secret, and the one before it while it is good."""
    still = previous is not None and until is not None and now < until
    return [signing.unlock(stored) for stored in (secret, previous if still else None) if stored is not None]


def locked(endpoint: UUID) -> Endpoint:
    """Return an endpoint under its row's lock; acts may owe it meanwhile. Refuses ``not_found``."""
    found = Endpoint.objects.select_for_update(no_key=True).filter(pk=endpoint).first()
    if found is None:
        raise Refusal("not_found")
    return found


def locked_all(ids: Collection[UUID]) -> list[Endpoint]:
    """Return these endpoints under their rows' locks, taken in the order of their ids."""
    return list(Endpoint.objects.select_for_update(no_key=True).filter(pk__in=ids).order_by("id"))


def give_up_due(endpoints: Iterable[UUID]) -> int:
    """Give up what is due to disabled endpoints, and say so; acts that read the list before it changed may have owed
    them something after."""
    given = []
    for endpoint in endpoints:
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE settlement_delivery SET state = 'given_up', finished_at = %s, last_result = 'disabled'"
                " WHERE endpoint_id = %s AND state = 'due' RETURNING id",
                [events.current().now, endpoint],
            )
            given.append((endpoint, sorted(id for (id,) in cursor.fetchall())))
    told = [(endpoint, ids) for endpoint, ids in given if ids]
    if told:
        events.announce([fact for endpoint, ids in told for fact in given_up(endpoint, ids, "disabled")])
    return sum(len(ids) for _, ids in told)


def given_up(endpoint: UUID, deliveries: Sequence[int], result: str) -> list[Fact]:
    """Return the alert that deliveries were given up, in facts of a readable size."""
    return [
        Fact(
            "delivery.given_up",
            f"endpoints/{endpoint}",
            {"deliveries": list(deliveries[start : start + 500]), "result": result},
        )
        for start in range(0, len(deliveries), 500)
    ]


def closed_with_something_due() -> list[UUID]:
    """Return the disabled endpoints that something is still due to."""
    due = Delivery.objects.filter(state=Delivery.State.DUE)
    found = Endpoint.objects.filter(state=Endpoint.State.DISABLED, pk__in=due.values("endpoint"))
    return list(found.values_list("id", flat=True))


def _change(
    endpoint: Endpoint, *, opens: bool, reason: str, by: Person | None, approved_by: Person | None
) -> None:
    act = events.current()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LIST_LOCK])
    last = EndpointChange.objects.order_by("-revision").values_list("revision", flat=True).first() or 0
    change = EndpointChange.objects.create(
        revision=last + 1,
        endpoint=endpoint,
        opens=opens,
        reason=reason,
        changed_by=by,
        approved_by=approved_by,
        changed_at=act.now,
    )
    data: dict[str, Any] = {
        "revision": change.revision,
        "reason": reason,
        "changed_by": str(by.id) if by else None,
        "approved_by": str(approved_by.id) if approved_by else None,
    }
    if opens:
        data |= {"url": endpoint.url, "types": endpoint.types, "system": endpoint.system}
    events.announce([_fact("endpoint.opened" if opens else "endpoint.disabled", endpoint, data)])


def _fact(action: str, endpoint: Endpoint, data: dict[str, Any]) -> Fact:
    return Fact(action, f"endpoints/{endpoint.id}", {"name": endpoint.name} | data)
