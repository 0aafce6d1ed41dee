"""Cutting a table's deliveries into requests: as they came, or in the disorder of a bad network.

Pure. Whatever the disorder, two things hold, because they hold at a table: a camera's reads of a round reach the house
before its close, and a device sends a batch of at most 500 events and 256 kB.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from deploy.recordings.recording import Ask, Delivery, Line

MOST_EVENTS = 500
MOST_BYTES = 250_000  # below 256 kB, brackets and commas included
MOST_PLACES = 60


@dataclass(frozen=True, slots=True)
class Batch:
    """One request of one device. ``waits``: not before all that was sent earlier by cameras was acknowledged."""

    device: str
    deliveries: tuple[Delivery, ...]
    waits: bool

    @property
    def closes(self) -> tuple[str, ...]:
        """The rounds that may settle once this batch is in."""
        return tuple(dict.fromkeys(delivery.round for delivery in self.deliveries if delivery.closes))


Step = Batch | Ask


def as_it_came(lines: Sequence[Line]) -> list[Step]:
    """Return the requests of an ordinary night: one batch a round from each device, the camera's first.

    A terminal asks for cover before it locks bets of wallets; for a round of which the recording itself says when cover
    was asked for, then and not besides.
    """
    return _cut(with_covers(lines), sizes=lambda: MOST_EVENTS, by_round=True)


def in_chaos(lines: Sequence[Line], *, seed: str) -> list[Step]:
    """Return the requests of a terrible night; the same seed gives the same ones.

    Every tenth event comes three times, one in fifty once more under another id, each delivery up to sixty places from
    where it was (terminals' over the borders of rounds, a camera's never past the close of its round), in batches of
    1 to 500. Raises ValueError for a recording with asks: what they ask about may not have arrived.
    """
    if any(isinstance(line, Ask) for line in lines):
        raise ValueError("what is asked at one moment has no place in disorder")
    chance = random.Random(seed)  # noqa: S311 - repeatable disorder, no secret
    deliveries = repeated([line for line in lines if isinstance(line, Delivery)], chance=chance)
    disorder = moved(deliveries, chance=chance)
    return _cut(disorder, sizes=lambda: chance.randint(1, MOST_EVENTS), by_round=False)


def with_covers(lines: Sequence[Line]) -> list[Line]:
    """Return the lines with an asking for cover before each lock of bets that wallets stand behind."""
    told = {line.round for line in lines if isinstance(line, Ask)}
    wallets: set[str] = set()
    found: list[Line] = []
    for line in lines:
        if isinstance(line, Delivery) and line.round not in told:
            if line.names_wallet:
                wallets.add(line.round)
            if line.kind == "bets_locked" and line.round in wallets:
                wallets.discard(line.round)
                found.append(Ask("cover", line.round))
        found.append(line)
    return found


def repeated(deliveries: Sequence[Delivery], *, chance: random.Random) -> list[Delivery]:
    """Return the deliveries with every tenth three times and one in fifty once more under another id."""
    found: list[Delivery] = []
    for place, delivery in enumerate(deliveries):
        found += [delivery] * (3 if place % 10 == 9 else 1)
        if chance.randrange(50) == 0:
            found.append(delivery.under_another_id(f"{chance.getrandbits(48):012x}"))
    return found


def moved(deliveries: Sequence[Delivery], *, chance: random.Random) -> list[Delivery]:
    """Return the deliveries in another order, each less than ``MOST_PLACES`` places away from its own.

    A delivery is sorted by its place plus a chance below sixty, so none can pass another that is sixty places off. A
    camera's first report of a card sorts before every close of its round that it stood before; a camera that
    was not late stays so.
    """
    keys = [place + chance.random() * MOST_PLACES for place in range(len(deliveries))]
    closes: dict[str, float] = {}
    for key, delivery in zip(keys, deliveries, strict=True):
        if delivery.closes:
            closes[delivery.round] = min(key, closes.get(delivery.round, key))
    known = set()
    for place, delivery in enumerate(deliveries):
        act = delivery.device, delivery.sequence
        if delivery.is_camera and act not in known:
            keys[place] = min(keys[place], closes.get(delivery.round, keys[place]))
        known.add(act)
    order = sorted(
        range(len(deliveries)), key=lambda place: (keys[place], not deliveries[place].is_camera, place)
    )
    return [deliveries[place] for place in order]


def _cut(lines: Sequence[Line], *, sizes: Callable[[], int], by_round: bool) -> list[Step]:
    cutter = _Cutter(sizes)
    for line in lines:
        if isinstance(line, Ask):
            cutter.flush_all()
            cutter.steps.append(line)
            continue
        cutter.take(line)
        if by_round and line.closes:
            cutter.flush(line.device)
    cutter.flush_all()
    return cutter.steps


class _Cutter:
    """The batches that are being filled, one for each device."""

    def __init__(self, sizes: Callable[[], int]) -> None:
        self.steps: list[Step] = []
        self._sizes = sizes
        self._open: dict[str, list[Delivery]] = {}
        self._room: dict[str, int] = {}
        self._bytes: dict[str, int] = {}

    def take(self, delivery: Delivery) -> None:
        device = delivery.device
        size = len(delivery.text.encode()) + 1
        if self._open.get(device) and self._bytes[device] + size > MOST_BYTES:
            self.flush(device)
        if not self._open.get(device):
            self._open[device], self._room[device], self._bytes[device] = [], self._sizes(), 0
        self._open[device].append(delivery)
        self._bytes[device] += size
        if len(self._open[device]) >= self._room[device]:
            self.flush(device)

    def flush(self, device: str) -> None:
        """End the device's batch. If it closes a round, what cameras have seen until now goes first."""
        filled = self._open.pop(device, [])
        if not filled:
            return
        waits = any(delivery.closes for delivery in filled)
        if waits:
            self._flush_cameras()
        self.steps.append(Batch(device, tuple(filled), waits))

    def _flush_cameras(self) -> None:
        for device in [code for code, filled in self._open.items() if filled and filled[0].is_camera]:
            self.flush(device)

    def flush_all(self) -> None:
        self._flush_cameras()
        for device in list(self._open):
            self.flush(device)
