"""How a recording is cut into requests, and how bad a network it may be played through."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest

from deploy.recordings import batches, recording
from deploy.recordings.batches import Batch
from deploy.recordings.recording import Ask, Delivery, Line
from tests.cases import NIGHT
from tests.journeys import second

SEEDS = ["1", "2", "a night of storms"]


def a_night() -> dict[str, list[Line]]:
    return recording.read(NIGHT)


def sent(steps: list[batches.Step]) -> list[Delivery]:
    return [delivery for step in steps if isinstance(step, Batch) for delivery in step.deliveries]


def acts(deliveries: list[Delivery]) -> set[tuple[str, int]]:
    return {(delivery.device, delivery.sequence) for delivery in deliveries}


def without_id(delivery: Delivery) -> dict[str, object]:
    return {key: value for key, value in json.loads(delivery.text).items() if key != "id"}


def test_an_ordinary_night_sends_every_delivery_of_a_device_in_the_order_of_the_file() -> None:
    for lines in a_night().values():
        for device in {line.device for line in lines if isinstance(line, Delivery)}:
            told = [line for line in lines if isinstance(line, Delivery) and line.device == device]
            assert [one for one in sent(batches.as_it_came(lines)) if one.device == device] == told


def test_an_ordinary_night_closes_each_round_with_a_batch_of_its_own() -> None:
    steps = batches.as_it_came(a_night()["PD03"])
    assert len(steps) >= 80
    assert {len(step.closes) for step in steps if isinstance(step, Batch)} <= {0, 1}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_camera_has_seen_the_cards_of_a_round_before_its_close_is_sent(seed: str) -> None:
    for lines in a_night().values():
        waited: set[tuple[str, int]] = set()
        for step in batches.in_chaos(lines, seed=seed):
            assert isinstance(step, Batch)
            if step.closes:
                assert step.waits
            for round_id in step.closes:
                seen = {
                    (line.device, line.sequence)
                    for line in lines
                    if isinstance(line, Delivery) and line.is_camera and line.round == round_id
                }
                assert seen <= waited
            if step.device.endswith("-camera"):
                waited |= acts(list(step.deliveries))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_delivery_moves_less_than_sixty_places_and_terminals_move_over_the_borders_of_rounds(
    seed: str,
) -> None:
    deliveries = [line for line in a_night()["PD01"] if isinstance(line, Delivery)]
    places = {id(delivery): place for place, delivery in enumerate(deliveries)}
    order = batches.moved(deliveries, chance=random.Random(seed))
    distances = [abs(place - places[id(delivery)]) for place, delivery in enumerate(order)]
    assert max(distances) < batches.MOST_PLACES
    assert max(distances) > 30
    terminal = [one for one in order if not one.is_camera]
    rounds = [one.round for one in terminal]
    assert any(rounds[n] != rounds[n - 1] and rounds[n] in rounds[: n - 1] for n in range(1, len(rounds)))


@pytest.mark.parametrize("seed", SEEDS)
def test_disorder_loses_nothing_repeats_much_and_keeps_batches_small(seed: str) -> None:
    for lines in a_night().values():
        steps = batches.in_chaos(lines, seed=seed)
        assert acts(sent(steps)) == acts([line for line in lines if isinstance(line, Delivery)])
        sizes = [len(step.deliveries) for step in steps if isinstance(step, Batch)]
        assert min(sizes) >= 1
        assert max(sizes) <= batches.MOST_EVENTS
        assert len(set(sizes)) > 3
        times = Counter((one.device, one.sequence) for one in sent(steps))
        assert sum(count >= 3 for count in times.values()) >= len(lines) // 10 - 1


def test_an_event_under_another_id_is_the_same_act() -> None:
    deliveries = [line for line in a_night()["PD03"] if isinstance(line, Delivery)]
    told = batches.repeated(deliveries, chance=random.Random(7))
    ids = {(one.device, one.sequence): json.loads(one.text)["id"] for one in reversed(deliveries)}
    renamed = [one for one in told if json.loads(one.text)["id"] != ids[one.device, one.sequence]]
    first = {(one.device, one.sequence): one for one in deliveries}
    assert 20 < len(renamed) < 80
    assert all(without_id(one) == without_id(first[one.device, one.sequence]) for one in renamed)


def test_a_batch_stays_below_what_the_house_reads() -> None:
    [note] = [line for line in a_night()["PD03"] if isinstance(line, Delivery) and line.sequence == 1][:1]
    long = Delivery(note.device, 1, "note", note.round, note.time, "x" * 2_000)
    steps = batches.as_it_came([long] * 300)
    sizes = [sum(len(one.text) + 1 for one in sent([step])) for step in steps]
    assert len(sizes) == 3
    assert max(sizes) < 256 * 1024


def test_what_is_asked_comes_after_all_that_was_sent_before_it() -> None:
    lines = a_night()["PD01"]
    asked = [*lines[:10], Ask("cover", "r"), *lines[10:20]]
    steps = batches.as_it_came(asked)
    place = steps.index(Ask("cover", "r"))
    assert len(sent(steps[:place])) == 10
    with pytest.raises(ValueError, match="disorder"):
        batches.in_chaos(asked, seed="1")


def test_the_same_seed_makes_the_same_disorder() -> None:
    lines = a_night()["PD05"]
    assert batches.in_chaos(lines, seed="1") == batches.in_chaos(lines, seed="1")
    assert batches.in_chaos(lines, seed="1") != batches.in_chaos(lines, seed="2")


def test_cover_is_asked_for_before_bets_of_wallets_are_locked_unless_the_recording_says_when() -> None:
    told = second.evening().lines
    bare = [
        recording.delivery_of(line["event"]) for line in told if line["table"] == "PD12" and "event" in line
    ]
    asked = batches.with_covers(bare)
    places = [place for place, line in enumerate(asked) if isinstance(line, Ask)]
    assert [getattr(asked[place + 1], "kind", "") for place in places] == ["bets_locked", "bets_locked"]
    assert batches.with_covers(asked) == asked
    assert batches.with_covers(a_night()["PD03"]) == a_night()["PD03"]
