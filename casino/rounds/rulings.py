"""What a supervisor or a manager does to a round from a page: an event of the round with their person, signed by the
page that asked for their secret."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from casino import people
from casino.models import Person, Round, RoundEvent, Standing
from casino.platform.refusals import Refusal
from casino.rounds import decisions
from casino.rounds.device_reports import NEVER_LATE

KINDS = frozenset({"bet_ruled", "card_removed", "card_ruled", "hold_waived", "note", "round_voided"})
"""What may be ruled from a page. A recorder is changed at the new terminal, and chips are put right at the table."""


def rule(*, round_id: UUID, kind: str, data: dict[str, Any], by: Person) -> RoundEvent:
    """Record an act of a person at a page; it follows everything recorded of the round before.

    ``data`` is the kind's, as ``api.payloads`` read it. An alias stands for the round it is one of. Refuses
    ``not_found``, ``not_on_duty`` to who may not rule at that table now, ``sod_violation`` to who dealt the round, and
    ``round_finished`` where the round is settled or voided and the act would change nothing any more; a mispay that
    was found, and a note, are taken then too. Must run in an act.
    """
    alias_of = Round.objects.filter(pk=round_id).values_list("alias_of", flat=True).first()
    round = decisions.still(alias_of or round_id)
    if not people.may_rule(by, round.session):
        raise Refusal("not_on_duty")
    if by.id in people.dealers_of(round):
        raise Refusal("sod_violation")
    if round.standing in (Standing.SETTLED, Standing.VOIDED) and kind not in NEVER_LATE:
        raise Refusal("round_finished", standing=str(round.standing))
    [event] = decisions.add(
        round=round,
        facts=[{"kind": kind, **data}],
        source=f"/people/{by.id}",
        person=by.id,
        signed=RoundEvent.Signed.PAGE,
    )
    return RoundEvent.objects.get(pk=event)
