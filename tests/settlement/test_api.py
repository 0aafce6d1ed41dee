"""What the house answers over HTTP about a round's money, and to whom."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from casino import devices
from casino.models import Device, Person, Round
from settlement.models import Account, Journal, Settlement
from tests import world
from tests.rules.given import a_bet, an_act, short_round
from tests.world import AtTable, House, Recording, RoundTold

pytestmark = pytest.mark.django_db

CARDS = {"p1": "3S 4D", "dealer": "KC 6D"}
"""Hand 1 has 7, the dealer 6."""


@pytest.fixture
def staff() -> House:
    """Two tables, PD01 and PD02, and those who work there."""
    return world.a_house(tables=("PD01", "PD02"))


@pytest.fixture
def at(staff: House) -> AtTable:
    return staff.tables["PD01"]


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
        self.more(at, told, *_numbered(short_round(**usual | how), self.number))
        return told

    def more(self, at: AtTable, told: RoundTold, *shorts: Any) -> None:
        events = told.tell(*shorts)
        assert set(world.at_terminal(at).send(at.code, events)) == {"recorded"}


def _numbered(shorts: list[Any], number: int) -> list[Any]:
    opening = shorts[0] | {"data": shorts[0]["data"] | {"number": number}}
    return [opening, *shorts[1:]]


@pytest.fixture
def night() -> Night:
    return Night()


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

    settlement = world.at_terminal(at).settle(told.id)["settlement"]

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
    ] == [404, 404, 400, 400, 400]


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


# -- corrections -----------------------------------------------------------------------------------------------


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


def test_two_people_correct_a_round(staff: House, at: AtTable, night: Night) -> None:
    told = a_ruled_round(at, night)

    answer = ask_to_correct(signed_in(at.supervisor), told, correction(told, staff.author))

    shown = body_of(answer)
    assert (answer.status_code, shown["revision"], shown["house_net"]) == (201, 2, thb(100_00))
    assert len(shown["journals"]) == 2
    stored = Settlement.objects.get(revision=2)
    assert (stored.acted_by, stored.approved_by) == (at.supervisor, staff.author)


def test_a_correction_sent_again_gets_its_first_answer(staff: House, at: AtTable, night: Night) -> None:
    told = a_ruled_round(at, night)
    client, body = signed_in(at.supervisor), correction(told, staff.author)

    first, again = (ask_to_correct(client, told, body) for _ in range(2))

    assert (again.status_code, again.json()) == (first.status_code, first.json())
    assert again.headers["Idempotency-Replayed"] == "true"
    assert Settlement.objects.count() == 2
    other = ask_to_correct(client, told, body | {"reason": "another"})
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")


@pytest.fixture
def refused(staff: House, at: AtTable, night: Night) -> Iterator[Any]:
    """Asks for a correction that must be refused: status and code; nothing moves."""
    told = a_ruled_round(at, night)
    client = signed_in(at.supervisor)

    def ask(*, key: str | None = "k1", **other: Any) -> tuple[int, str]:
        answer = ask_to_correct(client, told, correction(told, staff.author, **other), key=key)
        assert answer.headers["Content-Type"].startswith("application/problem+json")
        return answer.status_code, answer.json()["code"]

    yield ask
    assert Settlement.objects.count() == 1


def test_a_correction_without_a_key_is_refused(refused: Any) -> None:
    assert refused(key=None) == (400, "idempotency_key_missing")


def test_a_correction_signed_with_a_wrong_pin_is_refused(refused: Any) -> None:
    assert refused(pin="000000") == (401, "wrong_secret")


def test_nobody_signs_their_own_correction(refused: Any, at: AtTable) -> None:
    assert refused(badge=at.supervisor.badge) == (403, "sod_violation")


def test_a_dealer_signs_no_correction(refused: Any, at: AtTable) -> None:
    assert refused(badge=at.dealer.badge) == (403, "not_on_duty")


def test_a_supervisor_of_another_table_signs_no_correction_here(refused: Any, staff: House) -> None:
    assert refused(badge=staff.tables["PD02"].supervisor.badge) == (403, "not_on_duty")


@pytest.mark.parametrize(
    ("acts", "status", "code"),
    [
        ([1], 422, "invalid_value"),
        ([999], 422, "invalid_value"),
        ([], 422, "invalid_value"),
        ([0], 422, "invalid_value"),
        (["12"], 400, "malformed"),
        ([1.0], 400, "malformed"),
        ([True], 400, "malformed"),
        ("all", 400, "malformed"),
    ],
)
def test_only_late_events_of_the_round_are_cited(refused: Any, acts: Any, status: int, code: str) -> None:
    assert refused(acts=acts) == (status, code)


def test_a_correction_with_a_field_nobody_knows_is_refused(refused: Any) -> None:
    assert refused(amount=500) == (400, "unknown_field")


def test_a_correction_into_a_doubt_is_refused_with_its_reason(
    staff: House, at: AtTable, night: Night
) -> None:
    told = night.told(at)
    world.at_terminal(at).settle(told.id)
    night.more(at, told, an_act("card_ruled", hand="dealer", position=2, card="4D", reason="seen on video"))

    answer = ask_to_correct(signed_in(at.supervisor), told, correction(told, staff.author))

    assert (answer.status_code, answer.json()["code"], answer.json()["reasons"]) == (
        409,
        "round_held",
        ["duplicate_card"],
    )


def test_a_terminal_corrects_nothing(staff: House, at: AtTable, night: Night) -> None:
    told = a_ruled_round(at, night)

    answer = world.at_terminal(at).ask(
        "POST",
        f"rounds/{told.id}/corrections",
        correction(told, staff.author),
        **{"Idempotency-Key": "k1"},
    )

    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


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


# -- who sees the books ----------------------------------------------------------------------------------------


@pytest.fixture
def played(staff: House, at: AtTable, night: Night) -> RoundTold:
    """A wallet's round is settled: there are wallets, a table's accounts, a vault and the outside world."""
    world.a_wallet(ref="A17", amount=600_00)
    bets = [a_bet("w1", "p1", 100_00, by="player:A17")]
    told = night.told(at, bets=bets)
    world.at_terminal(at).settle(told.id)
    return told


def codes(client: Client, **asked_for: Any) -> list[str]:
    status, page = asked(client, "accounts", **asked_for)
    assert status == 200
    return [account["code"] for account in page["accounts"]]


def test_whoever_may_see_what_is_expected_sees_every_account(played: RoundTold) -> None:
    client = signed_in(world.an_auditor())

    assert codes(client) == sorted(Account.objects.values_list("code", flat=True))
    assert codes(client, prefix="table:PD01:") == [
        "table:PD01:bank",
        "table:PD01:commission",
        "table:PD01:guests",
    ]


def test_without_that_duty_a_tables_figures_do_not_exist(played: RoundTold) -> None:
    for client in (
        signed_in(world.an_auditor(badge="A02", permissions=())),
        signed_in(world.a_manager(badge="M09")),
    ):
        seen = codes(client)
        assert "player:A17:wallet" in seen
        assert [code for code in seen if code.startswith(("table:", "suspense:", "variance:"))] == []
        for code in ("table:PD01:bank", "table:PD01:guests", "suspense:shortfall:PD01", "nobody"):
            assert asked(client, f"accounts/{code}")[0] == 404
            assert asked(client, f"accounts/{code}/entries")[0] == 404


def test_a_cashier_sees_wallets_and_the_cage_even_with_that_duty(played: RoundTold) -> None:
    client = signed_in(world.a_person(role="cashier", badge="C01", permissions=("see_expected",)))

    seen = codes(client)

    assert {code.split(":")[0] for code in seen} <= {"player", "cage", "external"}
    assert "player:A17:wallet" in seen
    assert asked(client, "accounts/table:PD01:bank")[0] == 404


def test_floor_staff_and_terminals_read_no_books(at: AtTable, played: RoundTold) -> None:
    for client in (signed_in(at.dealer), signed_in(at.supervisor)):
        assert asked(client, "accounts")[0] == 403
    assert world.at_terminal(at).ask("GET", "accounts/player:A17:wallet").status_code == 403


def test_a_wallet_shows_what_it_has_what_is_set_aside_and_how_it_came_there(
    at: AtTable, night: Night, played: RoundTold
) -> None:
    told = night.recording.round(table="PD01", number=2)
    shorts = short_round(bets=[a_bet("w1", "p1", 20_00, by="player:A17")], cards={})[:2]
    night.more(at, told, *_numbered(shorts, 2))
    world.at_terminal(at).cover(told.id)
    client = signed_in(world.a_person(role="cashier", badge="C01"))

    assert asked(client, "accounts/player:A17:wallet") == (
        200,
        {
            "code": "player:A17:wallet",
            "kind": "wallet",
            "balance": thb(700_00),
            "held": thb(100_00),
            "available": thb(600_00),
            "version": 2,
        },
    )
    _, newest = asked(client, "accounts/player:A17:wallet/entries", limit=1)
    [entry] = newest["entries"]
    assert (entry["amount"], entry["balance_after"], entry["version"], entry["wager"]) == (
        thb(100_00),
        thb(700_00),
        2,
        "w1",
    )
    _, oldest = asked(client, "accounts/player:A17:wallet/entries", limit=1, cursor=newest["next"])
    assert (oldest["entries"][0]["version"], oldest["next"]) == (1, None)


def test_a_journal_that_touches_an_account_out_of_scope_does_not_exist(played: RoundTold) -> None:
    of_the_round, of_the_cage = Journal.objects.get(kind="round"), Journal.objects.get(kind="deposit")
    cashier = signed_in(world.a_person(role="cashier", badge="C01"))
    auditor = signed_in(world.an_auditor())

    assert [
        asked(client, f"journals/{journal.id}")[0]
        for client in (cashier, auditor)
        for journal in (of_the_round, of_the_cage)
    ] == [404, 200, 200, 200]
    assert asked(auditor, f"journals/{uuid.uuid4()}")[0] == 404


def test_a_journal_shows_entries_that_add_up_to_nothing(played: RoundTold) -> None:
    journal = Journal.objects.get(kind="round")

    _, shown = asked(signed_in(world.an_auditor()), f"journals/{journal.id}")

    assert (shown["kind"], shown["key"], shown["round"]) == ("round", f"round:{played.id}:1", played.id)
    assert [(entry["account"], entry["amount"], entry["wager"]) for entry in shown["entries"]] == [
        ("player:A17:wallet", thb(100_00), "w1"),
        ("table:PD01:bank", thb(-100_00), ""),
    ]


def test_accounts_are_listed_page_by_page(played: RoundTold) -> None:
    client = signed_in(world.an_auditor())
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        _, page = asked(client, "accounts", limit=3, **({"cursor": cursor} if cursor else {}))
        seen += [account["code"] for account in page["accounts"]]
        cursor = page["next"]

    assert seen == sorted(Account.objects.values_list("code", flat=True))
    assert [asked(client, "accounts", limit=limit)[0] for limit in ("0", "201", "-1", "many")] == [
        422,
        422,
        400,
        400,
    ]
