"""Who is busy while a fault strikes: terminals that play rounds, a camera that reads along, cashiers who move money.

What each does follows from a seed. What is not answered is asked again, the same, until it is known.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from casino import cards
from tests import world
from tests.faults.history import Act, Call, Client
from tests.faults.waiting import until
from tests.rules.given import Short, short_round, thb

STAKES = (10_000, 20_000, 50_000, 100_000)
WALLETS = ("W1", "W2", "W3", "W4")


@dataclass
class Told:
    """A round as its terminal knows it: what it sent, and what it heard."""

    id: str
    table: str
    events: list[dict[str, Any]]
    settled: dict[str, Any] | None = None
    closed: bool = False


class Terminal:
    """The devices of one table: a terminal and, where there is one, a camera."""

    def __init__(self, *, table: str, clients: dict[str, Client], seed: str, camera: bool = False) -> None:
        self.table = table
        self.rounds: list[Told] = []
        self.clients = clients
        self._camera = camera
        self._chance = random.Random(f"{seed} {table}")
        self._recording = world.Recording(start=datetime.now(UTC), name=f"{seed} {table}")

    @property
    def client(self) -> Client:
        return self.clients[f"{self.table}-terminal"]

    def play(self, *, settle: bool = True) -> Told:
        """Tell one round from its first bet to its close, and let it be settled unless told otherwise."""
        told = self.deal_and_send()
        if settle:
            self.settle(told)
        return told

    def deal_and_send(self) -> Told:
        told = self.deal()
        self.send(told)
        return told

    def deal(self, chance: random.Random | None = None) -> Told:
        """A round that happened and that nobody was told of yet; the same ``chance`` deals the same."""
        self._recording._now = max(self._recording._now, datetime.now(UTC))
        number = len(self.rounds) + 1
        shorts = a_deal(chance or self._chance, number=number, camera=self._camera)
        round_ = self._recording.round(table=self.table, number=number)
        told = Told(round_.id, self.table, round_.tell(*shorts))
        self.rounds.append(told)
        return told

    def send(self, told: Told) -> None:
        """Send what each device has of a round, in its own batch, until every event of it is there."""
        for device, act in self.batches(told):
            call = self.clients[device].insist(act)
            outcomes = (
                {event["outcome"] for event in call.answer["events"]} if call.outcome == "ok" else set()
            )
            assert outcomes in ({"recorded"}, {"duplicate"}), (told.id, call.status, call.answer)
        told.closed = True

    def batches(self, told: Told) -> Iterator[tuple[str, Act]]:
        for device in dict.fromkeys(event["source"].rpartition("/")[2] for event in told.events):
            sent = [event for event in told.events if event["source"].endswith(f"/{device}")]
            yield device, batch(self.table, sent)

    def settle(self, told: Told) -> Call:
        call = self.client.insist(settling(told.id))
        if call.outcome == "ok" and call.answer["outcome"] == "settled":
            told.settled = call.answer
        return call


def batch(table: str, events: Sequence[dict[str, Any]]) -> Act:
    headers = {"Content-Type": world.BATCH, "Pokdeng-Sent-At": max(event["time"] for event in events)}
    return Act("record", "POST", f"tables/{table}/events", list(events), headers=headers)


def settling(round_id: str) -> Act:
    return Act("settle", "POST", f"rounds/{round_id}/settle")


def a_deal(chance: random.Random, *, number: int, camera: bool) -> list[Short]:
    """A round of two to four guests with random stakes and cards; nobody draws against a dealer's pok."""
    guests = [f"p{seat}" for seat in range(1, chance.randint(2, 4) + 1)]
    deck = chance.sample(cards.DECK, 3 * (len(guests) + 1))
    dealt = {name: [deck.pop(), deck.pop()] for name in (*guests, "dealer")}
    if _taem(dealt["dealer"]) < 8:
        for hand in dealt.values():
            if _taem(hand) < 5:
                hand.append(deck.pop())
    told = short_round(
        bets={name: chance.choice(STAKES) for name in guests},
        cards={name: " ".join(map(cards.text, hand)) for name, hand in dealt.items()},
        camera=camera,
    )
    told[0]["data"]["number"] = number
    return told


def _taem(hand: Sequence[int]) -> int:
    return sum(min(cards.rank(card) + 1, 10) for card in hand) % 10


class Cashier:
    """A cashier system with its key: it pays into wallets and out of them."""

    def __init__(self, *, system: str, client: Client, seed: str) -> None:
        self.system = system
        self.client = client
        self.acts: list[Act] = []
        self._wanted = 0
        self._seed = seed
        self._chance = random.Random(f"{seed} {system}")

    def next(self, what: str = "", *, wallet: str = "") -> Act:
        """The next thing it wants done: ``deposits`` or ``withdrawals`` unless it is said which."""
        what = what or self._chance.choice(("deposits", "deposits", "withdrawals"))
        self._wanted += 1
        name = f"{self._seed}/{self.system}/{self._wanted}"
        body = {
            "amount": thb(self._chance.randrange(1_00, 5_000_00, 100)),
            "cage": "C1",
            "till": "T1",
            "means": "cash",
            "document": name,
            "happened_at": datetime.now(UTC).isoformat(),
        }
        act = Act(what, "POST", f"wallets/{wallet or self._chance.choice(WALLETS)}/{what}", body, key=name)
        self.acts.append(act)
        return act

    def move(self) -> Call:
        return self.client.insist(self.next())


@dataclass
class Load:
    """Everybody at work, each in a thread, until told to stop."""

    terminals: Sequence[Terminal]
    cashiers: Sequence[Cashier]
    steps: int = 0
    _working: list[Future[None]] = field(default_factory=list)

    @contextmanager
    def running(self, *, pause: float = 0.25) -> Iterator[Load]:
        stop = threading.Event()
        work: list[Callable[[], Any]] = [cashier.move for cashier in self.cashiers]
        work += [terminal.play for terminal in self.terminals]

        def run(do: Callable[[], Any]) -> None:
            while not stop.wait(pause):
                do()
                self.steps += 1

        with ThreadPoolExecutor(len(work)) as threads:
            self._working = [threads.submit(run, do) for do in work]
            try:
                yield self
            finally:
                stop.set()
        self._stumbled()

    def goes_on(self, *, steps: int = 3) -> None:
        """Wait until so many more acts were answered."""
        enough = self.steps + steps

        def came() -> bool:
            self._stumbled()
            return self.steps >= enough

        until(came, "more acts are answered")

    def _stumbled(self) -> None:
        """Raise what somebody stumbled over."""
        for one in self._working:
            if one.done():
                one.result()
