"""What one process holds open, and for how long a request may be read."""

from __future__ import annotations

import resource

import pytest

from deploy import serving


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
