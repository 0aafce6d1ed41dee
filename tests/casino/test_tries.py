"""How the house knows that it is they: badges, PINs, passwords; who waits after wrong ones, and what is told of it."""

from __future__ import annotations

import json
import threading
from collections import Counter
from datetime import datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import override_settings
from hypothesis import HealthCheck, given
from hypothesis import settings as tried_with
from hypothesis import strategies as st

from audit.models import LogEntry
from casino import people
from casino.models import FailedSignIn, Person, WrongTries
from casino.platform.refusals import Refusal
from casino.tasks import tell_failures
from tests.casino.floor import NOW, PASSWORD, PIN, Floor, a_person, a_table, act
from tests.settlement.books import taken_back

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def cheap_hashes(settings: Any) -> None:
    """Hundreds of tries are looked at here; what one of them costs is a test of its own."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


TABLET = "device:PD01-tablet"
DESK, STRANGER = "192.0.2.1", "203.0.113.9"


def tried(badge: str, secret: str, *, at: str = TABLET, with_pin: bool = True, later: float = 0) -> str:
    """What comes of a try: the badge of who was known, or the code of the refusal."""
    try:
        now = NOW + timedelta(seconds=later)
        return people.check_secret(badge=badge, secret=secret, with_pin=with_pin, at=at, now=now).badge
    except Refusal as refusal:
        return refusal.code


def wait_of(badge: str, secret: str, *, at: str, later: float = 0) -> int:
    """How many seconds somebody is told to wait, 0 where the try was looked at."""
    try:
        now = NOW + timedelta(seconds=later)
        people.check_secret(badge=badge, secret=secret, with_pin=True, at=at, now=now)
    except Refusal as refusal:
        return int(refusal.extra.get("retry_after", 0))
    return 0


WRONG, WAIT = "wrong_secret", "too_many_tries"


def test_a_badge_and_its_pin_are_known_and_nothing_else_is() -> None:
    a_person("supervisor", "S01", pin=PIN, password=PASSWORD)
    a_person("dealer", "D01")  # has no PIN yet

    assert tried("S01", PIN) == "S01"
    assert tried("S01", PASSWORD, with_pin=False) == "S01"
    wrong = [
        tried("S01", PASSWORD), tried("S02", PIN), tried("S01", "", at="x"), tried("D01", "!", at="x"),
        tried("D01", "", at="x"), tried("", "", at="y"), tried("s01", PIN, at="y"),
    ]  # fmt: skip
    assert set(wrong) == {WRONG}
    assert tried("S01", PIN, with_pin=False, at="z") == WRONG


def test_a_disabled_person_is_known_no_more() -> None:
    person = a_person("supervisor", "S01", pin=PIN)
    Person.objects.filter(pk=person.pk).update(is_active=False)
    assert tried("S01", PIN) == WRONG


def test_five_wrong_pins_of_a_badge_at_its_terminal_stop_the_pair_for_five_minutes() -> None:
    a_person("supervisor", "S01", pin=PIN)
    assert [tried("S01", "000000", later=n) for n in range(6)] == [WRONG] * 5 + [WAIT]
    assert [tried("S01", PIN, later=303), tried("S01", PIN, later=304)] == [WAIT, "S01"]


def test_what_a_stranger_tries_elsewhere_never_keeps_a_badge_waiting_at_its_terminal() -> None:
    a_person("supervisor", "S01", pin=PIN)
    for n in range(100):
        tried("S01", f"{n:06}", at=STRANGER, later=n)
    assert tried("S01", PIN, later=100) == "S01"


def test_what_a_stranger_tries_never_shuts_out_other_badges_of_an_address() -> None:
    """The five wrong passwords that shut a whole desk out: now its people go on at once."""
    for badge in ("M01", "M02"):
        a_person("manager", badge, pin=PIN)
        assert tried(badge, PIN, at=DESK) == badge  # they sign in here every day
    for n in range(20):
        tried("M01", f"{n:06}", at=DESK, later=10)
        tried(f"X{n}", PIN, at=DESK, later=10)

    assert tried("M02", PIN, at=DESK, later=11) == "M02"
    assert tried("M01", PIN, at=DESK, later=11) == WAIT  # the pair itself


def test_one_address_over_many_badges_waits_one_two_four_up_to_thirty_seconds_and_is_never_shut() -> None:
    a_person("manager", "M01", pin=PIN)
    for n in range(5):
        assert tried(f"X{n}", PIN, at=STRANGER) == WRONG
    told, clock = [], 0
    for n in range(5, 13):
        told.append(wait_of(f"X{n}", PIN, at=STRANGER, later=clock))
        assert tried(f"X{n}", PIN, at=STRANGER, later=clock + told[-1] - 1) == WAIT
        clock += told[-1]
        assert tried(f"X{n}", PIN, at=STRANGER, later=clock) == WRONG
    assert told == [1, 2, 4, 8, 16, 30, 30, 30]
    assert tried("M01", PIN, at=STRANGER, later=clock + 30) == "M01"


def test_one_badge_from_many_addresses_waits_the_same_and_is_never_shut() -> None:
    a_person("manager", "M01", pin=PIN)
    for n in range(5):
        assert tried("M01", "000000", at=f"198.51.100.{n}") == WRONG
    told, clock = [], 0
    for n in range(5, 13):
        told.append(wait_of("M01", "000000", at=f"198.51.100.{n}", later=clock))
        clock += told[-1]
        assert tried("M01", "000000", at=f"198.51.100.{n}", later=clock) == WRONG
    assert told == [1, 2, 4, 8, 16, 30, 30, 30]
    assert tried("M01", PIN, at=DESK, later=clock + 30) == "M01"


def test_tries_that_wait_do_not_make_anybody_wait_longer() -> None:
    a_person("manager", "M01", pin=PIN)
    for n in range(5):
        tried("M01", "000000", at=f"198.51.100.{n}")
    for n in range(50):
        assert tried("M01", PIN, at=f"198.51.100.{n}", later=0.5) == WAIT
    assert tried("M01", PIN, at=DESK, later=1) == "M01"


def test_whoever_signed_in_from_an_address_before_waits_for_no_stranger_there_or_elsewhere() -> None:
    a_person("manager", "M01", pin=PIN)
    assert tried("M01", PIN, at=DESK) == "M01"
    for n in range(60):
        tried("M01", "000000", at=f"198.51.100.{n}", later=60)
        tried(f"X{n}", "000000", at=DESK, later=60)
    assert tried("M01", PIN, at=DESK, later=60) == "M01"


def test_five_wrong_pins_over_any_badges_stop_a_terminal_and_no_other() -> None:
    a_person("supervisor", "S01", pin=PIN)
    assert [tried(f"S{n:02}", "000000") for n in range(2, 8)] == [WRONG] * 5 + [WAIT]
    assert [tried("S01", PIN), tried("S01", PIN, at="device:PD02-tablet")] == [WAIT, "S01"]
    assert tried("S01", PIN, later=300) == "S01"


class Counting(Argon2PasswordHasher):
    """Argon2 that counts how often it worked out a hash."""

    hashes = 0

    def encode(self, password: str, salt: str) -> str:
        Counting.hashes += 1
        return super().encode(password, salt)

    def verify(self, password: str, encoded: str) -> bool:
        Counting.hashes += 1
        return super().verify(password, encoded)


def test_an_unknown_badge_costs_as_much_as_a_wrong_pin() -> None:
    a_person("supervisor", "S01", pin=PIN)
    a_person("dealer", "D01")  # has no PIN yet
    gone = a_person("dealer", "D02", pin=PIN)
    Person.objects.filter(pk=gone.pk).update(is_active=False)
    costs = []
    with override_settings(PASSWORD_HASHERS=[f"{__name__}.Counting"]):
        for badge in ("S01", "D01", "D02", "X99"):
            before, ran = Counting.hashes, len(connection.queries_log)
            assert tried(badge, "000000", at=badge) == WRONG
            costs.append((Counting.hashes - before, len(connection.queries_log) - ran))
    assert len(set(costs)) == 1
    assert costs[0][0] == 1


def test_one_is_told_how_long_to_wait() -> None:
    for _ in range(5):
        tried("S01", "000000")
    assert wait_of("S01", PIN, at=TABLET, later=100) == 200


def test_nobody_is_locked_out_for_ever_by_trying_on() -> None:
    a_person("supervisor", "S01", pin=PIN)
    for second in range(60):
        tried("S01", "000000", later=second * 5)
    assert tried("S01", PIN, later=321) == "S01"


def test_a_right_secret_costs_no_try_and_ends_what_went_before_it_of_that_badge() -> None:
    a_person("supervisor", "S01", pin=PIN)
    for _ in range(4):
        tried("S01", "000000")

    assert [tried("S01", PIN) for _ in range(20)] == ["S01"] * 20
    # The terminal keeps its four: whoever has a PIN of their own does not go on guessing others' with it.
    assert [tried("S02", "000000"), tried("S01", PIN)] == [WRONG, WAIT]


@tried_with(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    tries=st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), st.booleans(), st.integers(0, 140)),
        max_size=15,
    )
)
def test_at_terminals_a_model_of_pairs_and_places_says_who_waits(
    tries: list[tuple[str, str, bool, int]],
) -> None:
    """Against failures in a row of each badge and place, and when the last of them was."""
    failed: dict[str, tuple[int, int]] = {}
    now = 0
    with taken_back():
        for name in "ab":
            a_person("supervisor", name, pin=PIN)
        for badge, place, right, pause in tries:
            now += pause
            pair, spot = f"{badge}@{place}", place
            open_now = {
                key: failed[key] for key in (pair, spot) if key in failed and failed[key][1] > now - 300
            }
            waits = any(count >= 5 for count, _ in open_now.values())
            expected = WAIT if waits else badge if right else WRONG

            assert tried(badge, PIN if right else "0", at=f"device:{place}", later=now) == expected

            if expected == WRONG:
                for key in (pair, spot):
                    failed[key] = (open_now.get(key, (0, 0))[0] + 1, now)
            elif expected == badge:
                failed[pair] = (0, now)
                failed[spot] = (open_now.get(spot, (0, 0))[0], now)


def at_once(tries: list[tuple[str, str]]) -> Counter[str]:
    """What comes of tries (badge, origin) with a wrong secret, eight at a time."""
    outcomes: list[str] = []
    start = threading.Barrier(8)

    def guess(worker: int) -> None:
        start.wait()
        for n, (badge, at) in enumerate(tries):
            if n % 8 == worker:
                outcomes.append(tried(badge, f"wrong {n}", at=at))
        connection.close()

    threads = [threading.Thread(target=guess, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return Counter(outcomes)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", ["a pair", "an address", "a badge"])
def test_of_two_hundred_wrong_tries_at_once_at_most_ten_are_looked_at(kind: str) -> None:
    a_person("manager", "S01", pin=PIN)
    tries = [
        ("S01" if kind != "an address" else f"X{n}", STRANGER if kind != "a badge" else f"198.51.100.{n}")
        for n in range(200)
    ]

    outcomes = at_once(tries)

    assert outcomes[WRONG] + outcomes[WAIT] == 200
    assert 5 <= outcomes[WRONG] <= 10
    assert tried("S01", PIN, at=DESK, later=30) == "S01"
    assert sum(FailedSignIn.objects.values_list("wrong", flat=True)) == outcomes[WRONG]
    assert sum(FailedSignIn.objects.values_list("waited", flat=True)) == outcomes[WAIT]
    assert LogEntry.objects.filter(action="person.sign_in_stopped").exists()


# -- what the log is told -----------------------------------------------------------------------------------


def told(action: str) -> list[dict[str, Any]]:
    entries = LogEntry.objects.filter(action=action).order_by("id")
    return [dict(json.loads(bytes(entry.bytes))["data"]) for entry in entries]


def test_failures_are_one_entry_for_a_badge_an_origin_and_a_minute_with_their_count() -> None:
    floor = a_table()
    minute = NOW.replace(second=0, microsecond=0)
    for n in range(3):
        tried("D01", "000000", at="device:PD01-tablet", later=n)
    tried("D01", "000000", at=STRANGER)
    tried("D02", "000000", at=STRANGER)
    tried("D02", "000000", at=STRANGER, later=120)

    with act(now=minute + timedelta(seconds=59)):
        assert people.tell_failures(now=minute + timedelta(seconds=59)) == 0
    with act():
        assert people.tell_failures(now=minute + timedelta(seconds=240)) == 4
        assert people.tell_failures(now=minute + timedelta(seconds=240)) == 0

    entries = told("person.sign_in_failed")
    assert [(e["origin"], e["wrong"], e["waited"]) for e in entries] == [
        (STRANGER, 1, 0), (STRANGER, 1, 0), ("PD01-tablet", 3, 0), (STRANGER, 1, 0),
    ] or [(e["origin"], e["wrong"]) for e in entries] == [
        ("203.0.113.9", 1), ("203.0.113.9", 1), ("PD01-tablet", 3), ("203.0.113.9", 1),
    ]  # fmt: skip
    assert len({e["badge"] for e in entries}) == 2
    assert {datetime.fromisoformat(e["minute"]) for e in entries} == {minute, minute + timedelta(minutes=2)}
    (of_the_table,) = LogEntry.objects.filter(action="person.sign_in_failed", table_code="PD01")
    assert of_the_table.subject == "origins/PD01-tablet"
    assert floor.table.code == "PD01"


def test_neither_a_badge_nor_what_was_typed_for_one_stands_in_the_log_or_in_the_counts() -> None:
    for n in range(8):
        tried("hunter2-my-password", "000000", at=f"198.51.100.{n}", later=n * 40)
    with act(now=NOW + timedelta(hours=1)):
        people.tell_failures(now=NOW + timedelta(hours=1))
    entries = b"".join(bytes(entry.bytes) for entry in LogEntry.objects.all())
    counts = "".join(WrongTries.objects.values_list("principal", flat=True))
    assert b"person.sign_in_failed" in entries
    assert b"hunter2" not in entries
    assert "hunter2" not in counts


@pytest.mark.django_db(transaction=True)
def test_a_task_tells_the_log_of_every_minute_that_is_over() -> None:
    tried("S01", "000000")  # long ago, by this test's clock
    assert tell_failures() == 1
    assert not FailedSignIn.objects.exists()
    assert [entry["wrong"] for entry in told("person.sign_in_failed")] == [1]


def test_a_flood_of_tries_that_wait_is_one_entry_a_minute() -> None:
    for n in range(300):
        tried(f"X{n}", "0", at=STRANGER)
    with act():
        assert people.tell_failures(now=NOW + timedelta(seconds=120)) == 6
    assert sum(entry["waited"] for entry in told("person.sign_in_failed")) == 295


def test_five_in_a_row_are_told_at_once_with_whose_badge_it_is_and_once() -> None:
    floor = a_table()
    for _ in range(7):
        tried(floor.supervisor.badge, "000000", at="device:PD01-tablet")
    (stopped,) = told("person.sign_in_stopped")
    assert (stopped["origin"], stopped["failures"], stopped["whose"]) == (
        "PD01-tablet", 5, str(floor.supervisor.id),
    )  # fmt: skip
    assert LogEntry.objects.get(action="person.sign_in_stopped").table_code == "PD01"


# -- unlocking ----------------------------------------------------------------------------------------------


def locked(floor: Floor, *, at: str) -> str:
    """A dealer's badge that has to wait at an origin."""
    person = a_person("dealer", pin=PIN)
    for _ in range(5):
        assert tried(person.badge, "000000", at=at) == WRONG
    assert tried(person.badge, PIN, at=at) == WAIT
    return person.badge


