"""Celery's doors of the floor: a message only rings the bell, everything is read from PostgreSQL."""

from __future__ import annotations

from uuid import uuid4

from celery import shared_task
from django.utils import timezone

from casino import events, people
from casino.people import failures


@shared_task(name="casino.tell_failures")
def tell_failures() -> int:
    """Tell the log of failed sign-ins whose minute is over; return how many entries that took. Each step is an act."""
    told = 0
    while True:
        now = timezone.now()
        step = events.attempt(
            lambda act: people.tell_failures(now=act.now),
            actor=events.SERVICE,
            request_id=f"sign-ins-{uuid4().hex}",
            now=now,
        )
        told += step
        if step < failures.MOST:
            return told
