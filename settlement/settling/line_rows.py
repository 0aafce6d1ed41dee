"""Lines as they are stored, and the hash that the witness is told of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from casino import cards
from settlement.rules.payouts import BankLine, Line, Verdict

BANK = "bank"
"""Wager and hand of the line that carries a player-banker's result."""

LINE_FIELDS = (
    "wager",
    "hand",
    "owner_kind",
    "owner_ref",
    "account",
    "stake",
    "cards",
    "hand_kind",
    "hand_taem",
    "hand_deng",
    "dealer_cards",
    "dealer_kind",
    "dealer_taem",
    "dealer_deng",
    "step",
    "multiple",
    "gross",
    "uncovered",
    "commission",
    "net",
    "rounding_bp",
)
"""What a stored line says, in the order in which it is hashed; names are those of the table's columns."""


HERE: Mapping[str, str] = MappingProxyType({})
"""All wallets are kept here."""


def account_of(owner_kind: str, owner_ref: str, *, table: str, elsewhere: Mapping[str, str] = HERE) -> str:
    """Return the account that a wager's net is posted to: the guest's wallet, or the table's chips in play.

    ``elsewhere`` says which guests' wallets are kept by which cashier system: their net goes to its mirror at the
    table.
    """
    if owner_kind != "account":
        return f"table:{table}:guests"
    return f"external:{elsewhere[owner_ref]}:{table}" if owner_ref in elsewhere else f"{owner_ref}:wallet"


def of_line(line: Line, *, table: str, elsewhere: Mapping[str, str] = HERE) -> tuple[Any, ...]:
    """Return a judged line as stored, in the order of LINE_FIELDS."""
    return (
        line.wager,
        line.hand,
        line.owner.kind,
        line.owner.ref,
        account_of(line.owner.kind, line.owner.ref, table=table, elsewhere=elsewhere),
        line.stake,
        [cards.text(card) for card in line.cards],
        line.guest.kind,
        line.guest.taem,
        line.guest.deng,
        [cards.text(card) for card in line.dealer_cards],
        line.dealer.kind,
        line.dealer.taem,
        line.dealer.deng,
        line.step,
        line.multiple,
        line.gross,
        line.uncovered,
        line.commission,
        line.net,
        line.rounding_bp,
    )


def of_bank(bank: BankLine, *, table: str, elsewhere: Mapping[str, str] = HERE) -> tuple[Any, ...]:
    """Return a player-banker's result as a stored line: ``stake`` what was put up, ``gross`` what play added to it."""
    account = account_of("account", bank.account, table=table, elsewhere=elsewhere)
    return (
        BANK, BANK, "account", bank.account, account, bank.held,
        [], "", None, None, [], "", None, None, "", 0, bank.result, 0, bank.commission, bank.net, bank.rounding_bp,
    )  # fmt: skip


def written(stored: Sequence[Sequence[Any]]) -> str:
    """Return lines, in the order of their ordinals, as the JSON that is hashed and stored: what ``events.canonical``
    gives, without its search for floats (a line's amounts are whole numbers since they were judged)."""
    return _encode(stored)


_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode


def lines_sha256(stored: Sequence[Sequence[Any]]) -> str:
    """Return the SHA-256, in hexadecimal, of lines in the order of their ordinals."""
    return hashlib.sha256(written(stored).encode()).hexdigest()


def of_verdict(verdict: Verdict, *, table: str, elsewhere: Mapping[str, str] = HERE) -> list[tuple[Any, ...]]:
    """Return every line of a verdict as stored, a banker's last."""
    stored = [of_line(line, table=table, elsewhere=elsewhere) for line in verdict.lines]
    if verdict.bank is not None:
        stored.append(of_bank(verdict.bank, table=table, elsewhere=elsewhere))
    return stored


def sums_of(stored: Sequence[tuple[Any, ...]]) -> dict[str, int]:
    """Return what stored lines come to, by account, in minor units."""
    account, net = LINE_FIELDS.index("account"), LINE_FIELDS.index("net")
    found: dict[str, int] = {}
    for line in stored:
        found[line[account]] = found.get(line[account], 0) + line[net]
    return found
