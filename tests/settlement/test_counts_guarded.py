"""What the database itself refuses of counts, to the application and to the owner alike."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import psycopg
import pytest

from settlement import table_floats
from settlement.models import Count, Counting, Float
from settlement.table_floats import BlindCount, Box
from tests.database import Connection
from tests.settlement.books import a_person, a_table, act
from tests.settlement.test_append_only import CHECKED, TWICE, Attack, answer
from tests.world import counted

pytestmark = pytest.mark.django_db(transaction=True)

OPENING = {500_00: 10}


@pytest.fixture
def application(dsn: str) -> Iterator[Connection]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


def an_opening() -> Counting:
    """Two people's accepted opener, not used yet."""
    with act():
        return counted(
            a_table(), "opener", a_person("D1", "dealer"), a_person("S1", "supervisor"), pieces=OPENING
        ).counting


def an_open_counting(*pieces: dict[int, int]) -> Counting:
    """An opener under way at another table: these counts are made, by D1, S1."""
    people = [a_person("D1", "dealer"), a_person("S1", "supervisor")]
    table = a_table("PD02")
    with act():
        for by, one in zip(people, pieces, strict=False):
            saved = table_floats.count(table=table, kind="opener", by=by, count=BlindCount(by, one))
    return saved.counting


def a_count(counting: Counting, ordinal: int, by: str, **more: object) -> Attack:
    values: dict[str, object] = {"lines": "[]", "supersedes_id": None} | more
    return lambda connection: connection.execute(
        "INSERT INTO settlement_count (id, counting_id, ordinal, lines, currency, counted_by_id, counted_at, salt,"
        " supersedes_id) SELECT %s, %s, %s, %s::jsonb, 'THB', id, now(), '', %s FROM casino_person WHERE badge = %s",
        [uuid4(), counting.id, ordinal, values["lines"], values["supersedes_id"], by],
    )


def test_a_count_is_the_next_by_somebody_who_made_none(application: Connection, owner: Connection) -> None:
    a_person("M1", "manager")
    over, differ = an_opening(), an_open_counting({500_00: 2}, {500_00: 3})
    first = Count.objects.get(counting=differ, ordinal=1)
    attacks = {
        "a third": a_count(differ, 3, "M1"),
        "a third by the first": a_count(differ, 3, "D1"),
        "a third by the second": a_count(differ, 3, "S1"),
        "a fourth": a_count(differ, 4, "M1"),
        "a second second": a_count(differ, 2, "M1"),
        "on a counting that is over": a_count(over, 3, "M1"),
        "a correction after another counted": a_count(differ, 1, "D1", supersedes_id=first.id),
        "a correction of another's": a_count(differ, 1, "M1", supersedes_id=first.id),
    }
    expected = {
        **dict.fromkeys(attacks, CHECKED),
        "a third": "done",
        "a third by the first": TWICE,
        "a third by the second": TWICE,
    }
    for connection in (application, owner):
        assert {name: answer(connection, attack) for name, attack in attacks.items()} == expected


def test_a_third_is_not_made_where_two_agree(application: Connection) -> None:
    """The two counts that agree were accepted at once; put back to open by whoever can, they still need no third."""
    a_person("M1", "manager")
    counting = an_open_counting({500_00: 2})
    same = '[{"denomination": 50000, "pieces": 2}]'
    with application.transaction(force_rollback=True):
        a_count(counting, 2, "S1", lines=same)(application)
        assert answer(application, a_count(counting, 3, "M1")) == CHECKED


def test_a_counting_ends_once_with_its_last_count(application: Connection, owner: Connection) -> None:
    over, differ = an_opening(), an_open_counting({500_00: 2}, {500_00: 3})
    ids = list(Count.objects.filter(counting=differ).order_by("ordinal").values_list("id", flat=True))
    others = Count.objects.get(counting=over, ordinal=2).id

    def ended(counting: Counting, accepted: object, state: str = "accepted") -> Attack:
        return lambda connection: connection.execute(
            "UPDATE settlement_counting SET state = %s, accepted_id = %s, ended_at = now() WHERE id = %s",
            [state, accepted, counting.id],
        )

    attacks = {
        "the first of two that differ": ended(differ, ids[0]),
        "the second of two that differ": ended(differ, ids[1]),
        "another counting's": ended(differ, others),
        "none": ended(differ, None),
        "a second accepted count": ended(over, Count.objects.get(counting=over, ordinal=1).id),
        "withdrawn after it was accepted": ended(over, None, "withdrawn"),
    }
    expected = {
        **dict.fromkeys(attacks, CHECKED),
        "a second accepted count": "PD001",
        "withdrawn after it was accepted": "PD001",
    }
    for connection in (application, owner):
        assert {name: answer(connection, attack) for name, attack in attacks.items()} == expected
    assert answer(application, ended(differ, None, "withdrawn")) == "done"


def test_a_float_is_what_was_accepted_for_it(application: Connection) -> None:
    opening = an_opening()
    with act():
        table_floats.open_table(
            table=a_table(),
            dealer=a_person("D1", "dealer"),
            supervisor=a_person("S1", "supervisor"),
            cage="C1",
        )
    differ = an_open_counting({500_00: 2}, {500_00: 3})
    taken = Float.objects.get()

    def a_float(kind: str, count: object) -> Attack:
        return lambda connection: connection.execute(
            "INSERT INTO settlement_float (id, session_id, kind, count_id, cage, bank_version, guests_version,"
            " commission_version, drop_version, gaming_day, grade, held, missing, accepted_at) VALUES"
            " (%s, %s, %s, %s, '', 0, 0, 0, 0, '2026-03-01', '', '[]', '{}', now())",
            [uuid4(), taken.session_id, kind, count],
        )

    attacks = {
        "the first count": a_float("shift", Count.objects.get(counting=opening, ordinal=1).id),
        "an opener as a shift": a_float("shift", taken.count_id),
        "one that was not accepted": a_float("shift", Count.objects.get(counting=differ, ordinal=2).id),
        "the same opener again": a_float("opener", taken.count_id),
    }
    assert {name: answer(application, attack) for name, attack in attacks.items()} == {
        **dict.fromkeys(attacks, CHECKED),
        "the same opener again": TWICE,
    }


def test_who_carried_a_box_does_not_count_it(application: Connection) -> None:
    an_opening()
    dealer, supervisor = a_person("D1", "dealer"), a_person("S1", "supervisor")
    with act():
        table_floats.open_table(table=a_table(), dealer=dealer, supervisor=supervisor, cage="C1")
    with act():
        counted(a_table(), "closer", dealer, supervisor, pieces=OPENING)
        table_floats.close_table(table=a_table(), last_round=0, cage="C1")
    with act():
        box = Box(carried_by=supervisor, cage="C1")
        asked = table_floats.count(
            table=a_table(), kind="drop", by=a_person("M1", "manager"), count=None, box=box
        ).counting

    assert answer(application, a_count(asked, 1, "S1")) == CHECKED
    assert answer(application, a_count(asked, 1, "M1")) == "done"
