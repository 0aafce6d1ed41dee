"""How often a wrong secret was tried, of which badge and from where: who waits, and how long.

    one badge from one origin      five in a row: the pair waits five minutes
    a terminal, over any badges    five: the terminal waits five minutes
    an address, over any badges    from the fifth on 1, 2, 4 … 30 seconds between two tries, never shut
    one badge, over any addresses  the same

Whoever signed in from an address before is kept waiting there by their own badge's failures alone, and at a terminal
nobody is kept waiting by what strangers try elsewhere. A wait is answered ``too_many_tries`` with the seconds left: an
answer held back instead would keep a thread of the service for whoever asks.

A try is counted before it is looked at, by one statement for each count, so parallel tries count too; one that was
right is given back. The badge itself is nowhere: what was typed into its field may be a password.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection
from django.utils.crypto import salted_hmac

from casino import origins
from casino.platform.refusals import Refusal

TRIES = 5
"""Failures of a badge from one origin, or at a terminal, after which it waits; those before an address is slowed."""

WAIT = timedelta(minutes=5)
"""How long a pair or a terminal waits; after so long without a failure, all failures are forgotten."""

LONGEST_PAUSE = 30
"""Seconds."""

KNOWN_FOR = timedelta(days=30)
"""How long it counts that a badge signed in from an address."""


@dataclass(frozen=True, slots=True)
class Tried:
    """A try that was counted and may be looked at. ``alarms`` says that, if it is wrong, it is the fifth in a row."""

    badge: str
    origin: str
    pair: str
    others: tuple[str, ...]
    alarms: bool


def badge_hash(badge: str) -> str:
    """Return what a badge is known by in counts and in the log: keyed, as there are few badges to try."""
    return salted_hmac("signin.badge", badge, secret=settings.SECRET_KEY, algorithm="sha256").hexdigest()[:32]


def count(*, badge: str, origin: str, now: datetime) -> Tried:
    """Count a try of ``badge`` from ``origin``; refuse ``too_many_tries`` where somebody has to wait.

    Two statements at a terminal, three elsewhere, one where the address is known; each commits by itself.
    """
    hashed = badge_hash(badge)
    pair, place = f"pair:{hashed}@{_key(origin)}", f"at:{_key(origin)}"
    tries, known_at = _take(pair, now, stops=True, whose=(hashed, origin))
    taken = {pair: tries}
    try:
        if origin.startswith(origins.DEVICE):
            taken[place], _ = _take(place, now, stops=True, whose=("", origin))
        elif known_at is None or known_at <= now - KNOWN_FOR:
            taken[place], _ = _take(place, now, stops=False, whose=("", origin))
            everywhere = f"badge:{hashed}"
            taken[everywhere], _ = _take(everywhere, now, stops=False, whose=(hashed, origin))
    except Refusal:
        _give_back(list(taken))
        raise
    others = tuple(name for name in taken if name != pair)
    return Tried(hashed, origin, pair, others, TRIES in taken.values())


def was_right(tried: Tried, *, now: datetime) -> None:
    """Give a try back whose secret was right: the pair's failures are over, and it is known from now on."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE casino_wrongtries SET count = 0, right_at = %s WHERE principal = %s", [now, tried.pair]
        )
    _give_back(list(tried.others))


def was_wrong(tried: Tried, *, now: datetime) -> None:
    """Write a failure down for the log, to be told once its minute is over."""
    _note(tried.badge, tried.origin, now, wrong=1)


_TAKE = """
INSERT INTO casino_wrongtries AS tries (principal, count, last_at) VALUES (%(principal)s, 1, %(now)s)
    ON CONFLICT (principal) DO UPDATE SET
       count = CASE WHEN tries.last_at <= %(forgotten)s THEN 1 ELSE tries.count + 1 END,
       last_at = greatest(tries.last_at, %(now)s)
 WHERE tries.last_at <= %(forgotten)s OR tries.count < %(most)s OR NOT %(stops)s
   AND %(now)s >= tries.last_at + make_interval(secs => least(%(longest)s, 2 ^ least(tries.count - %(most)s, 10)))
RETURNING count, right_at
"""

_LEFT = """
SELECT extract(epoch FROM last_at - %(now)s)
       + CASE WHEN %(stops)s THEN %(wait)s ELSE least(%(longest)s, 2 ^ greatest(0, least(count - %(most)s, 10))) END
  FROM casino_wrongtries WHERE principal = %(principal)s
"""


def _take(
    principal: str, now: datetime, *, stops: bool, whose: tuple[str, str]
) -> tuple[int, datetime | None]:
    """Count a try of one principal; return its tries, and when one of them was right. Refuses ``too_many_tries``, and
    writes down that ``whose`` try waits."""
    values: dict[str, Any] = {
        "principal": principal, "now": now, "forgotten": now - WAIT, "most": TRIES, "stops": stops,
        "longest": LONGEST_PAUSE, "wait": WAIT.total_seconds(),
    }  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(_TAKE, values)
        taken = cursor.fetchone()
        if taken is not None:
            return int(taken[0]), taken[1]
        cursor.execute(_LEFT, values)
        left = cursor.fetchone()
    _note(*whose, now, waited=1)
    raise Refusal("too_many_tries", retry_after=max(1, -int(-left[0] // 1)) if left else 1)


def _give_back(principals: list[str]) -> None:
    if not principals:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE casino_wrongtries SET count = count - 1 WHERE principal IN (SELECT principal"
            " FROM casino_wrongtries WHERE principal = ANY(%s) AND count > 0 ORDER BY principal FOR UPDATE)",
            [principals],
        )


def _note(badge: str, origin: str, now: datetime, *, wrong: int = 0, waited: int = 0) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO casino_failedsignin AS f (badge, origin, minute, wrong, waited)"
            " VALUES (%s, %s, date_trunc('minute', %s::timestamptz), %s, %s)"
            " ON CONFLICT (badge, origin, minute) DO UPDATE SET"
            " wrong = f.wrong + excluded.wrong, waited = f.waited + excluded.waited",
            [badge, origins.shown(origin)[:120], now, wrong, waited],
        )


def _key(origin: str) -> str:
    """Return an origin short enough for a row's key, whatever it is called."""
    return origin if len(origin) <= 80 else hashlib.sha256(origin.encode()).hexdigest()


def forget(*, badge: str, devices: Sequence[str] | None) -> int:
    """Forget the failures of a badge at these devices, and theirs where it failed; everywhere where None. Return how
    many counts there were."""
    hashed = badge_hash(badge)
    if devices is None:
        pairs = f"pair:{hashed}@%"
        where = "principal LIKE %s OR principal = %s"
        values: list[Any] = [pairs, f"badge:{hashed}"]
    else:
        named = [f"pair:{hashed}@{_key(origins.of_device(code))}" for code in devices]
        where, values = "principal = ANY(%s)", [named]
    with connection.cursor() as cursor:
        cursor.execute(
            "WITH ended AS (UPDATE casino_wrongtries SET count = 0 WHERE principal IN (SELECT principal"  # noqa: S608 - one of the two above
            f" FROM casino_wrongtries WHERE count > 0 AND ({where}) ORDER BY principal FOR UPDATE)"
            " RETURNING principal),"
            " places AS (UPDATE casino_wrongtries SET count = 0 WHERE principal IN ("
            " SELECT 'at:' || split_part(principal, '@', 2) FROM ended WHERE split_part(principal, '@', 2)"
            " LIKE 'device:%%') RETURNING 1)"
            " SELECT (SELECT count(*) FROM ended) + (SELECT count(*) FROM places)",
            values,
        )
        (ended,) = cursor.fetchone()
    return int(ended)
