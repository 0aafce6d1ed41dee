"""What becomes of the reports of a table's devices."""

from __future__ import annotations

import random
import uuid
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.models import LogEntry
from casino import devices, events, people, rounds, tables
from casino.api import event_payloads
from casino.models import Device, Person, RefusedEvent, Round, RoundEvent, TableSession
from casino.platform.refusals import Refusal
from tests.casino.floor import (
    NOW,
    Floor,
    Teller,
    a_device,
    a_person,
    a_round_id,
    a_table,
    a_whole_round,
    act,
    bets,
    deals,
    nothing_recorded,
    opens,
    refusals_kept,
    settled,
    statements,
    thb,
    told,
)
from tests.settlement.books import taken_back

pytestmark = pytest.mark.django_db

SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)


# -- recorded, heard before, refused -------------------------------------------------------------------------


def test_a_round_is_recorded_event_by_event_in_the_order_told() -> None:
    floor, round = a_table(), a_round_id()

    assert floor.tablet.hears(*a_whole_round(floor.tablet, round)) == ["recorded"] * 10

    stored = RoundEvent.objects.filter(round=round).order_by("seq")
    assert [(event.seq, event.device_seq, event.kind) for event in stored] == [
        (1, 1, "round_opened"), (2, 2, "bet_placed"), (3, 3, "bets_locked"),
        (4, 4, "card_dealt"), (5, 5, "card_dealt"), (6, 6, "card_dealt"), (7, 7, "card_dealt"),
        (8, 8, "hand_stayed"), (9, 9, "dealer_stayed"), (10, 10, "round_closed"),
    ]  # fmt: skip
    bet = stored[1]
    assert bet.payload == {"wager": "w1", "hand": "p1", "owner": {"seat": 1}, "stake": thb(100)}
    assert (bet.source, bet.device, bet.person, bet.signed, bet.late) == (
        "/devices/PD01-tablet", floor.tablet.device, floor.dealer, "", False,
    )  # fmt: skip
    row = Round.objects.get(pk=round)
    assert (row.number, row.recorder, row.standing, row.event_count) == (1, floor.tablet.device, "due", 10)
    assert (row.opened_at, row.closed_at, row.due_at) == (NOW, NOW, NOW)


def test_the_same_event_again_is_a_duplicate_whatever_its_id() -> None:
    floor, round = a_table(), a_round_id()
    opening = opens(floor.tablet, round)

    assert floor.tablet.hears(opening) == ["recorded"]
    assert floor.tablet.hears(opening, opening | {"id": str(uuid.uuid4())}) == ["duplicate", "duplicate"]

    assert RoundEvent.objects.count() == 1
    assert refusals_kept() == []


def test_an_event_twice_in_one_batch_is_recorded_once() -> None:
    floor, round = a_table(), a_round_id()
    opening = opens(floor.tablet, round)

    assert floor.tablet.hears(opening, opening) == ["recorded", "duplicate"]


def test_a_used_number_with_other_contents_is_refused_and_kept_as_evidence_once() -> None:
    floor, round = a_table(), a_round_id()
    floor.tablet.hears(*deals(floor.tablet, round, "p1", "9S"))
    other = deals(floor.tablet, round, "p1", "9H")[0] | {"sequence": "1"}

    assert [floor.tablet.hears(other), floor.tablet.hears(other)] == [["sequence_reused"]] * 2

    assert RoundEvent.objects.get().payload["card"] == "9S"
    kept = RefusedEvent.objects.get()
    report = event_payloads.report_of(other, device=floor.tablet.device)
    assert (kept.device_seq, kept.code, kept.claims, bytes(kept.sha256), kept.round_id) == (
        1, "sequence_reused", False, report.sha256, round,
    )  # fmt: skip


def test_the_first_of_two_that_share_a_number_in_one_batch_stands() -> None:
    floor, round = a_table(), a_round_id()
    first = deals(floor.tablet, round, "p1", "9S")[0]
    second = deals(floor.tablet, round, "p1", "9H")[0] | {"sequence": "1"}

    assert floor.tablet.hears(first, second, first) == ["recorded", "sequence_reused", "duplicate"]


