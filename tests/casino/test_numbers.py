"""The numbers of a device, whatever it says they are; what is refused; and the books after each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from audit.controls import Books, Scope, log_facts
from audit.controls import recorded_events as recorded
from casino import devices
from casino.events import uuid7
from casino.models import Appointment, Device, RefusedEvent, Round, RoundEvent
from tests.casino.floor import (
    BATCH,
    NOW,
    Floor,
    Teller,
    a_person,
    a_round_id,
    a_table,
    nothing_recorded,
    opens,
    refusals_kept,
)
from tests.casino.misreported import BAD

pytestmark = pytest.mark.django_db

LAST = 2**63 - 1
MINUTE = timedelta(minutes=1)
SWEEPS = (
    recorded.events_without_holes,
    recorded.every_number_accounted_for,
    recorded.not_settled_over_a_gap,
    recorded.reported_by_its_tables_device,
    recorded.signed_by_another_with_the_right,
    log_facts.sweep(log_facts.EVENTS),
    log_facts.sweep(log_facts.REFUSED),
    log_facts.stored_as_told,
)


def wrong_in_the_books() -> list[tuple[str, str]]:
    """What I8 and I17 find of reports."""
    connection.ensure_connection()
    books = Books(reader=connection.connection, scope=Scope(None))
    return [(one.subject, one.found) for sweep in SWEEPS for one in sweep(books)]


def numbers(teller: Teller) -> tuple[int, list[list[int]]]:
    device = Device.objects.get(pk=teller.device.pk)
    return device.last_seq, device.holes


def note(floor: Floor, *, seq: int = 0, round: UUID | None = None) -> dict[str, Any]:
    return floor.tablet.says("note", round or a_round_id(), seq=seq, text="so")


def heard(floor: Floor, *sent: Any) -> list[tuple[str, int]]:
    """Code or outcome of each over HTTP, with its status."""
    events = floor.tablet.posts(list(sent), content_type=BATCH).json()["events"]
    return [(event.get("code") or event["outcome"], event.get("status", 0)) for event in events]


# -- a number too far ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [devices.MOST_AHEAD + 2, LAST, LAST + 1, 10**39])
def test_a_number_too_far_above_the_last_is_refused_and_uses_up_none(number: int) -> None:
    floor = a_table()
    floor.tablet.posts(note(floor))
    far = note(floor, seq=number)

    answers = [floor.tablet.posts(far), floor.tablet.posts(far)]

    assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [
        (422, "sequence_too_far")
    ] * 2
    assert answers[0].json()["highest"] == 1
    assert (numbers(floor.tablet), refusals_kept()) == ((1, []), [])
    assert heard(floor, note(floor, seq=2)) == [("recorded", 0)]
    assert wrong_in_the_books() == []


def test_a_million_above_the_last_is_a_gap() -> None:
    floor = a_table()

    assert heard(floor, note(floor, seq=devices.MOST_AHEAD)) == [("recorded", 0)]

    assert numbers(floor.tablet) == (1_000_000, [[1, 999_999]])
    assert wrong_in_the_books() == []


def test_how_far_is_too_far_is_said_from_the_highest_known_in_the_batch_as_it_is_taken_in() -> None:
    floor = a_table()
    sent = [note(floor, seq=seq) for seq in (1_000_001, 1_000_000, 2_000_000, 3_000_001, 3, 3_000_000)]

    assert [code for code, _ in heard(floor, *sent)] == [
        "sequence_too_far", "recorded", "recorded", "sequence_too_far", "recorded", "recorded",
    ]  # fmt: skip

    assert numbers(floor.tablet) == (
        3_000_000,
        [[1, 2], [4, 999_999], [1_000_001, 1_999_999], [2_000_001, 2_999_999]],
    )
    assert wrong_in_the_books() == []


def test_what_is_too_far_makes_no_round() -> None:
    floor = a_table()
    assert heard(floor, opens(floor.tablet, a_round_id()) | {"sequence": str(LAST)}) == [
        ("sequence_too_far", 422)
    ]
    assert nothing_recorded()


def test_whatever_is_wrong_with_it_a_number_too_far_is_not_used_up() -> None:
    floor = a_table()
    far = note(floor, seq=LAST)
    for bad in BAD.values():
        if bad.uses:
            assert heard(floor, bad.spoil(far)) == [("sequence_too_far", 422)]
    assert numbers(floor.tablet) == (0, [])
    assert wrong_in_the_books() == []


@pytest.fixture
def with_the_last_number() -> Floor:
    """A table whose tablet once had the last number of all recorded, and others before."""
    floor = a_table()
    heard(floor, note(floor), note(floor))
    Device.objects.filter(pk=floor.tablet.device.pk).update(last_seq=LAST - 5, holes=[[3, LAST - 5]])
    return floor


def test_the_books_are_checked_whatever_numbers_are_stored(with_the_last_number: Floor) -> None:
    floor = with_the_last_number

    assert heard(floor, note(floor, seq=LAST), note(floor, seq=LAST + 1)) == [
        ("recorded", 0), ("sequence_too_far", 422),
    ]  # fmt: skip

    assert numbers(floor.tablet) == (LAST, [[3, LAST - 5], [LAST - 4, LAST - 1]])
    assert wrong_in_the_books() == []
    Device.objects.filter(pk=floor.tablet.device.pk).update(holes=[])
    assert wrong_in_the_books() == [
        (f"devices/{floor.tablet.device.code}", f"3-{LAST - 1} missing and not listed")
    ]


def test_a_sweep_that_cannot_be_computed_is_a_line_of_the_books_and_the_others_go_on() -> None:
    from audit import controls as books

    def overflowing(read: Books) -> Iterator[Any]:
        yield from read.rows("SELECT 9223372036854775807 + device_seq FROM casino_roundevent")

    floor = a_table()
    heard(floor, note(floor))
    connection.ensure_connection()
    read = Books(reader=connection.connection, scope=Scope(None))
    spoilt = books.Invariant("spoilt", (overflowing, recorded.every_number_accounted_for))
    Device.objects.filter(pk=floor.tablet.device.pk).update(last_seq=7)

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(books.INVARIANTS, "I0", spoilt)
        found = list(books.check(read, ids=["I0"]))

    assert [(one.subject, one.found) for _, one in found] == [
        ("overflowing", "cannot be computed with: bigint out of range"),
        (f"devices/{floor.tablet.device.code}", "2-7 missing and not listed"),
    ]


# -- what is refused ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BAD)
def test_what_is_refused_is_kept_by_its_number_or_has_none_and_the_books_stay_clean(name: str) -> None:
    floor, bad = a_table(), BAD[name]
    floor.tablet.posts(note(floor))
    sent = bad.spoil(note(floor))

    first, again = heard(floor, sent), heard(floor, sent)

    assert first == again
    assert [code for code, _ in first] == [bad.code]
    kept = [(one.device_seq, one.code, one.claims) for one in RefusedEvent.objects.all()]
    assert kept == ([(2, bad.code, True)] if bad.uses else [])
    assert numbers(floor.tablet) == (2 if bad.uses else 1, [])
    assert (Round.objects.count(), RoundEvent.objects.count()) == (1, 1)
    assert wrong_in_the_books() == []


@pytest.mark.parametrize("name", BAD)
def test_a_bad_event_alone_is_a_problem_that_says_the_same_again(name: str) -> None:
    floor, bad = a_table(), BAD[name]
    sent = bad.spoil(note(floor))

    answers = [floor.tablet.posts(json.dumps(sent).encode()) for _ in range(2)]

    assert {answer.status_code for answer in answers} <= {400, 422}
    if isinstance(sent, dict):
        assert [answer.json()["code"] for answer in answers] == [bad.code] * 2
    assert wrong_in_the_books() == []


def test_used_numbers_with_other_contents_leave_the_books_clean() -> None:
    floor = a_table()
    first, second = (
        note(floor),
        floor.tablet.says("card_dealt", a_round_id(), hand="p17", position=1, card="9S"),
    )
    heard(floor, first, second)

    for other in (first | {"time": "2026-03-01T14:00:01Z"}, second | {"time": "2026-03-01T14:00:01Z"}):
        assert heard(floor, other, other) == [("sequence_reused", 422)] * 2

    assert refusals_kept() == [
        (2, "invalid_value", True),
        (1, "sequence_reused", False),
        (2, "sequence_reused", False),
    ]
    assert wrong_in_the_books() == []


def test_what_a_camera_may_not_report_uses_up_its_number() -> None:
    floor = a_table()
    sent = floor.camera.says("round_closed", a_round_id())

    assert (
        floor.camera.posts(sent).json()["code"]
        == floor.camera.posts(sent).json()["code"]
        == "kind_not_allowed"
    )

    assert refusals_kept() == [(1, "kind_not_allowed", True)]
    assert wrong_in_the_books() == []


def test_a_person_who_never_acts_at_a_table_is_refused_there_and_the_number_used_up() -> None:
    floor, auditor = a_table(), a_person("auditor")
    sent = note(floor) | {"person": str(auditor.id)}

    answers = [floor.tablet.posts(sent) for _ in range(2)]

    assert [(answer.status_code, list(answer.json()["fields"])) for answer in answers] == [
        (422, ["person"])
    ] * 2
    assert refusals_kept() == [(1, "invalid_value", True)]
    assert wrong_in_the_books() == []


@pytest.mark.parametrize(
    ("roles", "at", "recorded"),
    [
        ([("dealer", -120, None), ("auditor", -30, None)], -45, True),
        ([("dealer", -120, None), ("auditor", -30, None)], -20, False),
        ([("auditor", -120, None), ("dealer", -30, None)], -20, True),
        ([("auditor", -120, None), ("dealer", -30, None)], -45, False),
        ([("dealer", -120, -50)], -20, True),  # nobody any more: recorded, and flagged
        ([("dealer", -20, None)], -45, True),  # nobody yet: likewise
        ([("cashier", -120, None), ("supervisor", -50, -40)], -45, True),
        ([("cashier", -120, None), ("supervisor", -50, -40)], -20, False),
    ],
)
def test_whether_somebody_could_act_at_a_table_is_asked_of_the_role_they_had_then(
    roles: list[tuple[str, int, int | None]], at: int, recorded: bool
) -> None:
    floor, person = a_table(), a_person("dealer" if recorded else "auditor")
    for place, (role, since, until) in enumerate(roles):
        Appointment.objects.create(
            id=uuid7(NOW + place * MINUTE),
            person=person,
            role=role,
            from_at=NOW + since * MINUTE,
            until_at=None if until is None else NOW + until * MINUTE,
            made_at=NOW,
        )
    sent = floor.tablet.says("note", a_round_id(), text="so", at=NOW + at * MINUTE) | {
        "person": str(person.id)
    }

    assert floor.tablet.hears(sent) == ["recorded" if recorded else "invalid_value"]

    assert Round.objects.count() == (1 if recorded else 0)


def test_extension_attributes_that_nobody_knows_are_ignored() -> None:
    floor = a_table()
    assert heard(floor, note(floor) | {"traceparent": "00-ab-cd-01", "weather": {"rain": [1, 2]}}) == [
        ("recorded", 0)
    ]
    assert wrong_in_the_books() == []
