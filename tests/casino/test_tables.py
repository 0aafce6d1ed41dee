"""A table's sessions: opened by two, watched, stopped, and closed when everything is accounted for."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import IntegrityError

from audit.models import LogEntry
from casino import tables
from casino.models import Duty, Person, Round, Table, TableSession
from casino.platform.refusals import Refusal
from tests.casino.floor import (
    NOW,
    Floor,
    a_person,
    a_round_id,
    a_table,
    a_whole_round,
    act,
    opens,
    settled,
    told,
)

pytestmark = pytest.mark.django_db


def close(floor: Floor, *, last_round: int, carried_over_by: tuple[Person, Person] | None = None) -> None:
    with act():
        tables.close(
            session=tables.lock_session(floor.table),
            last_round=last_round,
            carried_over_by=carried_over_by,
            now=NOW,
        )


def refused(
    floor: Floor, *, last_round: int, carried_over_by: tuple[Person, Person] | None = None
) -> Refusal:
    with pytest.raises(Refusal) as raised:
        close(floor, last_round=last_round, carried_over_by=carried_over_by)
    assert Table.objects.get(pk=floor.table.pk).state == "open"
    assert TableSession.objects.get(pk=floor.session.pk).closed_at is None
    return raised.value


def test_a_table_opens_with_a_dealer_and_a_supervisor_on_duty() -> None:
    floor = a_table()

    assert floor.table.state == "open"
    duties = Duty.objects.filter(session=floor.session, off_at=None).order_by("role")
    assert [(duty.role, duty.person) for duty in duties] == [
        ("dealer", floor.dealer), ("supervisor", floor.supervisor),
    ]  # fmt: skip
    entry = LogEntry.objects.get(action="table.opened")
    assert told(entry) == {
        "session": str(floor.session.id), "dealer": str(floor.dealer.id), "supervisor": str(floor.supervisor.id),
    }  # fmt: skip


def test_one_person_does_not_deal_and_watch_at_once() -> None:
    floor = a_table()
    close(floor, last_round=0)
    with pytest.raises(Refusal, match="sod_violation"), act():
        tables.open(table=floor.table, dealer=floor.dealer, supervisor=floor.dealer, now=NOW)
    with act():
        session = tables.open(table=floor.table, dealer=floor.dealer, supervisor=floor.supervisor, now=NOW)
    with pytest.raises(Refusal, match="sod_violation"), act():
        tables.relieve(session=session, role="supervisor", person=floor.dealer, now=NOW)


def test_an_open_table_is_not_opened_again() -> None:
    floor = a_table()
    with pytest.raises(Refusal, match="table_open"), act():
        tables.open(table=floor.table, dealer=a_person("dealer"), supervisor=a_person("supervisor"), now=NOW)
    with pytest.raises(IntegrityError):
        TableSession.objects.create(id=a_round_id(), table=floor.table, opened_at=NOW)


def test_a_table_stops_with_a_reason_and_goes_on() -> None:
    floor = a_table()

    with act():
        tables.stop(table=floor.table, reason="count_deck")
    stopped = Table.objects.get(pk=floor.table.pk)
    assert (stopped.state, stopped.stop_reason) == ("stopped", "count_deck")
    with pytest.raises(Refusal, match="table_stopped"), act():
        tables.stop(table=floor.table, reason="investigation")

    with act():
        tables.resume(table=floor.table)
    resumed = Table.objects.get(pk=floor.table.pk)
    assert (resumed.state, resumed.stop_reason) == ("open", "")


def test_a_closed_table_neither_stops_nor_goes_on() -> None:
    floor = a_table()
    close(floor, last_round=0)
    with pytest.raises(Refusal, match="table_closed"), act():
        tables.stop(table=floor.table, reason="count_deck")
    with pytest.raises(Refusal, match="table_closed"), act():
        tables.resume(table=floor.table)


def test_what_is_dealt_at_a_stopped_table_is_recorded_all_the_same() -> None:
    floor = a_table()
    with act():
        tables.stop(table=floor.table, reason="count_deck")
    assert set(floor.tablet.hears(*a_whole_round(floor.tablet, a_round_id()))) == {"recorded"}


def test_a_table_closes_when_every_round_is_settled_or_voided() -> None:
    floor, first, second = a_table(), a_round_id(), a_round_id()
    floor.tablet.hears(*a_whole_round(floor.tablet, first), *a_whole_round(floor.tablet, second, number=2))
    settled(first)
    settled(second, standing="voided")

    close(floor, last_round=2)

    session = TableSession.objects.get(pk=floor.session.pk)
    assert (session.closed_at, session.last_round) == (NOW, 2)
    assert Table.objects.get(pk=floor.table.pk).state == "closed"
    assert not Duty.objects.filter(session=session, off_at=None).exists()


@pytest.mark.parametrize("standing", ["", "due"])
def test_a_table_does_not_close_over_a_round_that_is_played_or_waits_to_be_settled(standing: str) -> None:
    floor, round = a_table(), a_round_id()
    floor.tablet.hears(opens(floor.tablet, round))
    settled(round, standing=standing)

    refusal = refused(floor, last_round=1, carried_over_by=(a_person("supervisor"), a_person("manager")))

    assert (refusal.code, refusal.extra) == ("rounds_unfinished", {"rounds": [1]})


def test_held_rounds_are_carried_over_by_two_people_by_name() -> None:
    floor, round = a_table(), a_round_id()
    floor.tablet.hears(*a_whole_round(floor.tablet, round))
    settled(round, standing="held", reasons=["reads_differ"])

    assert refused(floor, last_round=1).extra == {"rounds": [1]}
    twice = (floor.supervisor, floor.supervisor)
    assert refused(floor, last_round=1, carried_over_by=twice).code == "sod_violation"

    manager = a_person("manager")
    close(floor, last_round=1, carried_over_by=(floor.supervisor, manager))

    assert Round.objects.get(pk=round).standing == "held"
    facts = told(LogEntry.objects.get(action="table.closed"))
    assert facts["held"] == [str(round)]
    assert facts["carried_over_by"] == [str(floor.supervisor.id), str(manager.id)]


def test_a_table_does_not_close_over_missing_numbers_of_its_devices() -> None:
    floor = a_table()
    round = a_round_id()
    floor.tablet.hears(opens(floor.tablet, round) | {"sequence": "3"})
    settled(round)

    refusal = refused(floor, last_round=1)

    assert (refusal.code, refusal.extra) == ("device_numbers_missing", {"devices": {"PD01-tablet": [[1, 2]]}})


@pytest.mark.parametrize("stated", [0, 1, 3])
def test_the_last_round_stated_is_the_last_recorded_or_the_table_stays_open(stated: int) -> None:
    floor = a_table()
    for number in (1, 2):
        round = a_round_id()
        floor.tablet.hears(opens(floor.tablet, round, number=number))
        settled(round)

    refusal = refused(floor, last_round=stated)

    assert (refusal.code, refusal.extra) == ("last_round_differs", {"recorded": 2})


def test_a_table_that_never_opened_has_no_session_to_close() -> None:
    with act():
        table = tables.add(code="PD07", currency="THB", camera=False)
    with pytest.raises(Refusal, match="table_closed"), act():
        tables.lock_session(table)


@pytest.mark.parametrize("code", ["PD99", "", "pd01", "\0", "PD01\n", "x" * 1000])
def test_a_table_that_does_not_exist_is_not_found(code: str) -> None:
    a_table()
    with pytest.raises(Refusal, match="not_found"):
        tables.of_code(code)


def test_duties_follow_one_another_without_a_gap() -> None:
    floor, relief = a_table(), a_person("dealer")
    moment = NOW + timedelta(minutes=20)
    with act(now=moment):
        tables.relieve(session=floor.session, role="dealer", person=relief, now=moment)

    dealt = Duty.objects.filter(session=floor.session, role="dealer").order_by("on_at")
    assert [(duty.person, duty.off_at) for duty in dealt] == [(floor.dealer, moment), (relief, None)]
    assert dealt[1].on_at == moment
