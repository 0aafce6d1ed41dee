"""Cashier systems that keep wallets: let in by two people, at an address that two people approved."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import IntegrityError, transaction

from casino import events
from casino.events import Fact
from casino.models import Person
from casino.platform import refusals
from casino.platform.refusals import Refusal
from settlement.models import CashierSystem
from settlement.webhooks import signing, targets
from settlement.webhooks.addresses import Target
from settlement.webhooks.signing import Secret

refusals.register(
    "cashier_system_exists",
    409,
    "A cashier system of that code or prefix is there.",
    "มีระบบแคชเชียร์รหัสหรือคำนำหน้านี้แล้ว",
)
refusals.register(
    "wallets_kept_here", 409, "Wallets of that prefix are kept here.", "กระเป๋าคำนำหน้านี้เก็บอยู่ในระบบนี้แล้ว"
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A cashier system to be let in. ``target`` is its URL as ``webhooks.targets.look_at`` allowed it."""

    code: str
    prefix: str
    url: str
    target: Target
    dialect: str


def let_in(wanted: Wanted, *, by: Person, approved_by: Person) -> tuple[CashierSystem, Secret]:
    """Let a cashier system in: from now on it keeps every wallet whose reference begins with its prefix. Return it and
    the secret that our calls are signed with, which is shown this once.

    ``by`` is an administrator, ``approved_by`` a manager. Refuses ``cashier_system_exists``, ``wallets_kept_here``,
    ``forbidden``, ``sod_violation``. Must run in an act.
    """
    act = events.current()
    targets.require_two(by, approved_by)
    secret = signing.new_secret()
    system = CashierSystem(
        id=events.uuid7(act.now),
        code=wanted.code,
        prefix=wanted.prefix,
        url=wanted.url.rstrip("/"),
        host=wanted.target.host,
        port=wanted.target.port,
        dialect=wanted.dialect,
        secret=signing.lock(secret),
        enabled=True,
        set_by=by,
        approved_by=approved_by,
        set_at=act.now,
    )
    try:
        with transaction.atomic():
            system.save(force_insert=True)
    except IntegrityError as fault:
        code = _REFUSED.get(getattr(getattr(fault.__cause__, "diag", None), "constraint_name", "") or "")
        if code is None:
            raise
        raise Refusal(code) from fault
    told = {
        "code": system.code,
        "prefix": system.prefix,
        "url": system.url,
        "dialect": str(system.dialect),
        "public_key": secret.public,
        "set_by": str(by.id),
        "approved_by": str(approved_by.id),
    }
    events.announce([Fact("cashier_system.let_in", f"cashier-systems/{system.code}", told)])
    return system, secret


_REFUSED = {
    "cashier_system_code_once": "cashier_system_exists",
    "cashier_system_prefix_once": "cashier_system_exists",
    "wallets_are_theirs": "wallets_kept_here",
}


def enable(*, code: str, by: Person, approved_by: Person) -> CashierSystem:
    """Ask a system for holds again, by the same two who let one in; once is enough."""
    targets.require_two(by, approved_by)
    return _switch(code, on=True, by=by, approved_by=approved_by)


def disable(*, code: str, by: Person) -> CashierSystem:
    """Ask a system for no hold from now on; its wallets stay its own, and what is owed to it is told all the same."""
    return _switch(code, on=False, by=by, approved_by=None)


def _switch(code: str, *, on: bool, by: Person, approved_by: Person | None) -> CashierSystem:
    system = _locked(code)
    if system.enabled != on:
        system.enabled = on
        system.save(update_fields=["enabled"])
        told = {"by": str(by.id), "approved_by": str(approved_by.id) if approved_by else None}
        action = "cashier_system.enabled" if on else "cashier_system.disabled"
        events.announce([Fact(action, f"cashier-systems/{code}", told)])
    return system


def rotate(*, code: str, by: Person, approved_by: Person) -> tuple[CashierSystem, Secret]:
    """Sign what is sent from now on with a new secret, which is shown this once."""
    targets.require_two(by, approved_by)
    system = _locked(code)
    secret = signing.new_secret()
    system.secret = signing.lock(secret)
    system.save(update_fields=["secret"])
    told = {"public_key": secret.public, "by": str(by.id), "approved_by": str(approved_by.id)}
    events.announce([Fact("cashier_system.rotated", f"cashier-systems/{code}", told)])
    return system, secret


def _locked(code: str) -> CashierSystem:
    found = CashierSystem.objects.select_for_update(no_key=True).filter(code=code).first()
    if found is None:
        raise Refusal("not_found")
    return found
