"""What the house answers over HTTP about a round's money, and to whom."""

from __future__ import annotations

import uuid

import pytest
from django.test import Client

from casino import devices
from casino.models import Device, Round
from settlement.models import Journal, Settlement
from tests import world
from tests.rules.given import a_bet, an_act, short_round
from tests.settlement.doors import (
    CARDS,
    Night,
    a_corrected_round,
    asked,
    body_of,
    signed_in,
    thb,
)
from tests.world import AtTable, House

pytestmark = pytest.mark.django_db


# -- a terminal and its round ----------------------------------------------------------------------------------


def test_a_terminal_settles_its_round_and_is_shown_every_line(at: AtTable, night: Night) -> None:
    told = night.told(at)

    answer = world.at_terminal(at).settle(told.id)

    settlement = answer.pop("settlement")
    assert answer == {"outcome": "settled", "revision": 1}
    assert settlement["lines"] == [
        {
            "wager": "w1",
            "hand": "p1",
            "owner": {"seat": "1"},
            "stake": thb(100_00),
            "cards": ["3S", "4D"],
            "judged": ["normal", 7, 1],
            "dealer_cards": ["KC", "6D"],
            "dealer_judged": ["normal", 6, 1],
            "step": "taem",
            "multiple": 1,
            "gross": thb(100_00),
            "uncovered": thb(0),
            "commission": thb(0),
            "net": thb(100_00),
        }
    ]
    assert (settlement["house_net"], settlement["bank"]) == (thb(-100_00), None)
    assert settlement["sheet_sha256"] == at.sheet.sha256
    assert settlement["journals"] == [str(Journal.objects.get(kind="round").id)]


def test_asked_again_the_answer_is_the_same(at: AtTable, night: Night) -> None:
    told = night.told(at)
    terminal = world.at_terminal(at)

    assert terminal.settle(told.id) == terminal.settle(told.id)


def test_a_held_round_answers_with_its_reasons(at: AtTable, night: Night) -> None:
    told = night.told(at, cards={"p1": "3S KC", "dealer": "KC 6D"})

    assert world.at_terminal(at).settle(told.id) == {"outcome": "held", "reasons": ["duplicate_card"]}


def test_a_round_in_play_answers_that_it_waits(at: AtTable, night: Night) -> None:
    told = night.recording.round(table="PD01", number=1)
    night.more(at, told, *short_round(bets={"p1": 100_00}, cards=CARDS)[:-1])

    assert world.at_terminal(at).settle(told.id) == {"outcome": "waiting", "due_at": None}


def test_at_a_cameras_table_the_answer_says_when_to_ask_again(staff: House, night: Night) -> None:
    at = world.a_table(house=staff, code="PD03", camera=True)
    told = night.told(at)

    answer = world.at_terminal(at).settle(told.id)

    row = Round.objects.get(pk=told.id)
    assert row.due_at is not None
    assert answer == {"outcome": "waiting", "due_at": row.due_at.isoformat()}


def test_a_voided_round_answers_so(at: AtTable, night: Night) -> None:
    told = night.recording.round(table="PD01", number=1)
    night.more(
        at,
        told,
        *short_round(bets={"p1": 100_00}, cards=CARDS)[:-1],
        an_act("round_voided", reason="misdeal"),
    )

    answer = world.at_terminal(at).settle(told.id)

    assert (answer["outcome"], answer["settlement"]["lines"], answer["settlement"]["journals"]) == (
        "voided",
        [],
        [],
    )


def test_cover_says_what_is_set_aside_and_what_cannot_be(at: AtTable, night: Night) -> None:
    world.a_wallet(ref="A17", amount=600_00)
    told = night.recording.round(table="PD01", number=1)
    bets = [a_bet(f"w{place}", f"p{place}", 100_00, by="player:A17") for place in (1, 2)]
    night.more(at, told, *short_round(bets=bets, cards={})[:3])

    assert world.at_terminal(at).cover(told.id) == {
        "covered": [{"wager": "w1", "account": "player:A17:wallet", "exposure": thb(500_00)}],
        "uncovered": [
            {
                "wager": "w2",
                "account": "player:A17:wallet",
                "exposure": thb(500_00),
                "available": thb(100_00),
                "reason": "insufficient_funds",
            }
        ],
    }


