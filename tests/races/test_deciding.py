"""Many people decide one dispute at once, or the first of them dies: one decision, and the money once or not at all."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from django.db import OperationalError, connection
from django.test import Client
from django.utils import timezone

from audit import disputes
from audit.models import Decision, Dispute, LogEntry, Proposal
from casino.models import Round, RoundEvent, StoredAnswer
from settlement import settling
from settlement.models import Journal, Settlement
from tests import world
from tests.audit.disputing import (
    CONTESTED,
    WON,
    acting,
    auditor,
    claimed,
    proposed,
    raised,
    ruled,
    watcher,
)
from tests.races import together
from tests.races.together import Unlocked
from tests.settlement import floor
from tests.settlement.floor import AtTable, a_table, money, outcome

pytestmark = pytest.mark.django_db(transaction=True)


def a_proposal(text: str = CONTESTED, *, two: bool = False) -> tuple[AtTable, Proposal]:
    """A dispute of a held or settled round, the camera's ace proposed."""
    table = a_table(camera=text != WON)
    round_id = table.tell(text)
    outcome(round_id)
    now = timezone.now()
    proposal = proposed(raised(round_id, now=now), ruled("p1.2", "AD"), now=now)
    if two:
        Dispute.objects.update(needs_two=True)
    return table, proposal


def deciding(proposal: Proposal, badge: str) -> Callable[[], Any]:
    """Another auditor's decision, as an act that is started over where the database asks for it."""
    who = auditor(badge)

    def do() -> str:
        with acting(who, now=timezone.now()):
            return disputes.decide(dispute=proposal.dispute_id, by=who, sha256=proposal.sha256).outcome

    return do


def what_is_there() -> dict[str, int]:
    """How much of a decision there is: each of these comes with it once, or not at all."""
    return {
        "decisions": Decision.objects.count(),
        "acts": RoundEvent.objects.filter(source__startswith="/disputes/").count(),
        "revisions": Settlement.objects.exclude(because=None).count(),
        "entries": LogEntry.objects.filter(action="dispute.decided").count(),
        "decided": Dispute.objects.filter(state="decided").count(),
    }


ONCE = dict.fromkeys(("decisions", "acts", "revisions", "entries", "decided"), 1)
NOTHING = dict.fromkeys(ONCE, 0)


# -- two at once ------------------------------------------------------------------------------------------------


def test_control_without_the_disputes_lock_both_decide_and_only_a_constraint_stops_the_second() -> None:
    _, proposal = a_proposal()
    unlocked = Unlocked(instead=((' FOR UPDATE OF "audit_dispute"', ""),))
    answers = together.at_once(
        deciding(proposal, "A02"), deciding(proposal, "A03"), behind='FROM "audit_dispute"', unlocked=unlocked
    )
    assert "already_decided" not in answers
    assert answers != ["settled", "settled"]


def test_of_two_at_once_the_second_is_told_that_it_was_decided() -> None:
    table, proposal = a_proposal()
    answers = together.at_once(
        deciding(proposal, "A02"), deciding(proposal, "A03"), behind='FROM "audit_dispute"'
    )
    assert answers == ["settled", "already_decided"]
    assert (what_is_there(), money()) == (ONCE, {table.bank: 100_00, table.guests: -100_00})


def test_a_dispute_raised_while_another_is_decided_keeps_the_round_in_dispute() -> None:
    """The decision has seen that no other dispute is open; the objection waits for the round until it is over."""
    _, proposal = a_proposal(WON)
    round_id = proposal.dispute.round_id
    answers = together.at_once(
        deciding(proposal, "A02"),
        lambda: raised(round_id, subject="w1", now=timezone.now()).state,
        behind='AS "a" FROM "audit_dispute"',
    )
    assert answers == ["settled", "open"]
    assert Round.objects.get(pk=round_id).in_dispute


def test_a_report_that_comes_while_a_dispute_is_decided_is_late_and_moves_nothing() -> None:
    table, proposal = a_proposal()
    round_id = proposal.dispute.round_id

    def reports() -> str:
        table.tell("camera: p1.1 3S", round=round_id, at=timezone.now())
        return "recorded"

    answers = together.at_once(deciding(proposal, "A02"), reports, behind='INSERT INTO "audit_decision"')
    assert answers == ["settled", "recorded"]
    assert RoundEvent.objects.get(device__kind="camera", payload__position=1).late
    assert what_is_there() == ONCE


