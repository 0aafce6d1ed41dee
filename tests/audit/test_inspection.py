"""The second look goes along the log, finds what is not as its events say, and goes on wherever it was ended."""

from __future__ import annotations

import io
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from audit import controls, tasks
from audit.controls import Books, along_the_log
from audit.controls.along_the_log import STANDING, Step
from audit.models import Discrepancy, Inspection, Leaf, LogEntry
from casino import events
from casino.models import Person
from settlement.models import Line, Settlement
from tests.audit.conftest import Played
from tests.audit.test_controls import spoil

LOOK = "look"


def begun() -> Inspection:
    with events.act(actor=events.SERVICE, request_id=LOOK, now=timezone.now()):
        return along_the_log.begin(now=timezone.now())


def look(*, name: str = STANDING, limit: int = along_the_log.MOST) -> Step:
    return along_the_log.look_on(name=name, now=timezone.now(), request_id=LOOK, limit=limit)


def command(*arguments: str) -> tuple[int, str]:
    out = io.StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("inspect", *arguments, stdout=out)
    return int(str(ended.value.code)), out.getvalue()


def test_an_untouched_house_is_verified_through_its_last_sealed_act(played: Played) -> None:
    code, said = command()

    row = Inspection.objects.get()
    last = Leaf.objects.select_related("entry").latest("index")
    assert (code, row.offending, row.settlements) == (0, 0, Settlement.objects.count()), said
    assert (row.position, row.verified_through) == (last.index + 1, last.entry.recorded_at)
    assert row.verified_through is not None
    assert said == (
        f"{row.settlements} settlements looked at, 0 not right; verified through {row.verified_through.isoformat()}\n"
    )


def test_in_small_steps_it_comes_to_the_same_as_in_one(played: Played) -> None:
    begun()
    steps = 0
    while look(limit=37).leaves:
        steps += 1
    row = Inspection.objects.get()
    assert steps > 3
    assert (row.settlements, row.offending) == (Settlement.objects.count(), 0)


