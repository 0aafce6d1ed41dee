"""Decks in play: after each round it is seen whether a card has been absent for too long, and then the table stops.

Looked at is what stands in the rows now, so that nothing is lost where this was not running, and the same alarm is
raised once. A look costs one statement while nothing is amiss.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import connection

from audit import flags
from audit.analytics.deck_counts import COUNTED, REASON
from audit.statistics import decks
from audit.statistics.decks import Shown
from casino import events, tables
from casino.models import Round, Table
from casino.platform.refusals import Refusal

MOST = 120
"""Rounds looked back on: with so few as four cards a round the odds fall below any useful limit before."""
RECENT_MINUTES = 10
"""A table that opened no round for so long was looked at when it did."""

_SHOWN = f"""
WITH counted (code, at) AS ({COUNTED} AND e.table_code = ANY (
    SELECT code::text FROM casino_table WHERE state = 'open')),
watched AS (
    SELECT t.id, t.code, (SELECT max(c.at) FROM counted c WHERE c.code = t.code) AS counted_at FROM casino_table t
     WHERE t.state = 'open' AND (%(only)s = '' OR t.code = %(only)s) AND EXISTS (
        SELECT FROM casino_round r WHERE r.table_id = t.id AND r.created_at > %(since)s))
SELECT w.code, r.id, coalesce(r.number, 0), r.cards_seen FROM watched w
 CROSS JOIN LATERAL (
    SELECT r.id, r.number, r.cards_seen, r.created_at FROM casino_round r
     WHERE r.table_id = w.id AND r.alias_of_id IS NULL AND r.standing IN ('settled', 'voided', 'held')
       AND r.cards_seen <> 0 AND (w.counted_at IS NULL OR coalesce(r.opened_at, r.created_at) > w.counted_at)
     ORDER BY r.created_at DESC LIMIT %(most)s) AS r
 ORDER BY w.code, r.created_at, r.number
"""  # noqa: S608


def watch(*, now: datetime, only: str = "") -> list[str]:
    """Raise ``short_deck`` for cards that were absent too long, and stop their tables until the deck is counted.

    Return the codes of tables stopped; ``only`` one table is looked at. Must run in an act.
    """
    events.current()
    below = settings.ANALYTICS["deck_odds_bp"] / 10_000
    stopped = []
    for table, shown in _shown(now, only=only).items():
        # Whatever deck it was: of the rounds of one deck no card can be absent for longer.
        if decks.absent(shown, below=below):
            absent = decks.absent(_of_last_deck(shown), below=below)
            if absent and _raise(table, absent, now=now):
                stopped.append(table)
    return stopped


def _raise(table: str, absent: Sequence[decks.Absent], *, now: datetime) -> bool:
    alarms = [decks.alarm(one, table=table, stopped=True) for one in absent]
    raised = flags.raise_new(
        [
            flags.Raised(one.kind, one.subject, dict(one.detail), table=table, round=UUID(one.round))
            for one in alarms
        ],
        now=now,
    )
    if not raised:
        return False
    with suppress(Refusal):  # closed or stopped meanwhile: what was to be reached is reached
        tables.stop(table=tables.of_code(table), reason=REASON)
    return Table.objects.filter(code=table, state=Table.State.STOPPED).exists()


def playing(*, now: datetime) -> list[str]:
    """Return the codes of open tables whose decks are watched. One statement."""
    since = now - timedelta(minutes=RECENT_MINUTES)
    recent = Round.objects.filter(created_at__gt=since, table__state=Table.State.OPEN)
    return sorted(set(recent.values_list("table__code", flat=True)))


def _shown(now: datetime, *, only: str) -> dict[str, list[Shown]]:
    """The last rounds of each open table that plays, since its deck was counted, in their order."""
    found: dict[str, list[Shown]] = {}
    with connection.cursor() as cursor:
        since = now - timedelta(minutes=RECENT_MINUTES)
        cursor.execute(_SHOWN, {"since": since, "most": MOST, "only": only})
        for table, id, number, seen in cursor.fetchall():
            found.setdefault(table, []).append(Shown(str(id), number, seen))
    return found


def _of_last_deck(shown: Sequence[Shown]) -> list[Shown]:
    """Those at the end that were played with the deck of the last one; none where that names no deck, for nobody knows
    then when another was taken."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id::text, coalesce(record->>'deck', '') FROM casino_round WHERE id = ANY(%s::uuid[])",
            [[one.round for one in shown]],
        )
        deck: dict[str, str] = dict(cursor.fetchall())
    last = deck[shown[-1].round]
    kept = itertools.takewhile(lambda one: deck[one.round] == last, reversed(shown))
    return list(kept)[::-1] if last else []