def test_a_report_that_was_first_makes_the_proposal_stale() -> None:
    table, proposal = a_proposal(WON.replace("close", "camera: p1.2 4D\nclose"))

    def reports() -> str:
        table.tell("note", round=proposal.dispute.round_id, at=timezone.now())
        return "recorded"

    answers = together.at_once(reports, deciding(proposal, "A02"), behind="INSERT INTO casino_roundevent")
    assert answers == ["recorded", "stale_proposal"]
    assert what_is_there() == NOTHING


def test_a_correction_and_a_decision_at_once_do_not_both_take_the_same_revision_back() -> None:
    table, proposal = a_proposal(WON)
    round_id = proposal.dispute.round_id
    table.tell("rule dealer.2 3D", round=round_id, at=timezone.now())
    (late,) = RoundEvent.objects.filter(late=True).values_list("id", flat=True)
    Proposal.objects.update(withdrawn_at=timezone.now())
    now = timezone.now()
    dispute = Dispute.objects.get()
    fresh = proposed(dispute, ruled("p1.2", "AD"), token=claimed(dispute, now=now), now=now)

    def corrects() -> str:
        with floor.act(now=timezone.now()):
            people = (floor.a_person("S01", "supervisor"), floor.a_person("M01", "manager"))
            made = settling.correct(round_id, cites=[late], acted_by=people[0], approved_by=people[1])
            return f"revision {made.revision}"

    answers = together.at_once(corrects, deciding(fresh, "A02"), behind='FROM "settlement_settlement"')
    assert answers == ["revision 2", "stale_proposal"]
    reversed_ = Journal.objects.exclude(reverses=None).values_list("reverses", flat=True)
    assert len(set(reversed_)) == len(reversed_) == 1
    assert what_is_there() == NOTHING


def test_two_claims_at_once_give_it_to_one() -> None:
    table = a_table(camera=True)
    round_id = table.tell(CONTESTED)
    outcome(round_id)
    dispute = raised(round_id, now=timezone.now())

    def claims(badge: str) -> Callable[[], str]:
        who = auditor(badge)

        def do() -> str:
            with acting(who, now=timezone.now()):
                return str(disputes.claim(dispute=dispute.id, by=who).claimed_by)

        return do

    assert together.at_once(claims("A02"), claims("A03"), behind='FROM "audit_dispute"') == ["A02", "claimed"]


def test_the_same_objection_twice_at_once_is_one_dispute() -> None:
    table = a_table()
    round_id = table.tell(WON)
    outcome(round_id)
    watcher()

    def objects() -> str:
        return raised(round_id, now=timezone.now()).state

    answers = together.at_once(objects, objects, behind='INSERT INTO "audit_dispute"')
    assert (answers, Dispute.objects.count()) == (["open", "dispute_open"], 1)


# -- fifty at once, over HTTP -----------------------------------------------------------------------------------


def a_desk(role: str, badge: str, proposal: Proposal) -> Client:
    """Somebody signed in who has given the PIN just now: by trying the hash of nothing."""
    client = Client()
    client.force_login(world.a_person(role=role, badge=badge))
    answer = decides(client, proposal, sha256="0" * 64, pin=world.PIN)
    assert answer.json()["code"] == "stale_proposal"
    return client


def decides(client: Client, proposal: Proposal, *, key: str = "", sha256: str = "", **more: Any) -> Any:
    return client.post(
        f"/api/v1/disputes/{proposal.dispute_id}/decide",
        {"sha256": sha256 or proposal.sha256, **more},
        content_type="application/json",
        headers={"Idempotency-Key": key or str(uuid4())},
    )


@pytest.mark.parametrize("text", [CONTESTED, WON], ids=["held", "settled"])
def test_of_fifty_decisions_by_two_people_one_counts_and_the_others_are_told_whose(text: str) -> None:
    table, proposal = a_proposal(text, two=True)
    desks = [a_desk("auditor", "A07", proposal), a_desk("manager", "M07", proposal)]
    cookies = [desk.cookies for desk in desks]
    answers: list[Any] = [None] * 50
    gate = threading.Barrier(50)

    def run(place: int) -> None:
        client = Client()
        client.cookies = cookies[place % 2]
        try:
            gate.wait(30)
            answers[place] = decides(client, proposal)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(place,)) for place in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(90)

    assert Counter(answer.status_code for answer in answers) == {200: 1, 409: 49}
    (winner,) = [answer.json() for answer in answers if answer.status_code == 200]
    for answer in answers:
        if answer.status_code == 409:
            told = answer.json()
            assert (told["code"], told["decision"], told["decided_by"]) == (
                "already_decided", winner["id"], winner["decided_by"],
            )  # fmt: skip
    assert what_is_there() == ONCE
    assert money() == {table.bank: 100_00, table.guests: -100_00}
    assert StoredAnswer.objects.filter(status=200).count() == 1


