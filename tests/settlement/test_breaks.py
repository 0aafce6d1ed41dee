"""Two books differ: what was found stays, and somebody says why."""

from __future__ import annotations

from datetime import timedelta

import pytest

from settlement import breaks
from settlement.breaks import NewBreak
from settlement.models import Break, BreakCode, BreakStep
from tests.settlement.books import NOW, act, statements

pytestmark = pytest.mark.django_db

DRIFT = NewBreak(
    "AMOUNT", "rounds/r1", "100 and 101", {"ledger": 100, "source": 101}, amount=1, currency="THB"
)


def test_every_code_says_what_it_means_in_both_languages() -> None:
    assert set(breaks.CATALOGUE) == set(BreakCode.values)
    assert all(
        kind.english.endswith(".") and kind.thai and kind.tolerance for kind in breaks.CATALOGUE.values()
    )


def test_the_same_difference_found_again_is_the_same_break() -> None:
    with act():
        first = breaks.found([DRIFT, DRIFT])
    with act(now=NOW + timedelta(hours=1)):
        again = breaks.found([DRIFT])
    assert first == again * 2
    found = Break.objects.get()
    assert (found.state, found.steps, found.severity) == ("mismatched", 1, "high")
    assert found.seen_at == NOW + timedelta(hours=1)
    assert list(BreakStep.objects.values_list("ordinal", "state")) == [(1, "mismatched")]


def test_any_number_of_breaks_is_one_statement() -> None:
    run: list[str] = []
    with act(), statements(run):
        ids = breaks.found([NewBreak("SEQ_GAP", f"rounds/{n}", "gap", {}) for n in range(50)])
    assert len(set(ids)) == 50
    assert len([sql for sql in run if "settlement_break" in sql]) == 1


def test_what_is_not_due_yet_is_expected_and_mismatched_once_it_is() -> None:
    due = NOW + timedelta(minutes=15)
    late = NewBreak("MISSING_SOURCE", "deposits/d1", "no paper", {}, fell_due_at=due)
    with act():
        breaks.found([late])
    assert Break.objects.get().state == "expected"
    with act(now=due):
        breaks.found([late])
    assert Break.objects.get().state == "mismatched"
    assert list(BreakStep.objects.order_by("ordinal").values_list("state", flat=True)) == [
        "expected",
        "mismatched",
    ]