def test_a_refused_event_uses_up_its_number_and_is_refused_the_same_way_again() -> None:
    floor, round = a_table(), a_round_id()
    wrong = floor.tablet.says("card_dealt", round, hand="p17", position=1, card="9S")

    first = floor.tablet.sends(wrong)
    again = floor.tablet.sends(wrong)
    right = floor.tablet.hears(wrong | {"data": {"hand": "p1", "position": 1, "card": "9S"}})

    assert first == again
    assert (first[0].code, set(first[0].fields)) == ("invalid_value", {"data.hand"})
    assert right == ["sequence_reused"]
    assert refusals_kept() == [(1, "invalid_value", True), (1, "sequence_reused", False)]
    assert Device.objects.get(pk=floor.tablet.device.pk).last_seq == 1


def test_what_is_refused_makes_no_round_that_nobody_could_finish() -> None:
    floor = a_table()
    nobody = floor.tablet.says("note", a_round_id(), text="hello") | {"person": str(uuid.uuid4())}
    bet_of_a_camera = bets(floor.camera, a_round_id())
    floor.tablet.hears(nobody)
    reused = floor.tablet.says("note", a_round_id(), seq=1, text="another round")

    assert floor.tablet.hears(nobody, reused) == ["invalid_value", "sequence_reused"]
    assert floor.camera.hears(bet_of_a_camera) == ["kind_not_allowed"]

    assert nothing_recorded()


def test_a_second_event_under_one_number_makes_no_round_either() -> None:
    floor, round = a_table(), a_round_id()
    elsewhere = floor.tablet.says("note", a_round_id(), seq=1, text="elsewhere")

    floor.tablet.hears(opens(floor.tablet, round) | {"sequence": "1"}, elsewhere)

    assert [row.id for row in Round.objects.all()] == [round]


def test_while_the_table_is_closed_an_event_is_refused_and_its_number_stays_free() -> None:
    floor, round = a_table(), a_round_id()
    with act():
        tables.close(session=floor.session, last_round=0, carried_over_by=None, now=NOW)
    opening = opens(floor.tablet, round)

    assert floor.tablet.hears(opening) == ["table_closed"]
    assert (refusals_kept(), nothing_recorded()) == ([], True)

    with act():
        tables.open(table=floor.table, dealer=floor.dealer, supervisor=floor.supervisor, now=NOW)
    assert floor.tablet.hears(opening) == ["recorded"]


def test_a_revoked_device_is_not_heard_though_it_was_let_in_before() -> None:
    floor = a_table()
    with act():
        devices.revoke(device=floor.tablet.device, now=NOW)

    with pytest.raises(Refusal, match="invalid_token"):
        floor.tablet.sends(opens(floor.tablet, a_round_id()))


def test_nothing_is_recorded_outside_of_an_act() -> None:
    floor = a_table()
    with pytest.raises(events.NoAct):
        rounds.append(device=floor.tablet.device, reports=[], sent_at=NOW)


def test_another_tables_round_is_refused_and_stays_as_it_is() -> None:
    here, there, round = a_table("PD01"), a_table("PD02"), a_round_id()
    there.tablet.hears(opens(there.tablet, round))
    before = Round.objects.values().get(pk=round)

    assert here.tablet.hears(*deals(here.tablet, round, "p1", "9S")) == ["other_tables_round"]

    assert Round.objects.values().get(pk=round) == before
    assert RefusedEvent.objects.get().round is None


# -- rounds of one number -----------------------------------------------------------------------------------


def test_the_second_terminal_to_open_a_number_is_refused_with_the_winner_named() -> None:
    floor, winner, loser = a_table(), a_round_id(), a_round_id()
    second = a_device(floor.table, "PD01-second")
    floor.tablet.hears(opens(floor.tablet, winner, number=7))

    (answer,) = second.sends(opens(second, loser, number=7))

    assert (answer.code, answer.extra) == ("round_exists", {"round": str(winner), "number": 7})
    alias = Round.objects.get(pk=loser)
    assert (alias.alias_of_id, alias.number, alias.standing) == (winner, None, "")


def test_cards_of_the_refused_round_are_a_further_feed_of_the_winner() -> None:
    floor, winner, loser = a_table(), a_round_id(), a_round_id()
    second = a_device(floor.table, "PD01-second")
    floor.tablet.hears(opens(floor.tablet, winner), *deals(floor.tablet, winner, "p1", "9S"))
    settled(winner, standing="held", reasons=["missing_card"])

    assert second.hears(opens(second, loser), *deals(second, loser, "p1", "9H")) == [
        "round_exists", "recorded",
    ]  # fmt: skip

    found = rounds.recorded([winner])[winner]
    assert [(item.event.source, item.event.kind, item.event.data.get("card")) for item in found] == [
        ("PD01-tablet", "round_opened", None),
        ("PD01-tablet", "card_dealt", "9S"),
        ("PD01-second", "card_dealt", "9H"),
    ]
    assert Round.objects.get(pk=winner).standing == "due"


