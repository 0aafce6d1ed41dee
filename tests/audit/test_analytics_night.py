"""The recorded night, looked at by every screen: the same answer however its rounds are cut."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from audit import analytics
from tests.audit.test_analytics_running import asked, done
from tests.database import House
from tests.rules.given import case
from tests.settlement.floor import NOW, settled
from tests.settlement.test_settle_night import chunks, recorded_night


@pytest.fixture(scope="module")
def night(house: House, django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """A database in which the recorded night was settled."""
    expected: dict[str, Any] = case("night.expected.json")
    with django_db_blocker.unblock():
        name = house.clone()
        before = house.use(name)
        try:
            recorded_night()
            for batch in chunks([UUID(key) for key in expected["rounds"]], 100):
                settled(*batch, now=NOW + timedelta(hours=1))
            yield
        finally:
            house.use(before)
            house.drop(name)


def test_the_recorded_night_gives_the_same_answer_however_it_is_cut(night: None) -> None:
    asked()
    whole = done()
    rounds = whole["cards"].rounds
    assert rounds > 100
    assert {name: result.rounds for name, result in whole.items()} == dict.fromkeys(analytics.SCREENS, rounds)
    asked()
    again = done(chunk=7)
    assert {name: result.digest for name, result in again.items()} == {
        name: result.digest for name, result in whole.items()
    }
    assert {result.revision for result in again.values()} == {1}, "nothing was added"


def test_every_alarm_of_the_night_is_said_in_both_languages(night: None) -> None:
    asked()
    alarms = [alarm for result in done().values() for alarm in result.body["alarms"]]
    said = [analytics.said(alarm, currency="THB") for alarm in alarms]
    assert said
    assert all(one["th"] and one["en"] for one in said)
