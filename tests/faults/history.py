"""What was asked and what was answered: the callers' own memory, which the house must agree with afterwards."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx

Outcome = Literal["invoke", "ok", "refused", "unknown"]
SECONDS = 40.0
"""Longer than the web lets a request run: who waits for less does not know what the house would have said."""


@dataclass
class Call:
    """One request and what its caller knows of it: ``invoke`` until it is answered, ``unknown`` where no answer came,
    or one that says that something failed here."""

    who: str
    what: str
    key: str
    outcome: Outcome = "invoke"
    status: int = 0
    answer: Any = None
    replayed: bool = False


@dataclass(frozen=True)
class Act:
    """Something a caller wants done: sent again it is the same bytes under the same ``key``."""

    what: str
    method: str
    path: str
    body: Any = None
    key: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


class History:
    """Every call of a case, in the order in which they were made."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._lock = threading.Lock()

    def begin(self, who: str, act: Act) -> Call:
        call = Call(who, act.what, act.key)
        with self._lock:
            self.calls.append(call)
        return call

    def of(self, *, what: str = "", outcome: str = "", key: str = "") -> list[Call]:
        with self._lock:
            return [
                call
                for call in self.calls
                if (not what or call.what == what)
                and (not outcome or call.outcome == outcome)
                and (not key or call.key == key)
            ]


class Client:
    """A caller with a connection of its own. Used by one thread at a time."""

    def __init__(
        self, *, who: str, url: str, history: History, headers: Mapping[str, str], address: str = ""
    ) -> None:
        self.who = who
        self._url = url
        self._history = history
        self._headers = dict(headers)
        self._http = httpx.Client(
            base_url=f"{url}/api/v1/",
            timeout=SECONDS,
            trust_env=False,
            transport=httpx.HTTPTransport(local_address=address or None),
        )

    def close(self) -> None:
        self._http.close()

    def sign_in(self, *, badge: str, password: str) -> Call:
        """Sign in as a person; what follows is asked in that session."""
        call = self.once(Act("sign in", "POST", "session", {"badge": badge, "password": password}))
        if call.outcome == "ok":
            self._headers |= {"X-CSRFToken": call.answer["csrf_token"], "Origin": self._url}
        return call

    def once(self, act: Act) -> Call:
        """Ask once and write down what came of it."""
        call = self._history.begin(self.who, act)
        headers = {"Content-Type": "application/json", **self._headers, **act.headers}
        if act.key:
            headers["Idempotency-Key"] = f'"{act.key}"'
        content = b"" if act.body is None else json.dumps(act.body).encode()
        try:
            answer = self._http.request(act.method, act.path, content=content, headers=headers)
        except httpx.TransportError:
            call.outcome = "unknown"
            return call
        call.status, call.replayed = answer.status_code, "Idempotency-Replayed" in answer.headers
        with_json = answer.headers.get("Content-Type", "").partition(";")[0].endswith("json")
        call.answer = answer.json() if with_json else answer.text
        call.outcome = _known(call)
        return call

    def insist(self, act: Act, *, seconds: float = 120.0) -> Call:
        """Ask for the same until the answer is known; return the last call."""
        end = time.monotonic() + seconds
        while True:
            call = self.once(act)
            if call.outcome != "unknown":
                return call
            assert time.monotonic() < end, f"{self.who}: no answer to {act.what} for {seconds:.0f} s"
            time.sleep(0.2)


def _known(call: Call) -> Outcome:
    """A 5xx says that something failed here; a key under way, that the answer is still to come."""
    if call.status >= 500:
        return "unknown"
    if isinstance(call.answer, dict) and call.answer.get("code") == "idempotency_key_running":
        return "unknown"
    return "ok" if call.status < 400 else "refused"
