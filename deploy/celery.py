"""The Celery application. Tasks live in each layer's `tasks.py` and are rung from there alone."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from datetime import datetime
from typing import Any

from celery import Celery, Task, signals
from kombu.transport import redis
from redis.exceptions import ConnectionError

from deploy import memory

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "deploy.settings")

log = logging.getLogger("pokdeng.celery")


class Sweep(Task):
    """A task of which it is known when it was last through. To know it is worth no task: a fault here is only said."""

    def before_start(self, *_: Any) -> None:
        self._note(lambda upkeep, now: upkeep.began(self.name, now=now))

    def on_success(self, *_: Any) -> None:
        self._note(lambda upkeep, now: upkeep.ended(self.name, now=now))

    def on_failure(self, exc: Exception, *_: Any) -> None:
        self._note(lambda upkeep, now: upkeep.failed(self.name, exc, now=now))

    def _note(self, write: Callable[[Any, datetime], None]) -> None:
        from django.db import Error  # the settings are read when a worker starts, not with this module
        from django.utils import timezone

        from casino import upkeep

        try:
            write(upkeep, timezone.now())
        except Error as fault:
            log.warning("how %s went was not written down: %s", self.name, fault)


class QoS(redis.QoS):
    """What was claimed and not acknowledged; an item there that cannot be read is put aside too."""

    def restore_by_tag(self, tag: Any, client: Any = None, leftmost: bool = False) -> None:
        try:
            super().restore_by_tag(tag, client=client, leftmost=leftmost)
        except (ValueError, TypeError, KeyError, AttributeError):
            from deploy import unread

            with self.channel.conn_or_acquire(client) as found:  # type: ignore[attr-defined]
                unread.put_aside(bytes(found.hget(self.unacked_key, tag) or b""), unread.WRONG_SHAPE)
                self._remove_from_indices(tag).execute()  # type: ignore[attr-defined]


class Channel(redis.Channel):
    """A channel to the broker that says so when its connection is gone.

    In kombu 5.7 it asks for an attribute of what is not there any more; nobody expects that fault where a message is
    acknowledged or handed back after the broker went away, and the whole worker ends of it. An item of a queue that is
    no message of ours ends it too, and so is looked at before anybody else sees it.
    """

    QoS = QoS

    def _connparams(self, *args: Any, **options: Any) -> dict[str, Any]:
        if self.connection is None or self.connection.client is None:
            raise ConnectionError("the broker went away")
        found: dict[str, Any] = super()._connparams(*args, **options)  # type: ignore[misc]
        return found

    def _brpop_read(self, **options: Any) -> Any:
        client = self.client
        read = client.parse_response

        def looked_at(*how: Any, **more: Any) -> Any:
            from deploy import unread

            popped = read(*how, **more)
            if not popped:
                return popped
            item = popped[1] if isinstance(popped[1], bytes) else str(popped[1]).encode()
            why = unread.reason(item, tasks=app.tasks)
            if why is None:
                return popped
            unread.put_aside(item, why)
            return None  # as where nothing came

        client.parse_response = looked_at
        try:
            return super()._brpop_read(**options)  # type: ignore[misc]
        finally:
            del client.parse_response


redis.Transport.Channel = Channel

app = Celery("pokdeng", task_cls=Sweep)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@signals.worker_init.connect
@signals.worker_process_init.connect
@signals.beat_init.connect
def _started(**_: Any) -> None:
    memory.freeze()
