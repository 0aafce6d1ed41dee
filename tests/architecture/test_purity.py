"""What must give the same answer for ever loads nothing but the standard library."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from typing import Any

from deploy.local import paths

PURE_CONTRACT = "pure"
OURS = {"casino", "settlement", "audit"}
# Nobody writes their own Ed25519.
WITH_A_LIBRARY = {"audit.signed_notes": {"cryptography", "_cffi_backend", "_openssl"}}
PROGRAM = """
import importlib, json, pkgutil, sys
before = set(sys.modules)
for name in sys.argv[1:]:
    module = importlib.import_module(name)
    for found in pkgutil.walk_packages(getattr(module, "__path__", []), name + "."):
        importlib.import_module(found.name)
loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
print(json.dumps(sorted(name for name in loaded if name not in sys.stdlib_module_names
    and not name.startswith("_sysconfigdata"))))
"""


def _contract(name: str) -> dict[str, Any]:
    contracts = tomllib.loads((paths.CLONE / "pyproject.toml").read_text())["tool"]["importlinter"][
        "contracts"
    ]
    found: dict[str, Any] = next(contract for contract in contracts if contract["id"] == name)
    return found


def _loaded_by(*modules: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *modules], cwd=paths.CLONE, capture_output=True, text=True, check=True
    )
    loaded: list[str] = json.loads(done.stdout)
    return loaded


def test_the_pure_modules_load_only_each_other() -> None:
    modules = [name for name in _contract(PURE_CONTRACT)["source_modules"] if name not in WITH_A_LIBRARY]
    assert set(_loaded_by(*modules)) <= OURS


def test_a_signed_note_needs_a_library_for_signatures_and_nothing_else() -> None:
    for name, library in WITH_A_LIBRARY.items():
        assert set(_loaded_by(name)) <= OURS | library


def test_the_starter_needs_only_the_standard_library() -> None:
    assert _loaded_by("deploy.bootstrap") == ["deploy"]


def test_a_module_with_a_database_is_not_pure() -> None:
    assert "django" in _loaded_by("casino.events")


def test_what_must_be_pure_stands_in_the_contract() -> None:
    listed = set(_contract(PURE_CONTRACT)["source_modules"])
    promised = {
        "casino.cards",
        "casino.record",
        "casino.gaming_day",
        "casino.platform.values",
        "settlement.rules",
        "audit.statistics",
        "audit.merkle",
        "audit.signed_notes",
        "audit.verify",
    }
    assert promised <= listed
    assert [name for name in listed if not _exists(name)] == []


def _exists(name: str) -> bool:
    path = paths.CLONE.joinpath(*name.split("."))
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()
