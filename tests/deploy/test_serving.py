"""Whose word on who is calling counts, and what one process holds open."""

from __future__ import annotations

import resource
import runpy
from collections.abc import Iterable
from typing import Any

import pytest

from deploy import gunicorn, serving
from deploy.serving import BehindProxy

SAID = {
    "HTTP_X_FORWARDED_FOR": "10.9.9.9",
    "HTTP_X_FORWARDED_PROTO": "https",
    "HTTP_X_FORWARDED_HOST": "elsewhere.example",
    "HTTP_X_FORWARDED_PREFIX": "/other",
    "HTTP_FORWARDED": "for=10.9.9.9;proto=https",
}
PLAIN = {"HTTP_HOST": "house.example", "HTTP_USER_AGENT": "a terminal", "PATH_INFO": "/healthz"}


def seen(*, peer: str, proxies: Iterable[str]) -> dict[str, Any]:
    """The environment as the house sees it."""
    found: dict[str, Any] = {}

    def house(environ: dict[str, Any], start: Any) -> list[bytes]:
        found.update(environ)
        return []

    BehindProxy(house, proxies=proxies)({"REMOTE_ADDR": peer, **PLAIN, **SAID}, lambda *_: None)
    return found


@pytest.mark.parametrize(
    ("peer", "proxies"),
    [
        ("198.51.100.7", ["10.0.0.1"]),
        ("10.0.0.2", ["10.0.0.1"]),
        ("127.0.0.1", []),
        ("10.0.0.1", []),
        ("", ["10.0.0.1"]),
        ("localhost", ["127.0.0.1"]),
    ],
)
def test_what_a_stranger_says_of_itself_is_not_heard(peer: str, proxies: list[str]) -> None:
    assert seen(peer=peer, proxies=proxies) == {"REMOTE_ADDR": peer, **PLAIN}


@pytest.mark.parametrize(
    ("peer", "proxies"),
    [
        ("10.0.0.1", ["10.0.0.1"]),
        ("10.0.7.9", ["192.0.2.1", "10.0.0.0/16"]),
        ("::ffff:10.0.0.1", ["10.0.0.1"]),
        ("fd00::5", ["fd00::/64"]),
    ],
)
def test_what_a_proxy_of_the_house_says_is_passed_on(peer: str, proxies: list[str]) -> None:
    assert seen(peer=peer, proxies=proxies) == {"REMOTE_ADDR": peer, **PLAIN, **SAID}


def test_everybody_is_no_proxy() -> None:
    with pytest.raises(ValueError, match="'\\*'"):
        BehindProxy(lambda *_: [], proxies=["*"])


@pytest.mark.parametrize(("behind", "believed"), [("0", ""), ("1", "10.0.0.1,10.1.0.0/16")])
def test_without_tls_at_a_proxy_nobody_is_believed(
    monkeypatch: pytest.MonkeyPatch, behind: str, believed: str
) -> None:
    monkeypatch.setenv("BEHIND_TLS_PROXY", behind)
    monkeypatch.setenv("PROXY_ADDRESSES", "10.0.0.1, 10.1.0.0/16")
    assert runpy.run_path(gunicorn.__file__)["forwarded_allow_ips"] == believed


@pytest.mark.parametrize(
    ("soft", "hard", "open_at_once"),
    [
        (1_024, 4_096, 1_000),
        (1_024, 1_024, 924),
        (256, 256, 156),
        (64, 64, 100),
        (1_024, resource.RLIM_INFINITY, 1_000),
    ],
)
def test_no_more_connections_than_files_may_be_open(
    monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, open_at_once: int
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda *_: None)
    assert serving._connections() == open_at_once


class Connection:
    """A connection on which ``request`` is being read."""

    def __init__(self) -> None:
        self.request: object | None = object()
        self.will_close = False


def test_a_request_that_does_not_come_whole_in_its_time_is_let_go_and_the_next_one_has_its_own_time() -> None:
    reading = serving._Reading()
    slow, quick, idle = Connection(), Connection(), Connection()
    idle.request = None
    reading.close_late([slow, quick, idle], now=1000.0)
    quick.request = object()
    reading.close_late([slow, quick, idle], now=1000.0 + serving.READ_SECONDS)
    assert not slow.will_close

    reading.close_late([slow, quick, idle], now=1000.5 + serving.READ_SECONDS)

    assert [one.will_close for one in (slow, quick, idle)] == [True, False, False]
