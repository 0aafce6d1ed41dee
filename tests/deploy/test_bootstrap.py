"""The first call on a bare machine: what stands in its way is one sentence."""

from __future__ import annotations

import sys
import venv
from pathlib import Path

import pytest

from deploy import bootstrap
from tests.architecture import clone


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("OSError: [Errno 28] No space left on device", "The disk is full"),
        ("error sending request for url: dns error", "The package registry cannot be reached"),
        ("Temporary failure in name resolution", "The package registry cannot be reached"),
        ("THESE PACKAGES DO NOT MATCH THE HASHES", "does not have the hash the lock names"),
        ("Hash mismatch for `django==5.2.19`", "does not have the hash the lock names"),
        ("[Errno 13] Permission denied: '/srv/house/.venv'", "cannot be written to"),
        ("something\nelse entirely\n", "The environment could not be made: else entirely"),
        ("", "The environment could not be made: no reason was given."),
    ],
)
def test_what_stands_in_the_way_is_one_sentence(words: str, told: str) -> None:
    sentence = bootstrap._sentence(words)
    assert told in sentence
    assert "\n" not in sentence


def test_the_installer_itself_is_pinned_by_hash() -> None:
    block = bootstrap._block_of("uv").splitlines()
    assert block[0].startswith("uv==")
    assert len(block) > 1
    assert all(line.startswith("    --hash=sha256:") for line in block[1:])


def test_an_environment_with_everything_in_it_is_left_alone() -> None:
    assert bootstrap._has_everything()


@pytest.mark.parametrize(
    ("one", "other"), [("1.0", "1.000"), ("26.2.0", "26.2"), ("9.1.2.post2", "9.1.2.post2")]
)
def test_two_spellings_of_a_version_are_one(one: str, other: str) -> None:
    assert bootstrap._plain(one) == bootstrap._plain(other)


@pytest.mark.parametrize(("one", "other"), [("1.0", "1.0.1"), ("9.1.2", "9.1.2.post2"), ("10", "1")])
def test_two_versions_are_two(one: str, other: str) -> None:
    assert bootstrap._plain(one) != bootstrap._plain(other)


def test_an_environment_that_lacks_a_package_is_not_taken(tmp_path: Path) -> None:
    copy = clone.copy(tmp_path / "clone")
    venv.create(tmp_path / "bare", with_pip=False, symlinks=True)
    asked = "from deploy import bootstrap; print(bootstrap._has_everything(), bootstrap._is_fresh())"
    done = clone.run(str(tmp_path / "bare" / "bin" / "python"), "-c", asked, at=copy)
    assert done.stdout.split() == ["False", "False"], done.stderr


def test_an_old_python_is_told_which_one_is_needed() -> None:
    source = (bootstrap.CLONE / "manage.py").read_text()
    refusal = source[: source.index("def main")]
    assert "sys.version_info < (3, 11)" in refusal
    assert source.isascii()  # else a Python that guesses another encoding stops before it can say so
    compile(refusal, "manage.py", "exec")


@pytest.mark.full
@pytest.mark.timeout(600)
def test_a_bare_machine_makes_its_own_environment(tmp_path: Path) -> None:
    copy = clone.copy(tmp_path / "clone")
    base = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"
    first = clone.run(str(base), "manage.py", "--version", at=copy, timeout=500)
    assert first.returncode == 0, first.stderr
    assert first.stdout.startswith("5.2")
    again = clone.run(str(base), "manage.py", "--version", at=copy)
    assert "Preparing" not in again.stderr
