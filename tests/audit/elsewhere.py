"""A cashier system that keeps wallets, as the built house knows it: what it would answer is put in its mouth."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.utils import timezone

from casino import events
from casino.models import Person
from settlement import external_wallets
from settlement.external_wallets import Answers, calls, cashier_systems
from settlement.external_wallets.call_attempt import DONE, UNCLEAR, Answer
from settlement.settling import covering, round_inputs
from settlement.webhooks import addresses, targets

REF = "royal-A17"
YES, NOTHING = Answer(DONE, DONE), Answer(UNCLEAR, "timed_out")


def let_in(*, administrator: Person, manager: Person) -> None:
    """Let the system ``royal`` in, which keeps the wallet of ``royal-A17``."""
    url = "https://royal.example/wallets"
    with _acting():
        targets.approve(host="royal.example", port=443, ranges=[], by=administrator, approved_by=manager)
        wanted = cashier_systems.Wanted(
            code="royal", prefix="royal-", url=url, target=addresses.parse(url, demonstration=False),
            dialect="holds",
        )  # fmt: skip
        cashier_systems.let_in(wanted, by=administrator, approved_by=manager)


def covered(round_id: UUID, *, answer: Answer = YES) -> None:
    """Cover a round whose bets are of that wallet; every question gets this answer."""
    with _acting():
        _, question = covering._set_aside(round_id)
    with _acting() as act:
        round_inputs.lock(round_id)
        answers = Answers(
            {kept.id: answer for kept in question.holds}, {call.id: answer for call in question.releases}
        )
        external_wallets.take(question, answers, now=act.now)


def acknowledged() -> int:
    """Let the system acknowledge what is due to it; return how much that was."""
    now = timezone.now()
    claims = calls.claim(owner="built", now=now, room=9)
    calls.finish([(claim, YES) for claim in claims], owner="built", now=now)
    return len(claims)


def _acting() -> Any:
    return events.act(actor=events.SERVICE, request_id="built", now=timezone.now())
