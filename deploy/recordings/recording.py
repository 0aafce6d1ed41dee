"""A recording as values: read from its file, and written to one."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

CLOSING = frozenset({"round_closed", "round_voided"})


@dataclass(frozen=True, slots=True)
class Delivery:
    """One event on its way from a device to the house; ``text`` is its JSON, as sent."""

    device: str
    sequence: int
    kind: str
    round: str
    time: datetime
    text: str

    @property
    def is_camera(self) -> bool:
        return "-camera" in self.device

    @property
    def closes(self) -> bool:
        """Whether a round may settle from this event on."""
        return self.kind in CLOSING

    @property
    def names_wallet(self) -> bool:
        """Whether it is a bet from a wallet, or the opening of a round that a player banks."""
        return self.kind in ("bet_placed", "round_opened") and '"account"' in self.text

    def under_another_id(self, tail: str) -> Delivery:
        """Return the same event with the last twelve digits of its ``id`` changed: the same act all the same."""
        event = json.loads(self.text)
        event["id"] = event["id"][:-12] + tail
        return replace(self, text=written(event))


@dataclass(frozen=True, slots=True)
class Ask:
    """Something asked of the house beside the events: ``cover`` of a round, or ``correct`` it, citing late events by
    their places in the round (``acts``)."""

    what: str
    round: str
    acts: tuple[int, ...] = ()
    reason: str = ""


Line = Delivery | Ask


def read(path: Path) -> dict[str, list[Line]]:
    """Return each table's lines, in the order of the file. Raises ValueError naming a line that is none."""
    tables: dict[str, list[Line]] = {}
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for number, text in enumerate(lines, 1):
            try:
                line = json.loads(text)
                tables.setdefault(line["table"], []).append(_line(line))
            except (KeyError, TypeError, ValueError) as problem:
                raise ValueError(
                    f"line {number} of {path.name} is no line of a recording: {problem!r}"
                ) from problem
    return tables


def write(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """Write a recording; the same lines give the same bytes."""
    text = "".join(f"{written(line)}\n" for line in lines)
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


def written(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def delivery_of(event: Mapping[str, Any]) -> Delivery:
    """Return a CloudEvent as a delivery."""
    return Delivery(
        device=event["source"].removeprefix("/devices/"),
        sequence=int(event["sequence"]),
        kind=event["type"].removeprefix("pokdeng.").removesuffix(".v1"),
        round=event["subject"].removeprefix("rounds/"),
        time=datetime.fromisoformat(event["time"]),
        text=written(event),
    )


def _line(line: Mapping[str, Any]) -> Line:
    if "ask" not in line:
        return delivery_of(line["event"])
    return Ask(
        what=line["ask"],
        round=line["round"],
        acts=tuple(line.get("acts", ())),
        reason=line.get("reason", ""),
    )


def devices(tables: Mapping[str, Sequence[Line]]) -> dict[str, list[str]]:
    """Return the codes of the devices that send at each table, terminals first."""
    return {
        table: sorted(
            {line.device for line in lines if isinstance(line, Delivery)},
            key=lambda code: ("-camera" in code, code),
        )
        for table, lines in tables.items()
    }
