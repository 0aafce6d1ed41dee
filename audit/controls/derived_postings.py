"""I6 and I17 round by round: what a revision posted, and what was sealed of it, are worked out from its events again.

A hand that altered events, record, settlement and ledger in step meets the sealed facts here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from audit.controls import judgements
from audit.controls.findings import Finding
from audit.controls.independent_judge import Move
from audit.controls.round_rows import Case
from settlement import settling


def posted_as_judged(case: Case) -> Iterator[Finding]:
    """I6: the journal of a revision has the entries that its events come to, and no others."""
    if case.settlement is None:
        return
    expected = case.judged.moves(table=case.table)
    if case.posted != expected:
        yield Finding(case.name, f"posted {_said(case.posted - expected)}", _said(expected - case.posted))


def told_as_judged(case: Case) -> Iterator[Finding]:
    """I17: what was sealed of a revision is what its events come to: record, lines, the house's net, every posting."""
    if case.settlement is None:
        return
    if case.told is None:
        yield Finding(case.name, "no entry in the log", "an entry of its own")
        return
    expected = {
        "outcome": case.judged.outcome,
        "record_sha256": judgements.sha256_of(case.written),
        "lines_sha256": settling.lines_sha256(judgements.lines_of(case)),
        "house_net": case.judged.house_net,
    }
    for name, derived in expected.items():
        if case.told[name] != derived:
            yield Finding(case.name, f"{name} {derived} by its events", f"{case.told[name]}, as was sealed")
    sealed = _posted_by(case.told)
    moves = case.judged.moves(table=case.table)
    if sealed != moves:
        yield Finding(
            case.name, f"comes to {_said(moves - sealed)}", f"{_said(sealed - moves)}, as was sealed"
        )


def _posted_by(told: dict[str, Any]) -> Counter[Move]:
    return Counter(
        (account, wager, amount)
        for journal in told["journals"]
        if journal["kind"] == "round"
        for account, amount, wager in journal["postings"]
    )


def _said(moves: Counter[Move]) -> str:
    shown = [f"{account} {amount:+}" + (f" for {wager}" if wager else "") for account, wager, amount in moves]
    return ", ".join(sorted(shown)) or "nothing more"
