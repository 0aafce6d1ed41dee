"""What start-up made is not looked at by the garbage collector again, in any process of the house."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from deploy.local import paths

MANY = 100_000
WEB = "import deploy.wsgi"
WORKER = """
import django; django.setup()
from celery import signals
from deploy.celery import app
app.finalize()
signals.worker_process_init.send(sender=None)
"""


def frozen_after(program: str) -> int:
    ended = subprocess.run(
        [sys.executable, "-c", f"{program}\nimport gc; print(gc.get_freeze_count())"],
        cwd=paths.CLONE,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "deploy.settings"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return int(ended.stdout)


@pytest.mark.parametrize("program", [WEB, WORKER], ids=["web", "worker"])
def test_what_start_up_made_is_frozen(program: str) -> None:
    assert frozen_after(program) > MANY


def test_control_a_process_that_freezes_nothing_says_so() -> None:
    assert frozen_after("import django; django.setup()") == 0