def test_a_preview_shows_lines_and_writes_nothing(at: AtTable, night: Night) -> None:
    told = night.recording.round(table="PD01", number=1)
    night.more(at, told, *short_round(bets={"p1": 100_00}, cards=CARDS)[:-1])

    answer = world.at_terminal(at).ask("POST", f"rounds/{told.id}/preview")

    shown = body_of(answer)
    assert (shown["outcome"], shown["reasons"], shown["house_net"], shown["bank"]) == (
        "open",
        [],
        thb(-100_00),
        None,
    )
    assert [(line["wager"], line["net"]) for line in shown["lines"]] == [("w1", thb(100_00))]
    assert Settlement.objects.count() == 0


def test_a_player_bank_is_shown_beside_the_lines(staff: House, night: Night) -> None:
    at = world.a_table(house=staff, code="PD03", options={"banker": "player"})
    world.a_wallet(ref="B1", amount=1_000_00)
    told = night.recording.round(table="PD03", number=1)
    opened = {"banker": {"account": "player:B1", "limit": thb(800_00)}}
    night.more(at, told, *short_round(bets={"p1": 100_00}, cards=CARDS, opened=opened))

    preview = body_of(world.at_terminal(at).ask("POST", f"rounds/{told.id}/preview"))
    settlement = world.at_terminal(at).settle(told.id)["settlement"]

    assert preview["bank"] == settlement["bank"]

    assert settlement["bank"] == {
        "account": "player:B1",
        "held": thb(800_00),
        "result": thb(-100_00),
        "commission": thb(0),
        "net": thb(-100_00),
    }
    assert [line["wager"] for line in settlement["lines"]] == ["w1"]
    banker = world.at_terminal(at).read(told.id)["record"]["banker"]
    assert banker == {"account": "player:B1", "limit": thb(800_00)}


def test_the_round_of_another_terminal_answers_under_the_id_that_lost(at: AtTable, night: Night) -> None:
    told = night.told(at)
    spare = world.a_device(at=at, code="PD01-spare")
    lost = str(uuid.uuid4())
    event = night.recording.tell(
        an_act("round_opened", number=1, direction="clockwise"),
        round_id=lost,
        table="PD01",
        device="PD01-spare",
    )
    assert world.at_terminal(at, code="PD01-spare").send("PD01", [event]) == ["round_exists"]

    answer = world.at_terminal(at, code="PD01-spare").settle(lost)

    assert (answer["outcome"], answer["settlement"]["round"]) == ("settled", told.id)
    assert spare.kind == Device.Kind.TERMINAL


# -- reading a round -------------------------------------------------------------------------------------------


def test_a_round_shows_its_record_its_settlement_and_what_deserves_a_second_look(
    at: AtTable, night: Night
) -> None:
    told = night.told(at, extra=[{"type": "bet_changed", "data": {"wager": "w1", "stake": thb(900_00)}}])
    world.at_terminal(at).settle(told.id)

    status, shown = asked(signed_in(at.supervisor), f"rounds/{told.id}")

    assert status == 200
    assert (shown["standing"], shown["reasons"], shown["number"], shown["table"]) == (
        "settled",
        [],
        1,
        "PD01",
    )
    assert shown["record"]["cards_seen"].bit_count() == 4
    [late] = [breach for breach in shown["breaches"] if breach["kind"] == "late_bet"]
    assert late["detail"]["stake"] == thb(900_00)
    assert [wager["stake"] for wager in shown["record"]["wagers"]] == [thb(100_00)]
    assert shown["settlement"]["house_net"] == thb(-100_00)


def test_a_round_in_play_shows_no_settlement_and_no_breaches(at: AtTable, night: Night) -> None:
    told = night.recording.round(table="PD01", number=1)
    night.more(at, told, *short_round(bets={"p1": 100_00}, cards=CARDS)[:-1])

    shown = world.at_terminal(at).read(told.id)

    assert (shown["standing"], shown["breaches"], shown["settlement"]) == ("", [], None)


