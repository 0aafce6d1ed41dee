"""Children that end are started again, with pauses, and given up on; real processes, and a clock of the test's own."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from deploy.local import paths, processes
from deploy.local.keeping import Guard, Keeper, Patience
from deploy.local.processes import Child, Program
from deploy.local.start_errors import Trouble

STAYS = "import time; time.sleep(600)"
PARENT = f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', '{STAYS}']); time.sleep(600)"
ENDS = "raise SystemExit('no database, no work')"


def a_program(name: str, does: str) -> Program:
    return Program(name=name, process="worker", command=(sys.executable, "-c", does), environment={})


class House:
    """Children under a keeper, and what was said and told of them."""

    def __init__(self, *programs: Program, patience: Patience | None = None) -> None:
        self.said: list[str] = []
        self.told: list[tuple[str, str, int, str]] = []
        self.started: list[Child] = []
        self.now = 0.0
        self.keeper = Keeper(
            start=self._start,
            say=self.said.append,
            tell=lambda *what: self.told.append(what),
            patience=patience,
        )
        self.keeper.begin(programs, begun=lambda: None)

    def _start(self, program: Program) -> Child:
        child = processes.start(program, environment={})
        self.started.append(child)
        return child

    def look(self, at: float) -> int:
        """Let the keeper look; return how many were started."""
        before = len(self.started)
        self.keeper.look(now=at)
        return len(self.started) - before

    def kill(self, name: str) -> None:
        (child,) = [one for one in self.keeper.children if one.name == name]
        child.popen.send_signal(signal.SIGKILL)
        child.popen.wait(30)

    def runs(self) -> list[str]:
        return [child.name for child in self.keeper.children if child.popen.poll() is None]


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(paths, "FOLDER", tmp_path)


@pytest.fixture
def open_houses() -> Iterator[list[House]]:
    houses: list[House] = []
    yield houses
    for house in houses:
        for child in house.started:
            if child.popen.poll() is None:
                child.popen.kill()
            child.popen.wait(30)


def a_house(houses: list[House], *programs: Program, patience: Patience | None = None) -> House:
    houses.append(House(*programs, patience=patience))
    return houses[-1]


def test_a_killed_child_is_started_again_at_once_and_the_others_are_left_alone(
    open_houses: list[House],
) -> None:
    house = a_house(open_houses, a_program("web", STAYS), a_program("sealer", STAYS))
    web = house.keeper.children[0].popen.pid
    house.kill("sealer")

    assert house.look(at=5.0) == 1

    assert house.runs() == ["web", "sealer"]
    assert house.keeper.children[0].popen.pid == web
    assert house.said == ["The sealer ended by itself (-9) and was started again; that was the first time."]
    assert house.told == [
        ("web", "running", 0, ""),
        ("sealer", "running", 0, ""),
        ("sealer", "running", 1, ""),
    ]


def test_the_pauses_grow_and_are_forgotten_after_the_window(open_houses: list[House]) -> None:
    patience = Patience(pauses=(0.0, 10.0, 20.0), most=10, window=300.0)
    house = a_house(open_houses, a_program("worker", STAYS), patience=patience)
    house.kill("worker")
    assert house.look(at=0.0) == 1
    house.kill("worker")
    assert [house.look(at=at) for at in (1.0, 10.9, 11.0)] == [0, 0, 1]
    house.kill("worker")
    assert [house.look(at=at) for at in (12.0, 31.9, 32.0)] == [0, 0, 1]
    house.kill("worker")
    assert [house.look(at=at) for at in (33.0, 52.9, 53.0)] == [0, 0, 1]
    house.kill("worker")
    assert house.look(at=353.1) == 1, "what ended before the window is forgotten"


def test_a_child_that_ends_ten_times_is_given_up_on_and_the_rest_goes_on(open_houses: list[House]) -> None:
    house = a_house(
        open_houses, a_program("web", STAYS), a_program("worker", ENDS), patience=Patience(pauses=(0.0,))
    )
    starts = 0
    for moment in range(10):
        house.started[-1].popen.wait(30)
        starts += house.look(at=moment * 30.0)

    assert starts == 9
    assert house.runs() == ["web"]
    assert [child.name for child in house.keeper.children] == ["web"]
    assert house.said[-1] == (
        "The worker ended 10 times within 5 minutes and is not started any more; everything else goes on. "
        "Its last line: no database, no work"
    )
    assert house.told[-1] == ("worker", "given_up", 10, "no database, no work")
    assert house.look(at=10_000.0) == 0


def test_what_a_dead_child_left_running_ends_with_it(open_houses: list[House]) -> None:
    house = a_house(open_houses, a_program("web", PARENT))
    parent = psutil.Process(house.keeper.children[0].popen.pid)
    while not parent.children():
        pass
    (left,) = parent.children()
    house.kill("web")

    house.look(at=0.0)

    _, alive = psutil.wait_procs([left], timeout=30)
    assert alive == []


def test_logs_are_for_their_owner_alone(open_houses: list[House], tmp_path: Path) -> None:
    (tmp_path / "log").mkdir(mode=0o755)
    (tmp_path / "log" / "worker.log").touch(mode=0o644)
    (tmp_path / "log" / "worker.log").chmod(0o644)

    a_house(open_houses, a_program("web", STAYS), a_program("worker", STAYS))

    found = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")}
    assert found == {"log": 0o700, "web.log": 0o600, "worker.log": 0o600}


def test_a_server_that_is_gone_is_started_again_and_not_for_ever() -> None:
    said: list[str] = []
    starts = iter([{"DATABASE_URL": "there"}, None])

    def again() -> dict[str, str]:
        found = next(starts)
        if found is None:
            raise Trouble("PostgreSQL did not start.")
        return found

    there = [True]
    guard = Guard(
        alive=lambda: there[0], again=again, say=said.append, patience=Patience(pauses=(0.0, 5.0), most=3)
    )
    assert guard.look(now=0.0) is None
    there[0] = False
    assert guard.look(now=1.0) == {"DATABASE_URL": "there"}
    assert [guard.look(now=at) for at in (2.0, 6.9, 7.0, 7.5, 900.0)] == [None] * 5
    assert said == [
        "A server of this house ended by itself and was started again.",
        "PostgreSQL did not start.",
        "A server of this house ended again and again and is not started any more.",
    ]
