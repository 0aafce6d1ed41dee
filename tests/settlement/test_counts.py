"""Counting is blind: one door for whoever counts, and nothing in any answer of what should come of it."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from audit.flags import count_flags
from audit.flags.kinds import Seen
from audit.models import LogEntry
from casino.models import Device, Person, TableSession
from casino.platform.refusals import Refusal
from settlement import days, table_floats
from settlement.models import Break, Count, Counting, Drop, Float, Journal, Message
from settlement.table_floats import BlindCount, Box
from tests import world
from tests.rules.given import a_bet, short_round
from tests.settlement.doors import Night, asked, body_of, numbered, signed_in
from tests.world import PIN, AtTable, House, acting, counted

pytestmark = pytest.mark.django_db

LINES = [{"denomination": 100_000, "pieces": 100}, {"denomination": 10_000, "pieces": 400}]
"""What lies in the tray of ``world.a_table``: 140,000 baht."""
SHORT = [{"denomination": 100_000, "pieces": 100}, {"denomination": 10_000, "pieces": 399}]
FIRST = [{"denomination": 100_000, "pieces": 100}, {"denomination": 10_000, "pieces": 398}]


def say(client: Client, path: str, body: dict[str, Any], *, key: str = "") -> tuple[int, dict[str, Any]]:
    answer = client.post(
        f"/api/v1/{path}", json.dumps(body), content_type="application/json",
        headers={"Idempotency-Key": key or str(uuid4())},
    )  # fmt: skip
    return answer.status_code, body_of(answer)


def count(who: Person, kind: str, lines: Any = LINES, **more: Any) -> tuple[int, dict[str, Any]]:
    return say(signed_in(who), "tables/PD01/counts", {"kind": kind, "lines": lines} | more)


def at_the_terminal(at: AtTable, who: Person, kind: str, lines: Any = LINES) -> Any:
    body = {"kind": kind, "lines": lines, "badge": who.badge, "pin": PIN}
    return world.at_terminal(at).ask("POST", "tables/PD01/counts", body, **{"Idempotency-Key": str(uuid4())})


def test_a_dealer_counts_at_the_terminal_and_a_supervisor_at_a_desk_and_the_table_closes(at: AtTable) -> None:
    first = at_the_terminal(at, at.dealer, "closer")
    assert (first.status_code, first.json()["needs"], first.json()["state"]) == (201, "second", "open")
    status, second = count(at.supervisor, "closer")
    assert (status, second["needs"], second["state"]) == (201, "", "accepted")

    status, closed = say(
        signed_in(at.supervisor), "tables/PD01/sessions/close", {"last_round": 0, "cage": "C1"}
    )
    assert status == 201
    assert closed == {
        "session": str(at.session.id), "last_round": 0, "provisional": False, "missing": {}, "grade": "",
        "break": None, "held": [],
    }  # fmt: skip
    _, listed = asked(signed_in(world.an_auditor()), "tables/PD01/sessions")
    assert [one["state"] for one in listed["sessions"]] == ["uncounted"]


def test_asking_for_a_count_begins_it_and_saves_nothing(at: AtTable) -> None:
    status, answer = say(signed_in(at.supervisor), "tables/PD01/counts", {"kind": "closer"})

    assert (status, answer["needs"], answer["count"], answer["state"]) == (201, "first", None, "open")
    assert not Count.objects.filter(counting=answer["counting"]).exists()
    assert say(signed_in(at.supervisor), "tables/PD01/counts", {"kind": "closer"})[1] == answer


def test_counts_that_differ_ask_for_a_third_and_say_no_figure(at: AtTable) -> None:
    count(at.dealer, "closer")
    status, second = count(at.supervisor, "closer", SHORT)

    assert (status, second["needs"], second["state"]) == (201, "third", "open")
    assert set(second) == {"counting", "kind", "session", "state", "count", "needs"}
    assert count(at.supervisor, "closer")[1]["code"] == "sod_violation"
    found = Break.objects.get()
    assert (found.code, found.amount) == ("COUNT_MISMATCH", 0)
    assert "399" not in json.dumps(found.detail)

    status, third = count(world.a_manager(badge="M03"), "closer", SHORT)
    assert (status, third["needs"], third["state"]) == (201, "", "accepted")
    kept = Count.objects.filter(counting=third["counting"]).order_by("ordinal")
    assert list(kept.values_list("amount", flat=True)) == [14_000_000, 13_990_000, 13_990_000]


def test_ones_own_count_is_corrected_until_somebody_else_counted(at: AtTable) -> None:
    first = count(at.dealer, "closer", SHORT)[1]
    status, corrected = count(at.dealer, "closer", supersedes=first["count"])
    assert (status, corrected["needs"]) == (201, "second")

    assert (
        count(at.supervisor, "closer", SHORT, supersedes=corrected["count"])[1]["code"] == "count_not_yours"
    )
    assert count(at.supervisor, "closer")[1]["state"] == "accepted"
    kept = Count.objects.filter(counting=first["counting"]).order_by("counted_at")
    assert list(kept.values_list("ordinal", "amount")) == [(1, 13_990_000), (1, 14_000_000), (2, 14_000_000)]


def test_a_count_that_cannot_be_corrected_any_more_stands(at: AtTable) -> None:
    first = count(at.dealer, "closer", SHORT)[1]
    count(at.supervisor, "closer")

    assert count(at.dealer, "closer", supersedes=first["count"])[1]["code"] == "count_not_yours"


def test_whoever_is_not_on_duty_there_does_not_count_there(staff: House, at: AtTable) -> None:
    stranger = staff.tables["PD02"].supervisor
    assert count(stranger, "closer")[1]["code"] == "not_found"
    assert at_the_terminal(at, stranger, "closer").json()["code"] == "not_on_duty"
    assert count(world.a_person(role="cashier", badge="C01"), "closer")[1]["code"] == "forbidden"
    assert count(world.a_person(role="auditor", badge="A09"), "closer")[0] == 403


def test_two_floats_are_not_counted_at_once(at: AtTable) -> None:
    count(at.dealer, "closer")

    assert count(at.supervisor, "shift")[1]["code"] == "count_running"
    assert count(at.supervisor, "opener")[1]["code"] == "table_open"


def test_a_count_is_withdrawn_and_made_anew_and_both_stay(at: AtTable) -> None:
    first = count(at.dealer, "closer")[1]
    client = signed_in(at.supervisor)
    answer = client.delete("/api/v1/tables/PD01/counts?kind=closer")
    assert (answer.status_code, answer.json()["state"]) == (200, "withdrawn")
    assert client.delete("/api/v1/tables/PD01/counts?kind=closer").json()["code"] == "count_not_asked"

    assert count(at.dealer, "closer")[1]["counting"] != first["counting"]
    assert Counting.objects.filter(kind="closer").count() == 2


def test_no_chip_may_move_between_two_counts(at: AtTable, night: Night) -> None:
    count(at.dealer, "closer")
    told = night.told(at)
    assert count(at.supervisor, "closer")[1]["code"] == "rounds_unfinished"
    world.at_terminal(at).settle(told.id)

    assert count(at.supervisor, "closer")[1]["code"] == "count_overtaken"


def test_a_table_that_played_on_is_not_closed_with_the_count_before(at: AtTable, night: Night) -> None:
    count(at.dealer, "closer")
    count(at.supervisor, "closer")
    world.at_terminal(at).settle(night.told(at).id)

    status, answer = say(
        signed_in(at.supervisor), "tables/PD01/sessions/close", {"last_round": 1, "cage": "C1"}
    )
    assert (status, answer["code"]) == (409, "count_overtaken")


def test_expected_seen_first(night: Night) -> None:
    """From the request to count until both counts are saved, no address shows anybody who may count there what lies in
    the tray, what was won, or what another counted; a balance is absent without ``see_expected``, and null with it."""
    at = world.a_house(tables=("PD01",)).tables["PD01"]
    told = night.told(at)
    world.at_terminal(at).settle(told.id)
    journal = Journal.objects.get(kind="round").id
    opener = Float.objects.get(kind="opener", session=at.session)
    count(at.dealer, "closer", FIRST)

    manager, seer = world.a_manager(badge="M08"), world.a_manager(badge="M09", permissions=("see_expected",))
    addresses = [
        "accounts", "accounts/table:PD01:bank", "accounts/table:PD01:bank/entries", f"journals/{journal}",
        f"journals/{opener.journal_id}", f"tables/PD01/rundown?session={at.session.id}",
        f"tables/PD01/rundown?gaming_day={days.of(timezone.now())}", f"rounds/{told.id}",
        f"rounds/{told.id}/settlement",
        "tables/PD01/sessions", "tables/PD01/rounds", "tables", "audit/entries?table=PD01", "breaks", "flags",
        "accounts?prefix=table:PD01:", "accounts?prefix=variance:", "accounts/cage:C1:vault",
    ]  # fmt: skip
    for person in (at.dealer, at.supervisor, manager, seer):
        client = signed_in(person)
        for address in addresses:
            text = client.get(f"/api/v1/{address}").content.decode()
            # The first count, the bank, the tray, the house's net of the round and the guest's.
            for figure in ("13980000", "13990000", "13990500", "-9500", "-10000", ":9500"):
                assert figure not in text, (person.badge, address, figure)
    client = signed_in(seer)
    assert asked(client, "accounts/table:PD01:bank")[1] == {
        "code": "table:PD01:bank", "kind": "bank", "balance": None, "held": None, "available": None, "version": None,
        "reason": "count_open",
    }  # fmt: skip
    assert asked(client, "accounts/table:PD01:bank/entries")[1]["reason"] == "count_open"
    assert asked(client, f"journals/{journal}")[1]["reason"] == "count_open"
    _, rundown = asked(client, "tables/PD01/rundown", session=str(at.session.id))
    assert (rundown["win"], rundown["stretches"], rundown["reason"]) == (None, [], "count_open")
    assert asked(signed_in(manager), "accounts/table:PD01:bank")[0] == 404
    assert asked(signed_in(manager), "tables/PD01/rundown", session=str(at.session.id))[0] == 403

    auditor = signed_in(world.an_auditor())
    assert asked(auditor, "accounts/table:PD01:bank")[1]["balance"] is not None
    assert asked(auditor, f"rounds/{told.id}")[1]["settlement"] is not None
    # The books open again with the count that completes it.
    count(at.supervisor, "closer", FIRST)
    assert asked(client, "accounts/table:PD01:bank")[1]["balance"] is not None
    assert asked(client, f"rounds/{told.id}")[1]["settlement"]["house_net"] is not None


def test_the_log_has_what_a_count_hashes_to_and_not_its_figures(at: AtTable) -> None:
    count(at.dealer, "closer", SHORT)

    entry = LogEntry.objects.filter(action="count.recorded").latest("id")
    told = json.loads(bytes(entry.bytes))["data"]
    assert set(told) == {
        "counting", "kind", "ordinal", "pieces_sha256", "currency", "supersedes", "bank_version",
    }  # fmt: skip
    owed = Message.objects.filter(type="count.recorded").latest("booked_at")
    assert "13990000" not in owed.body


def test_somebody_who_may_see_what_is_expected_does_not_count() -> None:
    seer = world.a_manager(badge="M09", permissions=("see_expected",))
    world.a_house()

    assert count(seer, "closer")[1]["code"] == "sod_violation"


# -- variances ---------------------------------------------------------------------------------------------


def closed(at: AtTable, *, short: int, last_round: int = 0) -> table_floats.Closed:
    """Close with a tray so many satang short."""
    with acting():
        pieces = {100_000: 100, 10_000: 399, 1: 10_000 - short}
        counted(at.table, "closer", at.dealer, at.supervisor, pieces=pieces)
        return table_floats.close_table(table=at.table, last_round=last_round, cage="C1")


@pytest.mark.parametrize(
    ("short", "grade", "state"),
    [
        (99, "quiet", "matched"),
        (100, "note", "mismatched"),
        (2_501, "incident", "mismatched"),
        (9_000, "notify", "mismatched"),
    ],
)
def test_a_difference_is_posted_once_and_climbs_the_ladder(
    at: AtTable, short: int, grade: str, state: str, settings: Any
) -> None:
    settings.VARIANCE_LIMITS = [
        {"from": "2026-01-01", "note": ">=100", "incident": ">2500", "notify": ">=9000"}
    ]
    done = closed(at, short=short)

    assert (done.float.grade, done.float.limits_from.isoformat()) == (grade, "2026-01-01")  # type: ignore[union-attr]
    found = Break.objects.get(code="COUNT_VARIANCE")
    assert (found.id, found.amount, found.state) == (done.variance, -short, state)
    assert list(Journal.objects.filter(kind="variance").values_list("entries__amount", flat=True)) in (
        [short, -short],
        [-short, short],
    )


def test_surveillance_is_told_of_an_incident(at: AtTable, settings: Any) -> None:
    settings.VARIANCE_LIMITS = [
        {"from": "2026-01-01", "note": ">=100", "incident": ">2500", "notify": ">=9000"}
    ]
    done = closed(at, short=2_501)
    seen = [
        Seen(0, entry.id, entry.action, None, entry.table_code, "", json.loads(bytes(entry.bytes))["data"])
        for entry in LogEntry.objects.filter(action="table.float_closed")
    ]
    (raised,) = count_flags.differences(seen)
    assert (raised.kind, raised.subject, raised.table) == (
        "count_variance",
        f"floats/{done.float.id}",
        "PD01",
    )
    assert raised.detail["difference"] == -2_501


def test_a_shift_is_counted_and_the_table_goes_on(at: AtTable) -> None:
    count(at.dealer, "shift", SHORT)
    assert count(at.supervisor, "shift", SHORT)[1]["state"] == "accepted"

    shift = Float.objects.get(kind="shift")
    assert (shift.expected, shift.count.amount, shift.journal) == (14_000_000, 13_990_000, None)
    assert shift.variance is not None
    assert TableSession.objects.get(pk=at.session.id).closed_at is None
    # What is expected next is what was found.
    count(at.dealer, "shift", SHORT)
    count(at.supervisor, "shift", SHORT)
    assert list(Float.objects.filter(kind="shift").order_by("accepted_at").values_list("expected", flat=True)) == [
        14_000_000, 13_990_000,
    ]  # fmt: skip


def test_a_rollover_needs_a_start_hour(at: AtTable) -> None:
    status, answer = count(at.dealer, "rollover")

    assert (status, answer["code"]) == (422, "invalid_value")


# -- boxes -------------------------------------------------------------------------------------------------


def test_a_box_is_counted_twice_blind_by_people_who_did_not_carry_it(at: AtTable) -> None:
    closed(at, short=0)
    box = {"carried_by": at.supervisor.badge, "cage": "C1"}
    first, second = (
        world.a_manager(badge="M03"),
        world.a_person(role="cashier", badge="C02", permissions=("counter",)),
    )
    lines = [{"denomination": 100_000, "pieces": 2}]

    assert count(at.supervisor, "drop", lines, **box)[1]["code"] == "forbidden"
    assert count(world.a_person(role="cashier", badge="C03"), "drop", lines, **box)[1]["code"] == "forbidden"
    assert count(first, "drop", lines)[1]["code"] == "missing_field"
    assert count(first, "drop", lines, **box | {"carried_by": "M03"})[1]["code"] == "invalid_value"
    assert count(first, "drop", lines, **box)[1]["needs"] == "second"
    assert count(second, "drop", lines, **box)[1]["state"] == "accepted"

    drop = Drop.objects.get()
    assert (drop.recorded, drop.count.amount, drop.until.kind) == (0, 200_000, "closer")
    assert Journal.objects.filter(kind="drop_counted").count() == 1
    assert count(first, "drop", lines, **box)[1]["code"] == "box_not_carried"
    _, listed = asked(signed_in(world.an_auditor()), "tables/PD01/sessions")
    assert [one["state"] for one in listed["sessions"]] == ["closed"]


def test_closed_uncounted(at: AtTable) -> None:
    """A table with money in its box and no counted closer is not closed; closed with one, it is ``uncounted`` until the
    box is counted too."""
    status, answer = say(
        signed_in(at.supervisor), "tables/PD01/sessions/close", {"last_round": 0, "cage": "C1"}
    )
    assert (status, answer["code"]) == (422, "count_missing")
    count(at.dealer, "closer")
    status, answer = say(
        signed_in(at.supervisor), "tables/PD01/sessions/close", {"last_round": 0, "cage": "C1"}
    )
    assert (status, answer["code"]) == (422, "count_missing")

    count(at.supervisor, "closer")
    say(signed_in(at.supervisor), "tables/PD01/sessions/close", {"last_round": 0, "cage": "C1"})
    (standing,) = table_floats.standings(at.table, limit=5)
    assert standing.state == "uncounted"
    with acting():
        counted(
            at.table, "drop", world.a_manager(badge="M03"), world.a_manager(badge="M04"),
            box=Box(carried_by=at.supervisor, cage="C1"), pieces={},
        )  # fmt: skip
    (standing,) = table_floats.standings(at.table, limit=5)
    assert standing.state == "closed"


# -- closing -----------------------------------------------------------------------------------------------


def test_closed_before_sync(at: AtTable) -> None:
    """Numbers that a terminal gave and has not sent keep the table open, by their range; two who override close it
    provisionally, and every answer says so."""
    Device.objects.filter(code="PD01-terminal").update(stated={"next": 6, "unsent": 5})
    count(at.dealer, "closer")
    count(at.supervisor, "closer")
    client, close = signed_in(at.supervisor), {"last_round": 0, "cage": "C1"}

    status, answer = say(client, "tables/PD01/sessions/close", close)
    assert (status, answer["code"], answer["devices"]) == (
        409,
        "device_numbers_missing",
        {"PD01-terminal": [[1, 5]]},
    )
    alone = [{"badge": at.supervisor.badge, "pin": PIN}] * 2
    assert (
        say(client, "tables/PD01/sessions/close", close | {"overridden_by": alone})[1]["code"]
        == "sod_violation"
    )
    dealers = [{"badge": at.supervisor.badge, "pin": PIN}, {"badge": at.dealer.badge, "pin": PIN}]
    assert (
        say(client, "tables/PD01/sessions/close", close | {"overridden_by": dealers})[1]["code"]
        == "second_person_forbidden"
    )

    world.a_manager(badge="M03")
    two = [{"badge": at.supervisor.badge, "pin": PIN}, {"badge": "M03", "pin": PIN}]
    status, answer = say(client, "tables/PD01/sessions/close", close | {"overridden_by": two})
    assert (status, answer["provisional"], answer["missing"]) == (201, True, {"PD01-terminal": [[1, 5]]})
    auditor = signed_in(world.an_auditor())
    _, listed = asked(auditor, "tables/PD01/sessions")
    assert [(one["state"], one["missing"]) for one in listed["sessions"]] == [
        ("provisional", {"PD01-terminal": [[1, 5]]})
    ]
    _, rundown = asked(auditor, "tables/PD01/rundown", session=str(at.session.id))
    assert rundown["stretches"][0]["provisional"] is True
    told = json.loads(bytes(LogEntry.objects.get(action="table.closed").bytes))["data"]
    assert (told["missing"], len(told["despite_missing"])) == ({"PD01-terminal": [[1, 5]]}, 2)


def test_held_rounds_are_named_at_the_close_with_what_their_holds_lock(at: AtTable, night: Night) -> None:
    world.a_wallet(ref="A17", amount=600_00)
    told = night.recording.round(table="PD01", number=1)
    shorts = numbered(short_round(bets=[a_bet("w1", "p1", 100_00, by="player:A17")], cards={}), 1)
    lock = next(place for place, one in enumerate(shorts) if one["type"] == "bets_locked")
    night.more(at, told, *shorts[:lock])
    world.at_terminal(at).cover(told.id)
    night.more(at, told, *shorts[lock:])
    assert world.at_terminal(at).settle(told.id)["outcome"] == "held"
    count(at.dealer, "closer")
    count(at.supervisor, "closer")

    carried = {"carried_over_by": [at.supervisor.badge, "M01"]}
    status, answer = say(
        signed_in(at.supervisor), "tables/PD01/sessions/close", {"last_round": 1, "cage": "C1"} | carried
    )
    assert status == 201, answer
    assert answer["held"] == [
        {"round": told.id, "number": 1, "locked": {"amount": 500_00, "currency": "THB"}}
    ]


def test_a_refused_act_of_the_domain_says_its_name() -> None:
    house = world.a_house()
    table = house.tables["PD01"].table
    with pytest.raises(Refusal, match="count_not_asked"), acting():
        table_floats.withdraw(table=table, kind="closer", by=house.author)
    with pytest.raises(Refusal, match="box_not_carried"), acting():
        table_floats.count(
            table=table, kind="drop", by=house.author, count=BlindCount(house.author, {}),
            box=Box(house.tables["PD01"].supervisor, "C1"),
        )  # fmt: skip