def test_the_refused_rounds_close_does_not_close_the_winner() -> None:
    floor, winner, loser = a_table(), a_round_id(), a_round_id()
    second = a_device(floor.table, "PD01-second")
    floor.tablet.hears(opens(floor.tablet, winner))

    second.hears(opens(second, loser), second.says("round_closed", loser))

    row = Round.objects.get(pk=winner)
    assert (row.standing, row.closed_at, row.due_at) == ("", None, None)


def test_an_alias_that_was_closed_before_it_was_one_waits_for_nobody() -> None:
    floor, winner, loser = a_table(), a_round_id(), a_round_id()
    second = a_device(floor.table, "PD01-second")
    opening, close = opens(second, loser), second.says("round_closed", loser)
    second.hears(close)
    floor.tablet.hears(opens(floor.tablet, winner))

    assert second.hears(opening) == ["round_exists"]

    assert rounds.due(now=NOW, limit=10) == []


def test_what_comes_to_an_alias_of_a_settled_round_is_late() -> None:
    floor, winner, loser = a_table(), a_round_id(), a_round_id()
    second = a_device(floor.table, "PD01-second")
    floor.tablet.hears(*a_whole_round(floor.tablet, winner))
    second.hears(opens(second, loser))
    settled(winner)

    second.hears(*deals(second, loser, "p1", "9H"))

    assert [item.late for item in rounds.recorded([winner])[winner]] == [False] * 10 + [True]


# -- what comes late ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("standing", ["settled", "voided"])
def test_what_comes_after_the_end_is_recorded_late_and_wakes_nobody(standing: str) -> None:
    floor, round = a_table(), a_round_id()
    floor.tablet.hears(*a_whole_round(floor.tablet, round))
    settled(round, standing=standing)

    floor.tablet.hears(floor.tablet.says("round_closed", round), floor.tablet.says("dealer_stayed", round))

    assert list(RoundEvent.objects.filter(seq__gt=10).values_list("late", flat=True)) == [True, True]
    assert Round.objects.get(pk=round).standing == standing


def test_a_held_round_is_looked_at_again_when_something_comes() -> None:
    floor, round = a_table(), a_round_id()
    floor.tablet.hears(*a_whole_round(floor.tablet, round))
    settled(round, standing="held", reasons=["reads_differ"])

    floor.camera.hears(*deals(floor.camera, round, "p1", "3S"))

    row = Round.objects.get(pk=round)
    assert (row.standing, row.reasons, row.due_at) == ("due", [], NOW)


def test_a_camera_still_speaks_of_a_round_whose_session_is_over() -> None:
    floor, round = a_table(), a_round_id()
    floor.tablet.hears(*a_whole_round(floor.tablet, round))
    settled(round)
    with act(now=NOW + MINUTE):
        tables.close(session=floor.session, last_round=1, carried_over_by=None, now=NOW + MINUTE)
    with act(now=NOW + 2 * MINUTE):
        tables.open(table=floor.table, dealer=floor.dealer, supervisor=floor.supervisor, now=NOW + 2 * MINUTE)

    answers = floor.camera.sends(
        *deals(floor.camera, round, "p1", "3S"), now=NOW + 3 * MINUTE, sent_at=NOW + 3 * MINUTE
    )

    assert [answer.outcome for answer in answers] == ["recorded"]
    event = RoundEvent.objects.get(device=floor.camera.device)
    assert (event.late, event.instant, event.person) == (True, NOW, None)


def test_a_closed_round_waits_for_its_camera_as_long_as_the_table_grants() -> None:
    floor, round = a_table(camera=True), a_round_id()

    floor.tablet.hears(*a_whole_round(floor.tablet, round))

    assert rounds.due(now=NOW + SECOND / 2, limit=10) == []
    assert rounds.due(now=NOW + SECOND, limit=10) == [round]


