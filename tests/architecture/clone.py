"""A copy of the project's files in a folder of its own, to break or to start."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from deploy.local import paths

PACKAGES = ("casino", "settlement", "audit", "deploy")
IGNORED = shutil.ignore_patterns("__pycache__", "*.pyc", ".local", ".venv")


def copy(to: Path, *, with_tests: bool = False) -> Path:
    for name in (*PACKAGES, *(("tests",) if with_tests else ())):
        shutil.copytree(paths.CLONE / name, to / name, ignore=IGNORED)
    for name in ("manage.py", "pyproject.toml", "requirements.lock", "requirements-dev.lock"):
        shutil.copy2(paths.CLONE / name, to / name)
    return to


def run(
    *command: str, at: Path, timeout: float = 120, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """A command in the copy, with nothing of ours in its environment but the path."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return subprocess.run(
        command,
        cwd=at,
        env={**kept, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
