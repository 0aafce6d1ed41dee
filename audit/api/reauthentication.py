"""The secret that is asked for again before somebody proposes or decides: it was really this person, just now."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from casino.api.door import Door
from casino.platform import refusals
from casino.platform.refusals import Refusal

refusals.register("secret_needed", 403, "Give your PIN again.", "กรุณาใส่ PIN อีกครั้ง")

FRESH = timedelta(minutes=5)
"""How long a PIN that was given counts for further decisions in the same session."""

_GIVEN_AT = "secret_given_at"


def require(door: Door, given: Mapping[str, Any]) -> None:
    """Take the acting person's own ``pin`` from the body, or one given in this session within the last five minutes.

    Refuses ``wrong_secret`` and ``too_many_tries`` for a PIN, ``secret_needed`` without one. Counts failures: call it
    outside of an act.
    """
    now = timezone.now()
    session = door.request.session
    if given.get("pin"):
        door.own_pin(given["pin"])
        session[_GIVEN_AT] = now.isoformat()
        return
    given_at = session.get(_GIVEN_AT)
    if given_at is None or not now - FRESH < datetime.fromisoformat(given_at) <= now:
        raise Refusal("secret_needed")
