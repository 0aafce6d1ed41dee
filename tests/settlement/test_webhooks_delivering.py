"""What is owed reaches its receivers, however they behave: at least once, under one id, and none waits for another."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import pytest
import standardwebhooks
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from django.utils import timezone

from audit.models import LogEntry
from settlement.models import Attempt, Delivery, Endpoint, Message
from settlement.webhooks import delivering, endpoints, schedule, sending
from tests.settlement.books import NOW, a_person, act
from tests.settlement.receiver import Received, receiving
from tests.settlement.telling import (
    an_endpoint,
    at_home,
    delivered,
    delivered_within,
    due_of,
    owed,
    states,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _home(settings: Any) -> None:
    at_home(settings)


def results() -> list[str]:
    return list(Attempt.objects.order_by("id").values_list("result", flat=True))


def test_a_message_is_taken_once_and_reads_as_it_was_booked() -> None:
    with receiving() as receiver:
        an_endpoint(receiver)
        [message] = owed()
        assert delivered() == 1

    [request] = receiver.requests
    assert request.body.decode() == Message.objects.get(pk=message).body
    assert (request.path, request.id) == ("/hooks?house=1", str(message))
    assert states() == {"delivered": 1}
    assert delivered() == 0


def test_whoever_knows_the_standard_can_check_what_came() -> None:
    """The published package checks v1 with the secret; v1a is checked with the public key."""
    now = timezone.now()
    with receiving() as receiver:
        _, secret = an_endpoint(receiver)
        owed(now=now)
        delivered(at=now)

    [request] = receiver.requests
    assert standardwebhooks.Webhook(secret.symmetric).verify(request.body, request.headers) == request.told
    assert request.headers["webhook-timestamp"] == str(int(now.timestamp()))
    with pytest.raises(standardwebhooks.WebhookVerificationError):
        standardwebhooks.Webhook(secret.symmetric).verify(request.body + b" ", request.headers)
    assert checked_by_key(request, secret.public)
    assert not checked_by_key(Received(request.path, request.headers, request.body + b" "), secret.public)


def checked_by_key(request: Received, public: str) -> bool:
    import base64

    from cryptography.exceptions import InvalidSignature

    key = Ed25519PublicKey.from_public_bytes(base64.b64decode(public.removeprefix("whpk_")))
    text = f"{request.id}.{request.headers['webhook-timestamp']}.".encode() + request.body
    for signature in request.headers["webhook-signature"].split():
        if signature.startswith("v1a,"):
            try:
                key.verify(base64.b64decode(signature.removeprefix("v1a,")), text)
            except InvalidSignature:
                continue
            return True
    return False


def test_while_a_secret_is_rotated_both_sign_and_then_only_the_new_one(settings: Any) -> None:
    at_home(settings, rotation_hours=24)
    later = NOW + timedelta(hours=25)
    with receiving() as receiver:
        endpoint, old = an_endpoint(receiver)
        with act():
            _, new = endpoints.rotate(
                endpoint=endpoint.id,
                by=a_person("AD1", "administrator"),
                approved_by=a_person("M1", "manager"),
            )
        owed()
        delivered()
        owed(now=later)
        delivered(at=later)

    during, after = receiver.requests
    assert [checked_by_key(during, secret.public) for secret in (old, new)] == [True, True]
    assert [checked_by_key(after, secret.public) for secret in (old, new)] == [False, True]
    assert [len(request.headers["webhook-signature"].split()) for request in (during, after)] == [4, 2]


@pytest.mark.parametrize(
    ("behaviour", "result"),
    [
        ("created", "delivered"),
        ("broken", "delivered"),
        ("500", "http_500"),
        ("redirect", "http_307"),
        ("cut", "no_answer"),
        ("garbage", "no_answer"),
        ("interim", "delivered"),
        ("continued", "delivered"),
        ("interim500", "http_500"),
        ("interim_alone", "no_answer"),
        ("switched", "http_101"),
    ],
)
def test_two_hundred_is_success_and_all_else_is_failure(behaviour: str, result: str) -> None:
    with receiving() as elsewhere, receiving(behaviour) as receiver:
        receiver.redirect_to = elsewhere.url
        an_endpoint(receiver)
        owed()
        delivered()

    assert results() == [result]
    assert elsewhere.requests == []


def test_nobody_listens_and_it_is_tried_again() -> None:
    endpoint, _ = an_endpoint(url="http://127.0.0.1:9/")
    owed()
    delivered()

    assert results() == ["not_reached"]
    assert NOW + timedelta(seconds=5) <= due_of(endpoint) <= NOW + timedelta(seconds=5.5)


@pytest.mark.parametrize(
    ("behaviour", "result"),
    [
        ("slow", "timed_out"),
        ("drip", "timed_out"),
        ("endless", "delivered"),
        ("row", "no_answer"),
        ("slow_row", "timed_out"),
    ],
)
def test_a_try_is_over_after_five_seconds_or_64_kb(behaviour: str, result: str) -> None:
    """Whoever answered 2xx has the message, so what follows that is cut off and counts for nothing."""
    with receiving(behaviour) as receiver:
        an_endpoint(receiver)
        owed()
        delivered()

    assert results() == [result]
    [attempt] = Attempt.objects.all()
    assert attempt.milliseconds < 10_000


def test_one_slow_receiver_delays_nobody() -> None:
    """Forty messages to one who never answers and to one who does: the second has all of its own before the first was
    sent more than it has places."""
    seen: list[int] = []

    def healthy(_: Received) -> str:
        seen.append(len(slow.requests))
        return "ok"

    with receiving("slow") as slow, receiving(healthy) as receiver:
        lame, _ = an_endpoint(slow, name="lame")
        well, _ = an_endpoint(receiver, name="well")
        owed(40)
        delivered_within(3)

    assert states(well) == {"delivered": 40}
    assert max(seen) <= endpoints.SLOTS
    assert set(Attempt.objects.filter(delivery__endpoint=lame).values_list("result", flat=True)) == {
        "timed_out"
    }


def test_the_schedule_is_followed_to_its_end_and_people_are_told(caplog: pytest.LogCaptureFixture) -> None:
    with receiving("500") as receiver:
        endpoint, _ = an_endpoint(receiver)
        [message] = owed()
        at, waits = NOW, []
        while states() == {"due": 1}:
            before, at = at, due_of(endpoint)
            waits.append((at - before).total_seconds())
            delivered(at=at)

    assert len(waits) == len(schedule.DELAYS) == 10
    for waited, delay in zip(waits, schedule.DELAYS, strict=True):
        assert delay <= waited <= delay * 1.1
    assert receiver.ids() == {str(message)}
    assert len({request.headers["webhook-timestamp"] for request in receiver.requests}) == 10
    endpoint.refresh_from_db()
    assert (states(), endpoint.state) == ({"given_up": 1}, Endpoint.State.FAILING)
    assert "given up after the last try" in caplog.text
    told = set(LogEntry.objects.values_list("action", flat=True))
    assert {"delivery.given_up", "endpoint.failing"} <= told


def test_an_endpoint_that_takes_a_message_again_is_no_longer_failing() -> None:
    with receiving() as receiver:
        endpoint, _ = an_endpoint(receiver)
        Endpoint.objects.filter(pk=endpoint.pk).update(state="failing")
        owed()
        delivered()

    endpoint.refresh_from_db()
    assert endpoint.state == Endpoint.State.ENABLED
    assert LogEntry.objects.filter(action="endpoint.recovered").exists()


def test_gone_disables_and_gives_up_what_was_due() -> None:
    with receiving("410") as receiver:
        endpoint, _ = an_endpoint(receiver)
        owed(20)
        delivered()
        owed(5)
        delivered()

    endpoint.refresh_from_db()
    assert endpoint.state == Endpoint.State.DISABLED
    assert states() == {"given_up": 20}
    assert len(receiver.requests) <= endpoints.SLOTS
    assert LogEntry.objects.filter(action="endpoint.disabled", subject=f"endpoints/{endpoint.id}").exists()


def test_what_an_act_owed_while_the_endpoint_was_being_disabled_is_given_up_by_the_sweep() -> None:
    endpoint, _ = an_endpoint()
    owed(3)
    Endpoint.objects.filter(pk=endpoint.pk).update(state="disabled")
    with act():
        delivering.requeue()

    assert states() == {"given_up": 3}


@pytest.mark.parametrize(("behaviour", "seconds"), [("429", 120), ("503", 600), ("502", 30)])
def test_a_receiver_that_asks_for_time_gets_it(behaviour: str, seconds: int) -> None:
    """What is due later than the first failure waits with it, and uses up no try."""
    with receiving(behaviour) as receiver:
        endpoint, _ = an_endpoint(receiver)
        owed()
        delivered()
        owed(3)
        assert delivered(at=NOW + timedelta(seconds=seconds - 1)) == 0
        assert delivered(at=NOW + timedelta(seconds=seconds, minutes=5)) > 0

    endpoint.refresh_from_db()
    assert endpoint.not_before is not None
    if behaviour in ("429", "502"):
        assert endpoint.slots == 1


@pytest.mark.parametrize(
    ("asked", "failures", "seconds"),
    [(None, 1, 5), (2, 1, 5), (120, 1, 120), (10**9, 1, 86_400), (60, 4, 7_200)],
)
def test_the_next_try_is_the_later_of_the_schedule_and_what_was_asked_for(
    asked: int | None, failures: int, seconds: int
) -> None:
    due = schedule.next_try(failures=failures, now=NOW, delivery=7, retry_after=asked)
    assert due is not None
    assert seconds <= (due - NOW).total_seconds() <= seconds * 1.1


@pytest.mark.parametrize(
    ("written", "seconds"), [("120", 120), ("Sun, 01 Mar 2026 14:02:00 GMT", 120), ("soon", None), ("", None)]
)
def test_retry_after_is_read_as_seconds_or_as_a_date(written: str, seconds: int | None) -> None:
    assert sending._seconds(written, now=NOW) == seconds


def test_a_slow_receiver_gets_its_places_back_one_success_after_the_other() -> None:
    with receiving() as receiver:
        endpoint, _ = an_endpoint(receiver)
        Endpoint.objects.filter(pk=endpoint.pk).update(slots=1)
        owed(10)
        delivered()

    endpoint.refresh_from_db()
    assert endpoint.slots == endpoints.SLOTS


def test_whoever_was_away_longer_than_the_lease_writes_nothing() -> None:
    with receiving() as receiver:
        an_endpoint(receiver)
        owed()
        [late] = delivering.claim(owner="frozen", now=NOW, room=8)
        Delivery.objects.update(lease_until=NOW - timedelta(days=1))
        with act():
            assert delivering.requeue() == 1
        [other] = delivering.claim(owner="awake", now=NOW, room=8)
        with act():
            kept = delivering.finish([(late, sending.Answer("http_500", NOW, status=500))])
        assert kept == []
        assert (late.number, other.number) == (1, 2)
        assert states() == {"claimed": 1}
        assert results() == []
        with act():
            assert delivering.finish([(other, sending.send(other, now=NOW))]) == [other.delivery]

    assert (states(), results()) == ({"delivered": 1}, ["delivered"])


def test_a_lease_that_is_not_over_is_nobody_elses() -> None:
    an_endpoint()
    owed()
    assert len(delivering.claim(owner="one", now=NOW, room=8)) == 1
    with act():
        assert delivering.requeue() == 0
    assert delivering.claim(owner="two", now=NOW, room=8) == []


def test_each_endpoint_has_its_turn_before_any_has_its_second() -> None:
    first, _ = an_endpoint(url="http://127.0.0.1:9/", name="first")
    second, _ = an_endpoint(url="http://127.0.0.1:10/", name="second")
    owed(10)

    letters = delivering.claim(owner="worker", now=NOW, room=6)
    assert sorted(letter.endpoint for letter in letters) == sorted([first.id] * 3 + [second.id] * 3)


def test_claiming_and_finishing_take_the_same_statements_for_one_and_for_many() -> None:
    from tests.settlement.books import statements

    an_endpoint()
    counts = []
    for many in (1, 8):
        owed(many)
        ran: list[str] = []
        with statements(ran):
            letters = delivering.claim(owner="worker", now=NOW, room=32)
            with act():
                delivering.finish(
                    [(letter, sending.Answer("delivered", NOW, status=204)) for letter in letters]
                )
        counts.append((len(letters), len(ran)))

    assert counts == [(1, 3), (8, 3)]


def test_an_older_message_of_a_round_overwrites_no_newer_one() -> None:
    from tests.settlement.books import a_round

    round = a_round()
    with receiving(
        lambda request: "500" if request.told["data"]["in_round"] == 1 and first(request) else "ok"
    ) as r:
        an_endpoint(r)
        seen: set[str] = set()

        def first(request: Received) -> bool:
            before = request.id in seen
            seen.add(request.id)
            return not before

        owed(type="round.settled", round=round)
        owed(type="round.corrected", round=round)
        delivered()
        delivered(at=NOW + timedelta(hours=1))

    assert states() == {"delivered": 2}
    assert r.rounds[str(round)]["in_round"] == 2
    assert list(r.effects.values()) == [1, 1]


def test_the_worst_week_of_two_receivers() -> None:
    """Two hundred events; one receiver misbehaves in every way in turn, the other is well. In the end both have all of
    them, each once, under the ids they had from the start; and the healthy one waited for nothing."""
    ways = ("500", "broken", "redirect", "cut", "created", "503", "garbage")
    tries: dict[str, int] = {}

    def moody(request: Received) -> str:
        tries[request.id] = tries.get(request.id, -1) + 1
        return "ok" if tries[request.id] >= 3 else ways[(len(tries) + tries[request.id]) % len(ways)]

    with receiving(moody) as bad, receiving() as good:
        bad.redirect_to = good.url
        lame, _ = an_endpoint(bad, name="lame")
        well, _ = an_endpoint(good, name="well")
        messages = {str(one) for one in owed(200)}
        started = time.monotonic()
        delivered()
        assert states(well) == {"delivered": 200}
        moment = NOW
        while states(lame) != {"delivered": 200}:
            moment += timedelta(minutes=20)
            assert moment < NOW + timedelta(days=3)
            delivered(at=moment)
        assert time.monotonic() - started < 110

    assert bad.ids() == good.ids() == messages
    assert set(bad.effects.values()) == {1}
    assert len(good.requests) == 200
