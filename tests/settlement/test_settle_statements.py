"""One round or a hundred, few wagers or many: the same statements."""

from __future__ import annotations

from uuid import UUID

import pytest

from tests.casino.telling import TWO_HANDS
from tests.settlement import floor
from tests.settlement.books import statements
from tests.settlement.floor import AtTable, a_table, a_wallet, covered, outcome, settled

pytestmark = pytest.mark.django_db

WON = TWO_HANDS + "close"


def counted(*ids: UUID) -> int:
    seen: list[str] = []
    with statements(seen):
        settled(*ids)
    return len(seen)


def a_warm_table(**options: object) -> AtTable:
    """A table whose sheet this process has read and whose accounts are there."""
    table = a_table(**options)  # type: ignore[arg-type]
    outcome(table.tell(WON))
    return table


def test_a_round_takes_thirteen_statements_and_a_hundred_take_thirteen() -> None:
    table = a_warm_table()
    ids = [table.tell(WON) for _ in range(101)]

    assert [counted(ids[0]), counted(*ids[1:])] == [13, 13]


def test_rounds_of_six_tables_take_no_more() -> None:
    tables = [a_warm_table(code=f"PD0{number}") for number in range(1, 7)]

    assert counted(*[table.tell(WON) for table in tables for _ in range(3)]) == 13


def test_wallets_holds_and_what_is_missing_take_one_more() -> None:
    """Ending holds is the fourteenth, for one or for fifty; a shortfall and what was uncovered take none."""
    table = a_warm_table()
    a_wallet("A17", 100_000)
    a_wallet("B08", 350)
    lost = "lock\np1 9S 8D\ndealer 7C 7D\ndealer draws\ndealer.3 7H\nclose"
    outcome(table.tell("bet w1 p1 100 account=player:A17\n" + lost))
    ids = []
    for _ in range(20):
        round_id = table.tell("bet w1 p1 100 account=player:A17\nbet w2 p1 10 account=player:B08")
        covered(round_id)
        ids.append(table.tell("bet w3 p1 50 account=player:B08\n" + lost, round=round_id))

    assert counted(*ids[:1]) == counted(*ids[1:]) == 14
    assert floor.holds() == {}
    assert floor.money()[table.shortfall] < 0


def test_held_and_waiting_rounds_take_less() -> None:
    table = a_warm_table()
    held = [table.tell("bet w1 p1 100\nlock\nclose") for _ in range(10)]
    waiting = [table.tell("bet w1 p1 100") for _ in range(10)]

    assert (counted(*held), counted(*waiting)) == (9, 6)


def test_asking_for_finished_rounds_takes_two() -> None:
    table = a_warm_table()
    ids = [table.tell(WON) for _ in range(5)]
    settled(*ids)

    assert counted(*ids) == 2


def test_a_process_that_never_met_the_sheet_reads_it_once() -> None:
    table = a_table()
    first, second = table.tell(WON), table.tell(WON)

    assert (counted(first), counted(second)) == (14, 13)


def test_recording_a_round_takes_nine_statements_and_recording_twenty_takes_nine() -> None:
    table = a_warm_table()
    few, many = reports_of(table, 1), reports_of(table, 20)
    seen: list[list[str]] = [[], []]

    for reports, found in zip((few, many), seen, strict=True):
        with statements(found):
            table.send(reports)

    assert [len(found) for found in seen] == [9, 9]


def reports_of(table: AtTable, rounds: int) -> list[floor.Report]:
    last = table.devices["tablet"].last_seq
    reports = []
    for _ in range(rounds):
        round_id = floor.a_round_id(len(table.told))
        table.told.append(round_id)
        for event in floor.telling.events_of(WON)[0]:
            last += 1
            data = dict(event.data) | ({"number": len(table.told)} if event.kind == "round_opened" else {})
            reports.append(floor.a_report(last, event.kind, round_id, data))
    table.devices["tablet"].last_seq = last
    return reports


def test_a_preview_takes_six_statements_and_writes_nothing() -> None:
    table = a_warm_table()
    round_id = table.tell(TWO_HANDS)
    seen: list[str] = []

    with statements(seen):
        floor.settling.preview(round_id)

    assert len(seen) <= 6
    assert not [one for one in seen if "INSERT" in one or "UPDATE" in one or "DELETE" in one]


def test_covering_a_round_takes_the_same_statements_for_one_wager_and_for_nine() -> None:
    table = a_warm_table()
    for seat in range(1, 10):
        a_wallet(f"A{seat}", 1_000)
    one = table.tell("bet w1 p1 10 account=player:A1")
    nine = table.tell("\n".join(f"bet w{seat} p{seat} 10 account=player:A{seat}" for seat in range(1, 10)))
    seen: list[list[str]] = [[], []]

    for round_id, found in zip((one, nine), seen, strict=True):
        with statements(found):
            covered(round_id)

    assert [len(found) for found in seen] == [11, 11]
