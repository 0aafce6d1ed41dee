"""The same reports sent twice at once are recorded once; a number is opened by one terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest

from casino import devices, rounds
from casino.models import Device, Round, RoundEvent
from casino.rounds import Report
from tests.casino.telling import TWO_HANDS, events_of
from tests.races import together
from tests.races.together import Unlocked, act
from tests.settlement import floor
from tests.settlement.floor import LATER, NOW, AtTable, a_table, outcome

pytestmark = pytest.mark.django_db(transaction=True)

WON = TWO_HANDS + "close"


def reports_of(round_id: UUID, text: str = WON, *, first: int = 1) -> list[Report]:
    return [
        floor.a_report(
            place, event.kind, round_id, dict(event.data) | ({"number": 1} if "number" in event.data else {})
        )
        for place, event in enumerate(events_of(text)[0], first)
    ]


def sent(device: Device, reports: Sequence[Report]) -> Any:
    """A request with these reports: what became of all of them, or of each where that differs."""

    def do() -> Any:
        answers = [
            answer.code or answer.outcome
            for answer in rounds.append(device=device, reports=reports, sent_at=NOW)
        ]
        return answers[0] if len(set(answers)) == 1 else answers

    return act(do)


# -- the same batch twice --------------------------------------------------------------------------------------


def the_same_batch_twice(*, unlocked: Unlocked | None) -> tuple[list[Any], AtTable, UUID]:
    """The first has looked which of its numbers are known when the second begins."""
    table = a_table()
    round_id = floor.a_round_id(1)
    send = sent(table.devices["tablet"], reports_of(round_id))
    return (
        together.at_once(send, send, behind="FROM casino_refusedevent", unlocked=unlocked),
        table,
        round_id,
    )


def test_control_without_the_locks_of_device_and_session_one_of_two_batches_fails() -> None:
    answers, _, _ = the_same_batch_twice(unlocked=Unlocked(("casino_device", "casino_tablesession s")))

    assert answers == ["IntegrityError", "recorded"]


def test_the_same_batch_twice_at_once_is_recorded_once() -> None:
    answers, table, round_id = the_same_batch_twice(unlocked=None)

    assert answers == ["recorded", "duplicate"]
    assert RoundEvent.objects.count() == len(reports_of(round_id))
    assert list(RoundEvent.objects.order_by("seq").values_list("seq", flat=True)) == list(
        range(1, RoundEvent.objects.count() + 1)
    )
    assert outcome(round_id) == "settled"
    assert floor.money() == {table.bank: -100_00, table.guests: 100_00}


def test_fifty_times_the_same_batch_at_once_is_recorded_once() -> None:
    table = a_table()
    round_id = floor.a_round_id(1)
    send = sent(table.devices["tablet"], reports_of(round_id))

    answers = [answer for _ in range(5) for answer in together.all_at_once([send] * 10)]

    assert Counter(answers) == {"recorded": 1, "duplicate": 49}
    assert RoundEvent.objects.count() == len(reports_of(round_id))


def test_batches_that_overlap_record_every_number_once() -> None:
    """A tablet that lost its connection sends again from the middle on, over another one."""
    table = a_table()
    round_id = floor.a_round_id(1)
    reports = reports_of(round_id)
    pieces = [reports[:4], reports[2:], reports, reports[3:6], reports[5:]]

    together.all_at_once([sent(table.devices["tablet"], piece) for piece in pieces])

    assert list(RoundEvent.objects.order_by("device_seq").values_list("device_seq", flat=True)) == list(
        range(1, len(reports) + 1)
    )
    tablet = Device.objects.get(pk=table.devices["tablet"].pk)
    assert (tablet.last_seq, tablet.holes) == (len(reports), [])
    assert outcome(round_id) == "settled"


# -- one number, two terminals ---------------------------------------------------------------------------------


def two_terminals_open_one_number(*, unlocked: Unlocked | None) -> tuple[list[Any], list[UUID]]:
    """The first has seen that the number is free when the second begins."""
    table = a_table()
    with floor.act():
        spare, _ = devices.enrol(code="PD01-spare", kind="terminal", table=table.table, now=NOW)
    ids = [floor.a_round_id(1), floor.a_round_id(2)]
    answers = together.at_once(
        sent(table.devices["tablet"], reports_of(ids[0], "open")),
        sent(spare, reports_of(ids[1], "open")),
        behind="number = ANY(",
        unlocked=unlocked,
    )
    return answers, ids


def test_control_without_the_lock_of_the_session_one_of_two_openings_fails() -> None:
    answers, _ = two_terminals_open_one_number(unlocked=Unlocked(("casino_tablesession s",)))

    assert answers == ["IntegrityError", "recorded"]


def test_one_number_opened_by_two_terminals_at_once_is_the_round_of_the_first() -> None:
    answers, (first, second) = two_terminals_open_one_number(unlocked=None)

    assert answers == ["recorded", "round_exists"]
    assert list(Round.objects.filter(number=1, alias_of=None).values_list("id", flat=True)) == [first]
    assert Round.objects.get(pk=second).alias_of_id == first


# -- reports against a settlement ------------------------------------------------------------------------------


def a_report_while_the_round_is_settled(*, unlocked: Unlocked | None) -> tuple[list[Any], UUID]:
    """The settlement has read the round's events when a ruling of its card comes in."""
    table = a_table()
    round_id = floor.a_round_id(1)
    with floor.act():
        rounds.append(device=table.devices["tablet"], reports=reports_of(round_id), sent_at=NOW)
    last = len(reports_of(round_id))
    ruling = {"hand": "dealer", "position": 2, "card": "8D", "reason": "seen on video"}
    answers = together.at_once(
        act(lambda: floor.settling.settle_rounds([round_id])[0].outcome),
        sent(table.devices["tablet"], [floor.a_report(last + 1, "card_ruled", round_id, ruling)]),
        behind="FROM casino_roundevent e",
        unlocked=unlocked,
    )
    return answers, round_id


def test_control_without_the_lock_of_the_round_a_ruling_in_time_is_not_judged() -> None:
    """The ruling counts as in time, the round is settled without it, and nobody is told."""
    answers, round_id = a_report_while_the_round_is_settled(
        unlocked=Unlocked(("casino_round", "casino_round r"))
    )

    assert answers == ["settled", "recorded"]
    assert RoundEvent.objects.get(round=round_id, kind="card_ruled").late is False
    assert floor.lines_of(round_id) == {"w1": 100_00}


def test_a_ruling_that_comes_while_the_round_is_settled_is_late() -> None:
    answers, round_id = a_report_while_the_round_is_settled(unlocked=None)

    assert answers == ["settled", "recorded"]
    assert RoundEvent.objects.get(round=round_id, kind="card_ruled").late is True
    assert outcome(round_id, now=LATER) == "settled"
