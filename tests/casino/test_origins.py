"""From where a request comes: the peer, or whom our own proxy saw; nothing else that a caller says."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import RequestFactory

from casino import origins
from deploy.edge import OnlyOurProxy


def seen(peer: str, **said: str) -> str:
    headers = {f"HTTP_{name.upper()}": value for name, value in said.items()}
    return origins.address_of(RequestFactory().get("/", REMOTE_ADDR=peer, **headers))  # type: ignore[arg-type]


@pytest.fixture
def proxied(settings: Any) -> None:
    settings.BEHIND_PROXY = True
    settings.PROXY_ADDRESSES = ["10.0.3.7", "10.0.4.0/28", "fd00::/64"]


def test_without_a_proxy_it_is_the_peer_whatever_a_caller_says() -> None:
    assert seen("203.0.113.5", x_forwarded_for="192.0.2.1", forwarded="for=192.0.2.1") == "203.0.113.5"
    assert seen("203.0.113.5", x_real_ip="192.0.2.1") == "203.0.113.5"


@pytest.mark.parametrize("peer", ["10.0.3.7", "10.0.4.9", "fd00::1", "::ffff:10.0.3.7"])
def test_behind_our_proxy_it_is_the_last_address_the_proxy_wrote(proxied: None, peer: str) -> None:
    assert seen(peer, x_forwarded_for="192.0.2.1, 203.0.113.5") == "203.0.113.5"


@pytest.mark.parametrize("peer", ["", "localhost", "*"])
def test_who_has_no_address_is_no_proxy_and_nobody(proxied: None, peer: str) -> None:
    assert seen(peer, x_forwarded_for="192.0.2.1") == origins.UNKNOWN


@pytest.mark.parametrize("peer", ["10.0.3.8", "10.0.4.16", "203.0.113.9", "fd01::1"])
def test_whoever_is_not_our_proxy_is_its_own_origin(proxied: None, peer: str) -> None:
    assert seen(peer, x_forwarded_for="192.0.2.1") == peer


@pytest.mark.parametrize(
    "said",
    [
        "", "unknown", "203.0.113.5:4711", "203.0.113.5,", "[2001:db8::1]", "fe80::1%eth0", "2130706433", "0x7f.1",
        "127.1", "x" * 200, "203.0.113.5 " * 30, "٢٠٣.0.113.5", "203.0.113.5\n",
    ],
)  # fmt: skip
def test_what_is_no_address_is_unknown_and_no_fault(proxied: None, said: str) -> None:
    expected = "203.0.113.5" if said == "203.0.113.5\n" else origins.UNKNOWN
    assert seen("10.0.3.7", x_forwarded_for=said) == expected


def test_an_address_is_written_in_one_way(proxied: None) -> None:
    assert seen("10.0.3.7", x_forwarded_for="::ffff:203.0.113.5") == "203.0.113.5"
    assert seen("10.0.3.7", x_forwarded_for="2001:DB8:0::0001") == "2001:db8::1"


def test_whoever_has_one_address_of_a_network_has_them_all() -> None:
    assert origins.of_address("203.0.113.5") == "203.0.113.5"
    assert (
        origins.of_address("2001:db8:0:7::5")
        == origins.of_address("2001:db8:0:7:ffff::9")
        == "2001:db8:0:7::/64"
    )
    assert origins.of_address("nonsense") == origins.UNKNOWN


def test_a_device_is_its_own_origin() -> None:
    assert origins.shown(origins.of_device("PD01-tablet")) == "PD01-tablet"


FORGED = (
    "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-Port", "X-Forwarded-Prefix", "Forwarded",
    "X-Real-IP", "X-Client-Cert", "X_CLIENT_CERT", "X-SSL-Client-Verify", "Remote-User",
)  # fmt: skip


def kept(peer: str) -> set[str]:
    """Which of the forged headers a view would still see."""
    request = RequestFactory().get("/", REMOTE_ADDR=peer, headers=dict.fromkeys(FORGED, "https"))
    OnlyOurProxy(lambda _: None)(request)  # type: ignore[arg-type, return-value]
    return {name for name in FORGED if name in request.headers}


def test_what_a_caller_says_of_itself_reaches_no_view(proxied: None) -> None:
    assert kept("203.0.113.9") == set()
    assert kept("10.0.3.7") == {"X-Forwarded-For", "X-Forwarded-Proto"}


@pytest.mark.undescribed
def test_a_forged_scheme_makes_no_request_a_safe_one(proxied: None, client: Any, settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT = True
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    header = {"X-Forwarded-Proto": "https"}
    assert client.get("/api/v1/session", headers=header, REMOTE_ADDR="203.0.113.9").status_code == 301
    assert client.get("/api/v1/session", headers=header, REMOTE_ADDR="10.0.3.7").status_code == 401
