"""What a round asks of cashier systems and owes them, for the wagers of wallets that live there. Gathers only.

Before the cards, holds follow the bets. Afterwards each wager's net goes out under its hold, by revision; a correction
first takes back what was told last. What was set aside and came to nothing is let go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import connection

from casino import events
from settlement import external_wallets
from settlement.external_wallets import Dues, Kept, Question, Result, Settled
from settlement.rules import payouts
from settlement.rules.payouts import Verdict
from settlement.settling.judging import Inputs
from settlement.settling.line_rows import BANK
from settlement.settling.round_inputs import Case

SILENT = external_wallets.SILENT


def ask(dues: Dues, case: Case) -> tuple[Question, list[Kept], list[Kept]]:
    """Take down what is to be asked so that the holds follow the bets. Return that, the holds that fit as they are, and
    those that nobody is asked for as their system is disabled.

    A hold that does not fit is let go, and its system told at once, before anything is asked: what it had set aside may
    be needed. The outbox waits for that.
    """
    wanted = {kept.wager: kept for kept in _wanted(case, dues)}
    fitting = [kept for wager, kept in sorted(case.elsewhere.items()) if _fits(kept, wanted.get(wager))]
    after = timedelta(seconds=settings.CASHIER_SYSTEMS["answer_seconds"])
    for _, kept in sorted(case.elsewhere.items()):
        if kept not in fitting:
            dues.let_go(kept, state="changed", reason="bet_changed", after=after)
    fits = {kept.wager for kept in fitting}
    asked = [kept for kept in wanted.values() if kept.wager not in fits and kept.system.enabled]
    refused = [
        replace(kept, state="refused", reason=external_wallets.DISABLED)
        for kept in wanted.values()
        if kept.wager not in fits and not kept.system.enabled
    ]
    for kept in (*asked, *refused):
        dues.ask(kept)
    return Question(case.id, case.table, dues.now, tuple(asked), tuple(dues.calls)), fitting, refused


def _wanted(case: Case, dues: Dues) -> list[Kept]:
    """Return the holds that the bets need, in order of placement, and a player's bank of its limit: what such a wallet
    has is not known here, so it is all of it or nothing. Once cards lie, nobody who said no is asked for a bank again.
    """
    assert case.record is not None
    assert case.house is not None
    found = [
        (wager.id, wager.owner.ref, wager.stake, payouts.exposure(wager.stake, case.house))
        for wager in case.record.wagers
        if wager.owner.kind == "account"
    ]
    banker = case.record.banker
    refused_before = (
        case.record.bets_closed_ms is not None and BANK not in case.elsewhere and case.bank_measured
    )
    if banker is not None and case.is_player_banked and not refused_before:
        found.append((BANK, banker.account, banker.limit, banker.limit))
    return [
        Kept(events.uuid7(dues.now), keeper, case.id, wager, owner, stake, exposure, case.currency, "asked")
        for wager, owner, stake, exposure in found
        if (keeper := case.keeper_of(owner)) is not None and exposure > 0
    ]


def _fits(kept: Kept, wanted: Kept | None) -> bool:
    return (
        wanted is not None
        and kept.state == "held"
        and (kept.account, kept.stake, kept.exposure) == (wanted.account, wanted.stake, wanted.exposure)
    )


def ruled_away(dues: Dues, case: Case) -> None:
    """Let go what is set aside for bets that were ruled to be nobody's, or another guest's, and forget it."""
    assert case.record is not None
    owners = {wager.id: wager.owner.ref for wager in case.record.wagers if wager.owner.kind == "account"}
    for wager in sorted(case.ruled() & case.elsewhere.keys()):
        kept = case.elsewhere[wager]
        if kept.account != owners.get(wager):
            asked = kept.state == "asked"
            dues.let_go(
                kept, state="refused" if asked else "changed", reason=SILENT if asked else "bet_changed"
            )
            del case.elsewhere[wager]


def settled(dues: Dues, case: Case, verdict: Verdict, inputs: Inputs) -> None:
    """Owe what a first settlement came to: results under their holds, and the end of every other hold."""
    results = _results(case, verdict, inputs)
    for wager, kept in sorted(case.elsewhere.items()):
        if kept.state == "asked":
            # Whoever asked has not come back with the answer; from now on it is no.
            dues.let_go(kept, state="refused", reason=SILENT, revision=1)
        elif wager not in results:
            dues.let_go(kept, state="released", reason=_why_over(verdict), revision=1)
    for wager, result in results.items():
        held = case.elsewhere.get(wager)
        dues.settle(held if held and held.state == "held" else None, result, revision=1)


def amended(
    dues: Dues, case: Case, verdict: Verdict, inputs: Inputs, *, revision: int, because: UUID | None
) -> None:
    """Owe what a later revision came to: what was told last is taken back, once, and the new result told; to the
    owners whose sum changed. The others' bets stay as they were told."""
    told = external_wallets.told(case.id)
    results = dict(_results(case, verdict, inputs))
    unmoved = _unmoved(told, results)
    told = {wager: last for wager, last in told.items() if last.kept.account not in unmoved}
    results = {wager: result for wager, result in results.items() if result.account not in unmoved}
    dispute = _dispute(case.id) if because is not None and told else None
    reason = "dispute_upheld" if because is not None else "corrected"
    for wager, last in sorted(told.items()):
        dues.take_back(last, reason=reason, dispute=dispute)
        if wager not in results or results[wager].account != last.kept.account:
            dues.let_go(last.kept, state="released", reason=_why_over(verdict), revision=revision)
    for wager, result in results.items():
        last_told = told.get(wager)
        same_guest = last_told is not None and last_told.kept.account == result.account
        dues.settle(last_told.kept if last_told and same_guest else None, result, revision=revision)


def _unmoved(told: Mapping[str, Settled], results: Mapping[str, Result]) -> set[str]:
    """Return the owners who were told of all their bets, and whose sum is the same."""
    before: dict[str, int] = {}
    for last in told.values():
        before[last.kept.account] = before.get(last.kept.account, 0) + last.net
    after = dict.fromkeys(before, 0)
    for wager, result in results.items():
        if wager not in told:
            before.pop(result.account, None)
        after[result.account] = after.get(result.account, 0) + result.net
    return {owner for owner, net in before.items() if after[owner] == net}


def _results(case: Case, verdict: Verdict, inputs: Inputs) -> Mapping[str, Result]:
    if verdict.outcome != "settled" or not inputs.elsewhere:
        return {}
    systems = {system.code: system for system in case.systems.values()}
    found = [
        (line.wager, line.owner.ref, line.stake, line.net, line.commission)
        for line in verdict.lines
        if line.owner.kind == "account"
    ]
    if verdict.bank is not None:
        bank = verdict.bank
        found.append((BANK, bank.account, bank.held, bank.net, bank.commission))
    return {
        wager: Result(
            systems[inputs.elsewhere[owner]], case.id, wager, owner, stake, net, commission, case.currency
        )
        for wager, owner, stake, net, commission in found
        if owner in inputs.elsewhere
    }


def _why_over(verdict: Verdict) -> str:
    return "round_voided" if verdict.outcome == "voided" else "bet_withdrawn"


def _dispute(round: UUID) -> UUID | None:
    """Return the dispute whose decision was recorded last in a round."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT split_part(source, '/', 3)::uuid FROM casino_roundevent"
            " WHERE round_id = %s AND source LIKE '/disputes/%%' ORDER BY id DESC LIMIT 1",
            [round],
        )
        row = cursor.fetchone()
    return row[0] if row else None
