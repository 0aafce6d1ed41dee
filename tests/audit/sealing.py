"""A house whose log is sealed: tests act as the sealer for a moment, as its process does in the house."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from django.db import connection
from django.utils import timezone

from audit import log, seal
from audit.checkpoints import Store
from audit.models import Checkpoint, Leaf, LogEntry
from deploy.local import paths


@contextmanager
def the_sealer() -> Iterator[None]:
    """Act as the sealer's role: the application may not number leaves."""
    before = {key: connection.settings_dict[key] for key in ("USER", "PASSWORD")}
    connection.close()
    connection.settings_dict.update(
        USER="pokdeng_sealer", PASSWORD=paths.read("secrets.json")["pokdeng_sealer"]
    )
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict.update(before)


def a_store(folder: Path) -> Store:
    """An empty store of checkpoints, and a key that will be made beside it."""
    (folder / "checkpoints").mkdir(parents=True, exist_ok=True)
    return Store(folder=folder / "checkpoints", key_file=folder / "sealer" / "key")


def sealed(store: Store, *, now: datetime | None = None) -> str:
    """Number every entry that there is and sign; return the newest note.

    A writer in any database of the cluster may hold the horizon back a moment.
    """
    until = time.monotonic() + 20
    with the_sealer():
        while Leaf.objects.count() < LogEntry.objects.count():
            seal.number(now=now or timezone.now())
            assert time.monotonic() < until, "entries wait for their leaves"
        seal.sign_checkpoint(store=store, now=now or timezone.now())
    return Checkpoint.objects.filter(origin=log.log_name()).latest("size").note
