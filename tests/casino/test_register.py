"""Who works here: taken on and appointed by an administrator with a manager, for as long as was said, and never by
themselves; and the code by which somebody takes over their account."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest
from django.test import Client
from django.utils import timezone

from audit.models import LogEntry
from casino import people
from casino.models import Appointment, Person
from casino.people import Rights
from casino.platform.refusals import Refusal
from settlement import tasks
from tests import world
from tests.casino.floor import told
from tests.database import Connection
from tests.settlement.cage import AtCage, said

pytestmark = pytest.mark.django_db

SIGNED = {"badge": "M01", "pin": world.PIN}
CHOSEN = {"password": "three blind mice at dawn", "pin": "481516"}
NOW = datetime.fromisoformat("2026-12-01T12:00:00+00:00")


@pytest.fixture
def staff() -> dict[str, Person]:
    """Somebody of every role."""
    roles = {
        "X01": "administrator", "X02": "administrator", "M01": "manager", "M02": "manager", "S01": "supervisor",
        "D01": "dealer", "V01": "surveillance", "C01": "cashier", "A01": "auditor",
    }  # fmt: skip
    return {badge: world.a_person(role=role, badge=badge) for badge, role in roles.items()}


@pytest.fixture
def desk(staff: dict[str, Person]) -> AtCage:
    return AtCage(staff["X01"])


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[datetime], None]:
    def set_to(instant: datetime) -> None:
        monkeypatch.setattr(timezone, "now", lambda: instant)

    return set_to


def newcomer(badge: str = "N01", role: str = "cashier", **more: Any) -> dict[str, Any]:
    return {"badge": badge, "display_name": "Nok", "staff_no": f"HR-{badge}", "role": role} | more


def take_on(who: AtCage, person: dict[str, Any], signed: dict[str, str] | None = None) -> Any:
    signed = SIGNED if signed is None else signed
    return who.asks("POST", "people", {"person": person} | signed, key=None)


def appoint(who: AtCage, badge: str, signed: dict[str, str] | None = None, **rights: Any) -> Any:
    signed = SIGNED if signed is None else signed
    return who.asks("POST", f"people/{badge}/appointments", rights | signed, key=None)


def sign_in(badge: str, password: str) -> tuple[int, str]:
    return said(AtCage().asks("POST", "session", {"badge": badge, "password": password}, key=None))


def taken_over(code: str, **chosen: str) -> Any:
    return AtCage().asks("POST", "people/take-over", {"code": code} | CHOSEN | chosen, key=None)


# -- taking on ---------------------------------------------------------------------------------------------


def test_somebody_is_taken_on_by_two_and_chooses_their_own_secrets(
    desk: AtCage, staff: dict[str, Person]
) -> None:
    answer = take_on(desk, newcomer(permissions=["counter", "runner"]))

    assert answer.status_code == 201, answer.content
    person = Person.objects.get(badge="N01")
    assert answer.json()["person"] == {
        "id": str(person.id),
        "badge": "N01",
        "display_name": "Nok",
        "staff_no": "HR-N01",
        "role": "cashier",
        "permissions": ["counter", "runner"],
        "is_active": True,
        "turns_at": None,
        "ended_at": None,
    }
    code = answer.json()["code"]
    assert len(code.replace("-", "")) == 16, "80 bits in letters and digits"
    assert sign_in("N01", "")[0] in (400, 401, 422)
    assert taken_over(code).json() == {"badge": "N01"}
    assert sign_in("N01", CHOSEN["password"])[0] == 200
    assert people.check_secret(badge="N01", secret=CHOSEN["pin"], with_pin=True, at="T1", now=timezone.now())
    made = Appointment.objects.get(person=person)
    assert (made.proposed_by, made.approved_by) == (staff["X01"], staff["M01"])
    entry = LogEntry.objects.get(action="person.appointed")
    assert (told(entry)["role"], told(entry)["proposed_by"], told(entry)["approved_by"]) == (
        "cashier", str(staff["X01"].id), str(staff["M01"].id),
    )  # fmt: skip
    kept = b"".join(bytes(one.bytes) for one in LogEntry.objects.all())
    assert not any(secret.encode() in kept for secret in ("Nok", code, *CHOSEN.values()))


def test_a_code_is_good_once_and_for_its_time(desk: AtCage, clock: Callable[[datetime], None]) -> None:
    clock(NOW)
    first = take_on(desk, newcomer()).json()["code"]
    assert said(taken_over("AAAA-BBBB-CCCC-DDDD")) == (401, "wrong_code")
    assert said(taken_over(first, pin="111112")) == (422, "invalid_value")
    assert said(taken_over(first, password="cashier")) == (422, "invalid_value")
    assert taken_over(first.lower().replace("-", " ")).status_code == 200
    assert said(taken_over(first)) == (401, "wrong_code")

    again = desk.asks("POST", "people/N01/hand-overs", SIGNED, key=None).json()["code"]
    assert sign_in("N01", CHOSEN["password"]) == (401, "wrong_secret"), (
        "the old secrets open nothing any more"
    )
    newest = desk.asks("POST", "people/N01/hand-overs", SIGNED, key=None).json()["code"]
    assert said(taken_over(again)) == (401, "wrong_code"), "a newer code was made"
    clock(NOW + people.HAND_OVER)
    assert said(taken_over(newest)) == (401, "wrong_code")


@pytest.mark.parametrize("role", ["supervisor", "manager", "cashier", "auditor", "administrator"])
def test_a_role_that_moves_or_decides_money_takes_a_manager_too(role: str, desk: AtCage) -> None:
    assert said(take_on(desk, newcomer(role=role), {})) == (403, "second_person_needed")
    assert take_on(desk, newcomer(role=role)).status_code == 201


@pytest.mark.parametrize("role", ["dealer", "surveillance"])
def test_a_role_that_does_not_is_given_by_one_and_its_permissions_by_two(role: str, desk: AtCage) -> None:
    permission = {"dealer": "runner", "surveillance": "compliance"}[role]
    assert said(take_on(desk, newcomer(role=role, permissions=[permission]), {})) == (
        403,
        "second_person_needed",
    )
    assert take_on(desk, newcomer(role=role), {}).status_code == 201


def test_the_second_is_a_manager_and_the_first_an_administrator(
    desk: AtCage, staff: dict[str, Person]
) -> None:
    for badge in ("S01", "C01", "A01", "X02"):
        assert said(take_on(desk, newcomer(), SIGNED | {"badge": badge}))[0] == 403, badge
    assert said(take_on(desk, newcomer(), SIGNED | {"badge": "X01"})) == (403, "sod_violation")
    for badge in ("M01", "S01", "D01", "V01", "C01", "A01"):
        assert said(take_on(AtCage(staff[badge]), newcomer())) == (403, "forbidden"), badge
    assert not Person.objects.filter(badge="N01").exists()


def test_a_badge_is_one_persons_for_ever_and_a_person_has_one_account(desk: AtCage) -> None:
    assert take_on(desk, newcomer()).status_code == 201
    assert said(take_on(desk, newcomer(staff_no="HR-2"))) == (409, "badge_taken")
    assert said(take_on(desk, newcomer("N02", staff_no="HR-N01"))) == (409, "person_active")
    assert desk.asks("POST", "people/N01/end", {}, key=None).status_code == 200
    assert said(take_on(desk, newcomer(staff_no="HR-2"))) == (409, "badge_taken")
    assert take_on(desk, newcomer("N02", staff_no="HR-N01")).status_code == 201


@pytest.mark.parametrize(
    ("role", "permission"),
    [("administrator", "runner"), ("cashier", "rules_author"), ("manager", "see_expected"), ("dealer", "counter"),
     ("auditor", "runner"), ("surveillance", "accounting")],
)  # fmt: skip
def test_a_permission_is_held_inside_its_roles_alone(role: str, permission: str, desk: AtCage) -> None:
    assert said(take_on(desk, newcomer(role=role, permissions=[permission]))) == (422, "invalid_value")


# -- appointing --------------------------------------------------------------------------------------------


def test_nobody_appoints_themselves_or_signs_for_themselves(desk: AtCage, staff: dict[str, Person]) -> None:
    assert said(appoint(desk, "X01", role="administrator")) == (403, "sod_violation")
    assert said(appoint(desk, "M01", role="manager", permissions=["rules_author"])) == (403, "sod_violation")
    assert said(desk.asks("POST", "people/X01/end", {}, key=None)) == (403, "sod_violation")
    assert said(desk.asks("POST", "people/X01/hand-overs", SIGNED, key=None)) == (403, "sod_violation")
    assert said(desk.asks("POST", "people/M01/hand-overs", SIGNED, key=None)) == (403, "sod_violation")
    assert not Appointment.objects.exclude(proposed_by=None).exists()


def test_a_permission_until_a_moment_ends_by_itself(
    desk: AtCage, staff: dict[str, Person], clock: Callable[[datetime], None]
) -> None:
    clock(NOW)
    assert appoint(desk, "C01", role="cashier").status_code == 201
    clock(NOW + timedelta(seconds=1))  # the newer decision is the later one
    until = NOW + timedelta(hours=8)
    answer = appoint(desk, "C01", role="cashier", permissions=["counter"], until=until.isoformat())
    assert answer.status_code == 201, answer.content

    cashier = Client()
    cashier.force_login(Person.objects.get(badge="C01"))
    assert cashier.get("/api/v1/session").json()["permissions"] == ["counter"]
    clock(until - timedelta(seconds=1))
    cashier.force_login(Person.objects.get(badge="C01"))  # the session that rested for hours is over
    assert cashier.get("/api/v1/session").json()["permissions"] == ["counter"]
    clock(until)
    assert cashier.get("/api/v1/session").json()["permissions"] == []
    entry = LogEntry.objects.filter(action="person.changed").latest("id")
    assert (entry.actor_kind, told(entry)) == (
        "system",
        {"role": "cashier", "permissions": [], "is_active": 1},
    )


def test_a_role_from_a_moment_on_begins_then_and_one_until_a_moment_shuts_the_account(
    desk: AtCage, clock: Callable[[datetime], None]
) -> None:
    clock(NOW)
    begins, ends = NOW + timedelta(days=1), NOW + timedelta(days=2)
    code = take_on(desk, newcomer(**{"from": begins.isoformat(), "until": ends.isoformat()})).json()["code"]
    assert taken_over(code).status_code == 200
    assert sign_in("N01", CHOSEN["password"]) == (401, "wrong_secret")
    clock(begins)
    assert sign_in("N01", CHOSEN["password"])[0] == 200
    clock(ends)
    assert tasks.turn_people() == 1
    assert not Person.objects.get(badge="N01").is_active
    assert sign_in("N01", CHOSEN["password"]) == (401, "wrong_secret")
    assert tasks.turn_people() == 0


def test_a_sweep_goes_on_past_the_one_that_fails(
    desk: AtCage, clock: Callable[[datetime], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock(NOW)
    until = (NOW + timedelta(hours=1)).isoformat()
    for badge in ("N01", "N02", "N03"):
        assert take_on(desk, newcomer(badge, until=until)).status_code == 201
    poisoned, turn = Person.objects.get(badge="N01").id, people.turn

    def fails(person: Any, *, now: datetime) -> Person | None:
        if person == poisoned:
            raise RuntimeError("a row that cannot be computed with")
        return turn(person, now=now)

    monkeypatch.setattr(people, "turn", fails)
    clock(NOW + timedelta(hours=2))
    assert tasks.turn_people() == 3
    assert set(Person.objects.filter(badge__startswith="N", is_active=False).values_list("badge", flat=True)) == {
        "N02", "N03",
    }  # fmt: skip


def test_whoever_is_let_go_is_out_with_the_next_request_and_stays_as_a_row(
    desk: AtCage, staff: dict[str, Person]
) -> None:
    dealer = Client()
    dealer.force_login(staff["D01"])
    assert dealer.get("/api/v1/session").status_code == 200

    answer = desk.asks("POST", "people/D01/end", {}, key=None)

    assert (answer.status_code, answer.json()["is_active"]) == (200, False)
    assert dealer.get("/api/v1/session").status_code == 401
    assert said(appoint(desk, "D01", role="dealer")) == (409, "person_ended")
    again = desk.asks("POST", "people/D01/end", {}, key=None)
    assert again.json()["ended_at"] == answer.json()["ended_at"]
    assert LogEntry.objects.filter(action="person.ended").count() == 1
    assert "D01" in [one["badge"] for one in desk.asks("GET", "people").json()["people"]]


def test_who_changes_their_own_secrets_needs_the_one_in_use(staff: dict[str, Person]) -> None:
    who = AtCage(staff["C01"])
    body = {"password": world.PASSWORD, "new_password": CHOSEN["password"], "new_pin": CHOSEN["pin"]}
    assert said(who.asks("PUT", "session/secrets", body | {"password": "another"})) == (401, "wrong_secret")
    assert who.asks("PUT", "session/secrets", body).status_code == 204
    assert sign_in("C01", CHOSEN["password"])[0] == 200
    assert sign_in("C01", world.PASSWORD) == (401, "wrong_secret")


def test_auditors_read_who_may_do_what_and_since_when(desk: AtCage, staff: dict[str, Person]) -> None:
    assert appoint(desk, "C01", role="cashier", permissions=["runner"]).status_code == 201
    shown = AtCage(staff["A01"]).asks("GET", "people/C01").json()
    assert (shown["badge"], shown["permissions"]) == ("C01", ["runner"])
    assert [(one["proposed_by"], one["approved_by"]) for one in shown["appointments"]] == [
        ("X01", "M01"),
        (None, None),
    ]
    for badge in ("S01", "D01", "C01"):
        assert said(AtCage(staff[badge]).asks("GET", "people")) == (403, "forbidden")
    assert said(desk.asks("GET", "people/NOBODY")) == (404, "not_found")


# -- what the database keeps -------------------------------------------------------------------------------


@pytest.fixture
def application(dsn: str) -> Iterator[Connection]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


def _answer(connection: Connection, sql: str) -> str:
    try:
        with connection.transaction(force_rollback=True):
            connection.execute(sql)
            connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
    except psycopg.Error as error:
        return error.sqlstate or str(error)
    return "done"


def appointed(person: str, by: str, second: str, role: str = "cashier", permissions: str = "") -> str:
    seconds = f"(SELECT id FROM casino_person WHERE badge = '{second}')" if second else "NULL"
    by = f"(SELECT id FROM casino_person WHERE badge = '{by}')" if by else "NULL"
    return (
        "INSERT INTO casino_appointment (id, person_id, role, permissions, from_at, proposed_by_id, approved_by_id,"
        f" made_at) SELECT gen_random_uuid(), id, '{role}', '{{{permissions}}}', now(), {by}, {seconds}, now()"
        f" FROM casino_person WHERE badge = '{person}'"
    )


def coded(person: str, by: str, second: str) -> str:
    by, second = (
        f"(SELECT id FROM casino_person WHERE badge = '{badge}')" if badge else "NULL"
        for badge in (by, second)
    )
    return (
        "INSERT INTO casino_handover (id, person_id, sha256, made_by_id, approved_by_id, made_at, expires_at)"
        f" SELECT gen_random_uuid(), id, '\\x00', {by}, {second}, now(), now() + interval '1 day'"
        f" FROM casino_person WHERE badge = '{person}'"
    )


@pytest.mark.django_db(transaction=True)
def test_the_database_lets_nobody_have_what_two_others_did_not_give(
    application: Connection, owner: Connection, staff: dict[str, Person]
) -> None:
    by, second = staff["X01"], staff["M01"]
    with world.acting():
        people.appoint(staff["C01"].id, Rights("cashier"), by=by, approved_by=second)
    with world.acting():
        people.let_go(staff["D01"].id, by=by)
    refused = {
        "UPDATE casino_person SET role = 'manager' WHERE badge = 'C01'": "23514",
        "UPDATE casino_person SET permissions = '{runner}' WHERE badge = 'C01'": "23514",
        "UPDATE casino_person SET is_active = true WHERE badge = 'D01'": "23514",
        "INSERT INTO casino_person (id, badge, display_name, role, permissions, pin, password, is_active)"
        " VALUES (gen_random_uuid(), 'Z9', 'z', 'manager', '{}', '', '', true)": "23514",
        appointed("C01", "X01", "X01"): "23514",
        appointed("C01", "X01", ""): "23514",
        appointed("V01", "X01", "", "surveillance", "compliance"): "23514",
        appointed("C01", "", ""): "23514",
        appointed("C01", "M01", "M02"): "23514",
        appointed("C01", "X01", "A01"): "23514",
        appointed("X01", "X01", "M01", "administrator"): "23514",
        appointed("M01", "X01", "M01", "manager"): "23514",
        appointed("X02", "X01", "M01", "administrator", "runner"): "23514",
        coded("C01", "", ""): "23514",
        coded("C01", "X01", ""): "23514",
        coded("C01", "M01", "M02"): "23514",
        coded("C01", "X01", "A01"): "23514",
        coded("M01", "X01", "M01"): "23514",
        coded("V01", "V01", ""): "23514",
    }
    assert {sql: _answer(application, sql) for sql in refused} == refused
    assert {sql: _answer(owner, sql) for sql in refused} == refused
    for sql in (
        "UPDATE casino_appointment SET role = 'manager'",
        "DELETE FROM casino_appointment",
        "DELETE FROM casino_person WHERE badge = 'V01'",
        "UPDATE casino_person SET badge = 'Z1' WHERE badge = 'V01'",
    ):
        assert (_answer(application, sql), _answer(owner, sql)) == ("42501", "PD001"), sql
    comes_back = "UPDATE casino_person SET ended_at = NULL, ended_by_id = NULL WHERE badge = 'D01'"
    assert (_answer(application, comes_back), _answer(owner, comes_back)) == ("PD001", "PD001")
    assert _answer(application, appointed("C01", "X01", "M01")) == "done"
    assert _answer(application, coded("C01", "X01", "M01")) == "done"
    assert _answer(application, coded("V01", "X01", "")) == "done"
    assert _answer(application, appointed("V01", "X01", "", "surveillance")) == "done"


def test_the_service_takes_people_on_only_until_people_do(staff: dict[str, Person]) -> None:
    def hired(badge: str) -> Person:
        with world.acting():
            return people.hire(
                badge=badge, display_name=badge, role="dealer", password="x" * 12, pin="481516"
            )

    assert hired("D08").is_active
    with pytest.raises(Refusal, match="forbidden"), world.acting(actor=people.principal_of(staff["X01"])):
        people.hire(badge="D09", display_name="x", role="dealer", password="x" * 12, pin="481516")
