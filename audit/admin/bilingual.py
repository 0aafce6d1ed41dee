"""Words of the admin's own, in the two languages of the house; Django brings the rest in both."""

from __future__ import annotations

from typing import Any

from django.utils.functional import lazy
from django.utils.translation import get_language

from settlement.explanations import Said


def chosen(said: Said) -> str:
    """Return the sentence in the reader's language."""
    return said.th if (get_language() or "").startswith("th") else said.en


def either(en: str, th: str) -> Any:
    """Return words that are chosen when they are shown."""
    return lazy(lambda: chosen(Said(th, en)), str)()
