"""The pages' door to the log: a reading of evidence on a page is an act like any other."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from casino import events, people
from casino.events import Fact


def witness_reading(*, request: HttpRequest, model: str, shown: str | None) -> None:
    """Tell the witness who read a list of ``model`` (and what they asked for) or one row, whose id ``shown`` is."""
    reader = people.principal_of(request.user)  # type: ignore[arg-type]
    told: dict[str, Any] = {"model": model}
    if shown is None:
        told["query"] = {name[:60]: value[:200] for name, value in sorted(request.GET.items())[:20]}
    else:
        told["id"] = shown[:200]
    action = "log.read" if model == "audit.logentry" else "evidence.read"
    with events.act(actor=reader, request_id=getattr(request, "request_id", ""), now=timezone.now()):
        events.announce([Fact(action, "admin", told)])
