"""The Celery application. Tasks live in each layer's `tasks.py` and are rung from there alone."""

from __future__ import annotations

import os
from typing import Any

from celery import Celery, signals
from kombu.transport import redis
from redis.exceptions import ConnectionError

from deploy import memory

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "deploy.settings")


class Channel(redis.Channel):
    """A channel to the broker that says so when its connection is gone.

    In kombu 5.7 it asks for an attribute of what is not there any more; nobody expects that fault where a message is
    acknowledged or handed back after the broker went away, and the whole worker ends of it.
    """

    def _connparams(self, *args: Any, **options: Any) -> dict[str, Any]:
        if self.connection is None or self.connection.client is None:
            raise ConnectionError("the broker went away")
        found: dict[str, Any] = super()._connparams(*args, **options)  # type: ignore[misc]
        return found


redis.Transport.Channel = Channel

app = Celery("pokdeng")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@signals.worker_init.connect
@signals.worker_process_init.connect
@signals.beat_init.connect
def _started(**_: Any) -> None:
    memory.freeze()
