"""The import contracts hold, and they would notice."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.architecture import clone

LINT = str(Path(sys.executable).parent / "lint-imports")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return clone.copy(tmp_path)


def _lint(at: Path) -> tuple[int, str]:
    done = clone.run(LINT, "--no-cache", at=at)
    return done.returncode, done.stdout + done.stderr


def test_the_contracts_hold(copy: Path) -> None:
    status, output = _lint(copy)
    assert status == 0, output


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("casino/events.py", "import settlement.models", "Imports point one way"),
        ("settlement/models/ledger.py", "import audit.models", "Imports point one way"),
        ("settlement/rules/commission.py", "import django.db", "are pure"),
        ("casino/cards.py", "from casino import events", "are pure"),
        ("audit/api/entries.py", "from settlement import ledger", "Only settlement moves money"),
        ("deploy/health.py", "from casino import rounds", "Only casino writes the record"),
        ("deploy/health.py", "from audit import log", "Nobody but audit touches the log"),
        ("deploy/bootstrap.py", "import django", "What makes the environment needs none"),
        ("casino/platform/refusals.py", "from casino import people", "Inside casino"),
    ],
)
def test_a_forbidden_import_is_noticed(copy: Path, module: str, line: str, contract: str) -> None:
    path = copy / module
    path.write_text(f"{path.read_text()}\n\ndef _stray() -> None:\n    {line}\n")
    status, output = _lint(copy)
    assert status == 1
    assert any(contract in verdict and "BROKEN" in verdict for verdict in output.splitlines()), output


@pytest.mark.parametrize("package", ["casino", "settlement", "audit"])
def test_a_module_without_a_place_is_noticed(copy: Path, package: str) -> None:
    (copy / package / "utils.py").write_text("")
    status, output = _lint(copy)
    assert status == 1
    assert f"Inside {package}" in output
