"""Acts of a decision: facts that people chose about a round, recorded as events of the dispute that chose them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import connection

from casino import events
from casino.events import Fact
from casino.models import Round, RoundEvent, Standing, TableSession
from casino.platform.refusals import Refusal
from casino.rounds import event_hash
from casino.rounds.device_reports import NEVER_LATE

KINDS = frozenset({"bet_ruled", "card_removed", "card_ruled", "hold_waived", "round_voided"})
"""What a decision may say of a round."""


def still(round_id: UUID) -> Round:
    """Keep a round as it is until the act ends, and return it: nothing is recorded, settled or corrected meanwhile.

    Its session is locked first, then the round. Refuses ``not_found``. Must run in an act. Three statements.
    """
    events.current()
    session = Round.objects.filter(pk=round_id).values_list("session", flat=True).first()
    if session is None:
        raise Refusal("not_found")
    TableSession.objects.select_for_update().get(pk=session)
    return Round.objects.select_for_update(of=("self",)).select_related("table").get(pk=round_id)


def decide(*, round: Round, facts: Sequence[dict[str, Any]], dispute: UUID, decided_by: UUID) -> list[int]:
    """Record the facts a decision chose, each ``{"kind": …, **data}``; return their ids (RoundEvent), in that order.

    ``round`` is what ``still`` returned. The facts follow everything recorded of it before and need no further
    signature. A round that stood settled or voided keeps them as late acts, for the correction to cite; one that was
    held is due again. Refuses ``invalid_value`` for what no decision may say. Must run in an act.
    """
    events.current()
    if any(fact["kind"] not in KINDS for fact in facts):
        raise Refusal("invalid_value", fields={"facts": "not a fact that a decision may choose"})
    return add(
        round=round,
        facts=facts,
        source=f"/disputes/{dispute}",
        person=decided_by,
        signed=RoundEvent.Signed.DECISION,
    )


def add(
    *, round: Round, facts: Sequence[dict[str, Any]], source: str, person: UUID, signed: RoundEvent.Signed
) -> list[int]:
    """Record what a person did to a locked round elsewhere than at its table; return the ids of the events.

    They follow everything recorded of it before. A round that was held is due again; one that is voided is due too.
    """
    act = events.current()
    finished = round.standing in (Standing.SETTLED, Standing.VOIDED)
    rows = []
    for place, fact in enumerate(facts, start=1):
        payload = {name: value for name, value in fact.items() if name != "kind"}
        content = {"source": source, "place": place, "kind": fact["kind"], "data": payload}
        rows.append(
            RoundEvent(
                round=round,
                seq=round.event_count + place,
                kind=fact["kind"],
                payload=payload,
                source=source,
                event_id=str(events.uuid7(act.now)),
                person_id=person,
                signer_id=person,
                signed=signed,
                happened_at=act.now,
                instant=act.now,
                recorded_at=act.now,
                sha256=hashlib.sha256(events.canonical(content)).digest(),
                late=finished and fact["kind"] not in NEVER_LATE,
            )
        )
    RoundEvent.objects.bulk_create(rows)
    voids = not finished and any(fact["kind"] == "round_voided" for fact in facts)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE casino_round SET event_count = event_count + %(events)s,"
            " closed_at = CASE WHEN %(voids)s THEN coalesce(closed_at, %(now)s) ELSE closed_at END,"
            " due_at = CASE WHEN standing = 'held' OR %(voids)s THEN %(now)s ELSE due_at END, reasons = '{}',"
            " standing = CASE WHEN standing = 'held' OR %(voids)s THEN 'due' ELSE standing END WHERE id = %(round)s",
            {"events": len(rows), "voids": voids, "now": act.now, "round": round.id},
        )
    events.announce([_recorded(round, source, rows)])
    return [one.id for one in rows]


def _recorded(round: Round, source: str, rows: Sequence[RoundEvent]) -> Fact:
    return Fact(
        "round.recorded",
        f"rounds/{round.id}",
        {
            "events": [
                {
                    "seq": None,
                    "place": one.seq,
                    "kind": one.kind,
                    "sha256": bytes(one.sha256).hex(),
                    "stored_sha256": _stored_sha256(one),
                }
                for one in rows
            ],
            "refused": [],
            "source": source,
        },
        table=round.table.code,
        round=round.id,
    )


def _stored_sha256(row: RoundEvent) -> str:
    """Return the hash of a stored event, worked out from its row."""
    return event_hash.sha256_of(
        kind=row.kind,
        payload=row.payload,
        source=row.source,
        device_seq=row.device_seq,
        person=row.person_id,
        signature=row.signature_id,
        signer=row.signer_id,
        signed=row.signed,
        happened_at=row.happened_at,
        instant=row.instant,
        late=row.late,
    )


def dispute(*, round_id: UUID, open: bool) -> None:
    """Say that somebody disputes the round, or that nobody does any more."""
    events.current()
    Round.objects.filter(pk=round_id).update(in_dispute=open)
