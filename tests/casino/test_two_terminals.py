"""Two enrolled terminals at one table, over HTTP: a round is opened twice, a tablet is replaced, nothing is lost."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from audit.controls import Books, Scope, log_facts, recorded_events
from casino import rounds
from casino.models import Device, RefusedEvent, Round, RoundEvent
from tests.casino.floor import (
    BATCH,
    Floor,
    Teller,
    a_device,
    a_round_id,
    a_table,
    a_whole_round,
    bets,
    deals,
    opens,
    settled,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def floor() -> Floor:
    return a_table()


@pytest.fixture
def second(floor: Floor) -> Teller:
    return a_device(floor.table, "PD01-second")


def heard(teller: Teller, *sent: Any) -> list[str]:
    events = teller.posts(list(sent), content_type=BATCH).json()["events"]
    return [event.get("code") or event["outcome"] for event in events]


def nothing_is_lost(*told: tuple[Teller, list[dict[str, Any]]]) -> bool:
    """Everything sent is recorded as it was sent, or refused and kept by its number."""
    for teller, sent in told:
        for event in sent:
            number = {"device": teller.device.pk, "device_seq": int(event["sequence"])}
            stored = RoundEvent.objects.filter(**number).first()
            if stored is None:
                assert RefusedEvent.objects.filter(**number, claims=True).exists(), event
            else:
                assert (stored.kind, stored.payload) == (event["type"].split(".")[1], event["data"])
        assert Device.objects.get(pk=teller.device.pk).holes == []
    connection.ensure_connection()
    books = Books(reader=connection.connection, scope=Scope(None))
    sweeps = (
        recorded_events.events_without_holes,
        recorded_events.every_number_accounted_for,
        recorded_events.reported_by_its_tables_device,
        log_facts.sweep(log_facts.EVENTS),
        log_facts.sweep(log_facts.REFUSED),
        log_facts.stored_as_told,
    )
    assert [(one.subject, one.found) for sweep in sweeps for one in sweep(books)] == []
    return True


def of_the_round(round: UUID) -> list[tuple[str, str, int]]:
    return [(item.event.source, item.event.kind, item.event.seq) for item in rounds.recorded([round])[round]]


def test_the_winner_is_named_to_who_opens_the_number_second_and_again_whenever_asked(
    floor: Floor, second: Teller
) -> None:
    winner, loser = a_round_id(), a_round_id()
    floor.tablet.posts(opens(floor.tablet, winner, number=7))
    opening = opens(second, loser, number=7)

    answers = [second.posts(opening) for _ in range(2)]

    for answer in answers:
        assert (answer.status_code, answer.json()["code"], answer.json()["round"], answer.json()["number"]) == (
            409, "round_exists", str(winner), 7,
        )  # fmt: skip
    assert Round.objects.get(pk=loser).alias_of_id == winner


def test_everything_of_the_second_is_kept_beside_the_first(floor: Floor, second: Teller) -> None:
    winner, loser = a_round_id(), a_round_id()
    first, other = a_whole_round(floor.tablet, winner), a_whole_round(second, loser)
    interleaved = []
    for ours, theirs in zip(first, other, strict=True):
        interleaved.append((heard(floor.tablet, ours), heard(second, theirs)))

    assert interleaved == [(["recorded"], ["round_exists"]), *[(["recorded"], ["recorded"])] * 9]
    assert len(of_the_round(winner)) == 19
    assert {source for source, _, _ in of_the_round(winner)} == {"PD01-tablet", "PD01-second"}
    assert (Round.objects.get(pk=winner).standing, Round.objects.get(pk=loser).standing) == ("due", "")
    assert nothing_is_lost((floor.tablet, first), (second, other))


@pytest.mark.parametrize("before", [1, 2, 5, 9])
def test_whatever_of_the_second_came_before_its_opening_is_kept_too(
    before: int, floor: Floor, second: Teller
) -> None:
    winner, loser = a_round_id(), a_round_id()
    first, other = a_whole_round(floor.tablet, winner), a_whole_round(second, loser)
    heard(second, *other[1 : 1 + before])
    heard(floor.tablet, *first)

    answers = ["round_exists", *["duplicate"] * before, *["recorded"] * (9 - before)]
    assert heard(second, *other) == answers

    assert len(of_the_round(winner)) == 19
    assert nothing_is_lost((floor.tablet, first), (second, other))


def test_a_replaced_tablet_comes_back_with_its_queue_and_all_of_it_is_kept(
    floor: Floor, second: Teller
) -> None:
    """The first tablet dies in the round, the second takes over, the round is settled; then the first comes back."""
    round, later = a_round_id(), a_round_id()
    sent = a_whole_round(floor.tablet, round)
    lost = [*sent[4:], floor.tablet.says("note", round, text="still here")]
    heard(floor.tablet, *sent[:4])
    taken_over = [
        second.says("recorder_changed", round),
        *deals(second, round, "p1", "4D", first=2),
        *deals(second, round, "dealer", "KC", "6D"),
        second.says("round_closed", round),
        opens(second, later, number=2),
        bets(second, later),
    ]
    assert set(heard(second, *taken_over)) == {"recorded"}
    settled(round)

    assert set(heard(floor.tablet, *lost)) == {"recorded"}

    late = dict(RoundEvent.objects.filter(device=floor.tablet.device.pk).values_list("device_seq", "late"))
    assert late == {number: 4 < number < 11 for number in range(1, 12)}
    assert Round.objects.get(pk=round).standing == "settled"
    assert nothing_is_lost((floor.tablet, [*sent[:4], *lost]), (second, taken_over))


def test_a_replaced_tablets_own_next_round_is_an_alias_of_the_one_that_was_played(
    floor: Floor, second: Teller
) -> None:
    played, dreamt = a_round_id(), a_round_id()
    here = a_whole_round(second, played)
    heard(second, *here)
    settled(played)
    queue = a_whole_round(floor.tablet, dreamt)

    assert heard(floor.tablet, *queue) == ["round_exists", *["recorded"] * 9]

    assert Round.objects.get(pk=dreamt).alias_of_id == played
    assert [item.late for item in rounds.recorded([played])[played]] == [False] * 10 + [True] * 9
    assert nothing_is_lost((floor.tablet, queue), (second, here))
