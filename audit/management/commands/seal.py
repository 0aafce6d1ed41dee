"""`manage.py seal`: the sealer. Runs as a process of its own, as pokdeng_sealer, the only reader of the signing key."""

from __future__ import annotations

import contextlib
import gc
import logging
import signal
import time
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from django.db import DatabaseError, connection
from django.utils import timezone

from audit import seal
from audit.checkpoints import Store

log = logging.getLogger("pokdeng.seal")

NUMBER_SECONDS = 0.5
SIGN_SECONDS = 3.0
AFTER_FAULT_SECONDS = 5.0


class Command(BaseCommand):
    help = "Give committed entries their leaves and sign checkpoints, until told to stop."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--once", action="store_true", help="number what there is, sign once, and end")

    def handle(self, *, once: bool, **_: Any) -> None:
        store = Store(folder=Path(settings.CHECKPOINT_FOLDER), key_file=Path(settings.SEAL_KEY_FILE))
        if once:
            _number_all()
            _sign(store)
            return
        gc.freeze()  # what start-up made is no garbage
        ended = _Ended()
        signed_at = 0.0
        while not ended:
            try:
                _number_all()
                if time.monotonic() - signed_at >= SIGN_SECONDS:
                    _sign(store)
                    signed_at = time.monotonic()
            except DatabaseError:
                # The house goes on without its sealer, and the sealer does not end: entries wait, and that shows.
                log.exception("nothing was sealed; trying again")
                connection.close()
                time.sleep(AFTER_FAULT_SECONDS)
            time.sleep(NUMBER_SECONDS)


class _Ended:
    """True once somebody asked the process to end."""

    def __init__(self) -> None:
        self.query = False
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._ask)

    def _ask(self, number: int, frame: object) -> None:
        self.query = True

    def __bool__(self) -> bool:
        return self.query


def _number_all() -> None:
    while seal.number(now=timezone.now()) == seal.MOST:
        pass


def _sign(store: Store) -> None:
    # What stops it is said and logged where it is found; leaves go on.
    with contextlib.suppress(seal.Stopped):
        seal.sign_checkpoint(store=store, now=timezone.now())
