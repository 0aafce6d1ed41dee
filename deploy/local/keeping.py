"""Children that end are started again: at once, then with growing pauses, and given up on when it does not help.

What is watched here is told to PostgreSQL, where the health page reads it; while there is no PostgreSQL, and always, it
is said where `up` prints.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import psycopg

from deploy.local import processes
from deploy.local.processes import Child, Program
from deploy.local.start_errors import Trouble


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds before each further start, the last for all after it; ``most`` ends within ``window`` are enough."""

    pauses: tuple[float, ...] = (0.0, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
    most: int = 10
    window: float = 300.0


class Ends:
    """How often something ended lately, and what follows of that."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._lately: deque[float] = deque()
        self.all = 0

    def add(self, *, now: float) -> float | None:
        """It ended: return when it is to be started again, None where it is given up on."""
        self.all += 1
        self._lately.append(now)
        while self._lately[0] <= now - self._patience.window:
            self._lately.popleft()
        if len(self._lately) >= self._patience.most:
            return None
        return now + self._patience.pauses[min(len(self._lately), len(self._patience.pauses)) - 1]


@dataclass(slots=True)
class Kept:
    """A program that is kept running: ``due`` is when it is started again, None while it runs or is given up on."""

    program: Program
    child: Child
    ends: Ends
    due: float | None = None
    given_up: bool = False


Start = Callable[[Program], Child]
Say = Callable[[str], None]
Tell = Callable[[str, str, int, str], None]


class Keeper:
    """Looks after children; call ``look`` often. ``now`` is of a monotonic clock, in seconds."""

    def __init__(self, *, start: Start, say: Say, tell: Tell, patience: Patience | None = None) -> None:
        self._start = start
        self._say = say
        self._tell = tell
        self._patience = patience or Patience()
        self._kept: list[Kept] = []

    def begin(self, programs: Sequence[Program], *, begun: Callable[[], None]) -> None:
        """Start all of them; ``begun`` is called after each."""
        for program in programs:
            self._kept.append(Kept(program, self._start(program), Ends(self._patience)))
            begun()
            self._tell(program.name, "running", 0, "")

    @property
    def children(self) -> list[Child]:
        return [one.child for one in self._kept if not one.given_up]

    def look(self, *, now: float) -> bool:
        """Start again what ended and is due; say whether anything changed."""
        changed = [self._look_at(one, now=now) for one in self._kept if not one.given_up]
        return any(changed)

    def start_all_again(self) -> None:
        """Stop and start everything: what they were told at their start is not so any more."""
        processes.stop([one.child for one in self._kept if not one.given_up and one.due is None])
        for one in self._kept:
            if not one.given_up:
                one.child, one.due = self._start(one.program), None

    def _look_at(self, one: Kept, *, now: float) -> bool:
        if one.due is None:
            if one.child.popen.poll() is None:
                return False
            processes.stop_rest_of(one.child)
            if not self._may_start(one, now=now):
                return True
        if one.due is None or now < one.due:
            return False
        status = one.child.popen.returncode
        try:
            one.child, one.due = self._start(one.program), None
        except Trouble as trouble:
            self._say(trouble.sentence)
            self._may_start(one, now=now)
            return True
        self._say(
            f"The {one.program.name} ended by itself ({status}) and was started again; "
            f"that was the {_ordinal(one.ends.all)} time."
        )
        self._tell(one.program.name, "running", one.ends.all, "")
        return True

    def _may_start(self, one: Kept, *, now: float) -> bool:
        """Say when it is started again; where it is not, say that."""
        one.due = one.ends.add(now=now)
        if one.due is not None:
            return True
        one.given_up = True
        said = processes.last_words(one.program.name)
        minutes = self._patience.window / 60
        self._say(
            f"The {one.program.name} ended {self._patience.most} times within {minutes:.0f} minutes and is not started"
            f" any more; everything else goes on. Its last line: {said}"
        )
        self._tell(one.program.name, "given_up", one.ends.all, said)
        return False


def _ordinal(number: int) -> str:
    return {1: "first", 2: "second", 3: "third"}.get(number, f"{number}th")


class Guard:
    """Starts the embedded servers again when one of them is gone, as children are: not for ever.

    ``alive`` looks, ``again`` starts what is gone and returns the addresses.
    """

    def __init__(
        self,
        *,
        alive: Callable[[], bool],
        again: Callable[[], Mapping[str, str]],
        say: Say,
        patience: Patience | None = None,
    ) -> None:
        self._alive = alive
        self._again = again
        self._say = say
        self._ends = Ends(patience or Patience())
        self._due: float | None = None
        self._given_up = False

    def look(self, *, now: float) -> Mapping[str, str] | None:
        """Return the addresses after a start; None where nothing was started."""
        if self._given_up or self._alive():
            return None
        if self._due is None:
            self._due = self._ends.add(now=now)
            if self._due is None:
                self._given_up = True
                self._say("A server of this house ended again and again and is not started any more.")
        if self._due is None or now < self._due:
            return None
        self._due = None
        try:
            addresses = self._again()
        except Trouble as trouble:
            self._say(trouble.sentence)
            return None
        self._say("A server of this house ended by itself and was started again.")
        return addresses


_TOLD = """
INSERT INTO casino_program (name, state, ended, said, changed_at) VALUES (%s, %s, %s, %s, clock_timestamp())
ON CONFLICT (name) DO UPDATE SET state = excluded.state, ended = excluded.ended, said = excluded.said,
   changed_at = excluded.changed_at
"""


def telling(environment: Mapping[str, str]) -> Tell:
    """What writes a program's state where the health page reads it, as the application's role. Where it cannot, it was
    said, and that is all."""

    def tell(name: str, state: str, ended: int, said: str) -> None:
        with (
            contextlib.suppress(psycopg.Error),
            psycopg.connect(environment["DATABASE_URL"], autocommit=True, connect_timeout=3) as connection,
        ):
            connection.execute(_TOLD, [name, state, ended, said.replace("\0", "")[:300]])

    return tell
