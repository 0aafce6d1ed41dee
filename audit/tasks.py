"""Celery's doors of the witness: a message only rings the bell, everything is read from PostgreSQL."""

from __future__ import annotations

from uuid import uuid4

from celery import shared_task
from django.utils import timezone

from audit import flags
from casino import events


@shared_task(name="audit.read_flags")
def read_flags() -> int:
    """Raise flags from what was sealed since; return how many leaves were looked at. Each step is an act of its own."""
    looked_at = 0
    while True:
        step = events.attempt(
            lambda _: flags.read_on(),
            actor=events.SERVICE,
            request_id=f"flags-{uuid4().hex}",
            now=timezone.now(),
        )
        looked_at += step
        if step < flags.MOST:
            return looked_at
