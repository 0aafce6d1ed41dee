"""One round as one file: what is in it, who finds what in it, and that handing it out is an act."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audit import dossier, merkle, verify
from audit.dossier import pdf
from audit.models import LogEntry
from audit.verify import export as reading
from audit.verify import pyz, steps
from audit.verify.export import Failure
from casino import events
from casino.events import Fact
from casino.models import Person, Round, TableSession
from settlement.models import Line
from tests.audit import sealing
from tests.audit.conftest import Played
from tests.audit.exported import Exported, exported, made, member, paid

__all__ = ["exported"]

MEMBERS = ["dossier.json", "README.txt", "manifest.json", "dossier.pdf", "verify.pyz"]


def signed_in(badge: str) -> Client:
    client = Client()
    client.force_login(Person.objects.get(badge=badge))
    return client


def download(client: Client, round_id: UUID, **query: Any) -> Any:
    return client.get(f"/api/v1/rounds/{round_id}/dossier", query)


def a_settled_round(table: str = "PD06") -> Round:
    return paid(table)[0].round


# -- what is in it ---------------------------------------------------------------------------------------------


def test_a_dossier_is_one_zip_of_five_files_with_no_clock_in_it(exported: Exported) -> None:
    for packed in exported.zips.values():
        archive = zipfile.ZipFile(io.BytesIO(packed))
        assert archive.namelist() == MEMBERS
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        members = {name: archive.read(name) for name in MEMBERS}
        assert reading.manifest(members) == members["manifest.json"]
        assert members["verify.pyz"] == pyz.build()
        assert members["dossier.pdf"].startswith(b"%PDF-")
        listed = json.loads(members["manifest.json"])
        assert listed["excluded"] == ["dossier.pdf"]
        assert "dossier.pdf" not in listed["sha256"]


def test_a_readers_file_explains_the_check_in_both_languages(exported: Exported) -> None:
    text = member(exported.zips["plain"], "README.txt").decode()
    for part in ("verify.pyz", "--key", "กุญแจ", "withheld", "The key must be one that you had before"):
        assert part in text


def test_a_round_tells_what_was_reported_judged_and_paid(exported: Exported) -> None:
    content = exported.content("corrected")
    assert [revision["revision"] for revision in content["revisions"]] == [1, 2]
    assert [journal["part"] for journal in content["revisions"][1]["journals"]] == ["reversal", "journal"]
    same = exported.content("unchanged")["revisions"]
    assert [[journal["id"] for journal in one["journals"]] for one in same] == [
        [same[0]["journals"][0]["id"]]
    ] * 2
    feeds = {read[1] for slot in content["round"]["record"]["slots"] for read in slot["reads"]}
    assert feeds == {"terminal", "camera"}, "both reads of every card"
    assert [event["late"] for event in content["events"]][-1] is True
    assert {entry["action"] for entry in said(content)} >= {
        "sheet.proposed", "sheet.approved", "sheet.put_in_force", "table.opened", "round.recorded", "round.settled",
        "round.corrected",
    }  # fmt: skip
    assert {duty["role"] for duty in content["duties"]} == {"dealer", "supervisor"}
    assert {person["badge"] for person in content["people"]} >= {"D01", "S01", "M01"}
    said_lines = content["revisions"][0]["said"]
    assert len(said_lines) == len(content["revisions"][0]["lines"])
    assert all("กติกา" in line["th"] and "sheet" in line["en"] for line in said_lines)
    assert len(content["sheet"]["said"]) == 26
    assert [flag["kind"] for flag in content["flags"]] == sorted(flag["kind"] for flag in content["flags"])


def test_a_held_round_says_why_and_a_void_moves_nothing(exported: Exported) -> None:
    held = exported.content("held")
    assert [reason["reason"] for reason in held["held"]] == held["round"]["reasons"] == ["missing_card"]
    assert "ที่นั่ง 1" in held["held"][0]["th"]
    assert held["revisions"] == []
    voided = exported.content("voided")["revisions"][-1]
    assert (voided["outcome"], voided["lines"], voided["house_net"]) == ("voided", [], 0)


def test_a_disputes_dossier_tells_what_was_asked_proposed_and_decided(exported: Exported) -> None:
    dispute = exported.content("disputed")["dispute"]
    assert (dispute["state"], dispute["outcome"] != "") == ("decided", True)
    assert [proposal["ordinal"] for proposal in dispute["proposals"]] == [1]
    assert dispute["proposals"][0]["facts"][0]["kind"] == "card_ruled"
    assert dispute["decided_by"] != dispute["raised_by"]
    content = exported.content("disputed")
    assert content["revisions"][-1]["because"] is not None
    assert {entry["action"] for entry in said(content)} >= {
        "dispute.raised",
        "dispute.proposed",
        "dispute.decided",
    }
    badges = {person["badge"] for person in content["people"]}
    assert {"A01", "A02", "V01"} <= badges


def said(content: dict[str, Any]) -> list[dict[str, Any]]:
    return [json.loads(entry["bytes"]) for entry in content["entries"] if entry["bytes"] is not None]


def test_who_looked_before_is_not_the_rounds_business(exported: Exported) -> None:
    for story in exported.zips:
        assert not {"evidence.read", "log.read"} & {
            entry["action"] for entry in said(exported.content(story))
        }


# -- for whom --------------------------------------------------------------------------------------------------


def of_reader(exported: Exported, badge: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(member(exported.by_reader[badge], "dossier.json"))["content"]
    return found


@pytest.mark.parametrize(
    ("badge", "withheld"),
    [
        ("A01", []),
        ("M01", []),
        ("V01", ["balances"]),
        ("S01", ["balances"]),
        ("D01", ["balances", "log", "names"]),
    ],
)
def test_what_a_reader_may_not_see_is_said_to_be_withheld(
    exported: Exported, badge: str, withheld: list[str]
) -> None:
    content = of_reader(exported, badge)
    assert content["reader"]["withheld"] == withheld
    entries = [
        entry
        for revision in content["revisions"]
        for journal in revision["journals"]
        for entry in journal["entries"]
    ]
    assert entries
    assert all((entry["after"] is None) == ("balances" in withheld) for entry in entries)
    assert all((entry["version"] is None) == ("balances" in withheld) for entry in entries)
    assert all((entry["bytes"] is None) == ("log" in withheld) for entry in content["entries"])
    assert all((person["name"] is None) == ("names" in withheld) for person in content["people"])
    assert all((person["badge"] is None) == ("names" in withheld) for person in content["people"])


def test_a_dealers_copy_holds_no_name_and_no_badge_in_any_byte(exported: Exported) -> None:
    data = member(exported.by_reader["D01"], "dossier.json").decode()
    whole = member(exported.by_reader["A01"], "dossier.json").decode()
    for secret in ("S01 of the house", "D01 of the house", '"S01"'):
        assert secret in whole
        assert secret not in data.replace(json.loads(data)["entry"]["bytes"], "")


def test_dealers_and_supervisors_find_the_rounds_of_their_own_tables_alone(played: Played) -> None:
    ours, closed = a_settled_round("PD06"), a_settled_round("PD01")
    for badge in ("S01", "D01"):
        assert download(signed_in(badge), ours.id).status_code == 200
        assert download(signed_in(badge), closed.id).status_code == 404, "nobody is on duty at a closed table"
    TableSession.objects.filter(pk=ours.session_id).update(closed_at=timezone.now(), last_round=99)
    assert download(signed_in("D01"), ours.id).json()["code"] == "not_found"


def test_others_are_refused_and_what_is_not_there_does_not_exist(played: Played) -> None:
    round_id = a_settled_round().id
    for badge in ("C01", "AD9"):  # a cashier, an administrator
        assert download(signed_in(badge), round_id).json()["code"] == "forbidden"
    assert download(Client(), round_id).status_code == 401
    assert download(signed_in("A01"), uuid4()).json()["code"] == "not_found"
    assert signed_in("A01").get(f"/api/v1/disputes/{uuid4()}/dossier").json()["code"] == "not_found"


# -- the act ---------------------------------------------------------------------------------------------------


def test_a_download_is_an_act_whose_entry_fixes_every_byte_of_it(played: Played) -> None:
    round = a_settled_round()
    answer = download(signed_in("A01"), round.id)
    assert answer.status_code == 200, answer.content
    assert answer.headers["Content-Type"] == "application/zip"
    assert answer.headers["Content-Disposition"] == f'attachment; filename="dossier-PD06-{round.number}.zip"'
    assert answer.headers["Cache-Control"] == "no-store"
    whole = json.loads(member(answer.content, "dossier.json"))
    entry = LogEntry.objects.latest("id")
    assert (entry.action, entry.subject, entry.round, entry.role) == (
        "evidence.read", f"rounds/{round.id}", round.id, "auditor",
    )  # fmt: skip
    assert whole["entry"] == {"bytes": bytes(entry.bytes).decode(), "hash": bytes(entry.leaf_hash).hex()}
    assert json.loads(bytes(entry.bytes))["data"] == {
        "what": "dossier", "dispute": None, "withheld": [],
        "sha256": reading.sha256(reading.canonical(whole["content"])),
    }  # fmt: skip
    receipt = merkle.leaf_hash(whole["entry"]["bytes"].encode()).hex()
    sealing.sealed(played.store)
    proof = signed_in("A01").get("/api/v1/audit/proof", {"hash": receipt})
    assert proof.json()["bytes"] == whole["entry"]["bytes"], "the house proves it afterwards"


def test_a_dossier_waits_until_every_entry_of_its_round_is_under_a_checkpoint(played: Played) -> None:
    round = a_settled_round()
    with events.act(actor=events.SERVICE, request_id="test", now=timezone.now()):
        events.announce([Fact("flag.closed", "flags/1", {}, table="PD06", round=round.id)])
    answer = download(signed_in("A01"), round.id)
    assert (answer.status_code, answer.json()["code"]) == (409, "not_sealed_yet")
    sealing.sealed(played.store)
    assert download(signed_in("A01"), round.id).status_code == 200


def test_a_dispute_is_downloaded_under_its_own_address(played: Played) -> None:
    answer = signed_in("V01").get(f"/api/v1/disputes/{played.told['by_two']}/dossier")
    assert answer.status_code == 200, answer.content
    content = json.loads(member(answer.content, "dossier.json"))["content"]
    assert content["dispute"]["id"] == str(played.told["by_two"])
    assert json.loads(bytes(LogEntry.objects.latest("id").bytes))["data"]["dispute"] == str(
        played.told["by_two"]
    )


def test_growth_from_a_kept_checkpoint_is_proved_on_request(played: Played) -> None:
    notes_kept = [path.read_text() for path in sorted(played.store.folder.glob("*.note"))]
    sizes = [int(note.splitlines()[1]) for note in notes_kept]
    answer = download(signed_in("A01"), a_settled_round().id, kept=",".join(map(str, sizes)))
    growth = json.loads(member(answer.content, "dossier.json"))["content"]["log"]["growth"]
    assert set(notes_kept[:-1]) <= {one["checkpoint"] for one in growth}
    unknown = download(signed_in("A01"), a_settled_round().id, kept="2")
    assert (unknown.status_code, unknown.json()["fields"]) == (
        422, {"kept": "no checkpoint of that size was signed"},
    )  # fmt: skip
    for wrong in ("0", "x", "1,,2"):
        assert download(signed_in("A01"), a_settled_round().id, kept=wrong).status_code == 400


def test_the_same_dossier_is_always_the_same_bytes(played: Played) -> None:
    one = made(events.SERVICE, a_settled_round().id)
    assert dossier.pack(one) == dossier.pack(one)
    other = made(events.SERVICE, a_settled_round().id)
    assert other.content == one.content
    assert other.entry != one.entry


def test_the_statements_of_a_dossier_do_not_grow_with_its_round(played: Played) -> None:
    counts = {}
    rounds = Round.objects.filter(standing="settled", table__code="PD06", in_dispute=False).order_by(
        "event_count"
    )
    for round in (rounds[0], rounds.reverse()[0]):
        made(events.SERVICE, round.id)
        with CaptureQueriesContext(connection) as asked:
            made(events.SERVICE, round.id)
        counts[round.event_count] = len(
            [
                query
                for query in asked.captured_queries
                # A proof asks as the tree is: of what only the newest checkpoint covers, no older one is read.
                if not any(name in query["sql"] for name in ("audit_leaf", "subtree", "audit_checkpoint"))
            ]
        )
    assert len(set(counts.values())) == 1, counts


def test_an_alias_answers_with_its_rounds_dossier(played: Played) -> None:
    round = a_settled_round()
    alias = Round.objects.create(
        id=uuid4(), table=round.table, session=round.session, created_at=timezone.now(), alias_of=round
    )
    found = made(events.SERVICE, alias.id)
    assert (found.content["round"]["id"], found.content["round"]["aliases"]) == (
        str(round.id),
        [str(alias.id)],
    )


# -- the command -----------------------------------------------------------------------------------------------


def test_the_house_makes_its_own_copy_on_its_machine(played: Played, tmp_path: Path) -> None:
    path = tmp_path / "one.zip"
    call_command("dossier", str(a_settled_round().id), "--to", str(path), stdout=io.StringIO())
    export = reading.read(path)
    assert export.content["reader"] == {"role": "service", "withheld": []}
    steps.check(export)
    call_command("dossier", str(played.told["by_two"]), "--dispute", "--to", str(path), stdout=io.StringIO())
    assert reading.read(path).content["dispute"] is not None
    with pytest.raises(CommandError, match="no such thing"):
        call_command("dossier", str(uuid4()))


# -- a house that was altered ----------------------------------------------------------------------------------

AS_VOIDED = (
    "UPDATE audit_logentry SET bytes = replace(convert_from(bytes, 'UTF8'), 'settled', 'voided')::bytea"
    " WHERE round = {round} AND action = 'round.settled';"
)
ITS_HASH = (
    "UPDATE audit_logentry SET leaf_hash = sha256('\\x00'::bytea || bytes)"
    " WHERE round = {round} AND action = 'round.settled';"
)
ITS_LEAF = (
    "UPDATE audit_leaf l SET leaf_hash = e.leaf_hash FROM audit_logentry e"
    " WHERE e.id = l.entry_id AND e.round = {round} AND e.action = 'round.settled'"
)
ALTERED = {
    "one ledger amount": (
        "UPDATE settlement_entry SET amount = amount + 1 WHERE journal_id = {journal} AND ordinal = 0",
        "V5 journals/",
    ),
    "two ledger amounts that still balance": (
        (
            "UPDATE settlement_entry SET amount = amount + CASE ordinal WHEN 0 THEN 5 WHEN 1 THEN -5 ELSE 0 END"
            " WHERE journal_id = {journal}"
        ),
        "V5 journals/",
    ),
    "a line": (
        "UPDATE settlement_line SET net = net + 1 WHERE settlement_id = {settlement} AND ordinal = 0",
        "V5 revisions/1",
    ),
    "a revision": (
        (
            "DELETE FROM settlement_line WHERE settlement_id = {settlement};"
            " DELETE FROM settlement_settlement WHERE id = {settlement}"
        ),
        "V5 entries/",
    ),
    "a card": (
        (
            'UPDATE casino_roundevent SET payload = payload || \'{{"card": "2D"}}\''
            " WHERE round_id = {round} AND kind = 'card_dealt' AND payload ->> 'hand' = 'p1'"
        ),
        "V5 events/",
    ),
    "a stake": (
        (
            "UPDATE casino_roundevent SET payload = jsonb_set(payload, '{{stake,amount}}', '1')"
            " WHERE round_id = {round} AND kind = 'bet_placed'"
        ),
        "V5 events/",
    ),
    "a device's number": (
        (
            "UPDATE casino_roundevent SET device_seq = device_seq + 100000"
            " WHERE round_id = {round} AND kind = 'round_opened'"
        ),
        "V5 events/",
    ),
    "who acted": (
        "UPDATE casino_roundevent SET person_id = NULL WHERE round_id = {round} AND kind = 'round_closed'",
        "V5 events/",
    ),
    "an event's kind": (
        "UPDATE casino_roundevent SET kind = 'gift_given' WHERE round_id = {round} AND kind = 'hand_stayed'",
        "V5 events/",
    ),
    "an entry's bytes": (AS_VOIDED, "V1 entries/"),
    "an entry's bytes and hash": (AS_VOIDED + ITS_HASH, "V1 entries/"),
    "entry, hash and leaf together": (AS_VOIDED + ITS_HASH + ITS_LEAF, "V2 entries/"),
    "bytes of the sheet": (
        "UPDATE settlement_rulesheet SET canonical = replace(canonical, '500', '400')",
        "V5 sheet/",
    ),
}
"""What a superuser altered, and the row that the check names."""


@pytest.mark.parametrize("what", ALTERED)
def test_a_dossier_of_an_altered_house_names_what_was_altered(
    played: Played, tmp_path: Path, what: str
) -> None:
    statement, named = ALTERED[what]
    settled = paid("PD06")[0]
    assert Line.objects.filter(settlement=settled).exists()
    _alter(
        played,
        statement.format(
            round=f"'{settled.round_id}'", settlement=f"'{settled.id}'", journal=f"'{settled.journal_id}'"
        ),
    )
    path = tmp_path / "altered.zip"
    path.write_bytes(dossier.pack(made(events.SERVICE, settled.round_id)))
    with pytest.raises(Failure) as failure:
        steps.check(reading.read(path))
    assert f"{failure.value.step} {failure.value.row}".startswith(named), failure.value


def _alter(played: Played, statements: str) -> None:
    """As a superuser whom neither trigger nor constraint stops."""
    administrator = played.administrator
    for table in (
        "settlement_entry", "settlement_line", "settlement_settlement", "casino_roundevent", "audit_logentry",
        "audit_leaf", "settlement_rulesheet",
    ):  # fmt: skip
        administrator.execute(f"ALTER TABLE {table} DISABLE TRIGGER ALL")
    for (drop,) in administrator.execute(
        "SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) FROM pg_constraint"
        " WHERE contype = 'c' AND conrelid::regclass::text = ANY(ARRAY['settlement_line', 'settlement_rulesheet',"
        " 'audit_logentry', 'settlement_settlement'])"
    ).fetchall():
        administrator.execute(drop)
    for altering in filter(None, statements.split(";")):
        administrator.execute(altering)


# -- the page for people ---------------------------------------------------------------------------------------


def test_the_page_shows_amounts_days_and_people_as_people_read_them(exported: Exported) -> None:
    content = exported.content("corrected")
    shown = pdf._Page(content).shown()
    assert shown["title"] == ["โต๊ะ PD01", "Table PD01"]
    assert shown["number"] == str(content["round"]["number"])
    opened = next(fact for fact in shown["facts"] if fact[1] == "Opened")[2]
    assert f"({content['round']['opened_at'][:4]}-" in opened
    assert str(int(content["round"]["opened_at"][:4]) + 543) in opened
    line = shown["revisions"][0]["lines"][0]
    assert line["net"][0] in "+−฿"
    assert {entry[1] for entry in shown["log"]["entries"]} >= {"round.settled", "round.corrected"}
    ruled = [slot for hand in shown["cards"] for slot in hand["slots"] if slot["ruled"]]
    assert [slot["doubt"] for slot in ruled] == [True], "a ruled card shows what was read there"


def test_every_event_a_device_may_report_has_its_word_on_the_page() -> None:
    from audit.dossier.terms import EVENTS
    from casino.api import event_payloads

    assert set(EVENTS) == set(event_payloads.KINDS)


def test_what_people_typed_is_set_as_text_and_never_as_markup(exported: Exported) -> None:
    content = exported.content("plain")
    hostile = '#panic("x") $x$ *b* <l> @r \\ " #read("/etc/passwd")'
    content["sheet"]["name"] = content["people"][0]["name"] = hostile
    content["events"][0]["data"]["reason"] = hostile
    made_at = timezone.now()
    assert pdf.pdf(content, made_at=made_at) == pdf.pdf(content, made_at=made_at)


def test_a_page_is_set_for_every_story(exported: Exported) -> None:
    for story in exported.zips:
        assert len(member(exported.zips[story], "dossier.pdf")) > 20_000
    assert tuple(MEMBERS) == verify.MEMBERS
    assert pdf.fonts()


def test_a_supervisors_copy_is_read_under_their_own_name(exported: Exported) -> None:
    assert of_reader(exported, "S01")["reader"]["role"] == "supervisor"
    entry = json.loads(json.loads(member(exported.by_reader["S01"], "dossier.json"))["entry"]["bytes"])
    assert (entry["action"], entry["actor"]["role"]) == ("evidence.read", "supervisor")
