"""What the house owes to be told of a round: how it stands, and what that was for each wallet."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from settlement.ledger import Held, Posting
from settlement.settling.round_inputs import Case
from settlement.settling.settlement_rows import Revision
from settlement.webhooks import Owed


def of_hold(case: Case, reasons: Sequence[str]) -> Owed:
    """Return that the round waits for a person, and why."""
    return _owed("round.held", case, {**_place(case), "reasons": list(reasons)})


def of_revision(revision: Revision, ids: Mapping[tuple[UUID, str], UUID]) -> list[Owed]:
    """Return what a revision came to: the round first, then for each wallet what was taken back, what it won or lost,
    or that what was set aside is free again. ``ids`` are the posted journals by revision and part.

    A revision that changes nothing tells nothing, and of one that does only the owners whose sum changed are told.
    """
    if revision.changes_nothing:
        return []
    case = revision.case
    corrected = revision.number > 1
    told = [
        _owed(
            "round.corrected" if corrected else f"round.{revision.verdict.outcome}",
            case,
            {
                **_place(case),
                "revision": revision.number,
                "outcome": revision.verdict.outcome,
                "settlement": str(revision.id),
                "journal": _text(ids.get((revision.id, "journal"))),
                "reversal": _text(ids.get((revision.id, "reversal"))),
                "decision": _text(revision.because),
                "house_net": _money(revision.verdict.house_net, case),
                "gaming_day": revision.gaming_day.isoformat(),
            },
        )
    ]
    told += _taken_back(revision, ids)
    if revision.verdict.outcome == "settled":
        told += _paid(revision, ids)
    elif not corrected:
        told += freed(case, case.holds.values(), reason="round_voided")
    return told


def held(case: Case, holds: Iterable[Held]) -> list[Owed]:
    """Return what was set aside just now, hold by hold."""
    return [
        _owed(
            "wallet.held",
            case,
            {
                "account": hold.account,
                "hold": str(hold.id),
                "wager": hold.wager,
                "amount": _money(hold.amount, case),
            },
        )
        for hold in holds
    ]


def freed(case: Case, holds: Collection[Held], *, reason: str) -> list[Owed]:
    """Return, by wallet, that these holds are over and nothing was taken."""
    return [
        _owed(
            "wallet.released",
            case,
            {
                "account": account,
                "holds": [str(hold.id) for hold in holds if hold.account == account],
                "reason": reason,
            },
        )
        for account in sorted({hold.account for hold in holds})
    ]


def _taken_back(revision: Revision, ids: Mapping[tuple[UUID, str], UUID]) -> list[Owed]:
    found = []
    for part in ("reversal", "shortfall_reversal"):
        journal = revision.journals.get(part)
        if journal is None:
            continue
        for account, amount in sorted(_by_wallet(journal.postings).items()):
            if account in revision.unmoved:
                continue
            reverses = revision.told_as.get(account) if part == "reversal" else journal.reverses
            found.append(
                _owed(
                    "wallet.reversed",
                    revision.case,
                    {
                        "account": account,
                        "journal": str(ids[revision.id, part]),
                        "reverses": _text(reverses or journal.reverses),
                        "amount": _money(amount, revision.case),
                        "decision": _text(revision.because),
                    },
                )
            )
    return found


def _paid(revision: Revision, ids: Mapping[tuple[UUID, str], UUID]) -> list[Owed]:
    """A push is told too, with a net of 0: only then is what was set aside free for certain. A cashier system that
    keeps its wallets itself is told by calls of its own."""
    case, verdict = revision.case, revision.verdict
    elsewhere = revision.inputs.get("elsewhere", {})
    lines = [
        (f"{line.owner.ref}:wallet", line.wager, line.net, line.commission)
        for line in verdict.lines
        if line.owner.kind == "account" and line.owner.ref not in elsewhere
    ]
    if verdict.bank is not None and verdict.bank.account not in elsewhere:
        bank = verdict.bank
        lines.append((f"{bank.account}:wallet", "bank", bank.net, bank.commission))
    shortfall = revision.journals.get("shortfall")
    lent = _by_wallet(shortfall.postings) if shortfall is not None else {}
    accounts = {account for account, _, _, _ in lines} | {hold.account for hold in case.holds.values()}
    return [
        _owed(
            "wallet.settled",
            case,
            {
                "account": account,
                "revision": revision.number,
                "journal": _text(ids.get((revision.id, "journal"))),
                "net": _money(sum(line[2] for line in lines if line[0] == account), case),
                "commission": _money(sum(line[3] for line in lines if line[0] == account), case),
                "lent": _money(lent.get(account, 0), case),
                "holds": [str(hold.id) for hold in case.holds.values() if hold.account == account],
                "wagers": [[wager, net] for code, wager, net, _ in lines if code == account],
            },
        )
        for account in sorted(accounts - revision.unmoved)
    ]


def _by_wallet(postings: Iterable[Posting]) -> dict[str, int]:
    found: dict[str, int] = {}
    for posting in postings:
        if posting.account.startswith("player:"):
            found[posting.account] = found.get(posting.account, 0) + posting.amount
    return found


def _owed(type: str, case: Case, data: dict[str, Any]) -> Owed:
    return Owed(type, data, subject=f"rounds/{case.id}", table=case.table, round=case.id)


def _place(case: Case) -> dict[str, Any]:
    return {"table": case.table, "number": case.number}


def _money(amount: int, case: Case) -> dict[str, Any]:
    return {"amount": amount, "currency": case.currency}


def _text(value: UUID | None) -> str | None:
    return str(value) if value is not None else None