def test_ended_between_looking_and_writing_it_looks_there_again(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun()
    look(limit=50)
    before = Inspection.objects.get().position

    with monkeypatch.context() as ended:
        ended.setattr(along_the_log, "_move", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            look(limit=50)

    assert Inspection.objects.get().position == before
    while look(limit=50).leaves:
        pass
    assert Inspection.objects.get().settlements == Settlement.objects.count()


def test_two_that_look_at_the_same_leaves_write_once(played: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    _worse_a_line(played)
    begun()
    once = along_the_log._wrong

    def and_another(house: Books, leaves: object) -> object:
        with monkeypatch.context() as inner:
            inner.setattr(along_the_log, "_wrong", once)
            look()
        return once(house, leaves)  # type: ignore[arg-type]

    monkeypatch.setattr(along_the_log, "_wrong", and_another)
    look()

    assert Inspection.objects.get().settlements == Settlement.objects.count()
    assert Discrepancy.objects.count() == len(
        {(one.invariant, one.subject, one.found) for one in Discrepancy.objects.all()}
    )


def _worse_a_line(played: Played) -> Settlement:
    settlement = Settlement.objects.filter(revision=1, journal__isnull=False).order_by("settled_at")[4]
    line = Line.objects.filter(settlement=settlement).exclude(net=0).earliest("ordinal")
    spoil(
        played,
        f"UPDATE settlement_line SET commission = 100, net = net - 100 WHERE id = {line.id}",
        table="settlement_line",
    )
    return settlement


def test_what_is_not_as_its_events_say_is_written_down_and_nothing_after_it_is_called_verified(
    played: Played,
) -> None:
    wrong = _worse_a_line(played)

    code, said = command()

    row = Inspection.objects.get()
    told = LogEntry.objects.get(action="round.settled", subject=f"rounds/{wrong.round_id}")
    before = Leaf.objects.select_related("entry").get(index=Leaf.objects.get(entry=told).index - 1)
    assert (code, row.offending, row.verified_through) == (1, 1, before.entry.recorded_at)
    assert row.settlements == Settlement.objects.count(), "it goes on to the end all the same"
    found = Discrepancy.objects.filter(invariant="I7").first()
    assert found is not None
    assert (found.settlement, found.entry_id) == (wrong.id, told.id)
    assert f"I7 {found.subject}: found {found.found}; expected {found.expected}" in said.splitlines()
    assert LogEntry.objects.filter(action="inspection.found").count() == 1
    look()
    assert Inspection.objects.get().verified_through == before.entry.recorded_at


def test_put_right_and_begun_anew_it_is_verified_again(played: Played) -> None:
    wrong = _worse_a_line(played)
    assert command()[0] == 1
    spoil(
        played,
        "UPDATE settlement_line SET net = net + 100, commission = 0"
        f" WHERE settlement_id = '{wrong.id}' AND commission = 100",
        table="settlement_line",
    )

    assert command("--anew")[0] == 0
    assert Discrepancy.objects.exists(), "what was found once stays written"
    assert LogEntry.objects.filter(action="inspection.begun_anew").count() == 1


def test_a_settlement_that_is_gone_is_found_by_its_entry(played: Played) -> None:
    settlement = Settlement.objects.filter(journal=None, outcome="voided").first()
    assert settlement is not None
    spoil(
        played,
        f"DELETE FROM settlement_settlement WHERE id = '{settlement.id}'",
        table="settlement_settlement",
    )

    assert command()[0] == 1
    assert Discrepancy.objects.filter(settlement=settlement.id, invariant="I17").exists()


def test_a_range_is_looked_at_once_and_says_when_it_was_done(played: Played) -> None:
    leaves = list(Leaf.objects.select_related("entry").order_by("index"))
    since, until = leaves[40].entry.recorded_at, leaves[120].entry.recorded_at
    code, said = command("--from", since.isoformat(), "--to", until.isoformat())
    assert code == 0, said

    row = Inspection.objects.get()
    within = LogEntry.objects.filter(
        recorded_at__gte=since,
        recorded_at__lt=until,
        action__in=("round.settled", "round.voided", "round.corrected"),
    )
    assert row.settlements == within.count() > 0
    assert row.done_at is not None
    assert LogEntry.objects.filter(action="inspection.done").count() == 1
    assert command("--from", since.isoformat(), "--to", until.isoformat()) == (code, said)


def test_an_hour_without_play_is_looked_at_and_has_nothing(played: Played) -> None:
    night = timezone.now() - timedelta(
        hours=12
    )  # the house was founded a day ago, and nobody played before today
    code, said = command("--from", night.isoformat(), "--to", (night + timedelta(hours=1)).isoformat())
    assert (code, said) == (0, "0 settlements looked at, 0 not right; verified through nothing\n")


def test_the_bell_takes_the_standing_inspection_on_and_the_api_says_how_far(played: Played) -> None:
    assert tasks.look_on() == Leaf.objects.count()
    client = Client()
    client.force_login(Person.objects.get(badge="A01"), backend="casino.people.BadgeAndPassword")

    answer = client.get("/api/v1/audit/verified")

    row = Inspection.objects.get()
    assert answer.status_code == 200, answer.content
    assert answer.json()["offending"] == 0
    assert answer.json()["leaves"] == answer.json()["position"] == row.position
    assert Client().get("/api/v1/audit/verified").status_code == 401


def test_inspection_and_the_books_are_one_way_of_judging_again(played: Played) -> None:
    """What check_books finds round by round is what the second look finds."""
    _worse_a_line(played)
    begun()
    seen = {(id, finding.subject) for id, finding in look(limit=10_000).found}
    with controls.opened(scope=controls.Scope(None)) as house:
        found = {(id, finding.subject) for id, finding in controls.check(house, ids=["I7"])}
    assert found == {(id, subject) for id, subject in seen if id == "I7"} != set()