def test_a_voided_round_waits_for_no_camera() -> None:
    floor, round = a_table(camera=True), a_round_id()

    floor.tablet.hears(opens(floor.tablet, round), floor.tablet.says("round_voided", round, reason="misdeal"))

    assert rounds.due(now=NOW, limit=10) == [round]


# -- clocks -------------------------------------------------------------------------------------------------


def instants(**times: Any) -> list[tuple[Any, bool, int | None]]:
    """Instant, whether the clock was set aside, and offset in milliseconds of one event."""
    floor = a_table()
    floor.tablet.sends(
        floor.tablet.says("note", a_round_id(), text="when?", at=times["happened"]),
        now=times.get("now", NOW),
        sent_at=times["sent"],
    )
    return [(event.instant, event.clock_off, event.offset_ms) for event in RoundEvent.objects.all()]


def test_a_wrong_clock_is_put_right_by_when_the_request_was_sent() -> None:
    slow = NOW - timedelta(days=20_000)
    assert instants(happened=slow - SECOND, sent=slow) == [(NOW - SECOND, False, 20_000 * 86_400_000)]


def test_no_event_happened_after_it_was_recorded() -> None:
    assert instants(happened=NOW + SECOND, sent=NOW) == [(NOW, False, 0)]


def test_no_event_happened_before_its_session_opened() -> None:
    assert instants(happened=NOW - timedelta(hours=2), sent=NOW) == [(NOW - timedelta(hours=1), False, 0)]


def test_without_the_time_of_sending_a_clock_is_believed_within_a_minute() -> None:
    assert instants(happened=NOW - MINUTE, sent=None) == [(NOW - MINUTE, False, None)]


def test_without_the_time_of_sending_a_clock_further_off_is_set_aside() -> None:
    assert instants(happened=NOW - MINUTE - SECOND, sent=None) == [(NOW, True, None)]


WILD = ("0001-01-01T00:00:00+07:00", "0001-01-01T00:00:00Z", "1900-01-01T00:00:00Z", "2569-03-01T21:00:00+07:00",
        "9999-12-31T23:59:59.999999-12:00")  # fmt: skip


@pytest.mark.parametrize("sent", [None, "2026-03-01T14:00:00Z", *WILD])
@pytest.mark.parametrize("time", WILD)
def test_any_instant_is_recorded_within_its_session_and_flagged(time: str, sent: str | None) -> None:
    floor = a_table()
    event = floor.tablet.says("note", a_round_id(), text="when?") | {"time": time}

    floor.tablet.posts(event, **({"Pokdeng_Sent_At": sent} if sent else {}))

    stored = RoundEvent.objects.get()
    opened, recorded = floor.session.opened_at, stored.recorded_at
    assert opened <= stored.instant <= recorded
    assert stored.clock_off is (sent is None or datetime.fromisoformat(sent).year != stored.happened_at.year)
    assert (stored.offset_ms is None) == (sent is None)
    assert abs(stored.happened_at.year - int(time[:4])) <= 1


def test_who_was_offline_for_a_day_has_no_wrong_clock() -> None:
    assert instants(happened=NOW - timedelta(days=1), sent=NOW) == [(NOW - timedelta(hours=1), False, 0)]


def test_what_happened_after_it_was_sent_was_told_by_a_wrong_clock() -> None:
    assert instants(happened=NOW + 2 * MINUTE, sent=NOW) == [(NOW, True, 0)]


# -- who acted, who signed ----------------------------------------------------------------------------------


def a_ruling(floor: Floor, round: UUID) -> dict[str, Any]:
    return floor.tablet.says("card_ruled", round, hand="p1", position=1, card="9S", reason="seen on video")


def signature_of(floor: Floor, person: Person, event: dict[str, Any]) -> dict[str, Any]:
    """The event with this person's sign-off."""
    with act():
        given = people.sign(
            person=person,
            device=floor.tablet.device,
            session=TableSession.objects.get(table=floor.table, closed_at=None),
            sha256=event_payloads.content_sha256(event["type"], event["subject"], event["data"]),
            now=NOW,
        )
    return event | {"signature": str(given.id)}


def signed_by() -> tuple[str, Person | None]:
    event = RoundEvent.objects.exclude(signed="", kind="round_opened").order_by("-id").first()
    assert event is not None
    return event.signed, event.signer


