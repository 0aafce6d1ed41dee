"""Who has no part in deciding a dispute: its raiser, and whoever acted at the table, ruled or approved in its round.

The database refuses the same people again (``audit_apart_from``), whatever way a row comes.
"""

from __future__ import annotations

from uuid import UUID

from django.db.models import Q

from audit.models import Dispute
from casino import people
from casino.models import Person, RoundEvent
from casino.platform.refusals import Refusal
from settlement.models import Settlement


def require(dispute: Dispute, by: Person) -> None:
    """Refuse ``sod_violation`` to whoever would judge in their own cause. Four statements."""
    if by.id == dispute.raised_by_id or by.id in _had_part_in(dispute):
        raise Refusal("sod_violation")


def _had_part_in(dispute: Dispute) -> set[UUID | None]:
    of_round = RoundEvent.objects.filter(Q(round=dispute.round) | Q(round__alias_of=dispute.round))
    # Whoever acted at the table: what their role is today says nothing of that day.
    dealt = of_round.filter(device__isnull=False).values_list("person", flat=True)
    # What a decision signed is another dispute's end, not a part in the round.
    signed = of_round.filter(
        signed__in=(RoundEvent.Signed.SIGNATURE, RoundEvent.Signed.ON_DUTY, RoundEvent.Signed.PAGE)
    ).values_list("signer", flat=True)
    approved = Settlement.objects.filter(round=dispute.round).values_list("acted_by", "approved_by")
    return {
        *people.dealers_of(dispute.round),
        *dealt.union(signed),
        *(person for pair in approved for person in pair),
    }
