"""Flags and disputes are queues in the admin; an entry's page proves it and leads to all that the act touched."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.test import Client
from django.urls import reverse

from audit.admin import read_only
from audit.models import Dispute, Flag, LogEntry
from casino.models import Person, Round
from tests.audit.conftest import Played
from tests.audit.test_controls import spoil


@pytest.fixture
def auditor(played: Played) -> Client:
    client = Client()
    client.force_login(Person.objects.get(badge="A02"), backend="casino.people.BadgeAndPassword")
    return client


def shown(client: Client, name: str, query: str = "") -> list[object]:
    answer = client.get(reverse(f"admin:{name}_changelist") + query)
    assert answer.status_code == 200, answer.content[:300]
    return list(answer.context["cl"].result_list)


def test_flags_are_found_by_kind_table_round_person_and_saved_search(auditor: Client) -> None:
    flags = list(Flag.objects.all())
    for kind in {flag.kind for flag in flags}:
        of_kind = set(Flag.objects.filter(kind=kind))
        assert set(shown(auditor, "audit_flag", f"?q={kind}")) == of_kind
        assert set(shown(auditor, "audit_flag", f"?kind={kind}")) == of_kind
    for round in {flag.round_id for flag in flags if flag.round_id}:
        assert set(shown(auditor, "audit_flag", f"?q={round}")) == set(Flag.objects.filter(round=round))
    for code in ("PD01", "PD06"):
        at_table = set(Flag.objects.filter(table__code=code))
        assert set(shown(auditor, "audit_flag", f"?q={code}")) == at_table != set()
        assert set(shown(auditor, "audit_flag", f"?table={code}")) == at_table
    assert set(shown(auditor, "audit_flag", "?q=A01")) == set(Flag.objects.filter(closed_by__badge="A01"))
    assert set(shown(auditor, "audit_flag", "?saved=open")) == set(Flag.objects.filter(state="open"))
    assert set(shown(auditor, "audit_flag", "?saved=junk_deng_four")) == set(
        Flag.objects.filter(kind="junk_deng_four")
    )
    year = f"{flags[0].raised_at:%Y}"
    assert set(shown(auditor, "audit_flag", f"?on={year}")) == set(flags)
    assert shown(auditor, "audit_flag", "?on=2020") == []


def test_the_queue_of_disputes_begins_with_the_first_deadline(auditor: Client) -> None:
    waiting = list(Dispute.objects.exclude(state="decided").order_by("deadline_at", "id"))
    assert shown(auditor, "audit_dispute", "?queue=open") == waiting != []
    assert shown(auditor, "audit_dispute", "?queue=overdue") == []
    assert set(shown(auditor, "audit_dispute", "?queue=decided")) == set(
        Dispute.objects.filter(state="decided")
    )
    assert shown(auditor, "audit_dispute") == list(Dispute.objects.order_by("-id"))


@pytest.mark.parametrize("language", ["en", "th"])
def test_a_flags_page_says_its_sentence_in_the_readers_language(auditor: Client, language: str) -> None:
    flag = Flag.objects.filter(state="closed").first()
    assert flag is not None
    page = auditor.get(
        reverse("admin:audit_flag_change", args=[flag.id]), headers={"Accept-Language": language}
    ).content.decode()
    assert ("For review, money unchanged" if language == "en" else "ข้อสังเกต เงินไม่เปลี่ยน") in page.replace(
        "for review", "For review"
    )
    assert flag.close_reason in page


@pytest.mark.parametrize(
    ("language", "words"),
    [
        (
            "en",
            ("Pok Deng · audit trail", "recorded at", "log entries", "Exception report (CSV)", "By action"),
        ),
        ("th", ("ป๊อกเด้ง · ร่องรอยการตรวจสอบ", "บันทึกเมื่อ", "โต๊ะ", "รายงานข้อยกเว้น (CSV)", "การกระทำ")),
    ],
)
def test_lists_are_in_the_language_of_whoever_reads_them(
    auditor: Client, language: str, words: tuple[str, ...]
) -> None:
    url = reverse("admin:audit_logentry_changelist")
    page = auditor.get(url, headers={"Accept-Language": language}).content.decode()
    assert [word for word in words if word.lower() not in page.lower()] == []


def test_times_are_those_of_the_property(auditor: Client) -> None:
    entry = LogEntry.objects.latest("id")
    page = auditor.get(reverse("admin:audit_logentry_changelist")).content.decode()
    assert read_only.moment(entry.recorded_at) in page
    assert read_only.moment(datetime(2026, 3, 1, 23, 30, tzinfo=UTC)) == "2026-03-02 06:30:00"


def test_a_disputes_page_shows_proposals_and_the_decision(auditor: Client, played: Played) -> None:
    page = auditor.get(reverse("admin:audit_dispute_change", args=[played.told["by_two"]])).content.decode()
    assert "card_ruled" in page
    assert "A02" in page.partition("field-decided")[2]


def test_rounds_are_found_by_the_cards_that_lay_in_them(auditor: Client, played: Played) -> None:
    round = Round.objects.get(pk=played.told["corrected"])
    assert round.record is not None
    dealt = [card for hand in round.record["hands"] for card in hand["cards"]][:3]
    found = shown(auditor, "casino_round", f"?q=PD01+{'+'.join(dealt)}")
    assert round in found
    for other in found:
        assert isinstance(other, Round)
        cards = [card for hand in (*other.record["hands"], other.record["dealer"]) for card in hand["cards"]]  # type: ignore[index]
        assert set(dealt) <= {*cards, *(slot.get("card") for slot in other.record["slots"])}  # type: ignore[index]
    assert shown(auditor, "casino_roundevent", f"?q={round.id}+{dealt[0]}")


def test_an_entrys_page_proves_it_and_leads_to_what_was_touched(auditor: Client, played: Played) -> None:
    entry = LogEntry.objects.get(action="round.settled", round=played.told["corrected"])
    page = auditor.get(reverse("admin:audit_logentry_change", args=[entry.id])).content.decode()

    proved = page.partition("field-proved")[2]
    assert "icon-yes" in proved
    assert "root " in page.partition("field-proof")[2]
    touched = page.partition("field-touched")[2].partition("field-facts")[0]
    for name, key in (("casino_round", played.told["corrected"]), ("casino_table", "")):
        assert (
            reverse(
                f"admin:{name}_change", args=[key or Round.objects.get(pk=played.told["corrected"]).table_id]
            )
            in touched
        )
    assert "/admin/settlement/settlement/" in touched
    assert "/admin/settlement/journal/" in touched


def test_an_entry_that_was_altered_does_not_lead_to_the_root(auditor: Client, played: Played) -> None:
    entry = LogEntry.objects.get(action="round.settled", round=played.told["corrected"])
    spoil(
        played,
        f"UPDATE audit_leaf SET leaf_hash = sha256('other') WHERE entry_id = {entry.id}",
        table="audit_leaf",
    )
    page = auditor.get(reverse("admin:audit_logentry_change", args=[entry.id])).content.decode()
    assert "icon-no" in page.partition("field-proved")[2]


def test_entries_are_found_by_flag_and_kind_and_dispute(auditor: Client, played: Played) -> None:
    flag = Flag.objects.filter(state="closed").first()
    assert flag is not None
    actions = [entry.action for entry in shown(auditor, "audit_logentry", f"?q={flag.id}")]  # type: ignore[attr-defined]
    assert actions == ["flag.closed", "flag.raised"]
    of_kind = shown(auditor, "audit_logentry", f"?q={flag.kind}")
    assert {entry.action for entry in of_kind} <= {"flag.raised", "flag.closed", "flag.disputed"}  # type: ignore[attr-defined]
    of_dispute = shown(auditor, "audit_logentry", f"?q={played.told['by_two']}")
    assert {entry.action for entry in of_dispute} >= {"dispute.raised", "dispute.decided"}  # type: ignore[attr-defined]