@pytest.mark.parametrize("rule", ["required", "on_duty"])
def test_a_ruling_signed_by_the_supervisor_on_duty_counts(rule: str, settings: Any) -> None:
    settings.SIGNATURES = rule
    floor = a_table()
    floor.tablet.hears(signature_of(floor, floor.supervisor, a_ruling(floor, a_round_id())))
    assert signed_by() == ("signature", floor.supervisor)


def test_a_managers_signature_counts_without_duty(settings: Any) -> None:
    settings.SIGNATURES = "required"
    floor, manager = a_table(), a_person("manager")
    floor.tablet.hears(signature_of(floor, manager, a_ruling(floor, a_round_id())))
    assert signed_by() == ("signature", manager)


def test_a_ruling_without_signature_is_recorded_and_counts_as_unsigned(settings: Any) -> None:
    settings.SIGNATURES = "required"
    floor = a_table()
    assert floor.tablet.hears(a_ruling(floor, a_round_id())) == ["recorded"]
    assert signed_by() == ("", None)


def test_where_duty_is_enough_the_supervisor_on_duty_is_taken_to_have_signed(settings: Any) -> None:
    settings.SIGNATURES = "on_duty"
    floor = a_table()
    floor.tablet.hears(a_ruling(floor, a_round_id()))
    assert signed_by() == ("on_duty", floor.supervisor)


@pytest.mark.parametrize("rule", ["required", "on_duty"])
def test_nobody_signs_for_what_they_did_themselves(rule: str, settings: Any) -> None:
    settings.SIGNATURES = rule
    floor, round = a_table(), a_round_id()
    own = {"person": str(floor.supervisor.id)}

    floor.tablet.hears(signature_of(floor, floor.supervisor, a_ruling(floor, round)) | own)
    assert signed_by() == ("", None)

    floor.tablet.hears(a_ruling(floor, round) | own)
    assert signed_by() == ("", None)


@pytest.mark.parametrize("rule", ["required", "on_duty"])
def test_a_signature_for_other_contents_does_not_count(rule: str, settings: Any) -> None:
    settings.SIGNATURES = rule
    floor, round = a_table(), a_round_id()
    signed = signature_of(floor, floor.supervisor, a_ruling(floor, round))
    floor.tablet.hears(signed | {"data": signed["data"] | {"card": "9H"}})
    assert signed_by() == ("", None)


def test_a_supervisor_who_is_not_on_duty_there_signs_in_vain(settings: Any) -> None:
    settings.SIGNATURES = "required"
    here, there = a_table("PD01"), a_table("PD02")
    here.tablet.hears(signature_of(here, there.supervisor, a_ruling(here, a_round_id())))
    assert signed_by() == ("", None)


def test_a_signature_of_an_earlier_session_does_not_count(settings: Any) -> None:
    settings.SIGNATURES = "required"
    floor, round = a_table(), a_round_id()
    signed = signature_of(floor, floor.supervisor, a_ruling(floor, round))
    with act():
        tables.close(session=floor.session, last_round=0, carried_over_by=None, now=NOW)
        tables.open(table=floor.table, dealer=floor.dealer, supervisor=floor.supervisor, now=NOW)
    floor.tablet.hears(signed)
    assert signed_by() == ("", None)


def test_an_event_without_a_person_is_the_dealers_and_else_of_whom_it_names() -> None:
    floor, round = a_table(), a_round_id()
    floor.tablet.hears(
        floor.tablet.says("note", round, text="mine"),
        floor.tablet.says("note", round, text="hers") | {"person": str(floor.supervisor.id)},
    )
    assert [event.person for event in RoundEvent.objects.order_by("id")] == [floor.dealer, floor.supervisor]


# -- numbers that are missing -------------------------------------------------------------------------------


def holes(teller: Teller) -> list[list[int]]:
    found: list[list[int]] = Device.objects.get(pk=teller.device.pk).holes
    return found


def test_numbers_that_did_not_come_are_listed_until_they_come() -> None:
    floor, round = a_table(), a_round_id()
    played = a_whole_round(floor.tablet, round)

    floor.tablet.hears(played[0], played[4], played[9])
    assert holes(floor.tablet) == [[2, 4], [6, 9]]
    floor.tablet.hears(played[2], played[6])
    assert holes(floor.tablet) == [[2, 2], [4, 4], [6, 6], [8, 9]]
    floor.tablet.hears(*played)
    assert holes(floor.tablet) == []


