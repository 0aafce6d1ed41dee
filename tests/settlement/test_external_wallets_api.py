"""Over HTTP: a system let in by two, asked at cover, and what it has not acknowledged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from audit.models import LogEntry
from casino.events import Act
from settlement import external_wallets
from settlement.external_wallets import calls
from settlement.external_wallets.call_attempt import Answer
from settlement.models import Break, CashierSystem, ExternalCall
from settlement.settling import covering
from tests import world
from tests.rules.given import a_bet, short_round
from tests.settlement.books import act
from tests.settlement.cashier_system import StandIn, keeping, let_in
from tests.settlement.doors import Night, signed_in, thb
from tests.settlement.telling import an_approved_target, at_home
from tests.world import AtTable, House

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def royal(settings: Any) -> Iterator[StandIn]:
    at_home(settings)
    with keeping({"royal-A17": 10_000_00}) as stand_in:
        yield stand_in


def a_body(royal: StandIn, **other: Any) -> dict[str, Any]:
    return {
        "code": "royal",
        "prefix": "royal-",
        "url": royal.url,
        "dialect": "holds",
        "badge": "M01",
        "pin": world.PIN,
    } | other


def posted(client: Client, path: str, body: dict[str, Any] | None = None) -> Any:
    return client.post(f"/api/v1/{path}", body or {}, content_type="application/json")


def as_second(staff: House) -> dict[str, str]:
    return {"badge": staff.author.badge, "pin": world.PIN}


@pytest.fixture
def admin(staff: House) -> Client:
    return signed_in(world.a_person(role="administrator", badge="AD1"))


def test_two_people_let_a_system_in_and_its_secret_is_seen_once(
    staff: House, admin: Client, royal: StandIn
) -> None:
    an_approved_target("127.0.0.1", royal.port)

    answer = posted(admin, "cashier-systems", a_body(royal) | as_second(staff))

    made = answer.json()
    assert (answer.status_code, made["code"], made["enabled"]) == (201, "royal", True)
    assert made["secret"].startswith("whsec_")
    [listed] = admin.get("/api/v1/cashier-systems").json()["systems"]
    assert listed == {name: value for name, value in made.items() if name != "secret"}
    entry = LogEntry.objects.get(action="cashier_system.let_in")
    assert made["secret"].encode() not in bytes(entry.bytes)
    assert made["secret"] not in CashierSystem.objects.get().secret


@pytest.mark.parametrize(
    ("other", "status", "code"),
    [
        ({"url": "http://127.0.0.1:9/api"}, 422, "target_refused"),
        ({"url": "https://169.254.169.254/"}, 422, "target_refused"),
        ({"prefix": "royal"}, 400, "malformed"),
        ({"code": "cash"}, 422, "invalid_value"),
        ({"dialect": "seamless"}, 422, "invalid_value"),
        ({"pin": "000000"}, 401, "wrong_secret"),
    ],
)
def test_a_system_is_not_let_in_by_one_person_or_anywhere(
    staff: House, admin: Client, royal: StandIn, other: dict[str, Any], status: int, code: str
) -> None:
    an_approved_target("127.0.0.1", royal.port)

    answer = posted(admin, "cashier-systems", a_body(royal) | as_second(staff) | other)

    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert not CashierSystem.objects.exists()


def test_a_system_is_shut_out_let_in_again_and_given_another_secret(
    staff: House, admin: Client, royal: StandIn
) -> None:
    an_approved_target("127.0.0.1", royal.port)
    made = posted(admin, "cashier-systems", a_body(royal) | as_second(staff)).json()

    assert posted(admin, "cashier-systems/royal/disable").json()["enabled"] is False
    assert posted(admin, "cashier-systems/royal/enable", as_second(staff)).json()["enabled"] is True
    rotated = posted(admin, "cashier-systems/royal/rotate", as_second(staff))

    assert (rotated.status_code, rotated.json()["code"]) == (201, "royal")
    assert rotated.json()["secret"].startswith("whsec_")
    assert rotated.json()["secret"] != made["secret"]
    told = LogEntry.objects.filter(action__startswith="cashier_system.").order_by("id")
    assert [entry.action for entry in told] == [
        "cashier_system.let_in",
        "cashier_system.disabled",
        "cashier_system.enabled",
        "cashier_system.rotated",
    ]
    assert [
        posted(admin, f"cashier-systems/none/{act}", as_second(staff)).status_code
        for act in ("enable", "rotate")
    ] == [404, 404]


def test_the_terminal_covers_a_wallet_that_lives_elsewhere(at: AtTable, night: Night, royal: StandIn) -> None:
    let_in(royal)
    told = night.recording.round(table="PD01", number=1)
    bets = [a_bet("w1", "p1", 100_00, by="player:royal-A17"), a_bet("w2", "p2", 10_00, by="player:royal-C01")]
    night.more(at, told, *short_round(bets=bets, cards={})[:3])

    assert world.at_terminal(at).cover(told.id) == {
        "covered": [{"wager": "w1", "account": "player:royal-A17:wallet", "exposure": thb(500_00)}],
        "uncovered": [
            {
                "wager": "w2",
                "account": "player:royal-C01:wallet",
                "exposure": thb(50_00),
                "available": None,
                "reason": "unknown_wallet",
            }
        ],
    }


def a_round_that_nobody_acknowledged(at: AtTable, night: Night, royal: StandIn) -> str:
    let_in(royal)
    told = night.told(at, bets=[a_bet("w1", "p1", 100_00, by="player:royal-A17")])
    world.at_terminal(at).settle(told.id)
    royal.behaves("500")
    now = timezone.now()
    external_wallets.call(owner="worker", clock=lambda: now, until=now + timedelta(seconds=1))
    return told.id


def test_what_is_not_acknowledged_is_listed_with_its_age_and_sent_on_demand(
    staff: House, admin: Client, at: AtTable, night: Night, royal: StandIn
) -> None:
    round_id = a_round_that_nobody_acknowledged(at, night, royal)
    auditor = signed_in(world.an_auditor(badge="A09"))

    first, second = auditor.get("/api/v1/external-calls?system=royal").json()["calls"]
    assert {first["verb"], second["verb"]} == {"hold", "settle"}
    assert {first["round"], second["round"]} == {round_id}
    hold = first if first["verb"] == "hold" else second
    assert (hold["attempts"], hold["last_result"], hold["state"]) == (1, "http_500", "due")
    assert 0 <= hold["age_seconds"] < 600
    [mirror] = auditor.get("/api/v1/cashier-systems/mirrors").json()["mirrors"]
    assert (mirror["balance"], mirror["unacknowledged"]) == (thb(100_00), thb(100_00))

    royal.behaves("ok")
    assert posted(admin, f"external-calls/{hold['id']}/replay").status_code == 200
    now = timezone.now()
    external_wallets.call(owner="worker", clock=lambda: now, until=now + timedelta(seconds=1))
    assert auditor.get("/api/v1/external-calls").json()["calls"] == []
    assert royal.books.wallets["royal-A17"] == 10_100_00
    assert posted(admin, f"external-calls/{hold['id']}/replay").json()["code"] == "call_acknowledged"
    assert posted(auditor, f"external-calls/{hold['id']}/replay").status_code == 403


def test_a_call_unacknowledged_for_too_long_is_a_break_until_it_is(
    at: AtTable, night: Night, royal: StandIn
) -> None:
    a_round_that_nobody_acknowledged(at, night, royal)
    later = timezone.now() + timedelta(minutes=16)

    watched(later)
    watched(later)

    assert sorted(Break.objects.values_list("code", "state", "amount")) == [
        ("MISSING_SOURCE", "mismatched", 0),
        ("MISSING_SOURCE", "mismatched", 100_00),
    ]
    royal.behaves("ok")
    external_wallets.call(owner="worker", clock=lambda: later, until=later + timedelta(seconds=1))
    assert set(Break.objects.values_list("state", flat=True)) == {"matched"}
    assert not ExternalCall.objects.exclude(state="acknowledged").exists()


def watched(now: datetime) -> int:
    def acting(do: Callable[[Act], int]) -> int:
        with act(now=now) as running:
            return do(running)

    return external_wallets.watch(acting=acting, clock=lambda: now)


def test_an_answer_that_nobody_stored_is_let_go_by_the_sweep(
    at: AtTable, night: Night, royal: StandIn
) -> None:
    let_in(royal)
    told = night.recording.round(table="PD01", number=1)
    night.more(at, told, *short_round(bets=[a_bet("w1", "p1", 100_00, by="player:royal-A17")], cards={})[:3])
    with act(now=timezone.now()):
        covering._set_aside(UUID(told.id))

    assert watched(timezone.now()) == 0
    assert watched(timezone.now() + timedelta(minutes=1)) == 1
    later = timezone.now() + timedelta(minutes=1)
    external_wallets.call(owner="worker", clock=lambda: later, until=later + timedelta(seconds=1))
    assert royal.verbs() == ["release"]


def test_a_worker_that_died_with_its_claim_leaves_the_call_to_the_next(
    at: AtTable, night: Night, royal: StandIn
) -> None:
    """Whoever claimed first and comes back late writes nothing."""
    a_round_that_nobody_acknowledged(at, night, royal)
    later = timezone.now() + timedelta(minutes=5)
    [first] = calls.claim(owner="dead", now=later, room=9)
    assert calls.claim(owner="next", now=later, room=9) == []
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE settlement_externalcall SET lease_until = now() - interval '1 s' WHERE state = 'claimed'"
        )

    watched(later)
    [again] = calls.claim(owner="next", now=later, room=9)
    calls.finish([(first, Answer("unclear", "timed_out"))], owner="dead", now=later)

    assert (again.letter.id, again.number) == (first.letter.id, first.number + 1)
    call = ExternalCall.objects.get(pk=first.letter.id)
    assert (call.state, call.owner, call.last_result) == ("claimed", "next", "lease_over")


@pytest.mark.parametrize(
    "path", ["wallets/A17/holds", "holds/{id}/settle", "holds/{id}/release", "journals/{id}/reverse"]
)
def test_what_is_sent_to_others_is_served_to_nobody(staff: House, path: str) -> None:
    client = signed_in(world.a_person(role="cashier", badge="K09"))
    assert posted(client, path.format(id="0190b6f0-0000-7000-8000-000000000001")).status_code == 404
