"""A rule sheet needs two managers, is its bytes for ever, and judges the rounds that open while it is in force."""

from __future__ import annotations

import dataclasses
import json
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from audit.models import LogEntry
from casino.models import Person, Table
from casino.platform.refusals import Refusal
from settlement import rule_sheets, settling
from settlement.models import RuleSheet, TableRules
from settlement.rules import house_rules
from settlement.rules.house_rules import PRESETS, HouseRules
from tests.settlement import books, floor
from tests.settlement.books import NOW, a_person, a_table, act

pytestmark = pytest.mark.django_db

SEED = PRESETS["seed_base"]


def ann() -> Person:
    return a_person("M1", "manager")


def bo() -> Person:
    return a_person("M2", "manager")


def proposed(rules: HouseRules = SEED) -> RuleSheet:
    with act():
        return rule_sheets.propose(name="House game", rules=rules, by=ann())


def approved(rules: HouseRules = SEED) -> RuleSheet:
    sheet = proposed(rules)
    with act():
        return rule_sheets.approve(sheet=sheet.id, sha256=sheet.sha256, by=bo())


def in_force(
    table: Table, sheet: RuleSheet, *, hours: int = 0, now_hours: int = 0, **more: Any
) -> TableRules:
    values: dict[str, Any] = {"by": ann(), "approved_by": bo(), **more}
    with act(now=NOW + timedelta(hours=now_hours)):
        return rule_sheets.put_in_force(
            table=table, sheet=sheet.id, from_=NOW + timedelta(hours=hours), **values
        )


def refused(code: str) -> Any:
    return pytest.raises(Refusal, match=f"^{code}$")


def told() -> list[tuple[str, str]]:
    return list(LogEntry.objects.order_by("id").values_list("action", "subject"))


def test_one_manager_proposes_another_approves_and_it_judges_from_then_on() -> None:
    table = a_table()
    sheet = approved()
    in_force(table, sheet, hours=1)

    stored = RuleSheet.objects.get()
    assert (stored.canonical.encode(), stored.sha256) == (SEED.canonical, SEED.sha256)
    assert (stored.proposed_by_id, stored.approved_by_id, stored.approved_at) == (ann().id, bo().id, NOW)
    assert rule_sheets.load([sheet.id]) == {sheet.id: SEED}
    assert told() == [
        ("sheet.proposed", f"rule-sheets/{sheet.id}"),
        ("sheet.approved", f"rule-sheets/{sheet.id}"),
        ("sheet.put_in_force", "tables/PD01"),
    ]


def test_the_sheet_of_a_round_is_the_one_in_force_when_it_opened() -> None:
    table, other = a_table(), a_table("PD02")
    seed, app = approved(), approved(PRESETS["thai_app"])
    in_force(table, seed)
    in_force(table, app, hours=2)
    just_before = NOW + timedelta(hours=2) - timedelta(microseconds=1)
    asked = [
        (table.id, NOW + timedelta(hours=9)),
        (table.id, just_before),
        (table.id, NOW + timedelta(hours=2)),
        (table.id, NOW),
        (table.id, NOW - timedelta(microseconds=1)),
        (other.id, NOW),
        (uuid4(), NOW),
    ]
    ran: list[str] = []
    with books.statements(ran):
        found = rule_sheets.in_force(asked)

    assert found == [app.id, seed.id, app.id, seed.id, None, None, None]
    assert len(ran) == 1


def test_a_sheet_is_read_once_by_a_process() -> None:
    seed, app = approved(), approved(PRESETS["thai_app"])
    ran: list[str] = []
    with books.statements(ran):
        rule_sheets.load([seed.id, app.id])
        assert rule_sheets.load([app.id]) == {app.id: PRESETS["thai_app"]}

    assert len(ran) == 1


def test_the_proposer_does_not_approve() -> None:
    sheet = proposed()
    with refused("sod_violation"), act():
        rule_sheets.approve(sheet=sheet.id, sha256=sheet.sha256, by=ann())

    assert RuleSheet.objects.get().approved_at is None


def test_what_was_shown_is_what_is_approved() -> None:
    sheet = proposed()
    with pytest.raises(Refusal) as caught, act():
        rule_sheets.approve(sheet=sheet.id, sha256=PRESETS["thai_app"].sha256, by=bo())

    assert (caught.value.code, caught.value.status) == ("stale_proposal", 409)
    assert RuleSheet.objects.get().approved_at is None


