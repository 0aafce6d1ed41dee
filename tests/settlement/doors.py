"""A night as it comes in over HTTP, and people who ask about its money."""

from __future__ import annotations

import json
from typing import Any

from django.test import Client

from casino.models import Person
from tests import world
from tests.rules.given import an_act, short_round
from tests.world import AtTable, House, Recording, RoundTold

CARDS = {"p1": "3S 4D", "dealer": "KC 6D"}
"""Hand 1 has 7, the dealer 6."""


class Night:
    """What the devices of a table tell, one round after the other."""

    def __init__(self) -> None:
        self.recording = Recording()
        self.number = 0

    def told(self, at: AtTable, **how: Any) -> RoundTold:
        """A round told to the house; by default hand 1 wins 100 baht."""
        self.number += 1
        told = self.recording.round(table=at.code, number=self.number)
        usual: dict[str, Any] = {"bets": {"p1": 100_00}, "cards": CARDS}
        self.more(at, told, *numbered(short_round(**usual | how), self.number))
        return told

    def more(self, at: AtTable, told: RoundTold, *shorts: Any) -> None:
        events = told.tell(*shorts)
        assert set(world.at_terminal(at).send(at.code, events)) == {"recorded"}


def numbered(shorts: list[Any], number: int) -> list[Any]:
    opening = shorts[0] | {"data": shorts[0]["data"] | {"number": number}}
    return [opening, *shorts[1:]]


def signed_in(person: Person) -> Client:
    client = Client()
    answer = client.post(
        "/api/v1/session",
        json.dumps({"badge": person.badge, "password": world.PASSWORD}),
        content_type="application/json",
    )
    assert answer.status_code == 200, answer.content
    client.defaults["HTTP_X_CSRFTOKEN"] = answer.json()["csrf_token"]
    return client


def no_float(text: str) -> Any:
    raise AssertionError(f"{text} is no amount of money")


def body_of(answer: Any) -> Any:
    """The answer's JSON, in which no number may have a fraction."""
    return json.loads(answer.content, parse_float=no_float)


def asked(client: Client, path: str, **more: Any) -> tuple[int, Any]:
    answer = client.get(f"/api/v1/{path}", more)
    return answer.status_code, body_of(answer)


def thb(amount: int) -> dict[str, Any]:
    return {"amount": amount, "currency": "THB"}


RULING = an_act("card_ruled", hand="dealer", position=2, card="8D", reason="seen on video")


def a_ruled_round(at: AtTable, night: Night) -> RoundTold:
    """A settled round whose dealer's card was ruled afterwards: a pok of 8."""
    told = night.told(at)
    world.at_terminal(at).settle(told.id)
    night.more(at, told, RULING)
    return told


def correction(told: RoundTold, second: Person, **other: Any) -> dict[str, Any]:
    return {"acts": [told.count], "reason": "seen on video", "badge": second.badge, "pin": world.PIN} | other


def ask_to_correct(client: Client, told: RoundTold, body: dict[str, Any], *, key: str | None = "k1") -> Any:
    return client.post(
        f"/api/v1/rounds/{told.id}/corrections",
        json.dumps(body),
        content_type="application/json",
        headers={"Idempotency-Key": key} if key else {},
    )


def a_corrected_round(staff: House, at: AtTable, night: Night) -> RoundTold:
    told = a_ruled_round(at, night)
    answer = ask_to_correct(signed_in(at.supervisor), told, correction(told, staff.author))
    assert answer.status_code == 201, answer.content
    return told
