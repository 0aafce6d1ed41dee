"""Keys of other systems: made by two people, shown once, good for what they name until they are revoked or over.

A key is ``pdk_<id>_<secret>``. What a key may do is asked of its row each time, so a revocation counts from the next
request on. Several keys may be one system's, and a stored answer is the system's: a key that took another's place gets
the first answers too.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings

from casino import events, people
from casino.events import Fact, Principal
from casino.models import ApiKey, Cage, Person, Role, Table
from casino.platform import refusals
from casino.platform.refusals import Refusal

refusals.register("key_replaced", 409, "Another key takes this one's place already.", "มีคีย์อื่นแทนคีย์นี้แล้ว")
refusals.register("key_over", 409, "This key is revoked or over.", "คีย์นี้ถูกยกเลิกหรือหมดอายุแล้ว")

ROLE = "cashier_system"
PREFIX = "pdk_"
USED_EVERY = timedelta(minutes=1)
"""The last use is written down once in this time: a key is used more often than anybody asks."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a key shall be good for. Tables and cages by their codes; addresses as ranges in CIDR; of each list what
    is not named is not allowed. ``wallets`` is one of ``ApiKey.Wallets``."""

    scopes: Sequence[str]
    addresses: Sequence[str]
    expires_at: datetime
    tables: Sequence[str] = ()
    cages: Sequence[str] = ()
    wallets: str = ApiKey.Wallets.NONE


def make(*, system: str, wanted: Wanted, by: Person, approved_by: Person) -> tuple[ApiKey, str]:
    """Make a key for ``system``; return it and its text, which is shown this once (its SHA-256 is stored).

    ``by`` is an administrator, ``approved_by`` a manager. Refuses ``sod_violation``, ``forbidden``,
    ``second_person_forbidden``, and ``invalid_value`` for what no key may ask for, for ranges and tables that are
    none, and for too long a life.
    """
    return _make(system=system, wanted=wanted, by=by, approved_by=approved_by, replaces=None)


def rotate(*, key: UUID, expires_at: datetime, by: Person, approved_by: Person) -> tuple[ApiKey, str]:
    """Make the key that takes another's place, good for the same; the old one stays good until it is revoked, so two
    are live meanwhile. Refuses ``key_over`` and ``key_replaced`` besides what ``make`` refuses."""
    old = _locked(key)
    if old.revoked_at is not None or old.expires_at <= events.current().now:
        raise Refusal("key_over")
    if ApiKey.objects.filter(replaces=old).exists():
        raise Refusal("key_replaced")
    wanted = Wanted(
        scopes=old.scopes, addresses=old.addresses, expires_at=expires_at, tables=old.tables, cages=old.cages,
        wallets=old.wallets,
    )  # fmt: skip
    return _make(system=old.system, wanted=wanted, by=by, approved_by=approved_by, replaces=old)


def revoke(*, key: UUID, by: Person) -> ApiKey:
    """Take a key's word away from its next request on; once is enough, and the first time stands."""
    act = events.current()
    found = _locked(key)
    if found.revoked_at is not None:
        return found
    found.revoked_at, found.revoked_by = act.now, by
    found.save(update_fields=["revoked_at", "revoked_by"])
    events.announce([Fact("key.revoked", f"keys/{key}", {"system": found.system, "revoked_by": str(by.id)})])
    return found


def authenticate(text: str, *, now: datetime) -> ApiKey:
    """Return the key whose text this is; refuse ``invalid_token`` where it is none, revoked or over.

    One statement, and in each minute of its use a second one.
    """
    id, _, _ = text.removeprefix(PREFIX).partition("_")
    found = ApiKey.objects.filter(pk=UUID(hex=id)).first() if _is_hex(id) else None
    known = bytes(found.secret_sha256) if found else b""
    if not hmac.compare_digest(_hash(text), known) or found is None:
        raise Refusal("invalid_token")
    if found.revoked_at is not None or found.expires_at <= now:
        raise Refusal("invalid_token")
    if found.last_used_at is None or found.last_used_at <= now - USED_EVERY:
        ApiKey.objects.filter(pk=found.pk).update(last_used_at=now)
    return found


def admits(key: ApiKey, address: str) -> bool:
    """Say whether a request may come from this address; one that cannot be read may not."""
    try:
        origin = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(origin in ipaddress.ip_network(range) for range in key.addresses)


def principal_of(key: ApiKey) -> Principal:
    """Return the key's system as one who acts, under this key."""
    return Principal(kind="system", id=key.id, code=key.system, role=ROLE)


