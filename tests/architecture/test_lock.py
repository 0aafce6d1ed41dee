"""What is installed is what was looked at: every package by version and hash, and from nowhere in particular.

An address in a lock would decide where packages come from; the hash decides what they are.
"""

from __future__ import annotations

import re
import tomllib

import pytest

from deploy import bootstrap
from deploy.local import paths

LOCKS = ("requirements.lock", "requirements-dev.lock")
PIN = re.compile(r"^[a-z0-9][a-z0-9._-]*==[0-9][0-9a-z.+!]*( ; [^/@]+?)? \\$")
HASH = re.compile(r"^    --hash=sha256:[0-9a-f]{64}( \\)?$")


def strangers(text: str) -> list[str]:
    """The lines that are neither a pin nor a hash: an option, an address, a package without a hash."""
    return [line for line in text.splitlines() if not PIN.match(line) and not HASH.match(line)]


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_holds_pins_and_hashes_and_nothing_else(name: str) -> None:
    text = (paths.CLONE / name).read_text()
    assert strangers(text) == []
    assert re.search(r"\\\n(?!    --hash)", text) is None, "a pin without a hash"


@pytest.mark.parametrize(
    "line",
    [
        "--index-url https://packages.example/simple",
        "--extra-index-url https://packages.example/simple",
        "--find-links /srv/wheels",
        "django @ file:///srv/django.whl \\",
        "django @ https://packages.example/django.whl \\",
        "-e .",
        "django==5.2.19",
        "django>=5.2 \\",
    ],
)
def test_a_line_that_names_a_place_is_noticed(line: str) -> None:
    assert strangers(line) == [line]


def test_both_locks_agree() -> None:
    runtime, everything = (dict(_pins(name)) for name in LOCKS)
    assert runtime.items() <= everything.items()


def test_every_package_the_project_asks_for_is_locked() -> None:
    project = tomllib.loads((paths.CLONE / "pyproject.toml").read_text())
    groups = project["dependency-groups"]
    names = {
        re.split(r"[\[<>=!~ ]", wanted)[0].lower()
        for wanted in [*project["project"]["dependencies"], *groups["local"], *groups["dev"]]
    }
    assert names - dict(_pins("requirements-dev.lock")).keys() == set()
    runtime = {re.split(r"[\[<>=!~ ]", wanted)[0].lower() for wanted in project["project"]["dependencies"]}
    assert runtime - dict(_pins("requirements.lock")).keys() == set()


def _pins(name: str) -> list[tuple[str, str]]:
    return [(found[0], found[1]) for found in bootstrap.PIN.findall((paths.CLONE / name).read_text())]
