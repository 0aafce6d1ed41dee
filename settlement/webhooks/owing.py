"""Owe a message: written by the act it speaks of, with whom it is owed to, in one statement."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from casino import events
from settlement.models import MessageType

MOST_BYTES = 20_000
"""A body is ids and amounts; whoever needs more asks for it by id."""


@dataclass(frozen=True, slots=True)
class Owed:
    """One thing to be told, by its type. ``data`` holds ids, strings and whole numbers, amounts with their currency,
    and no names; ``round`` is written into the body, and beside it the message's number among those of its round
    (``in_round``)."""

    type: str
    data: dict[str, Any]
    subject: str = ""
    table: str = ""
    round: UUID | None = None


_ringer: list[Callable[[], None]] = []


def ring_with(ring: Callable[[], None]) -> None:
    """Say what wakes a worker once an act is committed. A bell that fails costs a few seconds: the sweep looks too."""
    _ringer[:] = [ring]


# The number of a message in its round is the last one + 1. Whoever acts on a round holds its row's lock until commit,
# so two acts never read the same last number; the unique key would stop one that does not. The list of endpoints is
# read in the same snapshot as the number of its last change, so whom each message was owed to stays decidable.
_OWE = """
WITH given AS (
    SELECT n.id, n.type, n.subject, n.table_code, n.round, n.head, n.place,
           CASE WHEN n.round IS NOT NULL THEN
               row_number() OVER (PARTITION BY n.round ORDER BY n.place)
               + coalesce((SELECT max(m.number) FROM settlement_message m WHERE m.round_id = n.round), 0)
           END AS number
      FROM unnest(%(ids)s::uuid[], %(types)s::text[], %(subjects)s::text[], %(tables)s::text[], %(rounds)s::uuid[],
                  %(heads)s::text[]) WITH ORDINALITY AS n (id, type, subject, table_code, round, head, place)
), told AS (
    INSERT INTO settlement_message (id, type, subject, "table", round_id, number, body, as_of_change, booked_at,
        request_id)
    SELECT g.id, g.type, g.subject, g.table_code, g.round, g.number,
           g.head || CASE WHEN g.round IS NULL THEN '}}' ELSE ',"in_round":' || g.number || '}}' END,
           coalesce((SELECT max(c.revision) FROM settlement_endpointchange c), 0), %(now)s, %(request)s
      FROM given g ORDER BY g.place
    RETURNING id, type
), owed AS (
    INSERT INTO settlement_delivery (message_id, endpoint_id, state, due_at, attempts, failures, owner, last_result)
    SELECT g.id, e.id, 'due', %(now)s, 0, 0, '', ''
      FROM given g JOIN settlement_endpoint e ON g.type = ANY (e.types) AND e.state <> 'disabled'
     ORDER BY g.place, e.id
    RETURNING id
)
SELECT (SELECT count(*) FROM told), (SELECT count(*) FROM owed)
"""


def owe(messages: Sequence[Owed]) -> list[UUID]:
    """Write these messages and what is owed of them, and return their ids (``webhook-id``), in order.

    One statement, whatever their number; none for none. Every endpoint that is not disabled and chose the type gets a
    delivery. Whoever owes a message of a round holds the lock of the round's row. Raises NoAct outside of an act,
    ValueError for a type that is not of the list and for a body over 20 kB, TypeError for a float in one.
    """
    act = events.current()
    if not messages:
        return []
    ids = [events.uuid7(act.now) for _ in messages]
    with connection.cursor() as cursor:
        cursor.execute(
            _OWE,
            {
                "ids": ids,
                "types": [message.type for message in messages],
                "subjects": [message.subject for message in messages],
                "tables": [message.table for message in messages],
                "rounds": [message.round for message in messages],
                "heads": [_head(message, booked=act.now.isoformat()) for message in messages],
                "now": act.now,
                "request": act.request_id,
            },
        )
        _, deliveries = cursor.fetchone()
    if deliveries and _ringer:
        transaction.on_commit(_ringer[0], robust=True)
    return ids


def _head(message: Owed, *, booked: str) -> str:
    """Return the body but for its end, which gets the number when that is known."""
    if message.type not in MessageType.values:
        raise ValueError(f"{message.type} is no type of message")
    of_round = {} if message.round is None else {"round": str(message.round)}
    data = events.canonical(of_round | message.data).decode()
    head = f'{{"type":{json.dumps(message.type)},"timestamp":{json.dumps(booked)},"data":{data[:-1]}'
    if len(head.encode()) > MOST_BYTES - 40:
        raise ValueError(f"{message.type} is over {MOST_BYTES} bytes")
    return head
