"""A whole house as processes of these tests: web, worker, beat and sealer behind proxies, on a copy of the furnished
database. After a fault it is asked what it promised: ``House.holds``."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
import uuid
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from django.conf import settings
from kombu import Connection
from psycopg import sql

from deploy.celery import app
from deploy.local import paths, processes
from tests.faults.furnishing import FLOOR, PAID_IN, SYSTEMS, WATCHED, Furnished
from tests.faults.history import Act, Call, Client, History
from tests.faults.load import WALLETS, Cashier, Load, Terminal
from tests.faults.proxy import Proxy
from tests.faults.waiting import until

EVERYBODY = ("web", "worker", "beat", "sealer")
LEASES = {"WEBHOOK_LEASE_SECONDS": "6", "RECONCILE_LEASE_SECONDS": "4"}
"""A try at a webhook takes five seconds at most; a chunk of these houses far less than one."""
GOES_ON_WITHIN = 60.0


@dataclass(repr=False)
class House:
    """One house, from its start to its end, and those who use it."""

    furnished: Furnished
    folder: Path
    seed: str
    database: str
    history: History = field(default_factory=History)
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    to_database: Proxy = field(default_factory=Proxy)
    port: int = field(default_factory=paths.free_port)
    clients: list[Client] = field(default_factory=list)
    known: dict[str, Call] = field(default_factory=dict)
    read: set[str] = field(default_factory=set)
    is_sound: bool = True

    def __post_init__(self) -> None:
        self.to_database.target = self.furnished.postgres.port
        self.terminals = [self._terminal(code, camera=FLOOR[code]["camera"]) for code in FLOOR]
        self.watched = [self._terminal(code, camera=True) for code in WATCHED]
        self.cashiers = [
            Cashier(
                system=system, client=self.client(self.furnished.keys[system], who=system), seed=self.seed
            )
            for system in SYSTEMS
        ]

    # -- its processes

    def open(self, names: Sequence[str] = EVERYBODY) -> None:
        """Start these processes and wait until they are at work."""
        for name in names:
            self.start(name)
        if "web" in names:
            until(self.answers, "the web answers")
        if "worker" in names:
            until(lambda: len(self.family("worker")) > 2, "the worker has its children")

    def start(self, name: str, *, called: str = "") -> None:
        """Start one process; ``called``: one more of its kind, under a name of its own."""
        program = next(one for one in processes.programs(port=self.port) if one.name == name)
        with (self.folder / f"{called or name}.log").open("ab") as log:
            self.processes[called or name] = subprocess.Popen(
                program.command,
                cwd=paths.CLONE,
                env=self.environment() | dict(program.environment) | {"PROCESS": program.process},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def last_words(self, name: str, *, most: int = 9_000) -> str:
        return (self.folder / f"{name}.log").read_text(errors="replace")[-most:]

    def kill(self, name: str) -> None:
        """Kill a process with all of its children, at once."""
        process = self.processes.pop(name)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # its own session: it and its children
        process.wait(30)

    def close(self) -> None:
        for name in list(self.processes):
            self.kill(name)
        for client in self.clients:
            client.close()
        self.to_database.close()

    def environment(self) -> dict[str, str]:
        postgres, port = self.furnished.postgres, self.to_database.port
        # The proxy strikes at what it hears: a statement that was prepared is not said again.
        inherited = {name: value for name, value in os.environ.items() if name != "DATABASE_OWNER_URL"} | {
            "DATABASE_PREPARE": "0"
        }
        return inherited | LEASES | {
            "DATABASE_URL": postgres.url("pokdeng_app", database=self.database, port=port),
            "DATABASE_SEALER_URL": postgres.url("pokdeng_sealer", database=self.database, port=port),
            "DATABASE_READER_URL": postgres.url("pokdeng_reader", database=self.database),
            "REDIS_URL": self.furnished.valkey.url(),
            "SECRET_KEY": settings.SECRET_KEY,
            "WEBHOOK_DEMONSTRATION": "1",
            "RECONCILE_CHUNK_SIZE": "50",
            "RECONCILE_MARGIN_SECONDS": "0",
            "CHECKPOINT_FOLDER": str(self.folder / "checkpoints"),
            "SEAL_KEY_FILE": str(self.folder / "sealer" / "key"),
        }  # fmt: skip

    def family(self, name: str) -> list[psutil.Process]:
        """A process and its children."""
        try:
            parent = psutil.Process(self.processes[name].pid)
            return [parent, *parent.children(recursive=True)]
        except psutil.NoSuchProcess:
            return []

    def whose(self, port: int) -> psutil.Process:
        """The process of this house whose connection comes from this port."""
        for name in self.processes:
            for process in self.family(name):
                with contextlib.suppress(psutil.NoSuchProcess):
                    if any(one.laddr.port == port for one in process.net_connections("tcp4") if one.raddr):
                        return process
        raise AssertionError(f"nobody of the house comes from port {port}")

    def to_the_database(self, process: psutil.Process) -> int:
        """The port of a process's one connection to the database."""
        (port,) = [
            one.laddr.port
            for one in process.net_connections("tcp4")
            if one.raddr and one.raddr.port == self.to_database.port and one.status == "ESTABLISHED"
        ]
        return int(port)

    def ring(self, task: str, *, times: int = 1) -> None:
        """Wake a worker: the same message, so many times."""
        with Connection(self.furnished.valkey.url()) as connection:
            id = str(uuid.uuid4())
            for _ in range(times):
                app.send_task(task, task_id=id, connection=connection)

    def answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/healthz", timeout=10) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    # -- who uses it

    @property
    def url(self) -> str:
        return f"http://{paths.LOOPBACK}:{self.port}"

    def client(self, token: str = "", *, who: str, address: str = "") -> Client:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        made = Client(who=who, url=self.url, history=self.history, headers=headers, address=address)
        self.clients.append(made)
        return made

    def person(self, badge: str) -> Client:
        """Somebody of the staff, signed in."""
        made = self.client(who=badge)
        signed_in = made.sign_in(badge=badge, password=self.furnished.people[badge]["password"])
        assert signed_in.outcome == "ok", signed_in
        return made

    def everybody(self) -> Load:
        """Four terminals, a camera, two cashier systems."""
        return Load(terminals=self.terminals, cashiers=self.cashiers)

    def deposit_many(self, count: int) -> None:
        """So many deposits, by both systems at once: each is told to every endpoint."""

        def deposit(cashier: Cashier) -> None:
            for _ in range(count // len(self.cashiers)):
                assert cashier.client.insist(cashier.next("deposits")).outcome == "ok"

        with ThreadPoolExecutor(len(self.cashiers)) as pool:
            list(pool.map(deposit, self.cashiers))

    def _terminal(self, code: str, *, camera: bool) -> Terminal:
        devices = [f"{code}-terminal", *([f"{code}-camera"] if camera else [])]
        clients = {device: self.client(self.furnished.tokens[device], who=device) for device in devices}
        return Terminal(table=code, clients=clients, seed=self.seed, camera=camera)

    def begin_run(self) -> str:
        """Let the books of the running day be compared; return the run's id."""
        ((day,),) = self.rows("SELECT max(gaming_day) FROM settlement_journal")
        act = Act("run", "POST", "reconciliations", {"gaming_day": day.isoformat()}, key=str(uuid.uuid4()))
        answer = self.person("A01").insist(act)
        assert answer.outcome == "ok", answer
        return str(answer.answer["id"])

    def is_done(self, run: str) -> bool:
        return bool(self.rows("SELECT 1 FROM settlement_run WHERE id = %s AND done_at IS NOT NULL", run))

    def agrees(self, run: str) -> None:
        """A run that is done found nothing."""
        breaks = self.rows(
            "SELECT code, subject, detail FROM settlement_break WHERE %s IN (run, seen_run)", run
        )
        assert breaks == [], breaks
        ((outcome,),) = self.rows("SELECT outcome FROM settlement_run WHERE id = %s", run)
        assert outcome == "matched"

    # -- what is stored

    def rows(self, statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """Rows as they are stored, read past every proxy."""
        with self.furnished.postgres.administer(self.database) as connection:
            return connection.execute(sql.SQL(statement), parameters).fetchall()

    def number(self, statement: str, *parameters: Any) -> int:
        ((found,),) = self.rows(statement, *parameters)
        return int(found)

    # -- what it promised

    def holds(self) -> None:
        """What must be true after every case: a new round is recorded and settled; every answer was the truth; nothing
        waits; and the books are clean. Only then the next case may begin in the same house."""
        self.goes_on()
        self.answered_the_truth()
        self.comes_to_rest()
        self.has_clean_books()
        self.is_sound = True

    def goes_on(self) -> None:
        """A new round is recorded and settled, at once where its terminal asks for it, and by the worker where not."""
        asked, unasked = self.terminals[-1], self.terminals[-2]
        assert asked.settle(asked.deal_and_send()).answer["outcome"] == "settled"
        left = unasked.play(settle=False)
        until(lambda: self.is_settled(left.id), "the worker settles a round", seconds=GOES_ON_WITHIN)

    def is_settled(self, round_id: str) -> bool:
        return bool(self.rows("SELECT 1 FROM settlement_settlement WHERE round_id = %s", round_id))

    def answered_the_truth(self) -> None:
        """What was answered is there once and reads back equal; what was refused is not there; what was never known is
        there once or not at all, and the same key tells which."""
        for cashier in self.cashiers:
            for act in cashier.acts:
                if act.key not in self.known:
                    self.known[act.key] = self._truth_of(cashier, act)
        stored = Counter(
            document for (document,) in self.rows("SELECT document FROM settlement_cashact WHERE till = 'T1'")
        )
        assert stored == Counter({key: 1 for key, call in self.known.items() if call.outcome == "ok"})
        self._wallets_are_the_sum()
        for terminal in (*self.terminals, *self.watched):
            self._has_rounds_of(terminal)

    def _truth_of(self, cashier: Cashier, act: Act) -> Call:
        """Ask once more under the same key, and compare with what is stored and with every answer before."""
        earlier = [call for call in self.history.of(key=act.key) if call.outcome in ("ok", "refused")]
        there = self.moved(act)
        last = cashier.client.insist(act)
        assert last.replayed == bool(earlier or there), (act, earlier, there, last)
        assert all(_first(call) == _first(last) for call in earlier), (act, earlier, last)
        after = self.moved(act)
        if last.outcome == "ok":
            assert after == [(last.answer["journal"], act.body["amount"]["amount"])], (act, after, last)
        assert after == there or (not there and not earlier), (act, there, after)
        return last

    def moved(self, act: Act) -> list[tuple[str, int]]:
        """What is stored of an act that moves money: journal and amount."""
        found = self.rows("SELECT journal_id, amount FROM settlement_cashact WHERE document = %s", act.key)
        return [(str(journal), amount) for journal, amount in found]

    def _wallets_are_the_sum(self) -> None:
        sums = dict.fromkeys(WALLETS, PAID_IN)
        for cashier in self.cashiers:
            for act in cashier.acts:
                if self.known[act.key].outcome == "ok":
                    sign = 1 if act.what == "deposits" else -1
                    sums[act.path.split("/")[1]] += sign * act.body["amount"]["amount"]
        for ref, amount in sums.items():
            found = self.cashiers[0].client.insist(Act("read", "GET", f"wallets/{ref}"))
            assert found.answer["balance"] == {"amount": amount, "currency": "THB"}, (ref, found)

    def _has_rounds_of(self, terminal: Terminal) -> None:
        """The rounds it closed are those that are there, event for event."""
        stored = self.rows(_EVENTS, terminal.table)
        told = {
            (int(event["sequence"]), event["source"].rpartition("/")[2]): event["data"]
            for round_ in terminal.rounds
            for event in round_.events
        }
        assert len(stored) == len(told), (terminal.table, len(stored), len(told))
        assert {(seq, device): payload for seq, payload, device in stored} == told
        for round_ in terminal.rounds:
            if round_.settled is not None and round_.id not in self.read:
                found = terminal.client.insist(Act("read", "GET", f"rounds/{round_.id}"))
                shown = found.answer["settlement"]
                assert (shown["revision"], shown["lines"]) == (1, round_.settled["settlement"]["lines"])
                self.read.add(round_.id)
        assert self.number(_ROUNDS, terminal.table) == len(terminal.rounds)

    def comes_to_rest(self, *, seconds: float = 120.0) -> None:
        """Nothing waits that could be done now."""
        until(lambda: not self.waiting(), f"nothing waits: {self.waiting()}", seconds=seconds)

    def waiting(self) -> dict[str, int]:
        found = self.rows(_WAITING)
        return {name: count for name, count in found if count}

    def has_clean_books(self) -> None:
        done = subprocess.run(
            [sys.executable, str(paths.CLONE / "manage.py"), "check_books", "--full", "--json"],
            cwd=paths.CLONE,
            env=self.environment() | {"DATABASE_URL": self._direct("pokdeng_app")},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        document = json.loads(done.stdout) if done.stdout.startswith("{") else {}
        assert (done.returncode, document.get("rows")) == (0, []), (document, done.stderr[-2000:])

    def _direct(self, role: str) -> str:
        return self.furnished.postgres.url(role, database=self.database)


def _first(call: Call) -> dict[str, Any]:
    """An answer without what belongs to the one request: a problem names it."""
    return {name: value for name, value in call.answer.items() if name not in ("instance", "request_id")}


_EVENTS = """
SELECT e.device_seq, e.payload, d.code FROM casino_roundevent e JOIN casino_device d ON d.id = e.device_id
  JOIN casino_table t ON t.id = d.table_id WHERE t.code = %s
"""

_ROUNDS = "SELECT count(*) FROM casino_round r JOIN casino_table t ON t.id = r.table_id WHERE t.code = %s"

_WAITING = """
SELECT 'rounds', count(*) FROM casino_round WHERE standing = 'due'
 UNION ALL
SELECT 'deliveries', count(*) FROM settlement_delivery
 WHERE state = 'claimed' OR state = 'due' AND due_at <= clock_timestamp()
 UNION ALL
SELECT 'chunks', count(*) FROM settlement_chunk WHERE state IN ('waiting', 'claimed')
 UNION ALL
SELECT 'entries', count(*) FROM audit_logentry e LEFT JOIN audit_leaf l ON l.entry_id = e.id WHERE l.id IS NULL
"""


class Street:
    """Keeps a house open from case to case, and opens another where a case left it in doubt."""

    def __init__(self, furnished: Furnished, *, seed: str) -> None:
        self._furnished = furnished
        self._seed = seed
        self._houses: list[House] = []

    def house(self) -> House:
        if self._houses and self._houses[-1].is_sound:
            house = self._houses[-1]
        else:
            self.close()
            house = self._new()
        house.is_sound = False
        return house

    def close(self) -> None:
        for house in self._houses:
            house.close()

    def _new(self) -> House:
        """A house on a fresh copy of the database and an empty broker. The copy goes with its cluster."""
        with contextlib.closing(self._furnished.valkey.client()) as broker:
            broker.flushall()
        folder = Path(tempfile.mkdtemp(dir=self._furnished.postgres.folder, prefix="house-"))
        house = House(self._furnished, folder, self._seed, self._furnished.rooms.clone())
        self._houses.append(house)
        house.open()
        return house
