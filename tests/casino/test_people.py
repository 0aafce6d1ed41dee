"""Who may do what, and how the house knows that it is they."""

from __future__ import annotations

import pytest

from audit.models import LogEntry
from casino import devices, keys, people, tables
from casino.events import NOBODY, SERVICE
from casino.models import Duty, Person, Role, Signature
from casino.people import DUTY, RIGHTS
from casino.platform.refusals import Refusal
from tests.casino.floor import NOW, PASSWORD, PIN, a_person, a_table, act, statements

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