def test_a_refused_number_is_not_missing() -> None:
    floor, round = a_table(), a_round_id()
    floor.tablet.hears(floor.tablet.says("dealt_a_hand", round), floor.tablet.says("note", round, text="on"))
    assert holes(floor.tablet) == []


def test_a_round_held_for_missing_numbers_is_looked_at_again_when_they_come_whatever_they_are_about() -> None:
    """Number 11 could have been of round 1; it turns out to be the opening of round 2."""
    floor, waits, after, other = a_table(), a_round_id(), a_round_id(), a_round_id()
    first, second = a_whole_round(floor.tablet, waits), a_whole_round(floor.tablet, after, number=2)
    floor.tablet.hears(*first, *second[1:], *a_whole_round(floor.tablet, other, number=3))
    for round, reason in ((waits, "sequence_gap"), (after, "sequence_gap"), (other, "reads_differ")):
        settled(round, standing="held", reasons=[reason])

    floor.tablet.hears(second[0])

    assert [Round.objects.get(pk=key).standing for key in (waits, after, other)] == ["due", "due", "held"]


def test_a_waived_gap_lets_the_rounds_that_waited_for_it_go_on() -> None:
    floor, waits = a_table(), a_round_id()
    played = a_whole_round(floor.tablet, waits)
    floor.tablet.hears(*played[:3], *played[5:])
    settled(waits, standing="held", reasons=["sequence_gap"])

    with act():
        rounds.waive_gap(
            device=floor.tablet.device, first=4, last=5, person=floor.supervisor, reason="dead", now=NOW
        )

    assert holes(floor.tablet) == []
    assert rounds.due(now=NOW, limit=10) == [waits]
    assert LogEntry.objects.filter(action="gap.waived", person=floor.supervisor.id).count() == 1


def test_a_gap_is_waived_by_whoever_may_rule_there_and_nobody_else() -> None:
    floor, elsewhere = a_table("PD01"), a_table("PD02")
    floor.tablet.hears(floor.tablet.says("note", a_round_id(), seq=5, text="late start"))

    for person, code in (
        (floor.dealer, "second_person_forbidden"),
        (elsewhere.supervisor, "not_on_duty"),
        (a_person("auditor"), "second_person_forbidden"),
    ):
        with pytest.raises(Refusal, match=code), act():
            rounds.waive_gap(device=floor.tablet.device, first=1, last=4, person=person, reason="?", now=NOW)

    assert holes(floor.tablet) == [[1, 4]]


# -- one record, however it is delivered --------------------------------------------------------------------


def an_evening(floor: Floor, ids: list[UUID]) -> dict[str, list[dict[str, Any]]]:
    """Three rounds at one table, each device's events in order; one of them is refused."""
    told: list[dict[str, Any]] = []
    for number, round in enumerate(ids, 1):
        told += a_whole_round(floor.tablet, round, number=number)
    told.append(floor.tablet.says("card_dealt", ids[-1], hand="p1", position=7, card="9S"))
    read = [event for round in ids for event in deals(floor.camera, round, "p1", "3S", "4D")]
    return {"tablet": told, "camera": read}


def what_is_stored() -> dict[str, Any]:
    """Everything of the record that says what happened; when and in which order it was heard is left out."""
    events_stored = RoundEvent.objects.order_by("device__code", "device_seq").values_list(
        "device__code",
        "device_seq",
        "round",
        "kind",
        "payload",
        "person",
        "signed",
        "instant",
        "late",
        "sha256",
    )
    rows = Round.objects.order_by("number").values_list(
        "id", "number", "recorder__code", "standing", "opened_at", "closed_at", "event_count"
    )
    return {
        "events": [(*event[:-1], bytes(event[-1])) for event in events_stored],
        "rounds": list(rows),
        "devices": list(Device.objects.order_by("code").values_list("code", "last_seq", "holes")),
        "refused": list(RefusedEvent.objects.values_list("device__code", "device_seq", "code", "claims")),
    }


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), cut=st.integers(1, 40))
def test_the_same_events_in_any_order_and_any_batches_are_the_same_record(seed: int, cut: int) -> None:
    with taken_back():
        floor = a_table()
        told = an_evening(floor, [a_round_id() for _ in range(3)])
        with taken_back():
            for device, reported in told.items():
                getattr(floor, device).hears(*reported)
            undisturbed = what_is_stored()
        chance = random.Random(seed)
        deliveries = [(device, event) for device, reported in told.items() for event in reported]
        deliveries += chance.sample(deliveries, 5)
        chance.shuffle(deliveries)
        while deliveries:
            device = deliveries[0][0]
            batch = [event for sender, event in deliveries[:cut] if sender == device]
            deliveries = [pair for pair in deliveries[:cut] if pair[0] != device] + deliveries[cut:]
            getattr(floor, device).hears(*batch)
        assert what_is_stored() == undisturbed


