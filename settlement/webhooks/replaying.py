"""Send again: one delivery or a range, under the same ``webhook-id``, so that it has one effect at the receiver."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db import connection

from casino import events
from casino.events import Fact
from casino.platform.refusals import Refusal
from settlement.models import Endpoint
from settlement.webhooks import endpoints

_REPLAY = """
UPDATE settlement_delivery d
   SET state = 'due', due_at = %(now)s, failures = 0, finished_at = NULL
  FROM settlement_message m
 WHERE m.id = d.message_id AND d.endpoint_id = %(endpoint)s AND d.state <> 'claimed'
   AND (%(delivery)s::bigint IS NULL OR d.id = %(delivery)s)
   AND (%(since)s::timestamptz IS NULL OR m.booked_at >= %(since)s)
   AND (%(until)s::timestamptz IS NULL OR m.booked_at < %(until)s)
   AND (NOT %(failures)s OR d.state = 'given_up' OR d.failures > 0)
RETURNING d.id
"""


def one(*, endpoint: UUID, delivery: int) -> int:
    """Make one delivery due now, with the whole schedule before it; one that is being sent stays as it is. Return how
    many are due for it (0 or 1). Refuses ``not_found`` and ``endpoint_disabled``."""
    return _replay(endpoint, delivery=delivery, since=None, until=None, failures=False)


def those_between(*, endpoint: UUID, since: datetime, until: datetime, failures: bool) -> int:
    """Make due what was booked from ``since`` on and before ``until``, only what failed where ``failures`` says so;
    return how many. Refuses ``not_found`` and ``endpoint_disabled``."""
    return _replay(endpoint, delivery=None, since=since, until=until, failures=failures)


def _replay(
    endpoint: UUID,
    *,
    delivery: int | None,
    since: datetime | None,
    until: datetime | None,
    failures: bool,
) -> int:
    act = events.current()
    found = endpoints.locked(endpoint)
    if found.state == Endpoint.State.DISABLED:
        raise Refusal("endpoint_disabled")
    with connection.cursor() as cursor:
        cursor.execute(
            _REPLAY,
            {
                "now": act.now,
                "endpoint": endpoint,
                "delivery": delivery,
                "since": since,
                "until": until,
                "failures": failures,
            },
        )
        count = cursor.rowcount
    events.announce(
        [
            Fact(
                "delivery.replayed",
                f"endpoints/{endpoint}",
                {
                    "delivery": delivery,
                    "since": since.isoformat() if since else None,
                    "until": until.isoformat() if until else None,
                    "failures": int(failures),
                    "count": count,
                },
            )
        ]
    )
    return count
