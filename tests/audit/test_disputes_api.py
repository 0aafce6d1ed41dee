"""Flags and disputes over HTTP: who sees and does what, one answer to one key, and the secret asked again."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.utils import timezone

from audit.models import Decision, Dispute, Flag, LogEntry, Proposal
from casino.models import Duty, Person, Round, StoredAnswer
from casino.people import RIGHTS
from settlement.models import Settlement
from tests import world
from tests.audit.disputing import CONTESTED, STANDS, VOID, WON, decided, raised, ruled
from tests.rules.given import thb
from tests.settlement import floor
from tests.settlement.books import statements
from tests.settlement.floor import AtTable, a_table, outcome

pytestmark = pytest.mark.django_db

NOBODYS = uuid4()


@dataclass(slots=True)
class Office:
    """A person at a desk: signed in, each request with a key of its own unless a test gives one."""

    person: Person
    client: Client = field(default_factory=Client)

    def __post_init__(self) -> None:
        self.client.force_login(self.person)

    def get(self, path: str, **query: Any) -> Any:
        return self.client.get(f"/api/v1/{path}", query)

    def post(
        self, path: str, body: dict[str, Any] | None = None, *, key: str = "", method: str = "POST"
    ) -> Any:
        return self.client.generic(
            method,
            f"/api/v1/{path}",
            b"" if body is None else json.dumps(body).encode(),
            content_type="application/json",
            headers={"Idempotency-Key": key or str(uuid4())},
        )


def a(role: str, badge: str = "") -> Office:
    return Office(world.a_person(role=role, badge=badge or f"{role}-1"))


def told(answer: Any) -> tuple[int, str]:
    """Status and code of a refusal."""
    return answer.status_code, answer.json()["code"]


@pytest.fixture
def table() -> AtTable:
    return a_table(camera=True)


@pytest.fixture
def held(table: AtTable) -> UUID:
    round_id = table.tell(CONTESTED)
    assert outcome(round_id) == "held: reads_differ"
    return round_id


def now_raised(round_id: UUID, **more: Any) -> Dispute:
    return raised(round_id, now=timezone.now(), **more)


# -- raising -----------------------------------------------------------------------------------------------------


def objection(round_id: UUID, **more: Any) -> dict[str, Any]:
    return {"round": str(round_id), "reason_code": "card", "reason": "I saw an ace"} | more


def test_a_dispute_is_raised_once_for_one_key_and_shows_what_is_at_risk(held: UUID) -> None:
    office = a("surveillance")
    first = office.post("disputes", objection(held, subject="p1.2"), key="one")
    again = office.post("disputes", objection(held, subject="p1.2"), key="one")

    assert (first.status_code, again.status_code, again.headers["Idempotency-Replayed"]) == (201, 201, "true")
    assert first.json() == again.json()
    shown = first.json()
    assert (shown["state"], shown["subject"], shown["money_at_risk"], shown["needs_two"]) == (
        "open", "p1.2", {"amount": 200_00, "currency": "THB"}, False,
    )  # fmt: skip
    assert Dispute.objects.count() == 1
    assert told(office.post("disputes", objection(held), key="one")) == (422, "idempotency_key_reused")


@pytest.mark.parametrize("role", ["dealer", "supervisor"])
def test_at_the_table_whoever_is_on_duty_there_may_object_and_nobody_else(
    role: str, held: UUID, table: AtTable
) -> None:
    at_the_table = Office(table.dealer if role == "dealer" else table.supervisor)
    elsewhere = a(role)
    other = a_table("PD02")
    Duty.objects.filter(session=other.session, role=role).update(off_at=timezone.now())
    Duty.objects.create(session=other.session, person=elsewhere.person, role=role, on_at=timezone.now())

    assert told(elsewhere.post("disputes", objection(held))) == (404, "not_found")
    assert at_the_table.post("disputes", objection(held)).status_code == 201


@pytest.mark.parametrize("role", ["manager", "surveillance", "cashier", "auditor"])
def test_off_the_floor_they_may_object_to_any_round(role: str, held: UUID) -> None:
    assert a(role).post("disputes", objection(held)).status_code == 201


def test_an_administrator_may_not_object(held: UUID) -> None:
    assert told(a("administrator").post("disputes", objection(held))) == (403, "forbidden")
    assert Dispute.objects.count() == 0


def test_a_round_of_another_table_is_answered_like_one_that_does_not_exist(held: UUID) -> None:
    elsewhere = Office(a_table("PD02").supervisor)
    foreign, unknown = (elsewhere.post("disputes", objection(one)) for one in (held, NOBODYS))
    assert told(foreign) == told(unknown) == (404, "not_found")
    assert set(foreign.json()) == set(unknown.json())


@pytest.mark.parametrize(
    ("more", "status", "code"),
    [
        ({"subject": "p17"}, 400, "malformed"),
        ({"reason_code": "because"}, 422, "invalid_value"),
        ({"money_at_risk": 5}, 400, "unknown_field"),
        ({"follows": str(NOBODYS)}, 404, "not_found"),
    ],
)
def test_what_is_no_objection_is_refused_by_its_field(
    more: dict[str, Any], status: int, code: str, held: UUID
) -> None:
    assert told(a("surveillance").post("disputes", objection(held, **more))) == (status, code)


def test_a_cashier_may_object_to_a_decision_without_reading_disputes(held: UUID) -> None:
    before = decided(raised(held), ruled("p1.2", "4D")).dispute
    office = a("cashier")
    again = office.post("disputes", objection(held, follows=str(before.id), reason_code="reopened"))
    assert (again.status_code, again.json()["follows"]) == (201, str(before.id))
    assert told(office.get("disputes")) == (403, "forbidden")


def test_an_alias_is_disputed_as_the_round_it_stands_for(table: AtTable) -> None:
    round_id = table.tell(WON)
    assert outcome(round_id) == "settled"
    alias = floor.a_round_id(77)
    row = Round.objects.get(pk=round_id)
    Round.objects.create(
        id=alias, table=row.table, session=row.session, created_at=row.created_at, alias_of=row
    )
    shown = a("auditor").post("disputes", objection(alias))
    assert (shown.status_code, shown.json()["round"]) == (201, str(round_id))


# -- reading -----------------------------------------------------------------------------------------------------


def test_a_supervisor_sees_the_disputes_of_his_table_and_no_other(held: UUID, table: AtTable) -> None:
    dispute = now_raised(held)
    mine, other = Office(table.supervisor), Office(a_table("PD02").supervisor)
    assert [one["id"] for one in mine.get("disputes").json()["disputes"]] == [str(dispute.id)]
    assert other.get("disputes").json() == {"disputes": [], "next": None}
    foreign, unknown = other.get(f"disputes/{dispute.id}"), other.get(f"disputes/{NOBODYS}")
    assert told(foreign) == told(unknown) == (404, "not_found")
    assert told(other.get("disputes", cursor=str(dispute.id))) == (422, "invalid_value")


@pytest.mark.parametrize("role", ["dealer", "cashier", "administrator"])
def test_others_read_no_disputes(role: str, held: UUID) -> None:
    dispute = now_raised(held)
    for path in ("disputes", f"disputes/{dispute.id}"):
        assert told(a(role, f"{role}-{path[-4:]}").get(path)) == (403, "forbidden")


def test_an_open_dispute_shows_its_options_and_a_decided_one_its_decision(held: UUID) -> None:
    dispute = now_raised(held, subject="p1.2")
    office = a("auditor", "A07")
    shown = office.get(f"disputes/{dispute.id}").json()
    assert [option["facts"] for option in shown["options"]] == [
        ruled("p1.2", "4D"), ruled("p1.2", "AD"), STANDS, VOID,
    ]  # fmt: skip
    first = shown["options"][0]["consequences"]
    assert (first["outcome"], first["moved"], first["currency"]) == ("settled", thb(100_00), "THB")
    assert first["lines"] == [
        {"wager": "w1", "hand": "p1", "owner": {"seat": "1"}, "before": None, "after": thb(100_00)}
    ]

    decision = decided(dispute, ruled("p1.2", "4D"), now=timezone.now())
    shown = office.get(f"disputes/{dispute.id}").json()
    assert (shown["options"], shown["dispute"]["state"]) == ([], "decided")
    assert shown["dispute"]["decision"]["settlement"] == str(decision.settlement)


def test_the_queue_goes_by_deadline_page_after_page_whatever_its_length(table: AtTable) -> None:
    ids = []
    for hours in (3, 1, 2):
        round_id = table.tell(WON)
        assert outcome(round_id) == "settled"
        ids.append(str(raised(round_id, now=timezone.now() + timedelta(hours=hours)).id))
    office = a("auditor")
    first = office.get("disputes", limit=2).json()
    rest = office.get("disputes", limit=2, cursor=first["next"]).json()
    assert [one["id"] for one in first["disputes"] + rest["disputes"]] == [ids[1], ids[2], ids[0]]
    assert rest["next"] is None

    counts = []
    for limit in (1, 3):
        seen: list[str] = []
        with statements(seen):
            office.get("disputes", limit=limit)
        counts.append(len(seen))
    assert counts[0] == counts[1]


def test_the_token_of_a_claim_is_shown_to_its_holder_alone(held: UUID) -> None:
    dispute = now_raised(held)
    token = a("auditor", "A07").post(f"disputes/{dispute.id}/claim").json()["token"]
    for path in ("disputes", f"disputes/{dispute.id}"):
        assert token not in a("auditor", f"A-{path[-4:]}").get(path).content.decode()


# -- working ----------------------------------------------------------------------------------------------------


def test_only_auditors_work_on_disputes(held: UUID) -> None:
    dispute = now_raised(held)
    doors = {
        "claim": None, "renew": {"token": str(NOBODYS)}, "take-over": {"reason": "mine"},
        "snooze": {"until": timezone.now().isoformat(), "reason": "later"},
        "proposals": {"token": str(NOBODYS), "facts": STANDS, "reason_code": "other", "pin": world.PIN},
    }  # fmt: skip
    for role in ("dealer", "supervisor", "manager", "surveillance", "cashier", "administrator"):
        office = a(role)
        for door, body in doors.items():
            assert told(office.post(f"disputes/{dispute.id}/{door}", body)) == (403, "forbidden"), (
                role,
                door,
            )
    for role in ("dealer", "supervisor", "surveillance", "cashier", "administrator"):
        body = {"sha256": "0" * 64, "pin": world.PIN}
        assert told(a(role, f"{role}-2").post(f"disputes/{dispute.id}/decide", body)) == (403, "forbidden")
    dispute.refresh_from_db()
    assert (dispute.state, Decision.objects.count()) == ("open", 0)


def test_a_dispute_that_does_not_exist_is_not_found_by_any_door() -> None:
    office = a("auditor")
    tries: list[Callable[[], Any]] = [
        lambda: office.get(f"disputes/{NOBODYS}"),
        lambda: office.post(f"disputes/{NOBODYS}/claim"),
        lambda: office.post(f"disputes/{NOBODYS}/renew", {"token": str(NOBODYS)}),
        lambda: office.post(f"disputes/{NOBODYS}/take-over", {"reason": "x"}),
        lambda: office.post(
            f"disputes/{NOBODYS}/snooze", {"until": timezone.now().isoformat(), "reason": "x"}
        ),
        lambda: office.post(f"disputes/{NOBODYS}/proposals", method="DELETE"),
        lambda: office.post(
            f"disputes/{NOBODYS}/proposals",
            {"token": str(NOBODYS), "facts": STANDS, "reason_code": "other", "pin": world.PIN},
        ),
        lambda: office.post(f"disputes/{NOBODYS}/decide", {"sha256": "0" * 64, "pin": world.PIN}),
    ]
    assert [told(one()) for one in tries] == [(404, "not_found")] * len(tries)


def test_every_step_of_a_dispute_over_http(held: UUID) -> None:
    dispute = now_raised(held, subject="p1.2")
    first, second = a("auditor", "A07"), a("auditor", "A08")
    path = f"disputes/{dispute.id}"
    until = (timezone.now() + timedelta(hours=1)).isoformat()
    assert first.post(f"{path}/snooze", {"until": until, "reason": "video"}).status_code == 200
    old = first.post(f"{path}/claim").json()["token"]
    assert first.post(f"{path}/renew", {"token": old}).json()["token"] == old
    assert told(second.post(f"{path}/claim")) == (409, "claimed")
    token = second.post(f"{path}/take-over", {"reason": "A07 went home"}).json()["token"]
    body = {"token": token, "facts": ruled("p1.2", "AD"), "reason_code": "seen_on_video", "pin": world.PIN}
    proposal = second.post(f"{path}/proposals", body)
    assert proposal.status_code == 201
    assert proposal.json()["facts"] == [{**ruled("p1.2", "AD")[0], "reason": "seen_on_video"}]
    assert second.post(f"{path}/proposals", method="DELETE").json()["state"] == "claimed"
    proposal = second.post(f"{path}/proposals", body)
    answer = first.post(f"{path}/decide", {"sha256": proposal.json()["sha256"], "pin": world.PIN})
    assert (answer.status_code, answer.json()["outcome"]) == (200, "settled")
    late = told(first.post(f"{path}/decide", {"sha256": proposal.json()["sha256"]}))
    assert late == (409, "already_decided")


def test_one_auditor_below_the_threshold_decides_in_one_request(held: UUID) -> None:
    dispute = now_raised(held)
    office = a("auditor", "A07")
    token = office.post(f"disputes/{dispute.id}/claim").json()["token"]
    body = {"token": token, "facts": ruled("p1.2", "4D"), "reason_code": "cards_seen", "pin": world.PIN}
    first = office.post(f"disputes/{dispute.id}/decide", body, key="mine")
    again = office.post(f"disputes/{dispute.id}/decide", body, key="mine")
    assert (first.status_code, again.json(), again.headers["Idempotency-Replayed"]) == (
        200,
        first.json(),
        "true",
    )
    assert (Proposal.objects.count(), Decision.objects.count(), Settlement.objects.count()) == (1, 1, 1)


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 400, "missing_field"),
        ({"token": str(NOBODYS), "facts": STANDS}, 400, "missing_field"),
        ({"sha256": "0" * 64, "facts": STANDS}, 422, "invalid_value"),
        ({"sha256": "short"}, 400, "malformed"),
        ({"net": 5}, 400, "unknown_field"),
        ({"token": str(NOBODYS), "reason_code": "other", "facts": []}, 422, "invalid_value"),
        ({"token": str(NOBODYS), "reason_code": "other", "facts": [{"kind": "bet_placed"}]}, 422, "invalid_value"),
        ({"token": str(NOBODYS), "reason_code": "other", "facts": [{"kind": 7}]}, 400, "malformed"),
        (
            {"token": str(NOBODYS), "reason_code": "other", "facts": [{**ruled("p1.2", "AD")[0], "reason": "ace"}]},
            400, "unknown_field",
        ),
        ({"token": str(NOBODYS), "reason_code": "other", "facts": ruled("p1.2", "1S")}, 422, "invalid_value"),
        ({"token": str(NOBODYS), "reason_code": "other", "facts": ruled("p17.2", "AD")}, 422, "invalid_value"),
        ({"token": str(NOBODYS), "reason_code": "why not", "facts": STANDS}, 422, "invalid_value"),
        ({"token": str(NOBODYS), "reason_code": "other", "facts": [{**STANDS[0], "net": 5}]}, 400, "unknown_field"),
    ],
)  # fmt: skip
def test_what_is_no_decision_is_refused_before_anything_is_looked_at(
    body: dict[str, Any], status: int, code: str, held: UUID
) -> None:
    dispute = now_raised(held)
    answer = a("auditor").post(f"disputes/{dispute.id}/decide", body | {"pin": world.PIN})
    assert told(answer) == (status, code)
    dispute.refresh_from_db()
    assert dispute.state == "open"


@pytest.mark.parametrize("door", ["claim", "renew", "take-over", "snooze", "proposals", "decide"])
def test_no_step_is_taken_without_a_key(door: str, held: UUID) -> None:
    dispute = now_raised(held)
    client = a("auditor").client
    answer = client.post(f"/api/v1/disputes/{dispute.id}/{door}", {}, content_type="application/json")
    assert told(answer) == (400, "idempotency_key_missing")


# -- the secret asked again ---------------------------------------------------------------------------------------


def a_claimed_dispute(held: UUID) -> tuple[Office, str, dict[str, Any]]:
    """An auditor who has claimed it, the path of its decision, and a decision that lacks only the PIN."""
    dispute = now_raised(held)
    office = a("auditor", "A07")
    token = office.post(f"disputes/{dispute.id}/claim").json()["token"]
    return office, f"disputes/{dispute.id}", {"token": token, "facts": STANDS, "reason_code": "other"}


@pytest.mark.parametrize("door", ["proposals", "decide"])
def test_without_the_secret_just_given_nothing_is_proposed_or_decided(door: str, held: UUID) -> None:
    office, path, body = a_claimed_dispute(held)
    assert told(office.post(f"{path}/{door}", body)) == (403, "secret_needed")
    assert told(office.post(f"{path}/{door}", body | {"pin": "000000"})) == (401, "wrong_secret")
    assert told(office.post(f"{path}/{door}", body | {"pin": world.PASSWORD})) == (401, "wrong_secret")
    assert Proposal.objects.count() == 0


def test_the_secret_counts_for_five_minutes_in_the_same_session(held: UUID) -> None:
    office, path, body = a_claimed_dispute(held)
    assert office.post(f"{path}/proposals", body | {"pin": world.PIN}).status_code == 201
    assert office.post(f"{path}/proposals", body).status_code == 201

    elsewhere = Office(office.person)
    assert told(elsewhere.post(f"{path}/proposals", body)) == (403, "secret_needed")

    session = office.client.session
    session["secret_given_at"] = (timezone.now() - timedelta(minutes=5)).isoformat()
    session.save()
    assert told(office.post(f"{path}/proposals", body)) == (403, "secret_needed")


def test_five_wrong_secrets_and_the_right_one_has_to_wait(held: UUID) -> None:
    office, path, body = a_claimed_dispute(held)
    tries = [told(office.post(f"{path}/decide", body | {"pin": f"00000{n}"})) for n in range(5)]
    assert tries == [(401, "wrong_secret")] * 5
    assert told(office.post(f"{path}/decide", body | {"pin": world.PIN})) == (429, "too_many_tries")


def test_the_secret_stands_in_no_row(held: UUID) -> None:
    office, path, body = a_claimed_dispute(held)
    office.post(f"{path}/decide", body | {"pin": world.PIN})
    written = [bytes(entry.bytes) for entry in LogEntry.objects.all()]
    written += [bytes(answer.content or b"") for answer in StoredAnswer.objects.all()]
    assert not any(world.PIN.encode() in one for one in written)


# -- flags ------------------------------------------------------------------------------------------------------


@pytest.fixture
def flag(held: UUID) -> Flag:
    round = Round.objects.get(pk=held)
    return Flag.objects.create(
        id=uuid4(), kind="reads_differ", subject=f"rounds/{held}#p1.2", table=round.table, round=round,
        raised_at=timezone.now(),
    )  # fmt: skip


def test_flags_are_listed_by_state_kind_table_and_round(flag: Flag, held: UUID) -> None:
    office = a("surveillance")
    found = [
        [one["id"] for one in office.get("flags", **query).json()["flags"]]
        for query in (
            {}, {"state": "open"}, {"kind": "reads_differ"}, {"table": "PD01"}, {"round": str(held)},
            {"state": "closed"}, {"kind": "late_bet"}, {"table": "PD02"}, {"round": str(NOBODYS)},
        )
    ]  # fmt: skip
    assert found == [[str(flag.id)]] * 5 + [[]] * 4


def test_a_flag_is_said_in_both_languages_where_its_figures_are_known(flag: Flag) -> None:
    office = a("surveillance")
    assert office.get(f"flags/{flag.id}").json()["says"] is None
    Flag.objects.create(
        id=uuid4(), kind="checked_twice", subject=f"rounds/{flag.round_id}#p4", table=flag.table, round=flag.round,
        raised_at=timezone.now(),
    )  # fmt: skip
    (shown,) = office.get("flags", kind="checked_twice").json()["flags"]
    assert shown["says"]["en"].startswith("Seat 4 was checked twice")
    assert shown["says"]["th"].startswith("เช็คที่นั่ง 4")


def test_a_supervisor_sees_the_flags_of_his_table_and_no_other(flag: Flag, table: AtTable) -> None:
    mine, other = Office(table.supervisor), Office(a_table("PD02").supervisor)
    assert mine.get(f"flags/{flag.id}").json()["subject"] == flag.subject
    assert other.get("flags").json() == {"flags": [], "next": None}
    assert told(other.get(f"flags/{flag.id}")) == told(other.get(f"flags/{NOBODYS}")) == (404, "not_found")


def test_a_flag_is_closed_once_with_a_reason(flag: Flag) -> None:
    office = a("surveillance")
    body = {"code": "explained", "reason": "the deck was new"}
    first = office.post(f"flags/{flag.id}/close", body, key="one")
    assert (first.status_code, first.json()["state"], first.json()["close_code"]) == (
        200,
        "closed",
        "explained",
    )
    assert office.post(f"flags/{flag.id}/close", body, key="one").json() == first.json()
    assert told(office.post(f"flags/{flag.id}/close", body)) == (409, "flag_answered")
    assert told(office.post(f"flags/{flag.id}/dispute", {"reason": "no"})) == (409, "flag_answered")
    assert told(office.post(f"flags/{NOBODYS}/close", body)) == (404, "not_found")


def test_a_flag_becomes_a_dispute_of_who_made_it_one(flag: Flag) -> None:
    office = a("auditor")
    shown = office.post(f"flags/{flag.id}/dispute", {"reason": "look again"})
    assert (shown.status_code, shown.json()["subject"], shown.json()["raised_by"]) == (
        201, "p1.2", str(office.person.id),
    )  # fmt: skip
    assert told(office.post(f"disputes/{shown.json()['id']}/claim")) == (403, "sod_violation")


@pytest.mark.parametrize("role", ["dealer", "supervisor", "manager", "cashier", "administrator"])
def test_only_surveillance_and_auditors_answer_flags(role: str, flag: Flag) -> None:
    office = a(role)
    bodies = {"close": {"code": "explained", "reason": "x"}, "dispute": {"reason": "x"}}
    assert [told(office.post(f"flags/{flag.id}/{door}", body)) for door, body in bodies.items()] == [
        (403, "forbidden"), (403, "forbidden"),
    ]  # fmt: skip
    flag.refresh_from_db()
    assert flag.state == "open"
    assert role not in RIGHTS["answer_flag"]
