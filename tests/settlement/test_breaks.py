"""Two books differ: what was found stays, and somebody says why."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import IntegrityError, transaction

from casino.platform.refusals import Refusal
from settlement import breaks
from settlement.breaks import NewBreak
from settlement.ledger import Posting
from settlement.models import Break, BreakCode, BreakStep, Message
from tests.settlement.books import NOW, a_person, a_table, act, balances, statements

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


def the_break(new: NewBreak = DRIFT) -> UUID:
    with act():
        (id,) = breaks.found([new])
    return id


def explained(id: UUID) -> None:
    mai = a_person("M1", "manager")
    with act():
        breaks.assign(id=id, to=mai, by=mai)
        breaks.explain(id=id, reason="the slip was written twice", by=mai)


def resolved_by_journal(id: UUID) -> None:
    explained(id)
    a_table()
    with act():
        breaks.resolve(
            id=id,
            resolution="journal",
            reason="put right",
            by=a_person("M1", "manager"),
            postings=[Posting("variance:PD01", -1), Posting("suspense:chips:PD01", 1)],
        )


def states(id: UUID) -> list[str]:
    return list(BreakStep.objects.filter(of=id).order_by("ordinal").values_list("state", flat=True))


def code_of(do: Callable[[], object]) -> str:
    with pytest.raises(Refusal) as refused, act():
        do()
    return refused.value.code


def test_a_break_is_assigned_explained_resolved_and_approved_by_another() -> None:
    id = the_break()
    resolved_by_journal(id)
    with act():
        done = breaks.approve(id=id, by=a_person("A1", "auditor"))
    assert states(id) == ["mismatched", "assigned", "explained", "resolved", "approved"]
    assert done.journal is not None
    assert (done.journal.kind, done.journal.key) == ("break_resolved", f"break:{id}")
    assert balances("variance:PD01", "suspense:chips:PD01") == {"variance:PD01": -1, "suspense:chips:PD01": 1}


def test_whoever_resolved_does_not_approve() -> None:
    id = the_break()
    resolved_by_journal(id)
    mai = a_person("M1", "manager")
    assert code_of(lambda: breaks.approve(id=id, by=mai)) == "sod_violation"
    with pytest.raises(IntegrityError, match="break_closed_and_approved_by_two"), transaction.atomic():
        Break.objects.filter(pk=id).update(state="approved", steps=5, approved_by=mai)


def test_a_break_makes_no_jump() -> None:
    id = the_break()
    mai, ann = a_person("M1", "manager"), a_person("A1", "auditor")
    assert code_of(lambda: breaks.explain(id=id, reason="why", by=mai)) == "break_moved"
    assert code_of(lambda: breaks.approve(id=id, by=ann)) == "break_moved"
    assert code_of(lambda: breaks.resolve(id=id, resolution="no_action", reason="", by=mai)) == "break_moved"
    assert code_of(lambda: breaks.assign(id=uuid4(), to=mai, by=mai)) == "not_found"
    assert code_of(lambda: breaks.assign(id=id, to=a_person("D1", "dealer"), by=mai)) == "invalid_value"
    for state in ("resolved", "approved"):
        with pytest.raises(IntegrityError), transaction.atomic():
            Break.objects.filter(pk=id).update(state=state, steps=2, resolution="no_action", resolved_by=mai)
    assert states(id) == ["mismatched"]


def test_a_resolution_that_the_break_is_too_late_for_moves_nothing() -> None:
    id = the_break()
    resolved_by_journal(id)
    postings = [Posting("variance:PD01", -5), Posting("suspense:chips:PD01", 5)]
    again: dict[str, Any] = {"id": id, "resolution": "journal", "reason": "", "by": a_person("M2", "manager")}
    assert code_of(lambda: breaks.resolve(**again, postings=postings)) == "idempotency_key_reused"
    assert balances("variance:PD01") == {"variance:PD01": -1}


@pytest.mark.parametrize(
    "how",
    [
        {"resolution": "journal"},
        {"resolution": "journal", "postings": [Posting("variance:PD01", 1)]},
        {
            "resolution": "journal",
            "postings": [Posting("variance:PD01", 1), Posting("suspense:chips:PD01", 1)],
        },
        {"resolution": "no_action", "rule": "fees"},
        {"resolution": "rule"},
        {"resolution": "forgotten"},
    ],
)
def test_a_resolution_is_one_of_three_and_whole(how: dict[str, Any]) -> None:
    id = the_break()
    explained(id)
    mai = a_person("M1", "manager")
    assert code_of(lambda: breaks.resolve(id=id, reason="", by=mai, **how)) == "invalid_value"


def test_what_clears_itself_is_matched_and_opens_again_when_it_comes_back() -> None:
    gap = NewBreak("SEQ_GAP", "devices/T1", "4-6", {})
    id = the_break(gap)
    with act():
        assert breaks.cleared(code="SEQ_GAP", subjects=["devices/T1"]) == 1
        assert breaks.cleared(code="SEQ_GAP", subjects=["devices/T1"]) == 0
    assert the_break(gap) == id
    assert states(id) == ["mismatched", "matched", "mismatched"]
    with act(), pytest.raises(ValueError, match="AMOUNT"):
        breaks.cleared(code="AMOUNT", subjects=["rounds/r1"])


@pytest.mark.parametrize(
    ("later", "age"),
    [
        (timedelta(minutes=-1), "not_due"),
        (timedelta(minutes=14), "under_15_minutes"),
        (timedelta(minutes=15), "same_day"),
        (timedelta(hours=9), "one_day"),
        (timedelta(days=3), "two_to_three_days"),
        (timedelta(days=4), "over_three_days"),
    ],
)
def test_a_break_ages_from_the_moment_it_fell_due(later: timedelta, age: str) -> None:
    assert breaks.ages.of(fell_due_at=NOW, now=NOW + later) == age


def test_a_new_break_is_owed_to_who_listens() -> None:
    the_break()
    (message,) = Message.objects.filter(type="break.opened")
    assert "rounds/r1" in message.body
