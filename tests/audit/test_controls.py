"""The books of a house that nobody touched, and the command that checks them."""

from __future__ import annotations

import io
import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from audit import controls
from audit.controls import round_rows, snapshot
from audit.models import LogEntry
from casino import events
from casino.models import RefusedEvent
from settlement import cashier
from settlement.models import Entry
from tests.audit.conftest import Played

NOT_BUILT = ("I20",)


def run(*arguments: str) -> tuple[int, str]:
    out = io.StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("check_books", *arguments, stdout=out)
    return int(str(ended.value.code)), out.getvalue()


def spoil(played: Played, statement: str, *, table: str) -> None:
    """Alter a row as a superuser, the guards of its table switched off and on again as they were."""
    for before, between, after in (("DISABLE", statement, "ENABLE ALWAYS"),):
        triggers = played.administrator.execute(
            "SELECT tgname FROM pg_trigger WHERE tgrelid = %s::regclass AND tgenabled = 'A'", [table]
        ).fetchall()
        for (name,) in triggers:
            played.administrator.execute(f"ALTER TABLE {table} {before} TRIGGER {name}")
        played.administrator.execute(between)
        for (name,) in triggers:
            played.administrator.execute(f"ALTER TABLE {table} {after} TRIGGER {name}")


def recorded() -> dict[str, Any]:
    entry = LogEntry.objects.filter(action="books.checked").latest("id")
    return dict(json.loads(bytes(entry.bytes))["data"])


def test_an_untouched_house_is_clean_and_the_log_says_who_looked_when(played: Played) -> None:
    code, said = run("--full")

    assert (code, said.splitlines()[-1]) == (0, "clean (full)"), said
    told = recorded()
    assert (told["outcome"], told["mode"], told["found"]) == ("clean", "full", {})
    assert told["invariants"] == list(controls.built())


def test_the_house_that_was_checked_has_every_kind_of_row_that_is_checked(played: Played) -> None:
    """A check over no rows proves nothing: each table of record, ledger and settlement has some."""
    names = played.administrator.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'"
        " AND relname ~ '^(casino|settlement|audit)_'"
    ).fetchall()
    empty = [
        name
        for (name,) in names
        if not played.administrator.execute(f"SELECT 1 FROM {name} LIMIT 1").fetchone()
    ]
    assert set(empty) <= {
        "casino_wrongtries", "casino_failedsignin", "casino_storedanswer", "casino_deck", "audit_inspection",
        "audit_discrepancy",
        "casino_program", "casino_sweep", "casino_unread", "casino_unreadcount", "casino_aside",  # of the machinery
        "settlement_formuladate",  # of a house that has days of an older formula
    }  # fmt: skip


def test_a_changed_amount_is_named_with_what_was_found_and_expected(played: Played) -> None:
    entry = Entry.objects.filter(journal__kind="round").earliest("id")
    spoil(
        played,
        f"UPDATE settlement_entry SET amount = amount + 100 WHERE id = {entry.id}",
        table="settlement_entry",
    )

    code, said = run("--full", "--only", "I1")

    assert code == 1
    assert f"I1 journals/{entry.journal_id}: found sum 100 THB; expected sum 0" in said.splitlines()
    assert recorded() | {"as_of": ""} == {
        "as_of": "", "mode": "full", "invariants": ["I1"], "outcome": "offending", "found": {"I1": 2},
    }  # fmt: skip


def test_a_quick_check_looks_at_all_since_the_last_clean_one_and_finds_what_is_new(played: Played) -> None:
    assert run("--full")[0] == 0
    code, said = run("--quick")
    assert (code, said.splitlines()[-1]) == (0, "clean (quick)"), said

    # Made now: what was there before the clean run is none of a quick one's, but for the last minutes.
    with events.act(actor=events.SERVICE, request_id="later", now=timezone.now()):
        cashier.deposit(ref="A17", amount=100_00, cage="C1", document="LATER")
    entry = Entry.objects.filter(journal__kind="deposit").latest("id")
    spoil(
        played,
        f"UPDATE settlement_entry SET amount = amount + 100 WHERE id = {entry.id}",
        table="settlement_entry",
    )
    assert run("--quick")[0] == 1
    assert controls.last_clean() is not None