def test_one_key_sent_by_many_at_once_decides_once_and_ends_with_the_first_answer() -> None:
    _, proposal = a_proposal()
    desk = a_desk("auditor", "A07", proposal)
    answers: list[Any] = [None] * 12

    def run(place: int) -> None:
        client = Client()
        client.cookies = desk.cookies
        try:
            answers[place] = decides(client, proposal, key="mine")
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(place,)) for place in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    codes = Counter(answer.status_code for answer in answers)
    assert codes[200] >= 1
    assert {answer.json().get("code") for answer in answers if answer.status_code != 200} <= {
        "idempotency_key_running"
    }
    assert decides(desk, proposal, key="mine").headers["Idempotency-Replayed"] == "true"
    assert what_is_there() == ONCE


# -- the first dies ---------------------------------------------------------------------------------------------


def killed_behind(words: str, administrator: psycopg.Connection[Any]) -> Any:
    """Behind the statement with these words the database ends this connection, as when its process dies."""

    def wrapper(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        found = execute(sql, params, many, context)
        if words in sql:
            pid = connection.connection.info.backend_pid
            administrator.execute("SELECT pg_terminate_backend(%s)", [pid])
        return found

    return wrapper


@pytest.mark.parametrize(
    "words",
    [
        'INSERT INTO "casino_roundevent"', "INSERT INTO audit_logentry", "UPDATE settlement_account",
        "INSERT INTO settlement_settlement", 'INSERT INTO "audit_decision"', 'UPDATE "audit_dispute"',
        'UPDATE "casino_round"', 'INSERT INTO "casino_storedanswer"',
    ],
)  # fmt: skip
def test_a_death_before_the_commit_leaves_nothing_and_the_same_key_decides_once(
    words: str, administrator: psycopg.Connection[Any]
) -> None:
    _, proposal = a_proposal(WON)
    desk = a_desk("auditor", "A07", proposal)
    before = (what_is_there(), money(), LogEntry.objects.count())
    struck: list[bool] = []

    def watch(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        struck.append(words in sql)
        return execute(sql, params, many, context)

    desk.raise_request_exception = False
    with connection.execute_wrapper(killed_behind(words, administrator)), connection.execute_wrapper(watch):
        answer = decides(desk, proposal, key="mine")
    connection.close()
    assert any(struck), "the fault never struck"
    assert answer.status_code >= 500
    assert (what_is_there(), money(), LogEntry.objects.count()) == before

    answer = decides(desk, proposal, key="mine")
    assert (answer.status_code, "Idempotency-Replayed" in answer.headers) == (200, False)
    assert what_is_there() == ONCE


def test_a_death_after_the_commit_leaves_it_decided_and_the_same_key_tells_so() -> None:
    """The answer got lost on its way: whoever asks again with the same key hears the first one."""
    _, proposal = a_proposal(WON)
    desk = a_desk("auditor", "A07", proposal)
    lost = decides(desk, proposal, key="mine").json()
    again = decides(desk, proposal, key="mine")
    assert (again.json(), again.headers["Idempotency-Replayed"]) == (lost, "true")
    assert what_is_there() == ONCE


def test_a_lock_that_is_not_given_is_no_decision(dsn: str) -> None:
    """Somebody holds the dispute's row longer than the house waits: the act ends, and nothing of it is there."""
    _, proposal = a_proposal()
    with psycopg.connect(dsn) as holder:
        holder.execute("SELECT 1 FROM audit_dispute WHERE id = %s FOR UPDATE", [proposal.dispute_id])
        with pytest.raises(OperationalError):
            deciding(proposal, "A02")()
        holder.rollback()
    assert what_is_there() == NOTHING
    assert deciding(proposal, "A02")() == "settled"
