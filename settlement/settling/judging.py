"""A case judged by its sheet. What record and sheet do not say (who has a wallet, what a bank puts up) is named as the
judgement's inputs and stored beside it, so that the round can be judged again. Writes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from settlement.ledger import Balance
from settlement.rules import payouts
from settlement.rules.payouts import Verdict
from settlement.settling.line_rows import BANK
from settlement.settling.round_inputs import Case


@dataclass(frozen=True, slots=True)
class Inputs:
    """``bank`` is what a player who banks puts up (minor units), None where no player with a wallet does.
    ``not_in_play`` are the wagers without a wallet, sorted: they get no line. ``elsewhere`` says of guests whose
    wallets are not kept here which cashier system keeps them."""

    bank: int | None
    not_in_play: tuple[str, ...]
    elsewhere: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Inputs:
        """Return the inputs of a settlement as they are stored with it."""
        return cls(stored.get("bank"), tuple(stored.get("not_in_play", ())), stored.get("elsewhere", {}))

    def written(self) -> dict[str, Any]:
        """Return the inputs as JSON; a house without wallets elsewhere does not mention them."""
        known = {"bank": self.bank, "not_in_play": list(self.not_in_play)}
        return known | ({"elsewhere": dict(self.elsewhere)} if self.elsewhere else {})


def inputs_of(case: Case, balances: Mapping[str, Balance], *, available: Mapping[str, int]) -> Inputs:
    """Return what the wallets of a round mean for it now.

    ``available`` is what each wallet could still give, beside what is set aside. A bank that was asked for is what was
    set aside for it then, also nothing, and is never measured again; one that nobody asked for puts up as much of its
    limit as the wallet has now. What a wallet kept elsewhere has is not known: it puts up what it set aside, or is no
    bank.
    """
    assert case.record is not None
    keepers = {owner: case.keeper_of(owner) for owner in sorted(case.owners())}
    elsewhere = {owner: keeper.code for owner, keeper in keepers.items() if keeper is not None}

    def has_wallet(owner: str) -> bool:
        if owner in elsewhere:
            return True
        account = balances.get(f"{owner}:wallet")
        return account is not None and account.currency == case.currency

    without = sorted(
        wager.id
        for wager in case.record.wagers
        if wager.owner.kind == "account" and not has_wallet(wager.owner.ref)
    )
    banker = case.record.banker
    bank = None
    if banker is not None and case.is_player_banked and banker.account in elsewhere:
        bank = min(banker.limit, case.set_aside(BANK, banker.account)) or None
    elif banker is not None and case.is_player_banked and has_wallet(banker.account):
        asked = case.set_aside(BANK, banker.account)
        most = asked if case.bank_measured else available[f"{banker.account}:wallet"]
        bank = max(0, min(banker.limit, most))
    return Inputs(bank, tuple(without), elsewhere)


def inputs_as_before(case: Case, before: Inputs, now: Inputs) -> Inputs:
    """Return the inputs of a later revision: what was put up and who had no wallet when the round was first settled
    stays so. Of a bet that was ruled it counts whether its guest has a wallet now."""
    stays = {wager for wager in before.not_in_play if wager not in case.ruled()}
    return Inputs(before.bank, tuple(sorted({*stays, *now.not_in_play})), now.elsewhere)


def judge(case: Case, inputs: Inputs) -> Verdict:
    """Return the verdict on a round under its sheet.

    A bank without a wallet is no bank: the round waits for one to be named, or for the house. Where no sheet was in
    force when the round opened, or its opening is missing, it can only be held for missing numbers or voided.
    """
    assert case.record is not None
    if case.house is None:
        if case.record.state == "voided":
            return Verdict("voided", ())
        missing = tuple(doubt for doubt in case.record.doubts if doubt == "sequence_gap")
        return Verdict("held" if missing else "open", missing)
    record = case.record
    if inputs.bank is None and record.banker is not None:
        record = replace(record, banker=None)
    return payouts.judge(record, case.house, bank=inputs.bank, not_in_play=frozenset(inputs.not_in_play))