def test_a_sheet_is_approved_once_and_proposed_once() -> None:
    sheet = approved()
    with refused("sheet_approved"), act():
        rule_sheets.approve(sheet=sheet.id, sha256=sheet.sha256, by=a_person("M3", "manager"))
    with pytest.raises(Refusal) as caught, act():
        rule_sheets.propose(name="The same by another name", rules=SEED, by=bo())

    assert (caught.value.code, caught.value.extra["sheet"]) == ("sheet_exists", str(sheet.id))
    with refused("sheet_not_found"), act():
        rule_sheets.approve(sheet=uuid4(), sha256=sheet.sha256, by=bo())


@pytest.mark.parametrize("role", ["dealer", "supervisor", "auditor", "administrator", "cashier"])
def test_only_managers_have_a_say_in_the_rules(role: str) -> None:
    table, stranger = a_table(), a_person("X1", role)
    sheet = approved()
    with refused("forbidden"), act():
        rule_sheets.propose(name="Mine", rules=PRESETS["thai_app"], by=stranger)
    with refused("forbidden"), act():
        rule_sheets.approve(sheet=sheet.id, sha256=sheet.sha256, by=stranger)
    with refused("forbidden"):
        in_force(table, sheet, by=stranger)
    with refused("second_person_forbidden"):
        in_force(table, sheet, approved_by=stranger)


def test_putting_a_sheet_in_force_takes_two_an_approved_sheet_and_a_moment_to_come() -> None:
    table, sheet = a_table(), approved()
    with refused("sod_violation"):
        in_force(table, sheet, approved_by=ann())
    with refused("sheet_not_approved"):
        in_force(table, proposed(PRESETS["thai_app"]))
    with refused("rules_for_the_past"):
        in_force(table, sheet, hours=1, now_hours=2)
    with refused("sheet_not_found"):
        in_force(table, RuleSheet(id=UUID(int=1)))

    assert not TableRules.objects.exists()


def test_two_sheets_never_begin_at_one_table_in_the_same_instant() -> None:
    table = a_table()
    seed, app = approved(), approved(PRESETS["thai_app"])
    in_force(table, seed, hours=1)
    with refused("rules_set_already"):
        in_force(table, app, hours=1)
    in_force(a_table("PD02"), app, hours=1)

    assert TableRules.objects.count() == 2


def test_a_contradictory_sheet_is_refused_with_the_options_that_are_at_odds() -> None:
    with pytest.raises(Refusal) as caught:
        rule_sheets.read(options={"commission": {"rate_bp": 500, "side": "banker"}})

    assert (caught.value.code, caught.value.status, caught.value.extra) == (
        "contradictory_sheet",
        422,
        {"options": ["commission", "banker"]},
    )
    assert set(caught.value.fields) == {"options.commission", "options.banker"}


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ('{"straights": "sometimes"}', ["straights"]),
        ('{"jokers": "two"}', ["jokers"]),
        ('{"max_deng": 2.5}', ["max_deng"]),
        ('{"straights": "off", "straights": "special"}', ["straights"]),
        ("nonsense", ["sheet"]),
    ],
)
def test_what_is_no_sheet_is_refused_naming_the_option(text: str, options: list[str]) -> None:
    with pytest.raises(Refusal) as caught:
        rule_sheets.read_text(text)

    assert (caught.value.code, caught.value.extra["options"]) == ("invalid_sheet", options)


def test_a_sheet_is_found_by_its_hash() -> None:
    sheet = proposed()

    found = rule_sheets.of_sha256(SEED.sha256)
    assert found is not None
    assert found.id == sheet.id
    assert rule_sheets.of_sha256("0" * 64) is None


def test_an_old_house_goes_on_under_its_old_sheet_when_a_release_adds_an_option(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A round before the release, one after it: both cite the bytes that two people agreed on."""
    table = floor.a_table()
    one = table.tell("bet w1 p1 100 \n lock \n p1 3S 4D \n dealer KC 6D \n close")
    floor.settled(one)
    later = dataclasses.make_dataclass(
        "LaterRules", [("side_bets", str, "none")], bases=(house_rules.HouseRules,), frozen=True
    )
    monkeypatch.setattr(house_rules, "HouseRules", later)
    monkeypatch.setattr(house_rules, "PRESETS", {"seed_base": later()})
    monkeypatch.setattr(rule_sheets, "_loaded", {})

    two = table.tell("bet w1 p1 100 \n lock \n p1 3S 4D \n dealer KC 6D \n close")
    floor.settled(two)

    stored = RuleSheet.objects.get()
    told = LogEntry.objects.filter(action="round.settled").order_by("id")
    assert [json.loads(bytes(entry.bytes))["data"]["sheet_sha256"] for entry in told] == [stored.sha256] * 2
    for round_id in (one, two):
        settlement = settling.effective(round_id)
        assert settlement is not None
        case, findings = settling.reviewed(round_id, settlement)
        assert (case.sheet_sha256, case.record_sha256, findings) == (
            stored.sha256,
            settlement.record_sha256,
            [],
        )