def test_a_quick_check_goes_back_to_the_last_clean_run_and_no_further() -> None:
    noon = datetime(2026, 3, 1, 5, tzinfo=UTC)  # 12:00 in Bangkok; the day started at 06:00, 23:00 UTC
    assert controls.quick_scope(clean=None).is_full
    assert controls.quick_scope(clean=noon).since == noon - snapshot.SLACK
    week_ago = noon - timedelta(days=7)
    assert controls.quick_scope(clean=week_ago).since == week_ago - snapshot.SLACK


def test_a_quick_check_that_begins_between_two_numbers_of_a_device_misses_neither(played: Played) -> None:
    refused = RefusedEvent.objects.filter(device__code="PD06-terminal").order_by("recorded_at")
    whens = list(refused.values_list("recorded_at", flat=True))
    assert len(whens) > 10
    for when in whens[:: len(whens) // 8]:
        with controls.opened(scope=controls.Scope(when + timedelta(microseconds=1))) as opened:
            assert list(controls.check(opened, ids=["I8"])) == []


def test_a_quick_check_judges_no_round_again_that_was_clean_in_the_last_one(played: Played) -> None:
    assert run("--full")[0] == 0
    later = timezone.now() + snapshot.SLACK + timedelta(seconds=1)
    with controls.opened(scope=controls.quick_scope(clean=later)) as opened:
        assert [case for case in round_rows.walk(opened) if case.settlement] == []


def test_a_deposit_that_is_sent_again_the_next_day_is_no_finding(played: Played) -> None:
    """The same document moves nothing; its entry tells of the first journal, older than what a quick check sees."""
    tomorrow = timezone.now() + timedelta(days=1)
    with events.act(actor=events.SERVICE, request_id="again", now=tomorrow):
        cashier.deposit(ref="A17", amount=5_000_000, cage="C1", document="A17")
    for scope in (controls.Scope(None), controls.Scope(tomorrow - timedelta(hours=1))):
        with controls.opened(scope=scope) as opened:
            assert list(controls.check(opened, ids=["I6", "I17"])) == []
    assert played.reader


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("id", NOT_BUILT)
def test_an_invariant_that_is_not_built_never_passes_for_clean(id: str) -> None:
    assert run("--full", "--only", f"I1,{id}") == (2, f"{id}: not built\n")


def test_all_others_are_built() -> None:
    assert [*controls.built(), *NOT_BUILT] == sorted(
        controls.INVARIANTS, key=lambda id: (id in NOT_BUILT, int(id.removeprefix("I")))
    )


@pytest.mark.django_db(transaction=True)
def test_an_invariant_that_does_not_exist_is_said_so() -> None:
    assert run("--only", "I99") == (2, "I99: no such invariant\n")


def test_the_result_is_one_json_document_when_asked_for(played: Played) -> None:
    spoil(played, "UPDATE settlement_account SET balance = balance + 1 WHERE code = 'table:PD01:bank'",
          table="settlement_account")  # fmt: skip

    code, said = run("--full", "--json", "--only", "i2")

    document = json.loads(said)
    assert (code, document["outcome"]) == (1, "offending")
    assert document["invariants"] == {"I2": {"name": "chained", "found": 1}}
    assert [row["subject"] for row in document["rows"]] == ["accounts/table:PD01:bank"]
    assert set(document["rows"][0]) == {"id", "subject", "found", "expected"}


def test_books_that_cannot_be_read_are_not_clean(played: Played, settings: Any) -> None:
    settings.DATABASE_READER_URL = re.sub(r"://[^@]*@", "://nobody:wrong@", settings.DATABASE_READER_URL)

    code, said = run("--full")

    assert (code, said.splitlines()[-1].split(":")[0]) == (2, "not checked (full)")
    assert recorded()["outcome"] == "not checked"


def test_the_reader_changes_nothing(played: Played) -> None:
    with controls.opened(scope=controls.Scope(None)) as opened:
        (row,) = opened.all("SELECT current_user, current_setting('transaction_read_only'),"
                            " current_setting('transaction_isolation')")  # fmt: skip
    assert row == ("pokdeng_reader", "on", "repeatable read")
    assert played.reader


def test_everything_is_seen_as_of_one_moment(played: Played) -> None:
    with controls.opened(scope=controls.Scope(None)) as opened:
        opened.all("SELECT 1")
        before = opened.all("SELECT balance FROM settlement_account ORDER BY id")
        spoil(played, "UPDATE settlement_account SET balance = balance + 1", table="settlement_account")
        assert opened.all("SELECT balance FROM settlement_account ORDER BY id") == before
