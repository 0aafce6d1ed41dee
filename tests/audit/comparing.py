"""A comparison of the built house's books, and a break that people ended: for the checks of what is at rest."""

from __future__ import annotations

from contextlib import AbstractContextManager

from django.utils import timezone

from casino import events
from casino.models import Person
from settlement import breaks, days, reconciliation
from settlement.breaks import NewBreak
from settlement.ledger import Posting
from settlement.models import Run


def write(*, manager: Person, other: Person) -> None:
    """Let a night's run be done, and a break be found, explained, resolved by a journal and approved."""

    def act() -> AbstractContextManager[events.Act]:
        return events.act(actor=events.SERVICE, request_id="built", now=timezone.now())

    with act():
        run = reconciliation.begin(kind=Run.Kind.NIGHTLY, gaming_day=days.of(timezone.now()), levels=("R0",))
    while (
        reconciliation.look_on(owner="built", now=timezone.now(), request_id="built", run=run.id) is not None
    ):
        pass
    difference = NewBreak(
        "AMOUNT", "accounts/variance:PD06", "built", {"counted": 5}, amount=5, currency="THB"
    )
    with act():
        (id,) = breaks.found([difference])
        breaks.assign(id=id, to=manager, by=manager)
        breaks.explain(id=id, reason="a chip under the table", by=manager)
        breaks.resolve(
            id=id,
            resolution="journal",
            reason="put right",
            by=manager,
            postings=[Posting("variance:PD06", 5), Posting("suspense:chips:PD06", -5)],
        )
        breaks.approve(id=id, by=other)
