"""Runs and breaks over HTTP: who may begin one, who answers for a break, and who agrees."""

from __future__ import annotations

import json
from datetime import date
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.utils import timezone

from casino import events
from casino.platform.refusals import Refusal
from settlement import breaks, days, reconciliation
from settlement.breaks import NewBreak
from settlement.models import Break, Run
from tests import world
from tests.settlement.doors import asked, body_of, signed_in, thb
from tests.world import House

pytestmark = pytest.mark.django_db


@pytest.fixture
def found(staff: House) -> UUID:
    new = NewBreak("AMOUNT", "rounds/r1", "f", {"ledger": 100}, amount=100, currency="THB")
    with events.act(actor=events.SERVICE, request_id="test", now=timezone.now()):
        return breaks.found([new])[0]


def told(client: Any, path: str, key: str = "", **body: Any) -> tuple[int, Any]:
    answer = client.post(
        f"/api/v1/{path}",
        json.dumps(body),
        content_type="application/json",
        headers={"Idempotency-Key": key or str(uuid4())},
    )
    return answer.status_code, body_of(answer)


def test_a_manager_closes_a_break_and_an_auditor_approves_it(staff: House, found: UUID) -> None:
    manager, auditor = signed_in(staff.author), signed_in(world.an_auditor())
    assert told(manager, f"breaks/{found}/assign")[0] == 200
    assert told(manager, f"breaks/{found}/explain", reason="two papers")[0] == 200
    postings = [
        {"account": "variance:PD01", "amount": -100},
        {"account": "suspense:chips:PD01", "amount": 100},
    ]
    status, resolved = told(
        manager,
        f"breaks/{found}/resolve",
        resolution="journal",
        reason="put right",
        postings=postings,
        pin=world.PIN,
    )
    assert (status, resolved["state"], resolved["resolution"]) == (200, "resolved", "journal")
    shown = body_of(manager.get(f"/api/v1/breaks/{found}"))
    assert (shown["id"], shown["state"], shown["code"]) == (str(found), "resolved", "AMOUNT")
    assert told(manager, f"breaks/{found}/approve", pin=world.PIN)[0] == 403
    assert told(auditor, f"breaks/{found}/approve", pin="000000")[1]["code"] == "wrong_secret"
    status, approved = told(auditor, f"breaks/{found}/approve", pin=world.PIN)
    assert (status, approved["state"], approved["journal"]) == (200, "approved", resolved["journal"])
    assert [step["state"] for step in approved["steps"]] == [
        "mismatched",
        "assigned",
        "explained",
        "resolved",
        "approved",
    ]


def test_breaks_are_listed_by_page_and_by_what_they_are(staff: House, found: UUID) -> None:
    with events.act(actor=events.SERVICE, request_id="test", now=timezone.now()):
        breaks.found([NewBreak("SEQ_GAP", f"devices/T{n}", "1-2", {}) for n in range(3)])
    client = signed_in(staff.author)
    _, first = asked(client, "breaks", limit=3)
    _, rest = asked(client, "breaks", limit=3, cursor=first["next"])
    listed = [*first["breaks"], *rest["breaks"]]
    assert (len(listed), rest["next"]) == (4, None)
    assert {one["id"] for one in listed} == {str(one) for one in Break.objects.values_list("id", flat=True)}
    _, amounts = asked(client, "breaks", code="AMOUNT")
    (one,) = amounts["breaks"]
    assert (one["difference"], one["age"], one["severity"]) == (thb(100), "under_15_minutes", "high")
    assert one["detail"] is None, "what a table should hold could be worked out from it"
    assert asked(client, "breaks", cursor=str(uuid4()))[0] == 422


def test_a_run_is_begun_once_and_shows_how_far_it_has_come(staff: House, settings: Any) -> None:
    settings.RECONCILE = settings.RECONCILE | {"margin_seconds": 0}
    client = signed_in(staff.author)
    today = days.of(timezone.now()).isoformat()
    status, run = told(client, "reconciliations", gaming_day=today, levels=["R0"])
    assert (status, run["outcome"], run["digest"]) == (201, None, None)
    assert run["progress"]["chunks"] > 0
    assert run["progress"]["done"] == 0
    again = told(client, "reconciliations", gaming_day=today, levels=["R0"])[1]
    assert again["id"] == run["id"]
    assert asked(client, f"reconciliations/{run['id']}") == (200, run)
    assert asked(client, "reconciliations", gaming_day=today)[1]["reconciliations"] == [run]
    assert Run.objects.count() == 1


def test_a_day_of_which_nothing_is_over_is_not_compared(staff: House) -> None:
    client = signed_in(world.an_auditor())
    status, refused = told(client, "reconciliations", gaming_day="2999-01-01")
    assert (status, list(refused["fields"])) == (422, ["gaming_day"])
    assert told(client, "reconciliations", gaming_day="2999-01-01", levels=["R9"])[0] == 422
    with pytest.raises(Refusal, match="day_not_begun"), world.acting():
        reconciliation.begin(kind="asked", gaming_day=date(2999, 1, 1), levels=("R0",))
