"""A worker of gunicorn that reads requests whole before it spends a thread on them.

gunicorn has the processes: it starts, counts, asks and ends them. Inside each, waitress reads every connection in one
loop, and a thread sees a request only once its last byte is there, so whoever sends slowly keeps nobody waiting.
"""

from __future__ import annotations

import os
import resource
import socket
import time
from collections.abc import Callable, Iterable
from typing import Any

from gunicorn.workers.base import Worker as Process
from waitress import wasyncore
from waitress.channel import HTTPChannel
from waitress.server import TcpWSGIServer, create_server

CONNECTIONS = 1_000
"""Open at once in one process; further ones wait to be accepted."""
FILES_KEPT = 100
"""Of the files a process may open: for the database, the broker and what it reads."""
HEAD_BYTES = 16_384
BODY_BYTES = 6 * 1024 * 1024
"""The largest body of any door, a statement of others, with room; each door has a limit of its own beneath it."""
IDLE_SECONDS = 30
READ_SECONDS = 60
"""In which a request must have come whole; a connection that takes longer is closed."""
LOOK_SECONDS = 0.5

Start = Callable[..., Any]
Open = dict[int, Any]
"""What a process listens to and is connected with, by file number."""
Application = Callable[[dict[str, Any], Start], Iterable[bytes]]


class Worker(Process):
    """One process: as many threads as ``threads`` says, and a loop that reads and writes for all connections."""

    def run(self) -> None:
        open_here: Open = {}
        server = create_server(
            self.wsgi,
            map=open_here,
            sockets=[_of(listener) for listener in self.sockets],
            threads=self.cfg.threads,
            connection_limit=_connections(),
            backlog=self.cfg.backlog,
            max_request_header_size=HEAD_BYTES,
            max_request_body_size=BODY_BYTES,
            channel_timeout=IDLE_SECONDS,
            cleanup_interval=5,
            asyncore_use_poll=True,
            ident=None,
            # What a proxy says is dropped, or believed, in one place: deploy.edge.
            clear_untrusted_proxy_headers=False,
        )
        reading = _Reading()
        while self.alive and self._has_master():
            self.notify()
            _turn(open_here, seconds=LOOK_SECONDS)
            reading.close_late(_channels(open_here), now=time.monotonic())
        self._end(open_here)
        server.task_dispatcher.shutdown(timeout=1)

    def _has_master(self) -> bool:
        return bool(self.ppid == os.getppid())

    def _end(self, open_here: Open) -> None:
        """Accept nobody any more, answer what has come whole, and go."""
        deadline = time.monotonic() + self.cfg.graceful_timeout
        for listening in [one for one in open_here.values() if isinstance(one, TcpWSGIServer)]:
            listening.accepting = False
            listening.del_channel(open_here)
        while time.monotonic() < deadline:
            self.notify()
            if not any(one.requests or one.total_outbufs_len for one in _channels(open_here)):
                break
            _turn(open_here, seconds=0.05)


class _Reading:
    """Since when a request is being read on each connection."""

    def __init__(self) -> None:
        self._since: dict[HTTPChannel, tuple[object, float]] = {}

    def close_late(self, channels: Iterable[HTTPChannel], *, now: float) -> None:
        """Let go of connections whose request has not come whole in its time."""
        since = {}
        for channel in channels:
            if channel.request is None:
                continue
            known, begun = self._since.get(channel, (None, now))
            since[channel] = (channel.request, begun if known is channel.request else now)
            if now - since[channel][1] > READ_SECONDS:
                channel.will_close = True
        self._since = since


def _of(listener: Any) -> socket.socket:
    """The socket in gunicorn's wrapping."""
    found: socket.socket = listener.sock
    return found


def _channels(open_here: Open) -> list[HTTPChannel]:
    return [one for one in open_here.values() if isinstance(one, HTTPChannel)]


def _turn(open_here: Open, *, seconds: float) -> None:
    """Read and write what can be, waiting for so long at the most."""
    wasyncore.loop(timeout=seconds, use_poll=True, map=open_here, count=1)


def _connections() -> int:
    """As many as are wanted, or as the files that this process may open leave room for."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < CONNECTIONS + FILES_KEPT:
        wanted = CONNECTIONS + FILES_KEPT
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return min(CONNECTIONS, max(FILES_KEPT, soft - FILES_KEPT))
