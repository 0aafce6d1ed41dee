"""Devices, the numbers they give to what they report, and the rounds that a missing number could touch."""

from __future__ import annotations

import hashlib
import itertools
from typing import Any

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.models import LogEntry
from casino import devices, rounds
from casino.models import Device, GapWaiver, Round
from casino.platform.refusals import Refusal
from casino.record import Gap
from tests.casino.floor import (
    NOW,
    Floor,
    a_device,
    a_person,
    a_round_id,
    a_table,
    a_whole_round,
    act,
    deals,
    opens,
    settled,
    statements,
)
from tests.settlement.books import taken_back
from tests.settlement.cage import AtCage

# -- numbers, as arithmetic ---------------------------------------------------------------------------------

NUMBERS = st.lists(st.lists(st.integers(1, 40), max_size=8), max_size=8)
"""Batches of numbers as they arrive: in any order, again and again, with holes."""


def heard(batches: list[list[int]]) -> tuple[int, list[devices.Range]]:
    last: int = 0
    holes: list[devices.Range] = []
    for batch in batches:
        last, holes = devices.claim(last_seq=last, holes=holes, numbers=batch)
    return last, holes


@given(batches=NUMBERS)
def test_what_is_missing_is_whatever_lies_below_the_highest_number_and_never_came(
    batches: list[list[int]],
) -> None:
    came = {number for batch in batches for number in batch}
    last, holes = heard(batches)

    assert last == max(came, default=0)
    assert [n for first, end in holes for n in range(first, end + 1)] == sorted(
        set(range(1, last + 1)) - came
    )


@given(batches=NUMBERS)
def test_holes_are_ranges_in_order_that_do_not_touch(batches: list[list[int]]) -> None:
    _, holes = heard(batches)
    assert all(first <= end for first, end in holes)
    assert all(one[1] + 1 < other[0] for one, other in itertools.pairwise(holes))


@given(batches=NUMBERS, cut=st.randoms(use_true_random=False))
def test_how_numbers_were_cut_into_batches_does_not_show(batches: list[list[int]], cut: Any) -> None:
    numbers = [number for batch in batches for number in batch]
    cut.shuffle(numbers)
    assert heard([[number] for number in numbers]) == heard(batches)


@given(batches=NUMBERS, late=st.lists(st.integers(1, 40), max_size=5))
def test_a_number_that_came_or_was_waived_makes_no_new_hole_when_it_comes_again(
    batches: list[list[int]], late: list[int]
) -> None:
    last, _ = heard(batches)
    known = [number for number in late if number <= last]
    assert devices.claim(last_seq=last, holes=[], numbers=known) == (last, [])


# -- enrolment ----------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_devices_token_is_shown_once_and_kept_as_a_hash() -> None:
    floor = a_table()
    token = floor.tablet.token

    assert token.startswith("pdd_")
    assert len(token) > 40
    assert bytes(floor.tablet.device.token_sha256) == hashlib.sha256(token.encode()).digest()
    assert devices.authenticate(token, now=NOW) == floor.tablet.device
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM audit_logentry WHERE position(%s in encode(bytes, 'escape')) > 0", [token]
        )
        assert cursor.fetchone() == (0,)


@pytest.mark.django_db
@pytest.mark.parametrize("token", ["", "pdd_", "pdd_wrong", "nonsense"])
def test_a_token_that_was_never_given_is_refused(token: str) -> None:
    a_table()
    with pytest.raises(Refusal, match="invalid_token"):
        devices.authenticate(token, now=NOW)


@pytest.mark.django_db
def test_a_revoked_device_is_a_stranger_at_its_next_request() -> None:
    floor = a_table()
    with act():
        devices.revoke(device=floor.tablet.device, now=NOW)

    with pytest.raises(Refusal, match="invalid_token"):
        devices.authenticate(floor.tablet.token, now=NOW)
    assert LogEntry.objects.filter(action="device.revoked").count() == 1


@pytest.mark.django_db
def test_an_administrator_revokes_a_device_over_http() -> None:
    floor = a_table()
    desk = AtCage(a_person("administrator"))

    answer = desk.asks("POST", f"devices/{floor.tablet.device.id}/revoke", {}, key=None)

    assert (answer.status_code, answer.json()["id"]) == (200, str(floor.tablet.device.id))
    assert floor.tablet.posts(opens(floor.tablet, a_round_id())).status_code == 401
    assert LogEntry.objects.filter(action="device.revoked").count() == 1


