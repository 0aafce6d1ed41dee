"""Which addresses a webhook may be sent to: the public internet, and the private networks that two people named.

Python's ``is_global`` is not enough: it takes NAT64 and 6to4 forms of private addresses, and multicast, for global;
and a resolver takes ``127.1`` and ``2130706433`` for loopback. So what is open is listed, and a name is only a name
where it cannot be read as a number.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Resolve = Callable[[str], Sequence[str]]


class TargetRefused(Exception):
    """Nothing may be sent there; the text says why."""


@dataclass(frozen=True, slots=True)
class Target:
    """A URL taken apart: ``path`` with its query, ``host`` in lower case and without brackets."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """Host and port as a request's Host header writes them: without the port that goes without saying."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


_PORTS = {"https": 443, "http": 80}
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\Z")
_NUMBER = re.compile(r"([0-9]+|0x[0-9a-f]*)\Z")
_PRINTABLE = re.compile(r"[\x21-\x7e]+\Z")

# Not on the public internet, by the registries of special addresses; multicast and what is reserved besides.
_CLOSED_4 = tuple(
    ipaddress.IPv4Network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
)
# Of IPv6 only what is handed out to networks is open: no mapped and no translated address (::ffff:0:0/96,
# 64:ff9b::/96).
_OPEN_6 = ipaddress.IPv6Network("2000::/3")
_CLOSED_6 = tuple(
    ipaddress.IPv6Network(network) for network in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)
# What a house may run its cage in. Loopback and link-local, where clouds keep their secrets, cannot be opened.
_PRIVATE: tuple[Network, ...] = tuple(
    ipaddress.ip_network(network)
    for network in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")
)
_LOOPBACK: tuple[Network, ...] = (ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1/128"))


def parse(url: str, *, demonstration: bool) -> Target:
    """Take a URL apart; raise TargetRefused for what is not https (a demonstration may do without TLS), names a user,
    has a fragment, or a host that is neither a plain name nor an address written in the one usual way."""
    if len(url) > 500 or not _PRINTABLE.match(url):
        raise TargetRefused("not a URL of up to 500 printable characters")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as fault:
        raise TargetRefused("not a URL") from fault
    if parts.scheme not in (("https", "http") if demonstration else ("https",)):
        raise TargetRefused("not https")
    if "@" in parts.netloc or "#" in url or "\\" in url:
        raise TargetRefused("a user, a fragment or a backslash")
    if port == 0 or parts.netloc.endswith(":"):
        raise TargetRefused("no port")
    host = (parts.hostname or "").lower()
    _require_host(host, bracketed=parts.netloc.startswith("["))
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.scheme, host, port or _PORTS[parts.scheme], path)


def require_host(host: str) -> None:
    """Raise TargetRefused for a host that is neither a plain name nor an address (IPv6 without brackets)."""
    _require_host(host, bracketed=":" in host)


def _require_host(host: str, *, bracketed: bool) -> None:
    labels = host.split(".")
    if bracketed or _NUMBER.match(labels[-1]):
        # Whatever a resolver might read as a number must be an address, and be written as one.
        try:
            address = ipaddress.IPv6Address(host) if bracketed else ipaddress.IPv4Address(host)
            written = str(address).partition("%")[0]  # a zone is of one machine
        except ValueError as fault:
            raise TargetRefused("a host that reads as a number and is no address") from fault
        if written != host:
            raise TargetRefused(f"an address is written as {written}")
        return
    if len(host) > 253 or not all(_LABEL.match(label) for label in labels):
        raise TargetRefused("not a host's name")


def require_elsewhere(host: str, *, demonstration: bool) -> None:
    """Raise TargetRefused for a host that is this machine or lies on its own link, where no list may ever lead; a
    demonstration may speak to itself."""
    if host == "localhost" or host.endswith(".localhost"):
        if not demonstration:
            raise TargetRefused("this machine itself")
        return
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return
    if is_public(address) or any(address in network for network in _PRIVATE):
        return
    if not (demonstration and any(address in network for network in _LOOPBACK)):
        raise TargetRefused(f"{address} cannot be opened")


def require_range(text: str) -> str:
    """Return a private network as it is written; raise TargetRefused for any other, loopback and link-local too."""
    try:
        network = ipaddress.ip_network(text)
    except ValueError as fault:
        raise TargetRefused("not a network") from fault
    if not any(_within(network, private) for private in _PRIVATE):
        raise TargetRefused("only private networks need to be named, and only they can be")
    return str(network)


def look_up(host: str) -> list[str]:
    """Return every address that the machine's resolver knows for a host; raises OSError."""
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def found(host: str, *, seconds: float, resolve: Resolve = look_up) -> list[Address]:
    """Resolve a host once; raise TargetRefused where it has no address that can be read, TimeoutError after
    ``seconds``."""
    return [_address(text) for text in _resolved(host, seconds=seconds, resolve=resolve)]


def checked(
    host: str, *, ranges: Sequence[str], demonstration: bool, seconds: float, resolve: Resolve = look_up
) -> list[Address]:
    """Resolve a host once and return its addresses; raise TargetRefused when *one* of them is not open.

    ``ranges`` are the private networks that are open beside the public internet; a demonstration opens private networks
    and loopback. TimeoutError after ``seconds``: a resolver keeps its own time.
    """
    addresses = found(host, seconds=seconds, resolve=resolve)
    if not addresses:
        raise TargetRefused("the name has no address")
    opened = [ipaddress.ip_network(text) for text in ranges]
    if demonstration:
        opened += [*_PRIVATE, *_LOOPBACK]
    for address in addresses:
        if not is_public(address) and not any(address in network for network in opened):
            raise TargetRefused(f"{address} is not open")
    return addresses


def is_public(address: Address) -> bool:
    """Say whether an address is one of the public internet, reached as it is written."""
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in _CLOSED_4)
    return address in _OPEN_6 and not any(address in network for network in _CLOSED_6)


def _address(text: str) -> Address:
    try:
        return ipaddress.ip_address(text)
    except ValueError as fault:  # a zone is of one machine: fe80::1%eth0 never leaves it
        raise TargetRefused(f"{text} is not open") from fault


def _resolved(host: str, *, seconds: float, resolve: Resolve) -> Sequence[str]:
    answers: list[Sequence[str]] = []
    faults: list[OSError] = []

    def ask() -> None:
        try:
            answers.append(resolve(host))
        except (OSError, UnicodeError) as fault:
            faults.append(OSError(str(fault)))

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(seconds)
    if faults:
        raise TargetRefused("the name cannot be resolved") from faults[0]
    if not answers:
        raise TimeoutError("the name was not resolved in time")
    return answers[0]


def _within(network: Network, other: Network) -> bool:
    return type(network) is type(other) and network.subnet_of(other)  # type: ignore[arg-type]