def unlock(client: Any, badge: str, reason: str | None = "forgot it over New Year") -> Any:
    body = json.dumps({} if reason is None else {"reason": reason})
    return client.post(f"/api/v1/people/{badge}/unlock", body, content_type="application/json")


def test_a_supervisor_on_duty_lets_a_badge_be_tried_again_at_that_table_and_the_log_says_why(
    client: Any,
) -> None:
    here, there = a_table("PD01"), a_table("PD02")
    badge = locked(here, at="device:PD01-tablet")
    elsewhere = locked(there, at="device:PD02-tablet")
    client.force_login(here.supervisor)

    answer = unlock(client, badge)

    assert (answer.status_code, answer.json()) == (200, {"badge": badge, "tables": ["PD01"]})
    assert tried(badge, PIN, at="device:PD01-tablet") == badge
    unlock(client, elsewhere)
    assert tried(elsewhere, PIN, at="device:PD02-tablet") == WAIT
    (entry, _) = told("person.unlocked")
    assert entry["tables"] == ["PD01"]
    assert entry["waits"] == 2  # the pair's, and the terminal's own
    first = LogEntry.objects.filter(action="person.unlocked").earliest("id")
    assert (first.person, first.subject) == (
        here.supervisor.id, f"people/{Person.objects.get(badge=badge).id}",
    )  # fmt: skip


