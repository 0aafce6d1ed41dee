"""R4 over statements of others: what is matched, what is announced, what is a break, and which files it rests on."""

from __future__ import annotations

import hashlib

import pytest
from django.utils import timezone

from settlement.models import Break
from tests.settlement.reconciling import reconciled, today
from tests.settlement.test_statements import WALLET, a_deposit, match, take, theirs

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_run_says_how_a_file_stands_and_names_it_by_its_bytes() -> None:
    a_deposit("A17", 500_00, "CR-1", at=timezone.now())
    a_deposit("A17", 70_00, "CR-2", at=timezone.now())
    content = theirs(
        {"amount": 500_00, "reference": "CR-1"},
        {"amount": 70_01, "reference": "CR-2"},
        {"amount": 3_00, "reference": "CR-3"},
        day=today(),
    )
    take(content, at=timezone.now())
    match(day=today(), at=timezone.now())

    run = reconciled(levels=("R4",))

    found = run.report["levels"]["R4"]
    assert run.report["files"] == [hashlib.sha256(content).hexdigest()]
    assert (found["compared"], found["matched"], found["pending"]) == (3, 1, 1)
    assert run.report["broken"] == {"AMOUNT": 1}, "what has no pair yet is not due"
    assert sorted(Break.objects.values_list("code", "state")) == [
        ("AMOUNT", "mismatched"),
        ("MISSING_LEDGER", "expected"),
    ]
    assert run.report["at_risk"] == {"THB": 1}


def test_a_file_that_matches_in_all_is_matched() -> None:
    a_deposit("A17", 500_00, "CR-1", at=timezone.now())
    take(theirs({"amount": 500_00, "reference": "CR-1"}, account=WALLET, day=today()), at=timezone.now())
    match(day=today(), at=timezone.now())
    run = reconciled(levels=("R4",))
    assert (run.outcome, run.report["broken"]) == ("matched", {})
