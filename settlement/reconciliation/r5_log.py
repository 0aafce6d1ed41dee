"""R5, the log: every act has its entry and its leaf, and sizes and roots agree.

Cut here and compared by audit, which alone may read the log: it claims these chunks and finishes them, so a run closes
on rows that settlement can see.
"""

from __future__ import annotations

from collections.abc import Iterator

from settlement.reconciliation.window import MS_OF_ID, Level, Slice, Window, cut_by


def cut(window: Window, size: int) -> Iterator[Slice]:
    yield from cut_by(
        "acts",
        window,
        at=MS_OF_ID.format(id="id"),
        rows="settlement_journal WHERE id >= %(low)s AND id < %(high)s",
        size=size,
    )
    yield Slice("tree", window.lower, window.upper)


LEVEL = Level(number=1, cut=cut, parts={})
