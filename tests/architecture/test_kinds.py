"""What the house calls things, it calls them for ever: old entries, flags and answers keep what their words meant.

Each list under ``snapshots/`` is the words of one grammar. A new word is added to it. A word that is given up stays
there behind ``- `` and never comes back, as it would mean another thing in what was written before.
"""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from audit import flags
from casino.api import event_payloads
from casino.platform import refusals
from deploy.local import paths
from settlement.models import JournalKind, MessageType
from tests.architecture import actions
from tests.architecture.test_tidy import product

SNAPSHOTS = Path(__file__).parent / "snapshots"
GONE = "- "
FILLED = {"round.{}": ("round.settled", "round.voided")}
"""What is put into the text of an action when the service runs."""


def refusal_codes() -> Iterator[str]:
    for path in product():
        if "refusals.register(" in path.read_text():
            name = ".".join(path.relative_to(paths.CLONE).with_suffix("").parts)
            importlib.import_module(name.removesuffix(".__init__"))
    return (f"{code} {known.status}" for code, known in refusals.CODES.items())


def fact_actions() -> Iterator[str]:
    for path in product():
        for action in actions.of(path.read_text()):
            yield from FILLED.get(action, (action,))


WORDS: dict[str, Callable[[], Iterable[str]]] = {
    "refusals": refusal_codes,
    "actions": fact_actions,
    "events": lambda: event_payloads.KINDS,
    "flags": lambda: flags.KINDS,
    "journals": lambda: JournalKind.values,
    "messages": lambda: MessageType.values,
}
"""Snapshot → the words in use; a refusal's is its code and its status."""


def snapshot(name: str) -> list[str]:
    return (SNAPSHOTS / f"{name}.txt").read_text().splitlines()


def differences(*, used: set[str], listed: list[str]) -> list[str]:
    """What is wrong between the words in use and their list."""
    gone = {word.removeprefix(GONE) for word in listed if word.startswith(GONE)}
    current = {word for word in listed if not word.startswith(GONE)}
    twice = {word for word in listed if listed.count(word) > 1}
    return sorted(
        [f"{word}: new, add it to the list" for word in used - current - gone]
        + [f"{word}: not in use, put {GONE!r} before it" for word in current - used]
        + [f"{word}: given up, and used again" for word in (used | current) & gone]
        + [f"{word}: listed twice" for word in twice]
    )


def struck(*, ever: Iterable[str], listed: list[str]) -> list[str]:
    """The words that a list once had and has no more."""
    kept = {word.removeprefix(GONE) for word in listed}
    return sorted({word.removeprefix(GONE) for word in ever} - kept)


def ever_listed(name: str) -> list[str]:
    """Every word that the repository's history has in the list; nothing where there is no history."""
    git = shutil.which("git")
    if git is None or not (paths.CLONE / ".git").exists():
        return []
    path = (SNAPSHOTS / f"{name}.txt").relative_to(paths.CLONE)
    done = subprocess.run(
        [git, "log", "--format=", "--unified=0", "-p", "--", str(path)],
        cwd=paths.CLONE,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return [line[1:] for line in done.stdout.splitlines() if re.match(r"\+(?!\+\+ )", line)]


def test_every_list_is_of_words_that_are_looked_at() -> None:
    assert {path.stem for path in SNAPSHOTS.glob("*.txt")} == set(WORDS)


@pytest.mark.parametrize("name", WORDS)
def test_the_words_in_use_are_those_of_the_list(name: str) -> None:
    assert differences(used=set(WORDS[name]()), listed=snapshot(name)) == []


@pytest.mark.parametrize("name", WORDS)
def test_a_list_only_grows(name: str) -> None:
    assert struck(ever=ever_listed(name), listed=snapshot(name)) == []


@pytest.mark.parametrize("name", WORDS)
def test_words_have_one_grammar(name: str) -> None:
    grammar = {
        "refusals": r"[a-z_]+ \d{3}",
        "actions": r"[a-z_]+\.[a-z_]+",
        "messages": r"[a-z_]+\.[a-z_]+",
    }.get(name, r"[a-z_]+")
    words = [word.removeprefix(GONE) for word in snapshot(name)]
    assert [word for word in words if not re.fullmatch(grammar, word)] == []


@pytest.mark.parametrize(
    ("used", "listed", "wrong"),
    [
        ({"a", "b"}, ["a"], "b: new"),
        ({"a"}, ["a", "b"], "b: not in use"),
        ({"a", "b"}, ["a", "- b"], "b: given up"),
        ({"a"}, ["a", "a"], "a: listed twice"),
    ],
)
def test_a_word_out_of_place_is_noticed(used: set[str], listed: list[str], wrong: str) -> None:
    [found] = differences(used=used, listed=listed)
    assert found.startswith(wrong)


def test_a_word_that_was_struck_is_noticed() -> None:
    assert struck(ever=["a", "b", "c"], listed=["a", "- b"]) == ["c"]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("Fact('table.opened', subject, {})", {"table.opened"}),
        ("events.Fact(action='table.opened', subject=subject)", {"table.opened"}),
        ("Fact('table.opened' if first else 'table.closed', subject)", {"table.opened", "table.closed"}),
        ("def tell():\n    action = f'round.{outcome}'\n    Fact(action, subject)", {"round.{}"}),
        ("def tell(action):\n    Fact(action, subject)\ntell('table.opened')", {"table.opened"}),
        ("def tell(*, action):\n    Fact(action, subject)\ntell(action='table.opened')", {"table.opened"}),
        (
            "KNOWN: Mapping = {1: 'table.opened', 2: 'table.closed'}\nFact(KNOWN[kind], subject)",
            {"table.opened", "table.closed"},
        ),
        ("def tell(action):\n    Fact(action, subject)", {"? action"}),
        ("Fact(told['action'], subject)", {"? told['action']"}),
    ],
)
def test_an_action_is_read_where_it_is_spelt(source: str, found: set[str]) -> None:
    assert actions.of(source) == found
