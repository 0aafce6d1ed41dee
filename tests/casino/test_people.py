"""Who may do what, and how the house knows that it is they."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.db import connection
from django.test import override_settings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.models import LogEntry
from casino import devices, keys, people, tables
from casino.events import NOBODY, SERVICE
from casino.models import Duty, Person, Role, Signature, WrongTries
from casino.people import DUTY, RIGHTS, TRIES, TRY_WINDOW
from casino.refusals import Refusal
from tests.casino.floor import NOW, PASSWORD, PIN, a_person, a_table, act, statements
from tests.settlement.books import taken_back

# -- rights -------------------------------------------------------------------------------------------------


def test_rights_are_held_by_roles_of_the_house_and_by_nobody_else() -> None:
    known = {*Role.values, "terminal", "camera", keys.ROLE}
    assert {role for held in RIGHTS.values() for role in held} <= known
    assert all(RIGHTS[right].get("terminal") in (None, people.OWN) for right in RIGHTS)
    assert all(RIGHTS[right].get("camera") in (None, people.OWN) for right in RIGHTS)
    assert all(RIGHTS[right].get(keys.ROLE) in (None, people.KEY) for right in RIGHTS)


def test_nobody_and_the_service_hold_no_right_by_themselves() -> None:
    for right in RIGHTS:
        assert people.scope_of(NOBODY, right) is None
        assert people.scope_of(SERVICE, right) is None


def test_who_grants_rights_neither_reads_nor_moves_money() -> None:
    held = {right for right, roles in RIGHTS.items() if "administrator" in roles}
    assert not held & {
        "settle",
        "correct",
        "float",
        "read_ledger",
        "approve_sheet",
        "propose_sheet",
        "read_rounds",
    }


def test_who_watches_or_audits_moves_nothing_at_a_table() -> None:
    moves = {
        "record_events",
        "settle",
        "correct",
        "float",
        "stop_table",
        "change_duty",
        "waive_gap",
        "approve_sheet",
    }
    for role in ("surveillance", "auditor"):
        assert not {right for right, roles in RIGHTS.items() if role in roles} & moves


def test_a_stranger_is_asked_to_sign_in_and_a_member_of_staff_is_told_no() -> None:
    with pytest.raises(Refusal, match="not_signed_in"):
        people.require(NOBODY, "settle")
    cashier = people.principal_of(Person(badge="C01", role="cashier"))
    with pytest.raises(Refusal, match="forbidden"):
        people.require(cashier, "settle")


def test_a_right_nobody_defined_is_a_fault_of_ours() -> None:
    with pytest.raises(KeyError):
        people.require(SERVICE, "do_anything")


@pytest.mark.django_db
def test_a_right_on_duty_holds_at_the_table_one_watches_and_ends_with_the_duty() -> None:
    here, there = a_table("PD01"), a_table("PD02")
    supervisor = people.principal_of(here.supervisor)

    def tables_of_hers() -> list[bool]:
        return [people.may_at(supervisor, "stop_table", table.id) for table in (here.table, there.table)]

    assert tables_of_hers() == [True, False]
    assert people.tables_in_scope(supervisor, "stop_table") == [here.table.id]
    with pytest.raises(Refusal, match="not_found"):
        people.require_at(supervisor, "stop_table", there.table.id)

    with act():
        tables.relieve(session=here.session, role="supervisor", person=a_person("supervisor"), now=NOW)
    assert tables_of_hers() == [False, False]
    assert people.tables_in_scope(supervisor, "stop_table") == []


@pytest.mark.django_db
def test_a_right_on_duty_ends_when_the_table_closes() -> None:
    floor = a_table()
    dealer = people.principal_of(floor.dealer)
    assert people.may_at(dealer, "read_rounds", floor.table.id)

    with act():
        tables.close(session=floor.session, last_round=0, carried_over_by=None, now=NOW)

    assert not people.may_at(dealer, "read_rounds", floor.table.id)


@pytest.mark.django_db
def test_a_device_has_its_rights_at_its_own_table_alone() -> None:
    here, there = a_table("PD01"), a_table("PD02")
    tablet = devices.principal_of(here.tablet.device)
    held = [people.may_at(tablet, "settle", table.id) for table in (here.table, there.table)]
    assert held == [True, False]
    assert people.tables_in_scope(tablet, "read_tables") == [here.table.id]


@pytest.mark.django_db
def test_a_right_without_bounds_asks_the_database_for_nothing() -> None:
    floor = a_table()
    manager = people.principal_of(a_person("manager"))
    with statements() as ran:
        assert people.may_at(manager, "settle", floor.table.id)
        assert people.tables_in_scope(manager, "settle") is None
    assert ran == []


@pytest.mark.django_db
@pytest.mark.parametrize("right", [right for right, held in RIGHTS.items() if DUTY in held.values()])
def test_whoever_needs_duty_finds_nothing_without_it(right: str) -> None:
    floor = a_table()
    for role, scope in RIGHTS[right].items():
        if scope is DUTY:
            idle = people.principal_of(a_person(role))
            with pytest.raises(Refusal, match="not_found"):
                people.require_at(idle, right, floor.table.id)


# -- secrets ------------------------------------------------------------------------------------------------


def tried(
    badge: str, secret: str, *, at: str = "PD01-tablet", with_pin: bool = True, later: float = 0
) -> str:
    """What comes of a try: the badge of who was known, or the code of the refusal."""
    try:
        now = NOW + timedelta(seconds=later)
        return people.check_secret(badge=badge, secret=secret, with_pin=with_pin, at=at, now=now).badge
    except Refusal as refusal:
        return refusal.code


@pytest.mark.django_db
def test_a_badge_and_its_pin_are_known_and_nothing_else_is() -> None:
    a_person("supervisor", "S01", pin=PIN, password=PASSWORD)
    a_person("dealer", "D01")  # has no PIN yet

    assert tried("S01", PIN) == "S01"
    assert tried("S01", PASSWORD, with_pin=False) == "S01"
    wrong = [
        tried("S01", PASSWORD), tried("S02", PIN), tried("S01", "", at="x"), tried("D01", "!", at="x"),
        tried("D01", "", at="x"), tried("", "", at="y"), tried("s01", PIN, at="y"),
    ]  # fmt: skip
    assert set(wrong) == {"wrong_secret"}
    assert tried("S01", PIN, with_pin=False, at="z") == "wrong_secret"


@pytest.mark.django_db
def test_a_disabled_person_is_known_no_more() -> None:
    person = a_person("supervisor", "S01", pin=PIN)
    Person.objects.filter(pk=person.pk).update(is_active=False)
    assert tried("S01", PIN) == "wrong_secret"


@pytest.mark.django_db
def test_after_five_wrong_pins_the_right_one_waits_too() -> None:
    a_person("supervisor", "S01", pin=PIN)

    assert [tried("S01", "000000", at=f"tablet-{n}") for n in range(6)] == ["wrong_secret"] * 5 + [
        "too_many_tries"
    ]
    assert tried("S01", PIN, at="elsewhere") == "too_many_tries"

    assert tried("S01", PIN, later=TRY_WINDOW.total_seconds() + 1) == "S01"


@pytest.mark.django_db
def test_five_wrong_pins_at_one_place_lock_that_place_whoever_they_name() -> None:
    a_person("supervisor", "S01", pin=PIN)
    assert [tried(f"S{n:02}", "000000") for n in range(2, 8)] == ["wrong_secret"] * 5 + ["too_many_tries"]
    assert [tried("S01", PIN), tried("S01", PIN, at="another")] == ["too_many_tries", "S01"]


class Counting(Argon2PasswordHasher):
    """Argon2 that counts how often it worked out a hash."""

    hashes = 0

    def encode(self, password: str, salt: str) -> str:
        Counting.hashes += 1
        return super().encode(password, salt)

    def verify(self, password: str, encoded: str) -> bool:
        Counting.hashes += 1
        return super().verify(password, encoded)


@pytest.mark.django_db
def test_an_unknown_badge_costs_as_much_as_a_wrong_pin() -> None:
    a_person("supervisor", "S01", pin=PIN)
    a_person("dealer", "D01")  # has no PIN yet
    costs = []
    with override_settings(PASSWORD_HASHERS=[f"{__name__}.Counting"]):
        for badge in ("S01", "D01", "X99"):
            before = Counting.hashes
            assert tried(badge, "000000", at=badge) == "wrong_secret"
            costs.append(Counting.hashes - before)
    assert costs == [1, 1, 1]


@pytest.mark.django_db
def test_one_is_told_how_long_to_wait() -> None:
    for _ in range(5):
        tried("S01", "000000")
    with pytest.raises(Refusal) as raised:
        people.check_secret(badge="S01", secret=PIN, with_pin=True, at="x", now=NOW + timedelta(seconds=100))
    assert raised.value.extra == {"retry_after": 200}


@pytest.mark.django_db
def test_nobody_is_locked_out_for_ever_by_trying_on() -> None:
    a_person("supervisor", "S01", pin=PIN)
    for second in range(60):
        tried("S01", "000000", later=second * 5)
    assert tried("S01", PIN, at="x", later=301) == "S01"


@pytest.mark.django_db
def test_a_right_secret_costs_no_try() -> None:
    a_person("supervisor", "S01", pin=PIN)
    for _ in range(4):
        tried("S01", "000000")

    assert [tried("S01", PIN) for _ in range(20)] == ["S01"] * 20
    assert [tried("S01", "000000"), tried("S01", PIN)] == ["wrong_secret", "too_many_tries"]


@pytest.mark.django_db
def test_a_right_secret_begins_no_window_for_the_wrong_ones_that_follow() -> None:
    a_person("supervisor", "S01", pin=PIN)
    tried("S01", PIN)
    for _ in range(5):
        tried("S01", "000000", later=299)
    assert tried("S01", PIN, later=310) == "too_many_tries"


@pytest.mark.django_db
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    tries=st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), st.booleans(), st.integers(0, 100)),
        max_size=15,
    )
)
def test_no_more_than_five_wrong_secrets_are_looked_at_in_any_window(
    tries: list[tuple[str, str, bool, int]],
) -> None:
    """Against a list of the failures of each badge and place, and when their windows end."""
    windows: dict[str, tuple[int, int]] = {}
    now = 0
    with taken_back():
        for name in "ab":
            a_person("supervisor", name, pin=PIN)
        for badge, place, right, pause in tries:
            now += pause
            keys = (f"badge:{badge}", f"at:{place}")
            open_windows = {key: windows[key] for key in keys if key in windows and windows[key][1] > now}
            exhausted = any(count >= TRIES for count, _ in open_windows.values())
            expected = "too_many_tries" if exhausted else badge if right else "wrong_secret"

            assert tried(badge, PIN if right else "0", at=place, later=now) == expected

            if expected == "wrong_secret":
                for key in keys:
                    count, ends = open_windows.get(key, (0, now + 300))
                    windows[key] = (count + 1, ends)


@pytest.mark.django_db(transaction=True)
def test_of_forty_tries_at_once_five_are_looked_at() -> None:
    a_person("supervisor", "S01", pin=PIN)
    outcomes: list[str] = []
    start = threading.Barrier(8)

    def guess(worker: int) -> None:
        start.wait()
        outcomes.extend(tried("S01", f"{worker}{n}", at=f"tablet-{worker}") for n in range(5))
        connection.close()

    threads = [threading.Thread(target=guess, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(outcomes) == ["too_many_tries"] * 35 + ["wrong_secret"] * 5
    assert WrongTries.objects.get(pk="badge:S01").count == 5
    assert sum(WrongTries.objects.filter(pk__startswith="at:").values_list("count", flat=True)) == 5


# -- sign-offs and duty -------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_whose_sign_off_counts_is_decided_by_who_is_on_duty_when_it_is_given() -> None:
    here, there = a_table("PD01"), a_table("PD02")
    counts = {
        person: people.may_rule(person, here.session)
        for person in (
            here.supervisor, there.supervisor, here.dealer, a_person("manager"), a_person("auditor"),
            a_person("administrator"), a_person("surveillance"),
        )
    }  # fmt: skip
    assert [person.role for person, may in counts.items() if may] == ["supervisor", "manager"]
    assert counts[here.supervisor]

    with act():
        given = people.sign(
            person=here.supervisor,
            device=here.tablet.device,
            session=here.session,
            sha256=b"\1" * 32,
            now=NOW,
        )
        tables.relieve(session=here.session, role="supervisor", person=a_person("supervisor"), now=NOW)
    assert Signature.objects.get(pk=given.pk).may_rule


@pytest.mark.django_db
def test_a_sign_off_is_witnessed_with_its_hash_and_who_gave_it() -> None:
    floor = a_table()
    with act():
        people.sign(
            person=floor.supervisor,
            device=floor.tablet.device,
            session=floor.session,
            sha256=b"\1" * 32,
            now=NOW,
        )
    entry = LogEntry.objects.get(action="signature.given")
    assert (entry.person, entry.table_code) == (floor.supervisor.id, "PD01")


def test_one_person_does_not_stand_for_two() -> None:
    dealer, supervisor = Person(badge="D01"), Person(badge="S01")
    people.different(dealer.id, supervisor.id, None, None)
    with pytest.raises(Refusal, match="sod_violation"):
        people.different(dealer.id, supervisor.id, dealer.id)


@pytest.mark.django_db
def test_who_is_on_duty_is_who_came_last() -> None:
    floor, relief = a_table(), a_person("dealer")
    with act(now=NOW):
        tables.relieve(session=floor.session, role="dealer", person=relief, now=NOW)

    found = people.on_duty(floor.session)
    assert (found.dealer, found.supervisor) == (relief.id, floor.supervisor.id)
    assert Duty.objects.get(person=floor.dealer).off_at == NOW


@pytest.mark.django_db
def test_a_new_member_of_staff_is_kept_by_hashes_alone_and_witnessed_without_a_name() -> None:
    with act():
        person = people.hire(
            badge="S07",
            display_name="Somsri",
            role="supervisor",
            password=PASSWORD,
            pin=PIN,
            permissions=("counter",),
        )

    assert (PIN in person.pin, PASSWORD in person.password) == (False, False)
    assert person.has_duty("counter")
    assert not person.has_duty("see_expected")
    entry = LogEntry.objects.get(action="person.created")
    for secret in (PIN, PASSWORD, "Somsri"):
        assert secret.encode() not in bytes(entry.bytes)
