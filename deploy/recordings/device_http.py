"""HTTP as a device speaks it: kept-open connections, a token, and patience with a house that is busy."""

from __future__ import annotations

import http.client
import json
import queue
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlsplit

TIMEOUT_SECONDS = 60.0
TRIES = 6


class Unreachable(Exception):
    """The house did not answer, or it answered nothing a device could read."""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: Any
    cookies: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Line:
    """One kept-open connection to the house; used by one thread at a time."""

    url: str
    headers: Mapping[str, str]
    _open: http.client.HTTPConnection | None = None

    def send(
        self, method: str, path: str, body: str | None = None, *, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Send and return the answer. What a device sends may be sent twice, so a broken connection and a busy house
        (429, 5xx) are tried again; raises Unreachable when that does not help."""
        told = ""
        for attempt in range(TRIES):
            try:
                status, text, cookies = self._once(method, path, body, {**self.headers, **(headers or {})})
            except (OSError, http.client.HTTPException) as problem:
                self.close()
                told = str(problem) or type(problem).__name__
            else:
                if status < 500 and status != 429:
                    return Answer(status, _json(text), cookies)
                told = f"{status} {text[:300]!r}"
            if attempt < TRIES - 1:
                time.sleep(0.1 * 2**attempt)
        raise Unreachable(f"{method} {path}: {told}")

    def _once(
        self, method: str, path: str, body: str | None, headers: Mapping[str, str]
    ) -> tuple[int, bytes, dict[str, str]]:
        if self._open is None:
            parts = urlsplit(self.url)
            kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
            self._open = kind(parts.netloc, timeout=TIMEOUT_SECONDS)
        self._open.request(method, path, body.encode() if body is not None else None, dict(headers))
        answer = self._open.getresponse()
        cookies: SimpleCookie = SimpleCookie()
        for header in answer.headers.get_all("Set-Cookie", []):
            cookies.load(header)
        return answer.status, answer.read(), {name: morsel.value for name, morsel in cookies.items()}

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
        self._open = None


@dataclass(slots=True)
class Lines:
    """The connections of one device; whoever sends borrows a free one."""

    url: str
    token: str
    count: int
    _free: queue.SimpleQueue[Line] = field(default_factory=queue.SimpleQueue)

    def __post_init__(self) -> None:
        for _ in range(self.count):
            self._free.put(Line(self.url, {"Authorization": f"Bearer {self.token}"}))

    @contextmanager
    def free(self) -> Iterator[Line]:
        line = self._free.get()
        try:
            yield line
        finally:
            self._free.put(line)

    def close(self) -> None:
        for _ in range(self.count):
            self._free.get().close()


def _json(text: bytes) -> Any:
    try:
        return json.loads(text) if text else None
    except ValueError:
        raise Unreachable(f"no JSON: {text[:200]!r}") from None
