"""Webhooks over HTTP: two people for where they go, secrets shown once, failures listed and sent again."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
import standardwebhooks
from django.test import Client
from django.utils import timezone

from audit.models import LogEntry
from casino import events, keys
from casino.models import StoredAnswer
from settlement.models import Delivery, Endpoint, EndpointChange
from tests import world
from tests.settlement.doors import asked, signed_in
from tests.settlement.receiver import Receiver, receiving
from tests.settlement.telling import at_home, delivered, owed, states
from tests.world import House

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _home(settings: Any) -> None:
    at_home(settings)


@pytest.fixture
def admin() -> Client:
    return signed_in(world.a_person(role="administrator", badge="AD1"))


def told(client: Client, path: str, body: Any = None, *, method: str = "POST") -> tuple[int, Any]:
    answer = client.generic(
        method, f"/api/v1/webhooks/{path}", json.dumps(body or {}), content_type="application/json"
    )
    return answer.status_code, answer.json()


def second(staff: House) -> dict[str, str]:
    return {"badge": staff.author.badge, "pin": world.PIN}


def target(receiver: Receiver) -> dict[str, Any]:
    return {"host": "127.0.0.1", "port": receiver.port}


def wanted(receiver: Receiver, **other: Any) -> dict[str, Any]:
    return {"name": "cage", "url": receiver.url, "types": ["day.sealed"]} | other


def opened(admin: Client, staff: House, receiver: Receiver, **other: Any) -> dict[str, Any]:
    status, _ = told(admin, "targets", target(receiver) | second(staff))
    assert status in (201, 409)
    status, made = told(admin, "endpoints", wanted(receiver, **other) | second(staff))
    assert status == 201, made
    found: dict[str, Any] = made
    return found


def test_two_people_open_an_endpoint_and_its_secret_is_seen_once(staff: House, admin: Client) -> None:
    now = timezone.now()
    with receiving() as receiver:
        made = opened(admin, staff, receiver)
        owed(now=now)
        delivered(at=now)

    standardwebhooks.Webhook(made["secret"]).verify(receiver.requests[0].body, receiver.requests[0].headers)
    bare = made["secret"].removeprefix("whsec_")
    answers = [asked(admin, "webhooks/endpoints"), asked(admin, f"webhooks/endpoints/{made['id']}")]
    assert [status for status, _ in answers] == [200, 200]
    stored = json.dumps(
        [
            answers,
            [bytes(kept or b"").decode() for kept in StoredAnswer.objects.values_list("content", flat=True)],
            list(Endpoint.objects.values_list("secret", flat=True)),
            [bytes(entry).decode() for entry in LogEntry.objects.values_list("bytes", flat=True)],
        ]
    )
    assert bare not in stored
    assert made["public_key"] in stored


@pytest.mark.parametrize("path", ["targets", "endpoints"])
def test_nobody_sets_a_target_alone_or_with_whoever_may_not(staff: House, admin: Client, path: str) -> None:
    with receiving() as receiver:
        told(admin, "targets", target(receiver) | second(staff))
        body = {"targets": {"host": "other.example", "port": 443}, "endpoints": wanted(receiver)}[path]
        dealer = staff.tables["PD01"].dealer
        alone = {"badge": "AD1", "pin": world.PIN}
        assert told(admin, path, body | alone)[1]["code"] == "sod_violation"
        dealers = body | {"badge": dealer.badge, "pin": world.PIN}
        assert told(admin, path, dealers)[1]["code"] == "second_person_forbidden"
        assert told(admin, path, body | second(staff) | {"pin": "000000"})[1]["code"] == "wrong_secret"
        manager = signed_in(staff.author)
        assert told(manager, path, body | alone)[0] == 403

    assert (Endpoint.objects.count(), EndpointChange.objects.count()) == (0, 0)


def test_an_endpoint_is_refused_where_its_host_and_port_are_not_approved(staff: House, admin: Client) -> None:
    with receiving() as receiver:
        status, answer = told(admin, "endpoints", wanted(receiver) | second(staff))

    assert (status, answer["code"]) == (422, "target_refused")
    assert answer["fields"] == {"url": "host and port are not approved"}


def test_a_withdrawn_target_is_refused_when_saved_and_when_sent(staff: House, admin: Client) -> None:
    now = timezone.now()
    with receiving() as receiver:
        made = opened(admin, staff, receiver)
        owed(now=now)
        [listed] = asked(admin, "webhooks/targets")[1]["targets"]
        assert told(admin, f"targets/{listed['id']}", method="DELETE")[0] == 200
        delivered(at=now)
        status, answer = told(admin, "endpoints", wanted(receiver, name="again") | second(staff))
        assert (status, answer["code"]) == (422, "target_refused")

    assert receiver.requests == []
    [delivery] = asked(admin, f"webhooks/endpoints/{made['id']}/deliveries")[1]["deliveries"]
    assert (delivery["state"], delivery["last_result"], delivery["failures"]) == ("due", "target_refused", 1)


def test_a_rotated_secret_is_another_and_the_old_one_still_signs(staff: House, admin: Client) -> None:
    now = timezone.now()
    with receiving() as receiver:
        made = opened(admin, staff, receiver)
        status, rotated = told(admin, f"endpoints/{made['id']}/rotate", second(staff))
        owed(now=now)
        delivered(at=now)

    assert status == 201
    [request] = receiver.requests
    assert rotated["secret"] != made["secret"]
    for secret in (made["secret"], rotated["secret"]):
        standardwebhooks.Webhook(secret).verify(request.body, request.headers)


def test_a_disabled_endpoint_is_owed_nothing_until_two_people_open_it_again(
    staff: House, admin: Client
) -> None:
    with receiving() as receiver:
        made = opened(admin, staff, receiver)
        path = f"endpoints/{made['id']}"
        owed(2)
        assert told(admin, f"{path}/disable", {"reason": "moves house"})[1]["state"] == "disabled"
        assert told(admin, f"{path}/disable", {"reason": "twice"})[1]["code"] == "endpoint_disabled"
        owed(3)
        assert states() == {"given_up": 2}
        today = timezone.now().isoformat()
        assert told(admin, f"{path}/replay", {"since": today, "until": today})[1]["code"] == (
            "endpoint_disabled"
        )
        assert told(admin, f"{path}/enable", second(staff))[1]["state"] == "enabled"
        assert told(admin, f"{path}/enable", second(staff))[1]["code"] == "endpoint_open"
        owed(1)

    assert states() == {"given_up": 2, "due": 1}
    changes = EndpointChange.objects.order_by("revision").values_list("revision", "opens")
    assert list(changes) == [(1, True), (2, False), (3, True)]


def test_failures_are_listed_and_one_or_a_range_is_sent_again(staff: House, admin: Client) -> None:
    now = timezone.now()
    with receiving(lambda request: "500" if request.told["data"]["place"] % 2 else "ok") as receiver:
        made = opened(admin, staff, receiver)
        owed(6, now=now)
        delivered(at=now)
        listed = f"webhooks/endpoints/{made['id']}/deliveries"
        failed = asked(admin, listed, failures="1")[1]["deliveries"]
        assert [(one["state"], one["last_result"]) for one in failed] == [("due", "http_500")] * 3
        assert len(asked(admin, listed, state="delivered")[1]["deliveries"]) == 3
        before = receiver.ids()

        one = failed[0]["id"]
        assert told(admin, f"deliveries/{one}/replay") == (200, {"due": 1})
        receiver.behave = lambda _: "ok"
        delivered(at=timezone.now())
        attempts = asked(admin, f"webhooks/deliveries/{one}/attempts")[1]
        assert [attempt["result"] for attempt in attempts["attempts"]] == ["http_500", "delivered"]

        span = {"since": now.isoformat(), "until": (now + timedelta(seconds=1)).isoformat()}
        assert told(admin, f"endpoints/{made['id']}/replay", span | {"failures": True}) == (200, {"due": 2})
        assert told(admin, f"endpoints/{made['id']}/replay", span) == (200, {"due": 6})
        delivered(at=timezone.now())

    assert receiver.ids() == before
    assert set(receiver.effects.values()) == {1}
    assert states() == {"delivered": 6}


def test_lists_go_on_page_by_page(staff: House, admin: Client) -> None:
    with receiving() as receiver:
        made = opened(admin, staff, receiver)
    owed(5)
    path = f"webhooks/endpoints/{made['id']}/deliveries"
    first = asked(admin, path, limit="3")[1]
    rest = asked(admin, path, limit="3", cursor=first["next"])[1]

    assert [len(page["deliveries"]) for page in (first, rest)] == [3, 2]
    assert rest["next"] is None
    assert asked(admin, path, cursor="x")[0] == 400
    assert asked(admin, path, state="lost")[0] == 400


def test_a_cashier_system_reads_its_own_deliveries_and_no_others(staff: House, admin: Client) -> None:
    with receiving() as receiver:
        ours = opened(admin, staff, receiver, system="cage1")
        others = opened(admin, staff, receiver, name="other", system="cage2")
    owed()
    text = a_key(staff, "cage1", scopes=["read_deliveries"])
    headers = {"Authorization": f"Bearer {text}"}

    def status(path: str) -> int:
        return Client().get(f"/api/v1/webhooks/{path}", headers=headers).status_code

    mine, theirs = (Delivery.objects.get(endpoint=one["id"]).id for one in (ours, others))
    assert status(f"endpoints/{ours['id']}/deliveries") == status(f"deliveries/{mine}/attempts") == 200
    assert status(f"endpoints/{others['id']}/deliveries") == 404
    assert status(f"endpoints/{others['id']}") == status(f"endpoints/{uuid4()}") == 404
    assert status(f"deliveries/{theirs}/attempts") == status("deliveries/999999/attempts") == 404
    assert status("endpoints") == 403


def a_key(staff: House, system: str, *, scopes: list[str]) -> str:
    now = timezone.now()
    by = world.a_person(role="administrator", badge="AD2")
    with events.act(actor=events.SERVICE, request_id="keys", now=now):
        _, text = keys.make(
            system=system,
            wanted=keys.Wanted(scopes=scopes, addresses=["127.0.0.1/32"], expires_at=now + timedelta(days=1)),
            by=by,
            approved_by=staff.author,
        )
    return text


def test_an_auditor_reads_and_changes_nothing(staff: House, admin: Client) -> None:
    with receiving() as receiver:
        made = opened(admin, staff, receiver)
    auditor = signed_in(world.an_auditor())
    assert asked(auditor, "webhooks/endpoints")[0] == 200
    assert asked(auditor, f"webhooks/endpoints/{made['id']}/deliveries")[0] == 200
    span = {"since": "2026-01-01T00:00:00Z", "until": "2027-01-01T00:00:00Z"}
    assert told(auditor, f"endpoints/{made['id']}/replay", span)[0] == 403
    assert told(auditor, f"endpoints/{made['id']}/disable", {"reason": "x"})[0] == 403


def test_the_schedule_is_published() -> None:
    assert asked(Client(), "webhooks/schedule")[1]["delays_seconds"] == [
        0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400,
    ]  # fmt: skip
