"""One Idempotency-Key twice at once: one act, and the other is told to wait for its answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from casino.models import StoredAnswer
from settlement.models import Settlement
from tests import world
from tests.races import together
from tests.races.together import Unlocked
from tests.rules.given import short_round
from tests.settlement.doors import signed_in

pytestmark = pytest.mark.django_db(transaction=True)

KEY_UNLOCKED = Unlocked(instead=(("pg_try_advisory_xact_lock(hashtextextended(%s, 0))", "(length(%s) > 0)"),))


def a_correction_to_ask_for() -> Callable[[], Any]:
    """A settled round with a late ruling; the request of its supervisor that corrects it, always the same."""
    house = world.a_house()
    at = house.tables["PD01"]
    recording = world.Recording()
    told = recording.round(table="PD01", number=1)
    terminal = world.at_terminal(at)
    told.tell(*short_round(bets={"p1": 100_00}, cards={"p1": "3S 4D", "dealer": "KC 6D"}))
    terminal.send("PD01", recording.events())
    assert terminal.settle(told.id)["outcome"] == "settled"
    ruling = {"hand": "dealer", "position": 2, "card": "8D", "reason": "seen on video"}
    [event] = told.tell({"type": "card_ruled", "data": ruling})
    assert terminal.send("PD01", [event]) == ["recorded"]
    people = signed_in(at.supervisor)
    body = {"acts": [told.count], "reason": "seen on video", "badge": house.author.badge, "pin": world.PIN}

    def ask() -> Any:
        answer = people.post(
            f"/api/v1/rounds/{told.id}/corrections",
            json.dumps(body),
            content_type="application/json",
            headers={"Idempotency-Key": '"one"'},
        )
        return answer.json().get("code") or answer.json()["revision"]

    return ask


def one_key_twice(*, unlocked: Unlocked | None) -> tuple[list[Any], Callable[[], Any]]:
    """The first has found the key unused, inside its act, when the second begins."""
    ask = a_correction_to_ask_for()
    return together.at_once(ask, ask, behind='FROM "casino_storedanswer"', time=2, unlocked=unlocked), ask


def test_control_without_the_keys_lock_both_act_and_one_of_them_fails() -> None:
    answers, _ = one_key_twice(unlocked=KEY_UNLOCKED)

    assert answers == ["internal_error", 2]


def test_one_key_twice_at_once_is_one_act_and_the_other_is_told_that_it_runs() -> None:
    answers, ask = one_key_twice(unlocked=None)

    assert answers == [2, "idempotency_key_running"]
    assert ask() == 2
    assert (Settlement.objects.count(), StoredAnswer.objects.count()) == (2, 1)
