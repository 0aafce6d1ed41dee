"""What a statement says, whichever way it is written. Pure.

Amounts are whole minor units; above zero the account got money. A statement covers one gaming day of one account,
from start hour to start hour and not from midnight, so its lines add up from ``opening`` to ``closing``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from casino.platform import values
from casino.platform.values import Between

COLUMNS = (
    "statement_no",
    "line_no",
    "gaming_day",
    "kind",
    "journal",
    "entry",
    "account",
    "counter_account",
    "slip_no",
    "round",
    "revision",
    "reverses",
    "amount_minor",
    "currency",
    "balance_after_minor",
    "happened_at",
    "recorded_at",
    "reference",
)
"""The columns of a statement as CSV, in their order."""

_FRACTIONS = {
    **dict.fromkeys(("BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "VND", "VUV",
                     "XAF", "XOF", "XPF"), 0),
    **dict.fromkeys(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"), 3),
}  # fmt: skip
"""Currencies whose minor unit is not a hundredth (ISO 4217)."""

SHORT = 35
SHORT_ACCOUNT = 34
"""Longest reference, and longest name of an account, that ISO 20022 carries."""


class Unreadable(ValueError):
    """A file that is no statement, or one that does not add up. ``where`` names the line or element."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(f"{where}: {why}")
        self.where, self.why = where, why


@dataclass(frozen=True, slots=True)
class Line:
    """One entry of the account. ``gaming_day`` is the day it is posted in, ``played`` the day it is about;
    ``counter_account`` is empty where the journal moved more than one other account."""

    gaming_day: date
    played: date
    kind: str
    code: str
    journal: str
    entry: int
    counter_account: str
    slip_no: str
    round: str
    revision: int | None
    reverses: str
    amount: int
    balance_after: int
    happened_at: datetime
    recorded_at: datetime
    reference: str


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of ours. ``number`` is gap-free per account; None is a draft of a day that is not sealed yet."""

    id: str
    account: str
    currency: str
    number: int | None
    gaming_day: date
    begins: datetime
    ends: datetime
    made_at: datetime
    opening: int
    closing: int
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class OutsideLine:
    """One line of somebody else's statement, from the account's side as ours are.

    ``journal`` and ``reference`` are what they say of our journal (32 hex digits) and of the paper or key behind
    it; empty where they say nothing. A line that stands for several transactions has no reference: ``names`` says
    what each of them names. ``pending``: announced, not booked."""

    number: int
    amount: int
    currency: str
    booked: date
    played: date
    code: str
    journal: str
    reference: str
    reversal: bool
    pending: bool
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OutsideStatement:
    """A statement that came in; its lines add up from ``opening`` to ``closing``, or it was not taken."""

    number: str
    account: str
    currency: str
    gaming_day: date
    opening: int
    closing: int
    lines: tuple[OutsideLine, ...]


def fraction_digits(currency: str) -> int:
    """Return how many digits the currency's minor unit has behind the point."""
    return _FRACTIONS.get(currency, 2)


def decimal(amount: int, currency: str) -> str:
    """Write an amount that is not negative with its point, by integer division."""
    digits = fraction_digits(currency)
    if not digits:
        return str(amount)
    whole, rest = divmod(amount, 10**digits)
    return f"{whole}.{rest:0{digits}d}"


_DECIMAL = re.compile(r"\+?([0-9]{0,18})(?:\.([0-9]{0,18}))?")


def minor(text: str, currency: str, *, where: str) -> int:
    """Read a decimal amount that is not negative into minor units, as XML writes decimals (``.50``, ``+1.00``); a digit
    too many behind the point is Unreadable."""
    found = _DECIMAL.fullmatch(text)
    whole, rest = (found[1].lstrip("0"), (found[2] or "")) if found else ("", "")
    digits = fraction_digits(currency)
    rest = rest.rstrip("0") if len(rest) > digits else rest
    if not any(digit.isdigit() for digit in text) or not found or len(rest) > digits or len(whole) > 16:
        raise Unreadable(where, f"no amount of {currency}")
    return int(whole or "0") * 10**digits + int(rest.ljust(digits, "0") or "0")


def short(text: str, *, most: int = SHORT) -> str:
    """Return a reference or a name as ISO 20022 can carry it: itself, or, too long, a hash that names it."""
    return text if len(text) <= most else "h" + hashlib.sha256(text.encode()).hexdigest()[: most - 1]


def code_of(kind: str, *, account: str, amount: int) -> str:
    """Return the transaction code of an entry: TAKE and PAY as the table sees it, whoever's account is written.

    Kinds without a code of their own are written by their name."""
    if kind == "round":
        if account.endswith(":commission"):
            return "COMM"
        house = account.startswith("table:") and account.endswith(":bank")
        return "TAKE" if (amount > 0) == house else "PAY"
    return _CODES.get(kind, kind.upper())


_CODES = {
    "buy_in": "BUYIN",
    "fill": "FILL",
    "credit": "CREDIT",
    "deposit": "DEP",
    "withdrawal": "WDL",
    "round_reversal": "CORR",
    "variance": "VAR",
}


def day(text: str, *, where: str) -> date:
    """Read a day; raise Unreadable for what is none."""
    try:
        return values.day(text)
    except values.Wrong as wrong:
        raise Unreadable(where, f"{text[:40]!r} is no day: {wrong.why}") from wrong


@dataclass(frozen=True, slots=True)
class Places:
    """How a form names the field of a statement's day, of a line's booking and of the day that the line is about, by
    the number of the statement and of the line in it."""

    statement: Callable[[int], str]
    booked: Callable[[int, int], str]
    played: Callable[[int, int], str]


def require_days(
    statements: Sequence[OutsideStatement], *, asked: Between[date], latest: date, places: Places
) -> None:
    """Raise Unreadable, naming the line and its field, where a day lies where nobody can compute with it: a statement's
    outside of ``asked``, a line's booking before those or after its statement, the day that a line is about (a value
    date may lie ahead) before those or after ``latest``."""
    for number, one in enumerate(statements, start=1):
        _require(asked, one.gaming_day, places.statement(number))
        booked, played = Between(asked.first, one.gaming_day), Between(asked.first, latest)
        for line in one.lines:
            _require(booked, line.booked, places.booked(number, line.number))
            _require(played, line.played, places.played(number, line.number))


def _require(bounds: Between[date], day: date, where: str) -> None:
    try:
        bounds.require(day)
    except values.OutOfBounds as wrong:
        raise Unreadable(where, f"{day.isoformat()} is not from {wrong.why}") from wrong


def check_sum(statement: OutsideStatement) -> OutsideStatement:
    """Return the statement; raise Unreadable where its lines do not lead from opening to closing."""
    booked = sum(line.amount for line in statement.lines if not line.pending)
    if statement.opening + booked != statement.closing:
        raise Unreadable(
            "closing", f"{statement.opening} and lines of {booked} do not come to {statement.closing}"
        )
    return statement
