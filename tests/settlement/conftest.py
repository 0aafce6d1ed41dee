"""A house with two tables, and what its devices tell: for the tests of what is answered over HTTP."""

from __future__ import annotations

import pytest

from tests import world
from tests.settlement.doors import Night
from tests.world import AtTable, House


@pytest.fixture
def staff() -> House:
    """Two tables, PD01 and PD02, and those who work there."""
    return world.a_house(tables=("PD01", "PD02"))


@pytest.fixture
def at(staff: House) -> AtTable:
    return staff.tables["PD01"]


@pytest.fixture
def night() -> Night:
    return Night()
