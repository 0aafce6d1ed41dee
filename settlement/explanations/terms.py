"""The words that every sentence is made of: hands, cards, kinds of hands, amounts.

One term has one translation throughout. Amounts are minor units and become text by whole-number arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

MINUS = "\N{MINUS SIGN}"
SIGNS = {"THB": "฿"}
"""Signs of currencies; another is written by its three letters."""

SUITS = {"S": "♠", "H": "♥", "D": "♦", "C": "♣"}


class Said(NamedTuple):
    """One sentence in both languages."""

    th: str
    en: str


KIND: Mapping[str, Said] = {
    "pok": Said("ป๊อก", "pok"),
    "tong": Said("ตอง", "tong"),
    "straight_flush": Said("สเตรทฟลัช", "straight flush"),
    "straight": Said("เรียง", "straight"),
    "sam_lueang": Said("สามเหลือง", "sam lueang"),
    "normal": Said("ไพ่ธรรมดา", "normal hand"),
}


def money(amount: int, currency: str) -> str:
    """Write an amount of minor units: ``฿1,234.50``; satang only where there are any, minus as a minus sign."""
    whole, rest = divmod(abs(amount), 100)
    fraction = f".{rest:02d}" if rest else ""
    sign = SIGNS.get(currency, f"{currency} ")
    return f"{MINUS if amount < 0 else ''}{sign}{whole:,}{fraction}"


def times(multiple: int) -> str:
    """Write a signed multiple: ``3``, ``−2``."""
    return f"{MINUS}{-multiple}" if multiple < 0 else str(multiple)


def percent(rate_bp: int) -> str:
    """Write basis points as a percentage: 500 is ``5``, 125 is ``1.25``."""
    whole, rest = divmod(rate_bp, 100)
    return f"{whole}.{rest:02d}".rstrip("0") if rest else str(whole)


def seconds(milliseconds: int) -> str:
    """Write milliseconds as seconds, to the tenth."""
    whole, rest = divmod(milliseconds, 1000)
    return f"{whole}.{rest // 100}" if rest // 100 else str(whole)


def card(text: str) -> str:
    """Write a card as people read it: ``TS`` is ``10♠``."""
    rank, suit = text[:-1], text[-1]
    return f"{'10' if rank == 'T' else rank}{SUITS[suit]}"


def cards(texts: list[str] | tuple[str, ...]) -> str:
    return " ".join(card(text) for text in texts)


def hand(name: str) -> Said:
    """Name a hand: ``p3`` is seat 3."""
    if name == "dealer":
        return Said("เจ้ามือ", "the dealer")
    if name == "shared":
        return Said("ขาบ๊วย", "the shared hand")
    if name.startswith("junk"):
        return Said(f"มือแจกทิ้ง {name[4:]}", f"junk hand {name[4:]}")
    return Said(f"ที่นั่ง {name[1:]}", f"seat {name[1:]}")


def place(subject: str) -> Said:
    """Name what a finding is about: a hand (``p3``), a slot (``p3.2``), a wager (``w1``), or the round (empty)."""
    if not subject:
        return Said("รอบนี้", "this round")
    if subject.startswith("w"):
        return Said(f"เดิมพัน {subject}", f"wager {subject}")
    name, _, position = subject.partition(".")
    named = hand(name)
    return Said(f"{named.th} ใบที่ {position}", f"{named.en}, card {position}") if position else named


def start(text: str) -> str:
    """Begin a sentence with a capital letter, where the script has any."""
    return text[:1].upper() + text[1:]


def both(said: list[Said], *, th: str = " · ", en: str = " · ") -> Said:
    """Put several into one, parted as each language is told to."""
    return Said(th.join(one.th for one in said), en.join(one.en for one in said))