@pytest.mark.parametrize("role", ["manager", "administrator"])
def test_a_manager_and_an_administrator_unlock_a_badge_everywhere(client: Any, role: str) -> None:
    badge = locked(a_table(), at="device:PD01-tablet")
    for n in range(8):
        tried(badge, "000000", at=f"198.51.100.{n}", later=n * 40)
    client.force_login(a_person(role))

    assert unlock(client, badge).json() == {"badge": badge, "tables": None}

    assert tried(badge, PIN, at="device:PD01-tablet", later=300) == badge
    assert tried(badge, PIN, at=DESK, later=281) == badge


def test_nobody_unlocks_themselves_and_nobody_without_a_reason(client: Any) -> None:
    manager = a_person("manager", "M01", pin=PIN)
    client.force_login(manager)
    answer = unlock(client, "M01")
    assert (answer.status_code, answer.json()["code"]) == (403, "sod_violation")
    assert unlock(client, "M02").status_code == 404
    answer = unlock(client, "M01", reason=None)
    assert (answer.status_code, answer.json()["fields"]) == (400, {"reason": "is missing"})


def test_a_supervisor_who_is_on_duty_nowhere_unlocks_nobody(client: Any) -> None:
    badge = locked(a_table(), at="device:PD01-tablet")
    client.force_login(a_person("supervisor"))
    answer = unlock(client, badge)
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert tried(badge, PIN) == WAIT


def test_the_command_unlocks_by_an_administrators_password(monkeypatch: pytest.MonkeyPatch) -> None:
    badge = locked(a_table(), at="device:PD01-tablet")
    a_person("administrator", "A01", password=PASSWORD)
    a_person("cashier", "C01", password=PASSWORD)

    def run(by: str, password: str) -> str:
        monkeypatch.setattr("sys.stdin", StringIO(password + "\n"))
        said = StringIO()
        call_command("unlock", badge, "--by", by, "--reason", "asked at the desk", stdout=said)
        return said.getvalue()

    with pytest.raises(CommandError, match="wrong_secret"):
        run("A01", "guessed")
    with pytest.raises(CommandError, match="forbidden"):
        run("C01", PASSWORD)
    assert tried(badge, PIN) == WAIT
    assert run("A01", PASSWORD) == f"{badge} may try again.\n"
    assert tried(badge, PIN) == badge