def _make(
    *, system: str, wanted: Wanted, by: Person, approved_by: Person, replaces: ApiKey | None
) -> tuple[ApiKey, str]:
    act = events.current()
    people.different(by.id, approved_by.id)
    if by.role != Role.ADMINISTRATOR:
        raise Refusal("forbidden")
    if approved_by.role != Role.MANAGER:
        raise Refusal("second_person_forbidden")
    _require_allowed(wanted, now=act.now)
    id = events.uuid7(act.now)
    text = f"{PREFIX}{id.hex}_{secrets.token_urlsafe(32)}"
    key = ApiKey.objects.create(
        id=id,
        system=system,
        secret_sha256=_hash(text),
        scopes=sorted(set(wanted.scopes)),
        tables=sorted(set(wanted.tables)),
        cages=sorted(set(wanted.cages)),
        wallets=wanted.wallets,
        addresses=sorted(set(wanted.addresses)),
        expires_at=wanted.expires_at,
        replaces=replaces,
        created_by=by,
        approved_by=approved_by,
        created_at=act.now,
    )
    events.announce([Fact("key.made", f"keys/{id}", _told(key))])
    return key, text


def _told(key: ApiKey) -> dict[str, object]:
    """Everything of a key but its text; the hash of so long a secret gives nothing away."""
    return {
        "system": key.system,
        "secret_sha256": bytes(key.secret_sha256).hex(),
        "scopes": key.scopes,
        "tables": key.tables,
        "cages": key.cages,
        "wallets": str(key.wallets),
        "addresses": key.addresses,
        "expires_at": key.expires_at.isoformat(),
        "replaces": str(key.replaces_id) if key.replaces_id else None,
        "created_by": str(key.created_by_id),
        "approved_by": str(key.approved_by_id),
    }


def _require_allowed(wanted: Wanted, *, now: datetime) -> None:
    wrong: dict[str, str] = {}
    strange = sorted(set(wanted.scopes) - people.scopes_of_keys())
    if strange or not wanted.scopes:
        wrong["scopes"] = f"no scope of a key: {', '.join(strange)[:200]}" if strange else "at least one"
    known = set(Table.objects.filter(code__in=wanted.tables).values_list("code", flat=True))
    if set(wanted.tables) - known:
        wrong["tables"] = "no such table"
    cages = set(Cage.objects.filter(code__in=wanted.cages, ended_at=None).values_list("code", flat=True))
    if set(wanted.cages) - cages:
        wrong["cages"] = "no such cage"
    if not wanted.addresses or not all(map(_is_range, wanted.addresses)):
        wrong["addresses"] = "ranges as 203.0.113.0/24, at least one"
    elif _is_everywhere(wanted.addresses):
        wrong["addresses"] = "together no wider than four /8, or four /16 of IPv6: a key comes from somewhere"
    if wanted.wallets not in ApiKey.Wallets.values:
        wrong["wallets"] = f"one of {', '.join(ApiKey.Wallets.values)}"
    longest = timedelta(days=settings.API_KEY_DAYS)
    if not now < wanted.expires_at <= now + longest:
        wrong["expires_at"] = f"within {longest.days} days"
    if wrong:
        raise Refusal("invalid_value", fields=wrong)


def _is_range(text: str) -> bool:
    try:
        ipaddress.ip_network(text)
    except ValueError:
        return False
    return True


WIDEST = {4: 8, 6: 16}
"""By version of address: the shortest prefix a range may have, and of such ranges at most ``MOST_WIDEST`` together."""
MOST_WIDEST = 4


def _is_everywhere(ranges: Sequence[str]) -> bool:
    """Say whether ranges amount to no range at all, each by itself, side by side, or scattered; the database asks the
    same."""
    for version, widest in WIDEST.items():
        networks = [one for one in map(ipaddress.ip_network, set(ranges)) if one.version == version]
        covered = sum(2.0 ** (widest - one.prefixlen) for one in networks)
        if covered > MOST_WIDEST or any(one.prefixlen < widest for one in networks):
            return True
    return False


def _locked(key: UUID) -> ApiKey:
    found = ApiKey.objects.select_for_update().filter(pk=key).first()
    if found is None:
        raise Refusal("not_found")
    return found


def _is_hex(text: str) -> bool:
    return len(text) == 32 and set(text) <= set("0123456789abcdef")


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode(errors="replace")).digest()
