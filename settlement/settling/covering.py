"""Before the cards: set aside what each wallet's wager could lose. While they lie: show what would come of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar
from uuid import UUID

from django.conf import settings
from django.db import connection

from casino import events
from casino.events import Act, Fact
from casino.models import Table
from casino.platform import refusals
from casino.platform.refusals import Refusal
from settlement import external_wallets, ledger, webhooks
from settlement.external_wallets import Answers, Dues, Kept, Question
from settlement.ledger import Held, NewHold
from settlement.rules import payouts
from settlement.rules.payouts import Verdict
from settlement.settling import external_holds, judging, line_rows, messages, round_inputs
from settlement.settling.round_inputs import Case

refusals.register("round_not_opened", 409, "The round's opening has not arrived.", "ยังไม่ได้รับการเปิดรอบนี้")


@dataclass(frozen=True, slots=True)
class Refused:
    """A wager that its wallet cannot cover, with the ``reason``: ``insufficient_funds`` or ``unknown_wallet``; of a
    wallet kept elsewhere also that its cashier system is silent, disabled, or refused otherwise, or that the bet was
    changed meanwhile. ``available`` is None where nobody told. The dealer lowers or withdraws it."""

    wager: str
    account: str
    exposure: int
    available: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class Cover:
    """What is set aside for a round now, and what could not be. Amounts in minor units of ``currency``."""

    currency: str
    covered: tuple[Held, ...]
    refused: tuple[Refused, ...]


T = TypeVar("T")


class Acting(Protocol):
    """Whoever runs a function as an act of its own, and returns what it returned."""

    def __call__(self, do: Callable[[Act], T]) -> T: ...


def _in_the_running_act(do: Callable[[Act], T]) -> T:
    return do(events.current())


def cover(round_id: UUID, *, acting: Acting = _in_the_running_act) -> Cover:
    """Make the holds of a round fit its bets as they stand: one for each wallet's wager, in order of placement, worth
    the most it can lose; and for a player's bank the least of its limit and what the wallet has.

    Asked again, the holds follow the bets; the bank stays what it was when it was first asked for, also nothing.
    Refuses ``round_finished``, ``round_not_opened`` and ``table_stopped``.

    ``acting`` runs an act, and one is all it takes where wallets are kept here. For those kept elsewhere their cashier
    systems are asked behind it, with nothing held, and a second act stores what they answered in time; so whoever runs
    an act already cannot cover those (HeldMeanwhile).
    """
    mine, question = acting(lambda _: _set_aside(round_id))
    if not question.holds and not question.releases:
        return mine
    answers = external_wallets.ask(question, seconds=settings.CASHIER_SYSTEMS["answer_seconds"])
    return acting(lambda act: _with_theirs(mine, question, answers, act=act))


def _set_aside(round_id: UUID) -> tuple[Cover, Question]:
    case = _one(round_id, lock=True)
    if case.finished:
        raise Refusal("round_finished")
    if case.table_state == Table.State.STOPPED:
        raise Refusal("table_stopped")
    dues = Dues(now=events.current().now)
    mine, facts = _set_aside_here(case)
    question, kept, refused = external_holds.ask(dues, case)
    dues.write()
    events.announce([*facts, *dues.facts({case.id: case.table})])
    return _with(mine, held=kept, refused=[(one, one.reason, None) for one in refused]), question


def _set_aside_here(case: Case) -> tuple[Cover, list[Fact]]:
    """Make the holds of wallets that are kept here fit; return them with what the witness is told of them."""
    wanted = _wanted(case)
    kept = [hold for hold in case.holds.values() if hold.wager == line_rows.BANK or _still_fits(hold, wanted)]
    ended = [hold for hold in case.holds.values() if hold not in kept]
    changed = [hold.id for hold in ended]
    fits = {hold.wager for hold in kept}
    asked = [request for request in wanted if request.wager not in fits]
    balances = ledger.lock({request.account for request in wanted}, currency=case.currency)
    answers = ledger.hold(asked, currency=case.currency, change=changed)
    available = {
        code: account.available for code, account in balances.items() if account.currency == case.currency
    }
    for hold in case.holds.values():
        if hold not in kept and hold.account in available:
            available[hold.account] += hold.amount
    refused = [*_refused(asked, answers, available=available), *_empty_bank(case)]
    _keep_refused(case, refused)
    made = [answer for answer in answers if answer is not None]
    covered = (*kept, *made)
    told = {
        "holds": [[str(hold.id), hold.wager, hold.account, hold.amount] for hold in covered],
        "ended": [str(key) for key in changed],
        "refused": [[item.wager, item.account, item.exposure, item.reason] for item in refused],
        "currency": case.currency,
    }
    webhooks.owe([*messages.freed(case, ended, reason="changed"), *messages.held(case, made)])
    fact = Fact("round.covered", f"rounds/{case.id}", told, table=case.table, round=case.id)
    return Cover(case.currency, covered, tuple(refused)), [fact]


def _with_theirs(mine: Cover, question: Question, answers: Answers, *, act: Act) -> Cover:
    """Store what cashier systems answered, and return all of a round's cover."""
    round_inputs.lock(question.round)
    taken = external_wallets.take(question, answers, now=act.now)
    return _with(mine, held=taken.held, refused=taken.refused)


