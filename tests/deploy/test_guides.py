"""The guides for whoever connects: every command is taken from the served page and run as it stands."""

from __future__ import annotations

import contextlib
import html
import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client

from casino.models import RoundEvent
from settlement.external_wallets import call_attempt, dialects
from settlement.external_wallets.wallet_lookup import Kept, System
from settlement.webhooks import signing
from settlement.webhooks.wire import Reply
from tests.casino.floor import a_round_id, a_table
from tests.settlement.cage import a_key

LANGUAGES = ("en", "th")
PAGES = {"camera": 3, "cashier-system": 5}
"""Each guide, and how many commands it has."""


def commands(page: str) -> dict[str, str]:
    found = re.findall(r'<pre><code data-run="(\w+)">(.*?)</code></pre>', page, re.DOTALL)
    return {name: html.unescape(text) for name, text in found}


def served(url: str) -> dict[str, str]:
    with urllib.request.urlopen(url, timeout=60) as answer:
        return commands(answer.read().decode())


def shell(script: str, **known: str) -> str:
    done = subprocess.run(
        ["bash", "-c", script],
        env={**os.environ, **known},
        capture_output=True,
        text=True,
        timeout=110,
        check=True,
    )
    return done.stdout


@contextlib.contextmanager
def running(program: str, folder: Path, **known: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Run a server of the page until it is no longer needed; yields its address."""
    file = folder / "program.py"
    file.write_text(program, encoding="utf-8")
    started = subprocess.Popen(
        [sys.executable, "-u", str(file)], env={**os.environ, **known}, stdout=subprocess.PIPE, text=True
    )
    assert started.stdout is not None
    try:
        port = started.stdout.readline().split()[1]
        yield f"http://127.0.0.1:{port}", started
    finally:
        started.kill()
        started.communicate()


def posted(url: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
    asked = urllib.request.Request(url, data=body, headers=headers, method="POST")
    try:
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read()


@pytest.mark.django_db
@pytest.mark.parametrize("name", PAGES)
def test_a_guide_is_served_in_both_languages_with_the_same_commands(name: str) -> None:
    client = Client()
    pages = {language: client.get(f"/api/docs/{name}/?lang={language}") for language in LANGUAGES}
    assert [pages[language].status_code for language in LANGUAGES] == [200, 200]
    assert [pages[language]["Content-Language"] for language in LANGUAGES] == list(LANGUAGES)
    found = [commands(pages[language].content.decode()) for language in LANGUAGES]
    assert len(found[0]) == PAGES[name]
    assert found[0] == found[1]
    thai = client.get(f"/api/docs/{name}/", headers={"Accept-Language": "th", "Accept": "text/html"})
    assert thai.content == pages["th"].content
    assert "://" not in thai.content.decode()  # nothing is fetched from elsewhere


@pytest.mark.django_db(transaction=True)
def test_a_camera_reports_by_its_page_alone(live_server: Any, tmp_path: Path) -> None:
    camera = a_table(camera=True).camera
    known = {
        "HOUSE": live_server.url, "TABLE": "PD01", "DEVICE": camera.device.code, "TOKEN": camera.token,
        "ROUND": str(a_round_id()), "STORE": str(tmp_path / "camera.json"), "FIRST": "2",
    }  # fmt: skip
    page = served(f"{live_server.url}/api/docs/camera/?lang=en")

    first, again = map(json.loads, shell(page["first_event"], **known).split("\n")[:2])
    assert [one["events"][0]["outcome"] for one in (first, again)] == ["recorded", "duplicate"]

    stated = json.loads(shell(page["state"], **known))
    assert (stated["code"], stated["last_number"], stated["stated"]["next"]) == (camera.device.code, 1, 2)

    file = tmp_path / "camera.py"
    file.write_text(page["camera"], encoding="utf-8")
    said = shell(f"{sys.executable} {file}", **known)
    assert said == "answered ['2 recorded', '3 recorded', '4 recorded', '5 recorded']\n"
    assert RoundEvent.objects.filter(device=camera.device).count() == 5


@pytest.mark.django_db(transaction=True)
def test_a_cashier_system_calls_by_its_page_alone(live_server: Any) -> None:
    _, key = a_key()
    known = {"HOUSE": live_server.url, "KEY": key}
    page = served(f"{live_server.url}/api/docs/cashier-system/?lang=th")

    first, again = re.split(r"(?=HTTP/1\.1 )", shell(page["deposit"], **known))[1:]
    assert (first.split()[1], again.split()[1]) == ("201", "201")
    assert first.rpartition("\n")[2] == again.rpartition("\n")[2]
    assert ("idempotency-replayed" in first.lower(), "idempotency-replayed: true" in again.lower()) == (
        False,
        True,
    )

    refused = json.loads(shell(page["withdraw"], **known))
    assert (refused["code"], refused["available"]) == (
        "insufficient_funds",
        {"amount": 50000, "currency": "THB"},
    )

    wallet = json.loads(shell(page["balance"], **known))
    assert wallet["balance"] == {"amount": 50000, "currency": "THB"}


def test_a_receiver_of_the_page_takes_what_is_signed_once_and_nothing_else(tmp_path: Path) -> None:
    secret, message = signing.new_secret(), uuid4()
    body = b'{"type":"round.settled","timestamp":"2026-03-01T10:04:05Z","data":{"in_round":1}}'
    page = commands(Client().get("/api/docs/cashier-system/?lang=en").content.decode())

    def signed(at: int, by: signing.Secret = secret) -> dict[str, str]:
        return signing.headers(message=message, timestamp=at, body=body, signed_by=[by])

    now = int(time.time())
    with running(page["receiver"], tmp_path, SECRETS=secret.symmetric) as (url, receiver):
        assert [posted(url, body, signed(now))[0] for _ in range(2)] == [204, 204]
        assert posted(url, body.replace(b"1}", b"2}"), signed(now))[0] == 401
        assert posted(url, body, signed(now, by=signing.new_secret()))[0] == 401
        assert posted(url, body, signed(now - 600))[0] == 401
        assert posted(url, body, {})[0] == 401
        assert receiver.stdout is not None
        receiver.kill()
        assert receiver.stdout.read() == "taken round.settled {'in_round': 1}\n"


def test_a_system_of_the_page_keeps_wallets_as_the_house_asks(tmp_path: Path) -> None:
    secret = signing.new_secret()
    page = commands(Client().get("/api/docs/cashier-system/?lang=en").content.decode())
    system = System(id=uuid4(), code="royal", prefix="royal-", dialect="holds", enabled=True)

    def kept(exposure: int) -> Kept:
        return Kept(
            id=uuid4(), system=system, round=uuid4(), wager="w1", account="player:royal-A17", stake=10_000,
            exposure=exposure, currency="THB", state="asked",
        )  # fmt: skip

    with running(page["wallets"], tmp_path, SECRETS=secret.symmetric) as (url, _):

        def call(id: UUID, request: dialects.Request) -> str:
            body = request.body.encode()
            headers = signing.headers(message=id, timestamp=int(time.time()), body=body, signed_by=[secret])
            status, answer = posted(url + request.path, body, headers | {"Idempotency-Key": f'"{id}"'})
            return call_attempt._meaning(Reply(status, "", answer), id).outcome

        def stands() -> tuple[int, int]:
            with urllib.request.urlopen(url, timeout=60) as answer:
                told = json.load(answer)
            return told["wallets"]["royal-A17"], told["open"]

        one, late = kept(50_000), kept(50_000)
        settled, back = uuid4(), uuid4()
        settlement = dialects.settle(one, call=settled, revision=1, net=-30_000, commission=0)
        assert [call(one.id, dialects.hold(one)) for _ in range(2)] == ["done", "done"]
        assert stands() == (100_000, 1)
        too_much = kept(60_000)
        assert call(too_much.id, dialects.hold(too_much)) == "refused"
        assert [call(settled, settlement) for _ in range(2)] == ["done", "done"]
        assert stands() == (70_000, 0)
        reversal = dialects.reverse(one, call=back, settled=settled, reason="dispute_upheld", dispute=None)
        assert [call(back, reversal) for _ in range(2)] == ["done", "done"]
        assert stands() == (100_000, 0)
        released = uuid4()
        assert call(released, dialects.release(late, call=released, reason="not_answered")) == "done"
        assert call(late.id, dialects.hold(late)) == "refused"
        assert stands() == (100_000, 0)
