"""What stands between the house and its servers: it refuses, cuts, and holds a statement or its answer.

The house speaks to PostgreSQL without TLS, so statements are seen as they are sent. A trap waits for one: it stops the
connection before the statement gets through, or lets it through and stops the answer. A process killed meanwhile died
exactly before or after it, and no code of the house knows of any of this.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from dataclasses import dataclass, field

from deploy.local import paths

COMMIT = b"Q\x00\x00\x00\x0bCOMMIT\x00"
BEGIN = b"Q\x00\x00\x00\x0aBEGIN\x00"
PATIENCE = 60.0


@dataclass
class Trap:
    """Waits for a statement ``at``, of the connection that names itself ``of`` or comes from ``port``, after it said
    ``behind`` in the same transaction. Springs once. ``answered``: the statement gets through, and its answer is what
    is held. ``heard`` is all that was said."""

    at: bytes = COMMIT
    behind: tuple[bytes, ...] = ()
    of: bytes = b""
    port: int = 0
    answered: bool = False
    sprung: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)
    forward: bool = False
    client_port: int = 0
    heard: bytes = b""

    def fits(self, pair: Pair, data: bytes) -> bool:
        return (
            not self.sprung.is_set()
            and self.at in data
            and self.of in pair.name
            and self.port in (0, pair.client_port)
            and all(words in pair.said for words in self.behind)
        )

    def wait(self, seconds: float = PATIENCE) -> int:
        """Wait until somebody is in the trap; return the port they came from."""
        assert self.sprung.wait(seconds), (
            f"the fault never struck: nobody said {self.at!r} behind {self.behind}"
        )
        return self.client_port

    def let_go(self) -> None:
        """Let what is held get through."""
        self.forward = True
        self.over.set()

    def cut(self) -> None:
        """Let what is held never get through: its connection ends."""
        self.over.set()

    def hold(self, pair: Pair) -> bool:
        """Hold the connection; say whether what was held may pass."""
        self.client_port, self.heard = pair.client_port, pair.said
        self.sprung.set()
        self.over.wait(PATIENCE)
        return self.forward


@dataclass(eq=False)
class Pair:
    """One connection through the proxy. ``said`` is what the client said since its transaction began."""

    client: socket.socket
    server: socket.socket
    client_port: int
    name: bytes = b""
    said: bytes = b""
    trap: Trap | None = None

    def hear(self, data: bytes) -> None:
        if not self.name:
            self.name = data
        if BEGIN in data:
            self.said = b""
        self.said += data

    def end(self) -> None:
        for side in (self.client, self.server):
            with contextlib.suppress(OSError):
                side.shutdown(socket.SHUT_RDWR)


class Proxy:
    """Listens at ``port`` and passes everything on to ``target``, a port of this machine."""

    def __init__(self, target: int = 0) -> None:
        self.target = target
        self.refusing = False
        self._traps: list[Trap] = []
        self._pairs: set[Pair] = set()
        self._lock = threading.Lock()
        self._listener = socket.create_server((paths.LOOPBACK, 0), backlog=256)
        self.port: int = self._listener.getsockname()[1]
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def trap(self, trap: Trap) -> Trap:
        with self._lock:
            self._traps.append(trap)
        return trap

    def close(self) -> None:
        """Nobody is let through any more."""
        for trap in self._traps:
            trap.over.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            pairs = list(self._pairs)
        for pair in pairs:
            pair.end()
        for thread in self._threads:
            thread.join(10)

    def _accept(self) -> None:
        while True:
            try:
                client, address = self._listener.accept()
            except OSError:
                return
            threads = self._joined(client, address[1])
            self._threads = [thread for thread in self._threads if thread.is_alive()] + threads

    def _joined(self, client: socket.socket, client_port: int) -> list[threading.Thread]:
        """The two threads of a new connection; none where it is refused."""
        try:
            if self.refusing:
                raise ConnectionRefusedError
            server = socket.create_connection((paths.LOOPBACK, self.target), timeout=10)
        except OSError:
            client.close()
            return []
        server.settimeout(None)
        for side in (client, server):
            side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        pair = Pair(client, server, client_port)
        with self._lock:
            self._pairs.add(pair)
        done = threading.Barrier(2, action=lambda: self._part(pair))
        threads = [
            threading.Thread(target=self._pump, args=(pair, way, done), daemon=True) for way in (True, False)
        ]
        for thread in threads:
            thread.start()
        return threads

    def _part(self, pair: Pair) -> None:
        with self._lock:
            self._pairs.discard(pair)
        pair.client.close()
        pair.server.close()

    def _pump(self, pair: Pair, to_server: bool, done: threading.Barrier) -> None:
        """Pass on what one side says until it ends, or the other does."""
        source, sink = (pair.client, pair.server) if to_server else (pair.server, pair.client)
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                if not (self._said(pair, data) if to_server else self._answered(pair)):
                    break
                sink.sendall(data)
        pair.end()
        with contextlib.suppress(threading.BrokenBarrierError):
            done.wait()

    def _said(self, pair: Pair, data: bytes) -> bool:
        pair.hear(data)
        with self._lock:
            trap = next((trap for trap in self._traps if trap.fits(pair, data)), None)
            if trap is not None:
                self._traps.remove(trap)
        if trap is None:
            return True
        if trap.answered:
            pair.trap = trap
            return True
        return trap.hold(pair)

    def _answered(self, pair: Pair) -> bool:
        trap, pair.trap = pair.trap, None
        return trap is None or trap.hold(pair)
