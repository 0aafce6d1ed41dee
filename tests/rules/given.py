"""Cards and cases as these tests write them."""

import json
from pathlib import Path
from typing import Any

from casino import cards as deck

CASES = Path(__file__).parent.parent / "cases"


def case(name: str) -> Any:
    return json.loads((CASES / name).read_text())


def hand(text: str | list[str]) -> tuple[int, ...]:
    """Return the cards of ``"9S 9D"`` or ``["9S", "9D"]``."""
    return tuple(map(deck.parse, text.split() if isinstance(text, str) else text))
