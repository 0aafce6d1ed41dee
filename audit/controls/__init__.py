"""Whether the books are right: the invariants of the house, each checked by reading what is stored.

A check reads and never repairs. What it finds is named: the invariant, the row, what stands there, what must.
An invariant without checks is not built yet; asked for by name it is said so, and never passes for clean.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import psycopg

from audit.controls import (
    analytics_results,
    approvals,
    background_jobs,
    cash_acts,
    configuration_log,
    counts,
    dated_rows,
    derived_postings,
    disputes,
    external_wallets,
    holds,
    idempotency_keys,
    judgements,
    ledger,
    log_facts,
    recorded_events,
    registers,
    round_numbers,
    round_rows,
    sealed_days,
    settlements,
    slips,
    statements,
    tree,
)
from audit.controls import (
    messages as told,
)
from audit.controls.findings import Finding, Sweep
from audit.controls.round_rows import Case, RoundCheck, chosen
from audit.controls.snapshot import SLACK, Books, NotChecked, Outside, Scope, opened
from audit.models import LogEntry
from casino import events
from casino.events import Fact

__all__ = [
    "INVARIANTS",
    "ROUND_CHECKS",
    "Finding",
    "Invariant",
    "NotChecked",
    "Outside",
    "Scope",
    "built",
    "check",
    "chosen",
    "last_clean",
    "look",
    "opened",
    "quick_scope",
    "record",
]


@dataclass(frozen=True, slots=True)
class Invariant:
    """``sweeps`` look at the whole house by statements, ``rounds`` at one round at a time."""

    name: str
    sweeps: tuple[Sweep, ...] = ()
    rounds: tuple[RoundCheck, ...] = ()

    @property
    def is_built(self) -> bool:
        return bool(self.sweeps or self.rounds)


INVARIANTS: dict[str, Invariant] = {
    "I1": Invariant("balanced", (ledger.whole_and_balanced, ledger.ledger_balanced)),
    "I2": Invariant("chained", (ledger.chained,)),
    "I3": Invariant(
        "covered",
        (
            holds.nothing_below_its_floor,
            holds.holds_end_with_their_round,
            external_wallets.holds_elsewhere_end_with_their_round,
            log_facts.sweep(holds.COVERS),
            log_facts.sweep(holds.CHANGES),
            holds.settled_covered_or_named,
            holds.unsettled_covered_or_explained,
        ),
    ),
    "I4": Invariant(
        "settled once",
        (
            settlements.revisions_follow,
            settlements.standing_is_the_effective_one,
            settlements.taken_back_exactly,
            settlements.unchanged_stands_on_the_one_before,
            settlements.nothing_effective_taken_back,
            settlements.void_moves_nothing,
        ),
    ),
    "I5": Invariant("one key, one act", (idempotency_keys.used_once, idempotency_keys.answered_for_good)),
    "I6": Invariant(
        "paid as judged",
        (
            settlements.paid_as_judged,
            settlements.lines_add_up,
            settlements.asked_for_once,
            cash_acts.moved_as_written,
            external_wallets.posted_where_the_wallet_is_kept,
        ),
        (derived_postings.posted_as_judged,),
    ),
    "I7": Invariant(
        "judged again", (), (judgements.judged_the_same, judgements.judged_by_the_sheet_in_force)
    ),
    "I8": Invariant(
        "recorded whole",
        (
            recorded_events.events_without_holes,
            recorded_events.every_number_accounted_for,
            recorded_events.not_settled_over_a_gap,
            recorded_events.reported_by_its_tables_device,
            recorded_events.signed_by_another_with_the_right,
        ),
        (judgements.record_is_the_fold, judgements.camera_saw_every_face),
    ),
    "I9": Invariant("possible", (), (judgements.possible,)),
    "I10": Invariant(
        "numbered",
        (
            round_numbers.numbered_once,
            round_numbers.numbers_without_holes,
            round_numbers.one_session_at_a_time,
            round_numbers.finished_or_carried_over,
            round_numbers.somebody_on_duty,
        ),
    ),
    "I11": Invariant(
        "dated",
        (
            dated_rows.journals_in_their_day,
            dated_rows.rounds_keep_their_day,
            sealed_days.sealed_days_stay,
            sealed_days.days_lie_where_the_calendar_says,
        ),
        (dated_rows.dated_by_its_bets,),
    ),
    "I12": Invariant(
        "counted",
        (
            counts.worth_their_pieces,
            counts.accepted_as_counted,
            counts.differences_posted_once,
            counts.boxes_hold_what_went_in,
            counts.won_by_both_roads,
            cash_acts.pieces_add_up,
            *slips.SWEEPS,
        ),
    ),
    "I13": Invariant(
        "two people",
        (
            approvals.two_people,
            approvals.decided_by_the_uninvolved,
            approvals.by_people_of_the_house,
            told.opened_by_two,
            external_wallets.let_in_by_two,
            sealed_days.ended_by_two,
            cash_acts.signed_by_another,
            slips.signed_by_others,
        ),
    ),
    "I14": Invariant(
        "decided once",
        (disputes.disputes_go_on, disputes.decisions_have_what_they_chose, disputes.corrected_by_right),
    ),
    "I15": Invariant("told", (*told.SWEEPS, *external_wallets.TOLD)),
    "I16": Invariant(
        "at rest",
        (
            told.no_delivery_claimed_for_long,
            external_wallets.no_call_claimed_for_long,
            background_jobs.no_chunk_claimed_for_long,
            background_jobs.runs_end_with_their_chunks,
            background_jobs.one_result_per_chunk,
            background_jobs.one_break_per_difference,
            background_jobs.once_a_day,
        ),
    ),
    "I17": Invariant(
        "witnessed",
        (
            *(
                log_facts.sweep(pair)
                for pair in (
                    log_facts.EVENTS,
                    log_facts.REFUSED,
                    log_facts.SETTLEMENTS,
                    log_facts.HELD,
                    *configuration_log.PAIRS,
                    *registers.PAIRS,
                    *sealed_days.PAIRS,
                    *disputes.PAIRS,
                    *external_wallets.PAIRS,
                    *told.PAIRS,
                    analytics_results.RESULTS,
                    cash_acts.CASH,
                    *slips.PAIRS,
                    *statements.PAIRS,
                )
            ),
            log_facts.journals_witnessed,
            log_facts.stored_as_told,
            sealed_days.reports_are_their_bytes,
            analytics_results.digests_are_of_what_is_stored,
        ),
        (derived_postings.told_as_judged,),
    ),
    "I18": Invariant("sealed", (tree.leaves_numbered, tree.nothing_waits, tree.found_by_what_they_say)),
    "I19": Invariant("signed", (tree.signed_as_grown, tree.still_what_was_exported)),
    "I20": Invariant("guarded"),
}


def built() -> tuple[str, ...]:
    """Return the invariants that can be checked."""
    return tuple(id for id, invariant in INVARIANTS.items() if invariant.is_built)


def check(
    books: Books, *, ids: Collection[str], progress: Callable[[str, int, int], None] = lambda *_: None
) -> Iterator[tuple[str, Finding]]:
    """Check the invariants ``ids``; yield each finding with its invariant. Rounds are walked once for all of them.

    ``progress`` is told what is being checked, and how much of how many.
    """
    chosen = {id: INVARIANTS[id] for id in INVARIANTS if id in ids}
    for id, invariant in chosen.items():
        for number, sweep in enumerate(invariant.sweeps):
            progress(f"{id} {invariant.name}", number, len(invariant.sweeps))
            for finding in _swept(books, sweep):
                yield id, finding
    by_round = [(id, one) for id, invariant in chosen.items() for one in invariant.rounds]
    if not by_round:
        return
    total = round_rows.count(books)
    for number, case in enumerate(round_rows.walk(books)):
        progress("rounds", number, total)
        yield from look(case, by_round)


def _swept(books: Books, sweep: Sweep) -> Iterator[Finding]:
    """What a sweep finds. Rows that cannot be computed with end that sweep, as a finding, and no other."""
    try:
        with books.apart():
            yield from sweep(books)
    except (psycopg.DataError, OverflowError) as impossible:
        name = getattr(sweep, "__name__", "rows").replace("_", " ")
        said = str(impossible).splitlines()[0]
        yield Finding(name, f"cannot be computed with: {said}", "figures that can be")


def look(case: Case, checks: Sequence[tuple[str, RoundCheck]]) -> Iterator[tuple[str, Finding]]:
    """Check one round; yield each finding with its invariant. What cannot be folded is a finding, and no end."""
    for id, one in checks:
        try:
            found = list(one(case))
        except (ValueError, LookupError, TypeError, AttributeError) as impossible:
            found = [Finding(case.name, f"cannot be read: {impossible!r}", "events and a record that can be")]
        for finding in found:
            yield id, finding


ROUND_CHECKS = tuple((id, one) for id, invariant in INVARIANTS.items() for one in invariant.rounds)
"""Everything that is looked at round by round, each with its invariant."""


def last_clean() -> datetime | None:
    """Return the moment whose books were last found clean in all that is built, None where they never were."""
    for data in _runs():
        if data["outcome"] == "clean" and set(data["invariants"]) >= set(built()):
            return datetime.fromisoformat(str(data["as_of"]))
    return None


def _runs() -> Iterator[dict[str, Any]]:
    import json

    for entry in LogEntry.objects.filter(action="books.checked").order_by("-id")[:1000].iterator():
        yield json.loads(bytes(entry.bytes))["data"]


def quick_scope(*, clean: datetime | None) -> Scope:
    """Return all since the last clean run; everything where no run was clean yet.

    Quick runs one after the other look at each stretch of the open gaming day once, so that the last run of a busy day
    takes no longer than its first. What is altered behind a clean run is found by the nightly full one.
    """
    return Scope(since=None if clean is None else clean - SLACK)


def record(
    *, actor: events.Principal, request_id: str, now: datetime, as_of: datetime, mode: str, ids: Collection[str],
    outcome: str, found: dict[str, int],
) -> None:  # fmt: skip
    """Leave the result of a run in the log, in an act of its own."""
    told = {
        "as_of": as_of.isoformat(),
        "mode": mode,
        "invariants": [id for id in INVARIANTS if id in ids],
        "outcome": outcome,
        "found": dict(found),
    }
    with events.act(actor=actor, request_id=request_id, now=now):
        events.announce([Fact("books.checked", "books", told)])