def test_each_revision_of_a_settlement_can_be_read(staff: House, at: AtTable, night: Night) -> None:
    told = a_corrected_round(staff, at, night)
    client = signed_in(staff.author)

    first, second = (asked(client, f"rounds/{told.id}/settlement", revision=number) for number in (1, 2))

    assert [(status, shown["revision"], shown["house_net"]) for status, shown in (first, second)] == [
        (200, 1, thb(-100_00)),
        (200, 2, thb(100_00)),
    ]
    assert asked(client, f"rounds/{told.id}/settlement") == second
    assert [
        asked(client, f"rounds/{told.id}/settlement", revision=asked_for)[0]
        for asked_for in ("3", "9" * 30, "-1", "first", "")
    ] == [404, 422, 422, 400, 400]


def test_rounds_of_a_table_are_listed_page_by_page_newest_first(at: AtTable, night: Night) -> None:
    told = [night.told(at).id for _ in range(5)]
    client = signed_in(at.supervisor)

    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        _, page = asked(client, "tables/PD01/rounds", limit=2, **({"cursor": cursor} if cursor else {}))
        assert len(page["rounds"]) <= 2
        seen += [row["id"] for row in page["rounds"]]
        cursor = page["next"]

    assert seen == told[::-1]
    assert [
        asked(client, "tables/PD01/rounds", **given)[0]
        for given in ({"cursor": "nothing"}, {"cursor": str(uuid.uuid4())}, {"limit": 0}, {"limit": "x"})
    ] == [400, 422, 422, 400]


# -- who sees a round ------------------------------------------------------------------------------------------


def doors_of(round_id: str) -> list[tuple[str, str]]:
    return [
        ("POST", f"rounds/{round_id}/cover"),
        ("POST", f"rounds/{round_id}/preview"),
        ("POST", f"rounds/{round_id}/settle"),
        ("GET", f"rounds/{round_id}"),
        ("GET", f"rounds/{round_id}/settlement"),
    ]


def test_another_tables_terminal_finds_no_such_round(staff: House, at: AtTable, night: Night) -> None:
    told = night.told(at)
    stranger = world.at_terminal(staff.tables["PD02"])

    answers = [stranger.ask(method, path) for method, path in doors_of(told.id)]
    unknown = [stranger.ask(method, path) for method, path in doors_of(str(uuid.uuid4()))]

    assert {(answer.status_code, answer.json()["code"]) for answer in answers + unknown} == {
        (404, "not_found")
    }
    assert Settlement.objects.count() == 0


def test_whoever_is_not_signed_in_is_told_to_sign_in(at: AtTable, night: Night) -> None:
    told = night.told(at)

    answers = [Client().generic(method, f"/api/v1/{path}") for method, path in doors_of(told.id)]

    assert {answer.status_code for answer in answers} == {401}


def test_a_device_that_was_revoked_settles_nothing(at: AtTable, night: Night) -> None:
    told = night.told(at)
    with world.acting() as act:
        devices.revoke(device=Device.objects.get(code="PD01-terminal"), now=act.now)

    answer = world.at_terminal(at).ask("POST", f"rounds/{told.id}/settle")

    assert (answer.status_code, answer.json()["code"], Settlement.objects.count()) == (
        401,
        "invalid_token",
        0,
    )


def test_a_cashier_reads_no_rounds_and_settles_none(at: AtTable, night: Night) -> None:
    told = night.told(at)
    client = signed_in(world.a_person(role="cashier", badge="C01"))

    answers = [client.generic(method, f"/api/v1/{path}") for method, path in doors_of(told.id)]

    assert {(answer.status_code, answer.json()["code"]) for answer in answers} == {(403, "forbidden")}


def test_a_supervisor_of_another_table_finds_no_such_round(staff: House, at: AtTable, night: Night) -> None:
    told = night.told(at)
    client = signed_in(staff.tables["PD02"].supervisor)

    assert [client.generic(method, f"/api/v1/{path}").status_code for method, path in doors_of(told.id)] == [
        404
    ] * 5
    assert asked(client, "tables/PD01/rounds")[0] == 404
