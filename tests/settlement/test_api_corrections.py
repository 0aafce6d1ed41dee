"""A correction asked for over HTTP: by two people, once, of what came late."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from settlement.models import Settlement
from tests import world
from tests.rules.given import an_act
from tests.settlement.doors import (
    Night,
    a_ruled_round,
    ask_to_correct,
    body_of,
    correction,
    signed_in,
    thb,
)
from tests.world import AtTable, House

pytestmark = pytest.mark.django_db


def test_two_people_correct_a_round(staff: House, at: AtTable, night: Night) -> None:
    told = a_ruled_round(at, night)

    answer = ask_to_correct(signed_in(at.supervisor), told, correction(told, staff.author))

    shown = body_of(answer)
    assert (answer.status_code, shown["revision"], shown["house_net"]) == (201, 2, thb(100_00))
    assert len(shown["journals"]) == 2
    stored = Settlement.objects.get(revision=2)
    assert (stored.acted_by, stored.approved_by) == (at.supervisor, staff.author)


def test_a_correction_sent_again_gets_its_first_answer(staff: House, at: AtTable, night: Night) -> None:
    told = a_ruled_round(at, night)
    client, body = signed_in(at.supervisor), correction(told, staff.author)

    first, again = (ask_to_correct(client, told, body) for _ in range(2))

    assert (again.status_code, again.json()) == (first.status_code, first.json())
    assert again.headers["Idempotency-Replayed"] == "true"
    assert Settlement.objects.count() == 2
    other = ask_to_correct(client, told, body | {"reason": "another"})
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")


@pytest.fixture
def refused(staff: House, at: AtTable, night: Night) -> Iterator[Any]:
    """Asks for a correction that must be refused: status and code; nothing moves."""
    told = a_ruled_round(at, night)
    client = signed_in(at.supervisor)

    def ask(*, key: str | None = "k1", **other: Any) -> tuple[int, str]:
        answer = ask_to_correct(client, told, correction(told, staff.author, **other), key=key)
        assert answer.headers["Content-Type"].startswith("application/problem+json")
        return answer.status_code, answer.json()["code"]

    yield ask
    assert Settlement.objects.count() == 1


def test_a_correction_without_a_key_is_refused(refused: Any) -> None:
    assert refused(key=None) == (400, "idempotency_key_missing")


def test_a_correction_signed_with_a_wrong_pin_is_refused(refused: Any) -> None:
    assert refused(pin="000000") == (401, "wrong_secret")


def test_nobody_signs_their_own_correction(refused: Any, at: AtTable) -> None:
    assert refused(badge=at.supervisor.badge) == (403, "sod_violation")


def test_a_dealer_signs_no_correction(refused: Any, at: AtTable) -> None:
    assert refused(badge=at.dealer.badge) == (403, "second_person_forbidden")


def test_a_supervisor_of_another_table_signs_no_correction_here(refused: Any, staff: House) -> None:
    assert refused(badge=staff.tables["PD02"].supervisor.badge) == (403, "not_on_duty")


@pytest.mark.parametrize(
    ("acts", "status", "code"),
    [
        ([1], 422, "invalid_value"),
        ([999], 422, "invalid_value"),
        ([], 422, "invalid_value"),
        ([0], 422, "invalid_value"),
        (["12"], 400, "malformed"),
        ([1.0], 400, "malformed"),
        ([True], 400, "malformed"),
        ("all", 400, "malformed"),
    ],
)
def test_only_late_events_of_the_round_are_cited(refused: Any, acts: Any, status: int, code: str) -> None:
    assert refused(acts=acts) == (status, code)


def test_a_correction_with_a_field_nobody_knows_is_refused(refused: Any) -> None:
    assert refused(amount=500) == (400, "unknown_field")


def test_a_correction_into_a_doubt_is_refused_with_its_reason(
    staff: House, at: AtTable, night: Night
) -> None:
    told = night.told(at)
    world.at_terminal(at).settle(told.id)
    night.more(at, told, an_act("card_ruled", hand="dealer", position=2, card="4D", reason="seen on video"))

    answer = ask_to_correct(signed_in(at.supervisor), told, correction(told, staff.author))

    assert (answer.status_code, answer.json()["code"], answer.json()["reasons"]) == (
        409,
        "round_held",
        ["duplicate_card"],
    )


def test_a_terminal_corrects_nothing(staff: House, at: AtTable, night: Night) -> None:
    told = a_ruled_round(at, night)

    answer = world.at_terminal(at).ask(
        "POST",
        f"rounds/{told.id}/corrections",
        correction(told, staff.author),
        **{"Idempotency-Key": "k1"},
    )

    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
