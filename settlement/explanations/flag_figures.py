"""A finding about to be said: its place, its figures, its amounts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from settlement.explanations.terms import Said, money, place, start


class Seen(NamedTuple):
    """A finding about to be said: what it is about, its figures, and the currency of amounts."""

    subject: str
    detail: Mapping[str, Any]
    currency: str

    @property
    def where(self) -> Said:
        return place(self.subject)

    @property
    def at(self) -> Said:
        """The place as the beginning of an English sentence."""
        return Said(self.where.th, start(self.where.en))

    def amount(self, name: str) -> str:
        return money(self.detail[name], str(self.detail.get("currency", self.currency)))


def plain(th: str, en: str) -> Callable[[Seen], Said]:
    """A sentence whose only figure is its place: ``{0}``."""
    return lambda seen: Said(th.format(seen.at.th), en.format(seen.at.en))
