"""One table of a recording, played into a running house as its devices would."""

from __future__ import annotations

import heapq
import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from deploy.recordings.batches import Batch, Step
from deploy.recordings.device_http import Answer, Lines, Unreachable
from deploy.recordings.recording import Ask, written

BATCH = "application/cloudevents-batch+json"
JSON = {"Content-Type": "application/json"}
DONE = ("settled", "voided")
PATIENCE_SECONDS = 60.0

Correct = Callable[[Ask], Answer]
"""Asks for a correction as two people; a terminal cannot."""


class Refused(Exception):
    """The house refused something that a recording is entitled to."""


@dataclass(slots=True)
class Played:
    """What a table came to: answers to its events by outcome (refusals by code), each round as the house shows it
    afterwards, and the wagers that each asking for cover left out."""

    table: str
    events: Counter[str] = field(default_factory=Counter)
    rounds: dict[str, dict[str, Any]] = field(default_factory=dict)
    uncovered: dict[str, list[list[str]]] = field(default_factory=dict)


class Table:
    """One table being played. ``progress`` is told how many deliveries were acknowledged."""

    def __init__(
        self,
        *,
        code: str,
        url: str,
        tokens: Mapping[str, str],
        connections: int,
        correct: Correct,
        progress: Callable[[int], None],
    ) -> None:
        self.played = Played(code)
        self._lines = {
            device: Lines(url=url, token=token, count=connections) for device, token in tokens.items()
        }
        self._pools = {device: ThreadPoolExecutor(connections) for device in tokens}
        self._in_order = connections == 1
        self._correct = correct
        self._progress = progress
        self._recorder: dict[str, str] = {}
        self._standing: dict[str, str] = {}
        self._waiting: list[tuple[float, str]] = []

    def play(self, steps: Sequence[Step]) -> Played:
        """Play all of it; raises Refused or Unreachable when the house does not do its part."""
        try:
            self._send(steps)
            self._finish()
            for round_id in self._recorder:
                self.played.rounds[round_id] = self._as_terminal(round_id, "GET", "").body
            return self.played
        finally:
            for pool in self._pools.values():
                pool.shutdown(cancel_futures=True)
            for lines in self._lines.values():
                lines.close()

    def _send(self, steps: Sequence[Step]) -> None:
        sent: list[tuple[Batch, Future[Answer]]] = []
        for step in steps:
            if isinstance(step, Ask):
                sent = self._acknowledged(sent, until_empty=True)
                self._ask(step)
                continue
            sent = self._acknowledged(sent, until_empty=step.waits or self._in_order)
            for delivery in step.deliveries:
                if not delivery.is_camera:
                    self._recorder.setdefault(delivery.round, step.device)
            sent.append((step, self._pools[step.device].submit(self._deliver, step)))
            self._settle_what_is_due()
        self._acknowledged(sent, until_empty=True)

    def _acknowledged(
        self, sent: list[tuple[Batch, Future[Answer]]], *, until_empty: bool
    ) -> list[tuple[Batch, Future[Answer]]]:
        """Take in the answers that are there, all of them where asked to, and ask for the rounds they closed."""
        left = []
        for batch, answer in sent:
            if not until_empty and not answer.done():
                left.append((batch, answer))
                continue
            self._count(batch, answer.result())
            for round_id in batch.closes:
                if self._standing.get(round_id) not in DONE:
                    self._settle(round_id)
        return left

    def _deliver(self, batch: Batch) -> Answer:
        latest = max(delivery.time for delivery in batch.deliveries)
        body = f"[{','.join(delivery.text for delivery in batch.deliveries)}]"
        with self._lines[batch.device].free() as line:
            return line.send(
                "POST",
                f"/api/v1/tables/{self.played.table}/events",
                body,
                headers={"Content-Type": BATCH, "Pokdeng-Sent-At": latest.isoformat()},
            )

    def _count(self, batch: Batch, answer: Answer) -> None:
        if answer.status != 200:
            raise Refused(f"{batch.device}: {answer.status} {json.dumps(answer.body, ensure_ascii=False)}")
        for event in answer.body["events"]:
            self.played.events[event.get("code") or event["outcome"]] += 1
        self._progress(len(batch.deliveries))

    # What a terminal asks for.

    def _as_terminal(self, round_id: str, method: str, what: str, *, or_finished: bool = False) -> Answer:
        with self._lines[self._recorder[round_id]].free() as line:
            answer = line.send(
                method,
                f"/api/v1/rounds/{round_id}{what}",
                "{}" if method == "POST" else None,
                headers=JSON if method == "POST" else None,
            )
        if or_finished and answer.status == 409 and answer.body["code"] == "round_finished":
            return answer  # played before
        if answer.status != 200:
            raise Refused(f"{method} {what or 'round'} of {round_id}: {answer.status} {written(answer.body)}")
        return answer

    def _settle(self, round_id: str) -> str:
        answer = self._as_terminal(round_id, "POST", "/settle").body
        outcome: str = answer["outcome"]
        self._standing[round_id] = outcome
        if outcome == "waiting" and answer.get("due_at"):
            due = datetime.fromisoformat(answer["due_at"])
            left = max(0.0, (due - datetime.now(UTC)).total_seconds())
            heapq.heappush(self._waiting, (time.monotonic() + left + 0.02, round_id))
        return outcome

    def _settle_what_is_due(self) -> None:
        while self._waiting and self._waiting[0][0] <= time.monotonic():
            _, round_id = heapq.heappop(self._waiting)
            if self._standing.get(round_id) not in DONE:
                self._settle(round_id)

    def _finish(self) -> None:
        """Everything is in: ask for what waits until it does not, and once more for what is held."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self._waiting and time.monotonic() < deadline:
            time.sleep(max(0.0, min(0.2, self._waiting[0][0] - time.monotonic())))
            self._settle_what_is_due()
        for round_id, standing in list(self._standing.items()):
            if standing not in DONE:
                self._settle(round_id)

    def _ask(self, ask: Ask) -> None:
        if ask.what == "cover":
            answer = self._as_terminal(ask.round, "POST", "/cover", or_finished=True)
            if answer.status == 200:
                left_out = [item["wager"] for item in answer.body["uncovered"]]
                self.played.uncovered.setdefault(ask.round, []).append(left_out)
        elif ask.what == "correct":
            corrected = self._correct(ask)
            if corrected.status not in (200, 201):
                raise Refused(f"correction of {ask.round}: {corrected.status} {written(corrected.body)}")
        else:
            raise Unreachable(f"nobody can ask for {ask.what!r}")
