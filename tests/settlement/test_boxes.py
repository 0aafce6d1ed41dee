"""Whose box was counted: it is named where several wait, and a count of the wrong one is taken back."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import Error, transaction

from audit import controls as checks
from casino.models import Person
from casino.platform.refusals import Refusal
from settlement import ledger, table_floats
from settlement.models import Break, Drop
from settlement.table_floats import Box
from tests import world
from tests.settlement.doors import signed_in
from tests.settlement.floor import NOW, AtTable, a_person, act
from tests.settlement.test_counts import count as counted_over_http
from tests.settlement.test_counts import say
from tests.settlement.test_rundown import a_table, baht, bought_in, closed, managers
from tests.world import counted

pytestmark = pytest.mark.django_db

DROP, VAULT, VARIANCE = "table:PD01:drop", "cage:C1:vault", "variance:PD01"
LATE = NOW + timedelta(hours=6)
TableSessions = tuple[UUID, UUID]


@pytest.fixture
def two() -> tuple[AtTable, TableSessions]:
    """A table that closed twice, with 1,000 and then 300 in its box, and nobody counted either."""
    at = a_table(opener=10_000)
    bought_in(1_000)
    closed(at, 9_000, last_round=0)
    first = at.session
    with act(now=NOW + timedelta(hours=3)):
        counted(at.table, "opener", at.dealer, at.supervisor, pieces=baht(10_000))
        at.session = table_floats.open_table(
            table=at.table, dealer=at.dealer, supervisor=at.supervisor, cage="C1"
        )
    bought_in(300, now=NOW + timedelta(hours=3, minutes=5))
    closed(at, 9_700, last_round=0, now=NOW + timedelta(hours=5))
    return at, (first.id, at.session.id)


def box_counted(at: AtTable, amount: int, *, session: UUID | None, now: datetime = LATE) -> Any:
    with act(now=now):
        box = Box(carried_by=at.supervisor, cage="C1")
        for person in managers():
            blind = table_floats.BlindCount(by=person, pieces=baht(amount))
            saved = table_floats.count(
                table=at.table, kind="drop", by=person, count=blind, box=box, session=session
            )
    return saved


def taken_back(at: AtTable, count: UUID, *, by: Person | None = None, reason: str = "the other box") -> Drop:
    with act(now=LATE + timedelta(minutes=30)):
        return table_floats.take_back(
            table=at.table, count=count, by=by or a_person("M05", "manager"), reason=reason
        )


def hold(*codes: str) -> list[int]:
    found = ledger.balances(codes)
    return [found[code].balance // 100 if code in found else 0 for code in codes]


def won(session: UUID) -> int | None:
    return table_floats.rundown.of_session(session).rundown.win


# -- whose box -----------------------------------------------------------------------------------------------


def test_where_two_boxes_wait_the_count_says_whose_it_is(two: tuple[AtTable, TableSessions]) -> None:
    at, (older, younger) = two
    with pytest.raises(Refusal, match="session_needed") as refusal:
        box_counted(at, 300, session=None)
    choices = refusal.value.extra["sessions"]
    assert [(one["session"], one["carried_with"]) for one in choices] == [
        (str(older), "closer"),
        (str(younger), "closer"),
    ]

    box_counted(at, 300, session=younger)
    (drop,) = Drop.objects.all()
    assert (drop.session_id, drop.recorded, drop.variance) == (younger, 300_00, None)
    assert (won(older), won(younger)) == (None, 0)

    box_counted(at, 1_000, session=None)
    assert (won(older), won(younger)) == (0, 0)
    assert hold(DROP, VARIANCE) == [0, 0]


def test_a_box_that_does_not_wait_is_not_counted(two: tuple[AtTable, TableSessions]) -> None:
    at, (older, _) = two
    box_counted(at, 1_000, session=older)
    for named in (older, uuid4()):
        with pytest.raises(Refusal, match="box_not_carried"):
            box_counted(at, 1_000, session=named)


def test_while_one_box_is_counted_another_waits(two: tuple[AtTable, TableSessions]) -> None:
    at, (older, younger) = two
    box = Box(carried_by=at.supervisor, cage="C1")
    with act(now=LATE):
        asked = table_floats.count(
            table=at.table, kind="drop", by=managers()[0], count=None, box=box, session=older
        )
    assert asked.counting.session_id == older
    for named, code in ((younger, "count_running"), (None, "session_needed")):
        with pytest.raises(Refusal, match=code):
            box_counted(at, 300, session=named)
    box_counted(at, 1_000, session=older)


def test_a_float_may_be_named_by_its_session_too(two: tuple[AtTable, TableSessions]) -> None:
    at, (older, _) = two
    with act(now=LATE):
        counted(at.table, "opener", at.dealer, at.supervisor, pieces=baht(10_000))
        at.session = table_floats.open_table(
            table=at.table, dealer=at.dealer, supervisor=at.supervisor, cage="C1"
        )
    blind = table_floats.BlindCount(by=at.dealer, pieces=baht(10_000))
    with pytest.raises(Refusal, match="invalid_value"), act(now=LATE):
        table_floats.count(table=at.table, kind="closer", by=at.dealer, count=blind, session=older)
    with act(now=LATE):
        saved = table_floats.count(
            table=at.table, kind="closer", by=at.dealer, count=blind, session=at.session.id
        )
    assert saved.needs == "second"


# -- taken back ----------------------------------------------------------------------------------------------


def test_a_box_counted_as_anothers_is_taken_back_and_counted_anew(two: tuple[AtTable, TableSessions]) -> None:
    at, (older, younger) = two
    saved = box_counted(at, 300, session=older)
    assert (won(older), hold(DROP, VARIANCE)) == (-700_00, [300, 700])
    assert Break.objects.get(subject__startswith="drops/").state != "matched"

    drop = taken_back(at, saved.count.id)

    assert (drop.withdrawn_reason, hold(DROP, VARIANCE)) == ("the other box", [1_300, 0])
    assert Break.objects.get(subject__startswith="drops/").state == "matched"
    assert (won(older), table_floats.rundown.of_session(older).rundown.unknown["drop"]) == (
        None,
        "drop_uncounted",
    )
    again = LATE + timedelta(hours=1)
    box_counted(at, 300, session=younger, now=again)
    box_counted(at, 1_000, session=older, now=again)
    assert (won(older), won(younger), hold(DROP, VARIANCE)) == (0, 0, [0, 0])
    assert [row.state for row in table_floats.standings(at.table, limit=5)] == ["closed", "closed"]


def test_a_count_is_taken_back_once_with_a_reason_by_who_neither_counted_nor_carried(
    two: tuple[AtTable, TableSessions],
) -> None:
    at, (older, _) = two
    saved = box_counted(at, 1_000, session=older)
    for by, code in (
        (managers()[0], "sod_violation"),
        (at.supervisor, "sod_violation"),
        (a_person("C07", "cashier"), "forbidden"),
    ):
        with pytest.raises(Refusal, match=code):
            taken_back(at, saved.count.id, by=by)
    with pytest.raises(Refusal, match="invalid_value"):
        taken_back(at, saved.count.id, reason="")
    taken_back(at, saved.count.id)
    with pytest.raises(Refusal, match="not_found"):
        taken_back(at, saved.count.id)


@pytest.mark.parametrize(
    "change",
    [
        (
            "withdrawn_at = now(), withdrawn_by_id = (SELECT id FROM casino_person WHERE badge = 'M05'),"
            " withdrawn_reason = 'x'"
        ),
        "recorded = recorded + 1",
    ],
)
def test_the_database_takes_no_count_back_by_halves(two: tuple[AtTable, TableSessions], change: str) -> None:
    from django.db import connection

    at, (older, _) = two
    a_person("M05", "manager")
    box_counted(at, 1_000, session=older)
    with pytest.raises(Error), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"UPDATE settlement_drop SET {change}")


@pytest.mark.django_db(transaction=True)
def test_the_books_of_a_count_taken_back_are_found_right(settings: Any) -> None:
    settings.DATABASE_READER_URL = ""
    at = a_table(opener=10_000)
    closed(at, 10_000, last_round=0)
    saved = box_counted(at, 300, session=None)
    taken_back(at, saved.count.id)
    box_counted(at, 0, session=at.session.id, now=LATE + timedelta(hours=1))

    with checks.opened(scope=checks.Scope(since=None)) as books:
        found = checks.check(books, ids={"I2", "I6", "I12", "I13", "I17"})
        # People are not hired here, and the float's rules are put in force by a test.
        ours = ("drops", "journals/", "accounts/", "sessions/", "countings/", "counts/")
        assert [one for one in found if one[1].subject.startswith(ours)] == []


# -- at the door ---------------------------------------------------------------------------------------------


def test_over_http_the_choices_are_named_and_the_wrong_count_is_taken_back(at: world.AtTable) -> None:
    supervisor = signed_in(at.supervisor)
    opening = {"dealer": at.dealer.badge, "supervisor": at.supervisor.badge, "cage": "C1"}
    for kind in ("closer", "opener", "closer"):
        for who in (at.dealer, at.supervisor):
            assert counted_over_http(who, kind)[0] == 201
        path, body = ("/close", {"last_round": 0, "cage": "C1"}) if kind == "closer" else ("", opening)
        assert say(supervisor, f"tables/PD01/sessions{path}", body)[0] == 201
    two = [world.a_manager(badge="M03"), world.a_manager(badge="M04")]
    box = {"carried_by": at.supervisor.badge, "cage": "C1"}
    lines = [{"denomination": 10_000, "pieces": 0}]

    status, refused = counted_over_http(two[0], "drop", lines, **box)
    assert (status, refused["code"], len(refused["sessions"])) == (422, "session_needed", 2)
    wrong = refused["sessions"][0]["session"]
    for who in two:
        status, answer = counted_over_http(who, "drop", lines, session=wrong, **box)
        assert (status, answer["session"]) == (201, wrong)
    path = f"tables/PD01/counts/{answer['count']}/withdraw"
    third = signed_in(world.a_manager(badge="M05"))
    assert say(signed_in(two[0]), path, {"reason": "not this one"})[1]["code"] == "sod_violation"
    status, back = say(third, path, {"reason": "not this one"})
    assert (status, back["session"], back["journals"]) == (201, wrong, [])
    assert say(third, path, {"reason": "not this one"})[0] == 404
    assert counted_over_http(two[0], "drop", lines, **box)[1]["code"] == "session_needed"
