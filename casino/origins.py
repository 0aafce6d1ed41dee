"""From where a request comes: the address that is believed, or the device that asks.

Everything that asks for an origin asks here: the ranges of a key, the counting of tries, the log. What a caller says
of itself in a header is believed of the house's own proxy alone, and of it only the address that it saw.
"""

from __future__ import annotations

import ipaddress
from functools import lru_cache

from django.conf import settings
from django.http import HttpRequest

UNKNOWN = "unknown"
"""An origin that cannot be read; no key's range holds it."""

DEVICE = "device:"
SHELL = "shell"
"""Whoever sits at the machine itself."""

_LONGEST = 45
"""Characters of the longest address, an IPv4 written inside an IPv6 one."""


def address_of(request: HttpRequest) -> str:
    """Return the address that a request comes from: its peer's or, where the peer is our proxy, the last one in
    ``X-Forwarded-For``, which is the one that this proxy saw. ``UNKNOWN`` where that is no address."""
    peer = str(request.META.get("REMOTE_ADDR", "")).strip()
    if is_our_proxy(peer):
        seen = request.META.get("HTTP_X_FORWARDED_FOR")
        if seen is not None:
            return _read(str(seen).rpartition(",")[2].strip()) or UNKNOWN
    return _read(peer) or UNKNOWN


def is_our_proxy(peer: str) -> bool:
    """Say whether a peer's word about others is taken: it stands in ``PROXY_ADDRESSES``, and a proxy is declared."""
    found = _read(peer) if settings.BEHIND_PROXY else ""
    if not found:
        return False
    networks = _networks(tuple(settings.PROXY_ADDRESSES))
    return any(ipaddress.ip_address(found) in network for network in networks)


def of_address(address: str) -> str:
    """Return the origin under which tries from an address are counted: of IPv6 the network of 64 bits, as whoever has
    one address of it has them all."""
    read = _read(address)
    if ":" not in read:
        return read or UNKNOWN
    return str(ipaddress.ip_network(f"{read}/64", strict=False))


def of_device(code: str) -> str:
    """Return the origin of what is tried at a device: a terminal is its own."""
    return DEVICE + code


def shown(origin: str) -> str:
    """Return an origin as people read it: the code of a device, or an address."""
    return origin.removeprefix(DEVICE)


@lru_cache(maxsize=8)
def _networks(ranges: tuple[str, ...]) -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    return [ipaddress.ip_network(range, strict=False) for range in ranges]


def _read(text: str) -> str:
    """Return an address in its one way of writing, an IPv4 that is wrapped in IPv6 as itself; "" for anything else."""
    if len(text) > _LONGEST or "%" in text:
        return ""
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return ""
    return str(getattr(found, "ipv4_mapped", None) or found)