# -- how much the database is asked -------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 500])
def test_a_batch_is_recorded_in_nine_statements_however_large(count: int) -> None:
    floor, ids = a_table(), [a_round_id() for _ in range(20)]
    told = [floor.tablet.says("note", ids[place % 20], text="so") for place in range(count)]

    with statements() as ran:
        assert set(floor.tablet.hears(*told)) == {"recorded"}

    assert len(ran) == 9, ran


@pytest.mark.parametrize("count", [2, 500])
def test_refusals_in_a_batch_cost_one_statement_more(count: int) -> None:
    floor, round = a_table(), a_round_id()
    told = [floor.tablet.says("note", round, text="so" if place % 2 else 7) for place in range(count)]

    with statements() as ran:
        assert floor.tablet.hears(*told) == ["malformed", "recorded"] * (count // 2)

    assert len(ran) == 10, ran


@pytest.mark.parametrize("count", [1, 500])
def test_a_batch_that_was_heard_before_costs_seven_and_adds_nothing(count: int) -> None:
    floor, round = a_table(), a_round_id()
    told = [floor.tablet.says("note", round, text="so") for _ in range(count)]
    floor.tablet.hears(*told)
    entries = LogEntry.objects.count()

    with statements() as ran:
        assert set(floor.tablet.hears(*told)) == {"duplicate"}

    assert len(ran) == 7, ran
    assert LogEntry.objects.count() == entries


def test_locks_are_taken_as_the_house_takes_them_the_device_the_session_then_the_rounds() -> None:
    floor, round = a_table(), a_round_id()

    with statements() as ran:
        floor.tablet.hears(opens(floor.tablet, round))

    locks = [sql for sql in ran if "FOR UPDATE" in sql]
    named = [
        next(name for name in ("_device ", "_tablesession s WHERE", "_round r JOIN") if name in sql)
        for sql in locks
    ]
    assert named == ["_device ", "_tablesession s WHERE", "_round r JOIN"]
    assert locks[-1].endswith("ORDER BY r.id FOR UPDATE OF r")


# -- what the witness is told -------------------------------------------------------------------------------


def test_a_batch_is_one_entry_for_each_round_it_touches_with_the_hash_of_every_event() -> None:
    floor, first, second = a_table(), a_round_id(), a_round_id()
    sent = [
        opens(floor.tablet, first),
        opens(floor.tablet, second, number=2),
        bets(floor.tablet, first),
        floor.tablet.says("card_dealt", second, hand="p17", position=1, card="9S"),
    ]
    before = LogEntry.objects.count()

    floor.tablet.hears(*sent)

    entries = list(LogEntry.objects.order_by("id")[before:])
    hashes = [event_payloads.report_of(event, device=floor.tablet.device).sha256.hex() for event in sent]
    assert [(entry.action, entry.round) for entry in entries] == [
        ("round.recorded", first),
        ("round.recorded", second),
    ]
    data = [told(entry) for entry in entries]
    assert [[event["sha256"] for event in facts["events"]] for facts in data] == [
        [hashes[0], hashes[2]],
        [hashes[1]],
    ]
    assert data[1]["refused"] == [{"seq": 4, "sha256": hashes[3], "code": "invalid_value"}]


def test_what_is_turned_away_without_being_kept_is_witnessed_too() -> None:
    floor = a_table()
    with act():
        tables.close(session=floor.session, last_round=0, carried_over_by=None, now=NOW)

    floor.tablet.hears(
        opens(floor.tablet, a_round_id()),
        floor.tablet.says("note", a_round_id(), text="not mine") | {"source": "/devices/PD02-tablet"},
    )

    entry = LogEntry.objects.get(action="events.refused")
    assert [no["code"] for no in told(entry)["turned_away"]] == ["table_closed", "invalid_value"]
    assert told(entry)["refused"] == []