@pytest.mark.django_db
def test_a_device_enrolled_anew_counts_from_one() -> None:
    floor, round = a_table(), a_round_id()
    floor.tablet.hears(*a_whole_round(floor.tablet, round))
    anew = a_device(floor.table, "PD01-tablet-2")

    assert anew.hears(*deals(anew, round, "p1", "3S")) == ["recorded"]


# -- waiving ------------------------------------------------------------------------------------------------


def waive(floor: Floor, first: int, last: int) -> list[list[int]]:
    with act():
        devices.waive(
            device=floor.tablet.device,
            first=first,
            last=last,
            person=floor.supervisor,
            reason="lost",
            now=NOW,
        )
    return list(Device.objects.get(pk=floor.tablet.device.pk).holes)


@pytest.mark.django_db
def test_waived_numbers_are_missing_no_more_and_their_neighbours_still_are() -> None:
    floor = a_table()
    floor.tablet.hears(floor.tablet.says("note", a_round_id(), seq=10, text="so"))

    assert waive(floor, 4, 6) == [[1, 3], [7, 9]]
    assert waive(floor, 1, 3) == [[7, 9]]
    assert waive(floor, 9, 9) == [[7, 8]]
    kept = GapWaiver.objects.order_by("id").values_list("first", "last", "person", "reason")
    assert list(kept) == [
        (first, last, floor.supervisor.id, "lost") for first, last in [(4, 6), (1, 3), (9, 9)]
    ]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("first", "last"), [(1, 4), (3, 5), (4, 4), (8, 8), (6, 7), (4, 3), (0, 2), (10**30, 10**30)]
)
def test_numbers_that_are_not_missing_cannot_be_waived(first: int, last: int) -> None:
    floor, round = a_table(), a_round_id()
    floor.tablet.hears(
        floor.tablet.says("note", round, seq=4, text="so"), floor.tablet.says("note", round, seq=7, text="so")
    )

    with pytest.raises(Refusal, match="gap_not_found"):
        waive(floor, first, last)

    assert not GapWaiver.objects.exists()


@pytest.mark.django_db
def test_a_waived_number_that_comes_after_all_is_recorded() -> None:
    floor, round = a_table(), a_round_id()
    played = a_whole_round(floor.tablet, round)
    floor.tablet.hears(*played[:3], *played[5:])
    waive(floor, 4, 5)

    assert floor.tablet.hears(played[3], played[3]) == ["recorded", "duplicate"]
    assert Device.objects.get(pk=floor.tablet.device.pk).holes == []


# -- which rounds a gap could touch -------------------------------------------------------------------------


def touched() -> dict[int | None, list[tuple[str, int, int]]]:
    """By round number: the gaps that touch it."""
    rows = list(Round.objects.filter(alias_of=None))
    found = devices.gaps_touching(rows)
    numbers = {row.id: row.number for row in rows}
    return {numbers[key]: [(gap.source, gap.first, gap.last) for gap in gaps] for key, gaps in found.items()}


