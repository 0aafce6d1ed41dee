"""A number that does not fit its column is refused on its way to the database, and never becomes a smaller one."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from django.db import DataError, connection, transaction
from django.db.models import BigIntegerField, F, Value
from psycopg.types.numeric import Int4

from casino.models import Round, Table
from tests.casino.floor import a_round_id, a_table, opens

pytestmark = pytest.mark.django_db

LOWER_HALF = (1 << 32) + 1
"""Its last 32 bits are 1."""


@pytest.fixture
def first_round() -> Round:
    floor, id = a_table(), a_round_id()
    floor.tablet.hears(opens(floor.tablet, id, number=1))
    return Round.objects.get(pk=id)


def test_the_driver_alone_would_cut_it() -> None:
    """The reason for all this: as soon as a release of it refuses, this fails and the guard can go."""
    compiled: Any = import_module("psycopg_binary._psycopg")
    assert compiled.Int4BinaryDumper(Int4).dump(LOWER_HALF) == b"\0\0\0\1"


@pytest.mark.parametrize("number", [LOWER_HALF, -LOWER_HALF, 1 << 31, -(1 << 31) - 1])
def test_nothing_is_stored_that_was_not_said(number: int, first_round: Round) -> None:
    table = Table.objects.get(pk=first_round.table_id)
    with pytest.raises(DataError, match=r"beyond a column of 32 bits"), transaction.atomic():
        Table.objects.filter(pk=table.pk).update(camera_grace_ms=number)
    assert Table.objects.get(pk=table.pk).camera_grace_ms == table.camera_grace_ms


def test_nothing_is_found_that_was_not_asked_for(first_round: Round) -> None:
    with pytest.raises(DataError, match=f"{LOWER_HALF} is beyond"), transaction.atomic():
        Round.objects.filter(number__in=[LOWER_HALF]).exists()
    assert Round.objects.get(number__in=[1]) == first_round


@pytest.mark.parametrize("number", [0, 1, -1, (1 << 31) - 1, -(1 << 31)])
def test_what_fits_is_sent_as_it_is(number: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s", [Int4(number)])
        assert cursor.fetchone() == (number,)


def test_larger_columns_take_larger_numbers(first_round: Round) -> None:
    big: Any = Value(1 << 39, output_field=BigIntegerField())
    with_bit = Round.objects.filter(pk=first_round.pk).alias(bit=F("cards_seen").bitor(big)).exclude(bit=0)
    assert list(with_bit) == [first_round]
