"""Keys of cashier systems: who makes them, what they open, and when they stop opening it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.test import Client
from django.utils import timezone

from audit.models import LogEntry
from casino import keys
from casino.keys import Wanted
from casino.models import ApiKey, Person, StoredAnswer
from casino.platform.refusals import Refusal
from settlement.models import Account
from tests import world
from tests.casino.floor import told
from tests.database import Connection
from tests.settlement.cage import AtCage, a_cashier, a_key, a_second, an_administrator, said

pytestmark = pytest.mark.django_db

PATH = "/api/v1/keys"
HOME = "127.0.0.0/8"
EVERYWHERE = (
    ["0.0.0.0/0"],
    ["::/0"],
    ["0.0.0.0/1", "128.0.0.0/1"],
    ["2000::/3"],
    ["127.0.0.1/32", "::/0"],
    [f"{first}.0.0.0/8" for first in range(1, 11, 2)],
    [f"{first}.{second}.0.0/10" for first in range(1, 6) for second in (0, 64, 128, 192)],
)
"""Ranges that amount to none, by themselves or together."""


@pytest.fixture
def desk() -> Client:
    """An administrator at a desk; a manager is in the house."""
    client = Client()
    client.force_login(an_administrator())
    a_second()
    return client


def wanted(**more: Any) -> dict[str, Any]:
    usual = {
        "system": "cage_a",
        "scopes": ["move_wallets", "read_wallets"],
        "cages": ["C1"],
        "addresses": ["127.0.0.0/8", "2001:db8::/32"],
        "expires_at": (timezone.now() + timedelta(days=30)).isoformat(),
        "badge": "M09",
        "pin": world.PIN,
    }
    return usual | more


def ask(client: Client, body: Any, path: str = PATH) -> Any:
    return client.post(path, json.dumps(body), content_type="application/json")


# -- making ------------------------------------------------------------------------------------------------


def test_a_key_is_shown_once_and_only_its_hash_is_kept(desk: Client) -> None:
    answer = ask(desk, wanted())

    assert answer.status_code == 201
    made = answer.json()
    kind, id, secret = made["key"].split("_", 2)
    assert (kind, len(id), len(secret) >= 43) == ("pdk", 32, True)
    row = ApiKey.objects.get()
    assert row.id.hex == id
    assert bytes(row.secret_sha256) == hashlib.sha256(made["key"].encode()).digest()
    assert secret not in desk.get(PATH).content.decode()
    assert not any(secret.encode() in bytes(entry.bytes) for entry in LogEntry.objects.all())
    assert not StoredAnswer.objects.exists()
    entry = LogEntry.objects.get(action="key.made")
    assert (entry.person, told(entry)["approved_by"]) == (an_administrator().id, str(a_second().id))


def test_a_key_takes_an_administrator_and_a_manager_who_gives_badge_and_pin(desk: Client) -> None:
    assert said(ask(desk, wanted(badge="X01"))) == (403, "sod_violation")
    a_cashier("C01")
    assert said(ask(desk, wanted(badge="C01"))) == (403, "second_person_forbidden")
    assert said(ask(desk, wanted(pin="000000"))) == (401, "wrong_secret")
    manager = Client()
    manager.force_login(a_second())
    assert said(ask(manager, wanted())) == (403, "forbidden")
    assert not ApiKey.objects.exists()


def test_no_key_is_made_for_what_no_key_may_do(desk: Client) -> None:
    wrongs: tuple[dict[str, Any], ...] = (
        {"scopes": ["settle"]},
        {"scopes": ["move_wallets", "make_keys"]},
        {"tables": ["PD77"]},
        {"addresses": ["10.0.0.1/8"]},
        {"addresses": ["cage.example"]},
        *({"addresses": ranges} for ranges in EVERYWHERE),
        {"wallets": "some"},
        {"expires_at": (timezone.now() - timedelta(minutes=1)).isoformat()},
        {"expires_at": (timezone.now() + timedelta(days=4000)).isoformat()},
        {"scopes": []},
        {"addresses": []},
    )
    for wrong in wrongs:
        answer = ask(desk, wanted(**wrong))
        assert said(answer) == (422, "invalid_value"), wrong
        assert next(iter(answer.json()["fields"])).startswith(next(iter(wrong)))
    assert not ApiKey.objects.exists()


# -- opening doors -----------------------------------------------------------------------------------------


def reads_wallet(token: str, address: str = "127.0.0.1") -> tuple[int, str]:
    return said(AtCage(token=token, address=address).asks("GET", "wallets/A17"))


@pytest.fixture
def wallet() -> str:
    return world.a_wallet(ref="A17", amount=1_000_00)


def test_a_key_opens_what_its_scopes_name_and_nothing_else(wallet: str) -> None:
    _, reads = a_key(scopes=["read_wallets"])

    assert reads_wallet(reads) == (200, "")
    system = AtCage(token=reads)
    assert said(system.deposits("A17", 100)) == (403, "forbidden")
    assert said(system.asks("GET", "accounts")) == (403, "forbidden")
    assert said(system.asks("GET", "keys")) == (403, "forbidden")
    entry = LogEntry.objects.filter(action="act.refused").latest("id")
    assert (entry.role, entry.subject) == ("cashier_system", "/api/v1/keys")


def test_a_key_opens_nothing_from_an_address_that_it_does_not_name(wallet: str) -> None:
    _, token = a_key(addresses=["127.0.0.1/32", "203.0.113.0/24", "2001:db8::/32"])

    for inside in ("127.0.0.1", "203.0.113.77", "2001:db8::5", "::ffff:203.0.113.77"):
        assert reads_wallet(token, inside) == (200, ""), inside
    for outside in ("127.0.0.2", "203.0.114.1", "2001:db9::5", "::1", "no address"):
        assert reads_wallet(token, outside) == (403, "forbidden"), outside
    assert LogEntry.objects.filter(action="act.refused", role="cashier_system").count() == 5


def test_what_a_caller_says_of_its_address_is_believed_of_the_houses_own_proxy_alone(
    wallet: str, settings: Any
) -> None:
    _, token = a_key(addresses=["203.0.113.0/24"])
    forged = AtCage(token=token, address="198.51.100.1")
    header = {"X-Forwarded-For": "203.0.113.5"}
    assert said(forged.asks("GET", "wallets/A17", **header)) == (403, "forbidden")

    settings.BEHIND_PROXY = True
    settings.PROXY_ADDRESSES = ["10.0.3.0/28"]
    assert said(forged.asks("GET", "wallets/A17", **header)) == (403, "forbidden")
    forged.address = "10.0.3.7"  # the proxy itself
    assert said(forged.asks("GET", "wallets/A17", **header)) == (200, "")
    # The proxy adds the address it saw behind whatever came with the request.
    header = {"X-Forwarded-For": "203.0.113.5, 198.51.100.1"}
    assert said(forged.asks("GET", "wallets/A17", **header)) == (403, "forbidden")


def test_a_cage_that_a_key_does_not_name_does_not_exist_for_it() -> None:
    world.a_cage("C2")
    _, token = a_key(cages=["C1"])
    system = AtCage(token=token)

    assert system.deposits("A17", 100).status_code == 201
    assert said(system.deposits("A17", 100, cage="C2")) == (404, "not_found")
    lines = [{"denomination": 100, "pieces": 1}]
    body = {"direction": "sell", "amount": {"amount": 100, "currency": "THB"}, "lines": lines}
    assert said(system.asks("POST", "cages/C2/chip-exchanges", body)) == (404, "not_found")


def test_the_table_of_another_key_does_not_exist_for_this_one() -> None:
    house = world.a_house(tables=("PD01", "PD02"))
    told_of = {code: _a_settled_round(house.tables[code]) for code in ("PD01", "PD02")}
    _, token = a_key(tables=["PD01"])
    system = AtCage(token=token)

    assert system.asks("GET", f"rounds/{told_of['PD01']}/settlement").status_code == 200
    assert said(system.asks("GET", f"rounds/{told_of['PD02']}/settlement")) == (404, "not_found")
    assert said(system.asks("GET", f"rounds/{told_of['PD01']}")) == (403, "forbidden")


def _a_settled_round(at: world.AtTable) -> str:
    from tests.settlement.doors import Night

    told_of = Night().told(at)
    world.at_terminal(at).settle(told_of.id)
    return str(told_of.id)


def test_a_key_that_names_no_wallets_sees_none(wallet: str) -> None:
    _, token = a_key(wallets="none")
    system = AtCage(token=token)

    assert said(system.asks("GET", "wallets/A17")) == (404, "not_found")
    assert said(system.deposits("A17", 100)) == (404, "not_found")
    assert said(system.deposits("NEW1", 100)) == (404, "not_found")
    assert said(system.withdraws("A17", 100)) == (404, "not_found")
    assert said(system.asks("GET", "wallets/NOBODY")) == (404, "not_found")


def test_a_key_for_its_own_wallets_reaches_those_that_its_system_opened(wallet: str) -> None:
    _, ours = a_key("cage_a", wallets="own")
    _, theirs = a_key("cage_b", wallets="own")
    here, there = AtCage(token=ours), AtCage(token=theirs)

    assert here.deposits("B08", 5_00).status_code == 201
    assert here.withdraws("B08", 1_00).status_code == 201
    assert said(here.asks("GET", "wallets/B08")) == (200, "")
    for other in (
        there.asks("GET", "wallets/B08"),
        there.deposits("B08", 1_00),
        there.withdraws("B08", 1_00),
    ):
        assert said(other) == (404, "not_found")
    for of_the_house in (here.asks("GET", "wallets/A17"), here.deposits("A17", 1_00)):
        assert said(of_the_house) == (404, "not_found")
    _, everything = a_key("cage_b", wallets="all")
    assert [AtCage(token=everything).deposits(ref, 1_00).status_code for ref in ("A17", "B08")] == [201, 201]


def test_a_key_that_names_nothing_sees_no_statement(wallet: str) -> None:
    """What its right would open, by every account of the house."""
    house = world.a_house()
    _a_settled_round(house.tables["PD01"])
    accounts = list(Account.objects.values_list("code", flat=True))
    assert {"table:PD01:bank", "cage:C1:vault", wallet} <= set(accounts)

    def seen(**names: Any) -> set[str]:
        _, token = a_key(scopes=["read_statements"], **names)
        system = AtCage(token=token)
        answers = {code: said(system.asks("GET", f"accounts/{code}/statements")) for code in accounts}
        assert set(answers.values()) <= {(200, ""), (404, "not_found")}
        return {code for code, answer in answers.items() if answer == (200, "")}

    assert seen(cages=[], wallets="none") == set()
    assert seen(cages=["C1"], wallets="none") == {"cage:C1:vault", "external:cash:C1"}
    assert seen(cages=[], wallets="all") == {wallet}
    assert seen(cages=[], wallets="own") == set()
    assert seen(cages=[], tables=["PD01"], wallets="none") == set(), "what a tray should hold"


# -- ending ------------------------------------------------------------------------------------------------


def test_a_revoked_key_is_refused_with_its_next_request(desk: Client, wallet: str) -> None:
    key, token = a_key()
    assert reads_wallet(token) == (200, "")

    answer = ask(desk, {}, f"{PATH}/{key.id}/revoke")

    assert (answer.status_code, answer.json()["revoked_at"] is not None) == (200, True)
    assert reads_wallet(token) == (401, "invalid_token")
    again = ask(desk, {}, f"{PATH}/{key.id}/revoke")
    assert again.json()["revoked_at"] == answer.json()["revoked_at"]
    assert LogEntry.objects.filter(action="key.revoked").count() == 1


def test_a_key_that_is_over_is_refused(wallet: str) -> None:
    _, token = a_key(now=timezone.now() - timedelta(days=40), days=39)
    assert reads_wallet(token) == (401, "invalid_token")


def test_one_letter_off_another_keys_secret_or_none_at_all_is_no_key(wallet: str) -> None:
    (one, first), (_, second) = a_key("cage_a"), a_key("cage_b")
    secret = second.split("_", 2)[2]
    for wrong in (
        first[:-1],
        first + "a",
        f"pdk_{one.id.hex}_{secret}",
        f"pdk_{one.id}_x",
        "pdk_",
        "pdk__",
        "pdk_é_é",
    ):
        request = {"Authorization": f"Bearer {wrong}".encode().decode("latin-1")}
        assert said(AtCage().asks("GET", "wallets/A17", **request)) == (401, "invalid_token"), wrong


def test_two_keys_are_live_while_one_takes_the_others_place(desk: Client, wallet: str) -> None:
    key, old = a_key()
    body = {"expires_at": wanted()["expires_at"], "badge": "M09", "pin": world.PIN}

    made = ask(desk, body, f"{PATH}/{key.id}/rotate")

    assert (made.status_code, made.json()["replaces"]) == (201, str(key.id))
    new = made.json()["key"]
    assert [reads_wallet(token) for token in (old, new)] == [(200, ""), (200, "")]
    assert said(ask(desk, body, f"{PATH}/{key.id}/rotate")) == (409, "key_replaced")
    ask(desk, {}, f"{PATH}/{key.id}/revoke")
    assert [reads_wallet(token)[0] for token in (old, new)] == [401, 200]
    assert said(ask(desk, body, f"{PATH}/{key.id}/rotate")) == (409, "key_over")


def test_a_key_that_took_anothers_place_gets_the_first_answer(desk: Client) -> None:
    key, old = a_key()
    first = AtCage(token=old).deposits("A17", 100, key="one")
    body = {"expires_at": wanted()["expires_at"], "badge": "M09", "pin": world.PIN}
    new = ask(desk, body, f"{PATH}/{key.id}/rotate").json()["key"]

    again = AtCage(token=new).deposits("A17", 100, key="one")

    assert (again.json(), again["Idempotency-Replayed"]) == (first.json(), "true")


def test_the_last_use_of_a_key_is_known_to_the_minute(wallet: str) -> None:
    key, token = a_key()
    reads_wallet(token)
    first = ApiKey.objects.get(pk=key.id).last_used_at
    reads_wallet(token)
    assert first is not None
    assert ApiKey.objects.get(pk=key.id).last_used_at == first
    ApiKey.objects.filter(pk=key.id).update(last_used_at=first - timedelta(minutes=2))
    reads_wallet(token)
    assert ApiKey.objects.get(pk=key.id).last_used_at not in (None, first - timedelta(minutes=2))


# -- what the database keeps -------------------------------------------------------------------------------


@pytest.fixture
def application(dsn: str) -> Iterator[Connection]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


def _answer(connection: Connection, sql: str) -> str:
    try:
        with connection.transaction(force_rollback=True):
            connection.execute(sql)
    except psycopg.Error as error:
        return error.sqlstate or str(error)
    return "done"


INSERT = (
    "INSERT INTO casino_apikey (id, system, secret_sha256, scopes, tables, cages, addresses, expires_at, created_by_id,"
    " approved_by_id, created_at) SELECT gen_random_uuid(), 'cage_a', '\\x00', '{{read_wallets}}', '{{}}', '{{}}',"
    " '{{{2}}}', now() + interval '1 day', c.id, a.id, now() FROM casino_person c, casino_person a"
    " WHERE c.badge = '{0}' AND a.badge = '{1}'"
)


@pytest.mark.django_db(transaction=True)
def test_the_database_keeps_a_key_as_two_people_made_it(application: Connection, owner: Connection) -> None:
    a_key()
    a_cashier("C01")
    never = {
        "UPDATE casino_apikey SET scopes = '{settle}'": ("42501", "PD001"),
        "UPDATE casino_apikey SET expires_at = expires_at + interval '1 year'": ("42501", "PD001"),
        "UPDATE casino_apikey SET addresses = '{0.0.0.0/0}'": ("42501", "PD001"),
        "UPDATE casino_apikey SET secret_sha256 = '\\x00'": ("42501", "PD001"),
        "DELETE FROM casino_apikey": ("42501", "PD001"),
        "TRUNCATE casino_apikey CASCADE": ("42501", "PD001"),
        "UPDATE casino_apikey SET wallets = 'none'": ("42501", "PD001"),
        INSERT.format("X01", "X01", HOME): ("23514", "23514"),
        INSERT.format("C01", "M09", HOME): ("23514", "23514"),
        INSERT.format("X01", "C01", HOME): ("23514", "23514"),
        **{INSERT.format("X01", "M09", ranges): ("23514", "23514") for ranges in map(",".join, EVERYWHERE)},
    }
    assert {sql: (_answer(application, sql), _answer(owner, sql)) for sql in never} == never
    assert _answer(application, INSERT.format("X01", "M09", HOME)) == "done"
    revoke = "UPDATE casino_apikey SET revoked_at = now(), revoked_by_id = created_by_id"
    assert _answer(application, revoke) == "done"
    owner.execute(revoke)
    assert _answer(application, "UPDATE casino_apikey SET revoked_at = NULL, revoked_by_id = NULL") == "PD001"
    assert _answer(owner, revoke) == "PD001"


def test_nobody_makes_a_key_alone_whatever_door_they_come_by() -> None:
    person = an_administrator()
    wanted_of = Wanted(["read_wallets"], [HOME], timezone.now() + timedelta(days=1))
    with pytest.raises(Refusal, match="sod_violation"), world.acting():
        keys.make(system="cage_a", wanted=wanted_of, by=person, approved_by=person)
    assert Person.objects.get(pk=person.pk).role == "administrator"