@pytest.mark.django_db
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=st.integers(1, 39), length=st.integers(1, 25))
def test_a_gap_touches_the_round_before_it_and_the_round_after_unless_that_begins_there(
    first: int, length: int
) -> None:
    last = min(first + length - 1, 39)
    with taken_back():
        floor, ids = a_table(), [a_round_id() for _ in range(4)]
        played = [
            event
            for number, round in enumerate(ids, 1)
            for event in a_whole_round(floor.tablet, round, number=number)
        ]  # round n has the numbers 10n − 9 to 10n
        floor.tablet.hears(*played[: first - 1], *played[last:])

        found = devices.gaps_touching(list(Round.objects.all()))

    before = {(first - 2) // 10} if first > 1 else set()
    after = set() if last % 10 == 0 else {last // 10}
    gap = Gap(source="PD01-tablet", first=first, last=last)
    assert found == {ids[place]: [gap] for place in before | after}


@pytest.mark.django_db
def test_a_gap_touches_every_round_number_between_its_neighbours() -> None:
    """Another tablet opened rounds 2 and 3 while the numbers 5 to 7 of the first are missing."""
    floor, ids = a_table(), [a_round_id() for _ in range(5)]
    other = a_device(floor.table, "PD01-other")
    floor.tablet.hears(opens(floor.tablet, ids[0], number=1))
    other.hears(opens(other, ids[1], number=2), opens(other, ids[2], number=3))
    floor.tablet.hears(floor.tablet.says("note", ids[0], seq=4, text="so"))
    floor.tablet.hears(opens(floor.tablet, ids[3], number=4) | {"sequence": "8"})
    other.hears(opens(other, ids[4], number=5))

    assert touched() == {
        1: [("PD01-tablet", 2, 3), ("PD01-tablet", 5, 7)],
        2: [("PD01-tablet", 5, 7)],
        3: [("PD01-tablet", 5, 7)],
    }


@pytest.mark.django_db
def test_a_gap_at_the_very_beginning_touches_all_rounds_before_the_first_that_is_known() -> None:
    floor, ids = a_table(), [a_round_id() for _ in range(3)]
    other = a_device(floor.table, "PD01-other")
    other.hears(opens(other, ids[0], number=1))
    floor.tablet.hears(opens(floor.tablet, ids[1], number=2) | {"sequence": "3"})
    other.hears(opens(other, ids[2], number=3))

    assert touched() == {1: [("PD01-tablet", 1, 2)]}


@pytest.mark.django_db
def test_a_gap_touches_no_round_of_another_table() -> None:
    here, there = a_table("PD01"), a_table("PD02")
    there.tablet.hears(*a_whole_round(there.tablet, a_round_id(), number=1))
    here.tablet.hears(opens(here.tablet, a_round_id(), number=9) | {"sequence": "3"})

    assert touched() == {}


@pytest.mark.django_db
def test_a_cameras_gap_holds_no_round_by_itself() -> None:
    floor, round = a_table(), a_round_id()
    floor.tablet.hears(opens(floor.tablet, round))
    floor.camera.hears(floor.camera.says("card_dealt", round, seq=5, hand="p1", position=1, card="3S"))

    assert Device.objects.get(pk=floor.camera.device.pk).holes == [[1, 4]]
    assert touched() == {}


@pytest.mark.django_db
def test_a_gap_beside_a_refused_round_touches_the_round_that_it_stands_for() -> None:
    floor, winner, loser = a_table(), a_round_id(), a_round_id()
    second = a_device(floor.table, "PD01-second")
    floor.tablet.hears(opens(floor.tablet, winner, number=4))
    second.hears(opens(second, loser, number=4))
    second.hears(second.says("card_dealt", loser, seq=3, hand="p1", position=1, card="3S"))

    assert touched() == {4: [("PD01-second", 2, 2)]}


@pytest.mark.django_db
def test_a_waived_gap_touches_nothing() -> None:
    floor, round = a_table(), a_round_id()
    played = a_whole_round(floor.tablet, round)
    floor.tablet.hears(*played[:3], *played[5:])
    assert touched() == {1: [("PD01-tablet", 4, 5)]}

    waive(floor, 4, 5)

    assert touched() == {}


@pytest.mark.django_db
def test_gaps_are_found_in_one_statement_however_many_rounds_and_devices() -> None:
    floors = [a_table(f"PD0{number}") for number in range(1, 5)]
    for floor in floors:
        floor.tablet.hears(
            opens(floor.tablet, a_round_id(), number=1), floor.tablet.says("note", a_round_id(), text="so")
        )
        floor.tablet.hears(floor.tablet.says("note", a_round_id(), seq=9, text="so"))

    with statements() as ran:
        devices.gaps_touching(list(Round.objects.all()))

    assert len([sql for sql in ran if "jsonb_array_elements" in sql]) == 1
    assert len(ran) == 2  # the rounds, and the gaps


@pytest.mark.django_db
def test_a_settled_round_is_not_woken_by_its_devices_missing_numbers() -> None:
    floor, first, second = a_table(), a_round_id(), a_round_id()
    floor.tablet.hears(*a_whole_round(floor.tablet, first))
    settled(first)
    floor.tablet.hears(*a_whole_round(floor.tablet, second, number=2)[3:])

    assert Round.objects.get(pk=first).standing == "settled"
    assert [row.id for row in Round.objects.filter(pk__in=rounds.due(now=NOW, limit=9))] == [second]


@pytest.mark.django_db
def test_what_a_device_says_of_itself_is_kept_with_the_time_we_heard_it() -> None:
    floor = a_table()
    devices.state(device=floor.tablet.device, stated={"next": 413, "unsent": 3}, now=NOW)

    device = Device.objects.get(pk=floor.tablet.device.pk)
    assert (device.stated, device.last_contact_at) == ({"next": 413, "unsent": 3}, NOW)
