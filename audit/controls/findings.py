"""What a check finds: one row that is not as it must be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from audit.controls.snapshot import Books


@dataclass(frozen=True, slots=True)
class Finding:
    """``subject`` is what is wrong (``journals/{id}``), ``found`` what stands there, ``expected`` what must."""

    subject: str
    found: str
    expected: str


Sweep = Callable[[Books], Iterator[Finding]]
"""A check over the whole house."""