def _with(mine: Cover, *, held: Sequence[Kept], refused: Sequence[tuple[Kept, str, int | None]]) -> Cover:
    """Return a cover with what is, and what is not, set aside elsewhere; a guest's wallet has its name wherever it is
    kept."""
    covered = [Held(one.id, f"{one.account}:wallet", one.round, one.wager, one.exposure) for one in held]
    uncovered = [
        Refused(one.wager, f"{one.account}:wallet", one.exposure, available, reason)
        for one, reason, available in refused
    ]
    return replace(mine, covered=(*mine.covered, *covered), refused=(*mine.refused, *uncovered))


def preview(round_id: UUID) -> tuple[Case, Verdict]:
    """Judge a round as it lies, open or closed, and write nothing: an open round without doubts has its lines."""
    case = _one(round_id, lock=False)
    if case.finished:
        raise Refusal("round_finished")
    found = ledger.balances(case.wallets())
    available = {code: account.available for code, account in found.items()}
    return case, judging.judge(case, judging.inputs_of(case, found, available=available))


def _one(round_id: UUID, *, lock: bool) -> Case:
    found = round_inputs.read([round_id], lock=lock)
    if not found:
        raise Refusal("not_found")
    case = found[0]
    if not case.finished and (case.record is None or case.house is None):
        raise Refusal("round_not_opened")
    return case


def _wanted(case: Case) -> list[NewHold]:
    assert case.record is not None
    assert case.house is not None
    wanted = [
        NewHold(f"{wager.owner.ref}:wallet", case.id, wager.id, payouts.exposure(wager.stake, case.house))
        for wager in case.record.wagers
        if wager.owner.kind == "account" and case.keeper_of(wager.owner.ref) is None
    ]
    banker = case.record.banker
    if _banks_here(case) and not case.bank_measured:
        assert banker is not None
        wanted.append(
            NewHold(f"{banker.account}:wallet", case.id, line_rows.BANK, banker.limit, or_less=True)
        )
    return wanted


def _banks_here(case: Case) -> bool:
    assert case.record is not None
    banker = case.record.banker
    return banker is not None and case.is_player_banked and case.keeper_of(banker.account) is None


def _empty_bank(case: Case) -> list[Refused]:
    """A bank that was asked for before and found empty: it is, whatever the wallet has by now."""
    if not (_banks_here(case) and case.bank_measured and line_rows.BANK not in case.holds):
        return []
    assert case.record is not None
    banker = case.record.banker
    assert banker is not None
    return [Refused(line_rows.BANK, f"{banker.account}:wallet", banker.limit, 0, "insufficient_funds")]


def _still_fits(hold: Held, wanted: list[NewHold]) -> bool:
    return any(
        (hold.wager, hold.account, hold.amount) == (request.wager, request.account, request.amount)
        for request in wanted
    )


def _refused(
    asked: Sequence[NewHold], answers: Sequence[Held | None], *, available: dict[str, int]
) -> list[Refused]:
    """Return the requests that were not met, each with what its wallet had left when its turn came.

    ``available`` is what the wallets had before the first of them; a wallet that is not in it does not exist.
    """
    refused = []
    for request, answer in zip(asked, answers, strict=True):
        left = available.get(request.account)
        if answer is not None and left is not None:
            available[request.account] = left - answer.amount
        elif left is None:
            refused.append(Refused(request.wager, request.account, request.amount, 0, "unknown_wallet"))
        else:
            refused.append(
                Refused(request.wager, request.account, request.amount, max(0, left), "insufficient_funds")
            )
    return refused


def _keep_refused(case: Case, refused: list[Refused]) -> None:
    """A wallet that could not cover a wager when it was asked: should the cards come all the same, this says why."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO settlement_refusedcover (round_id, wager, account_code, exposure, available, asked_at)"
            " SELECT %s, n.wager, n.account, n.exposure, n.available, %s"
            " FROM unnest(%s::text[], %s::text[], %s::bigint[], %s::bigint[])"
            " AS n (wager, account, exposure, available)",
            [
                case.id,
                events.current().now,
                [item.wager for item in refused],
                [item.account for item in refused],
                [item.exposure for item in refused],
                [item.available for item in refused],
            ],
        )
