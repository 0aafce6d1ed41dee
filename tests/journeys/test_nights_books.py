"""After whole nights, played over HTTP, the books are right and everything settled is derived again."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import cases
from tests.journeys.test_nights import OpenHouse, came_out

pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module")
def house() -> Iterator[OpenHouse]:
    """A house in which both recorded evenings were played, the first through a terrible network."""
    with tempfile.TemporaryDirectory(prefix="house-", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)
        opened = OpenHouse(at=Path(name))
        said = opened.up()
        assert said.returncode == 0, said.stdout + said.stderr
        try:
            assert came_out(opened.play(cases.NIGHT, "--chaos", "3", expect=cases.NIGHT_EXPECTED))
            assert came_out(opened.play(cases.SECOND, "--prepare", expect=cases.SECOND_EXPECTED))
            wait_until_sealed(opened)
            yield opened
        finally:
            opened.manage("down")


def wait_until_sealed(house: OpenHouse) -> None:
    """Wait for the sealer to come to the end of the log, and for a checkpoint of that."""
    until = time.monotonic() + 60
    while True:
        ((entries, leaves, signed),) = house.read(
            "SELECT (SELECT count(*) FROM audit_logentry), (SELECT count(*) FROM audit_leaf),"
            " (SELECT coalesce(max(size), 0) FROM audit_checkpoint)"
        )
        if entries - leaves < 20 and leaves - signed < 20:
            return
        assert time.monotonic() < until, (entries, leaves, signed)
        time.sleep(0.5)


def checked(house: OpenHouse, *arguments: str) -> dict[str, Any]:
    run = house.manage("check_books", "--json", *arguments)
    document: dict[str, Any] = json.loads(run.stdout)
    assert run.returncode == {"clean": 0, "offending": 1}.get(document["outcome"], 2)
    return document


def test_after_the_nights_the_books_are_clean_with_the_exported_checkpoint(house: OpenHouse) -> None:
    newest = max((house.at / ".local" / "checkpoints").glob("*.note"))
    document = checked(house, "--full", "--checkpoint", str(newest))
    assert document["rows"] == []
    assert document["outcome"] == "clean", document["trouble"]


def test_what_was_settled_in_the_nights_is_derived_from_its_events_again(house: OpenHouse) -> None:
    run = house.manage("inspect")
    ((settled,),) = house.read("SELECT count(*) FROM settlement_settlement")
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.startswith(f"{settled} settlements looked at, 0 not right; verified through ")
    assert settled > 400


def test_a_quick_check_after_a_clean_one_takes_seconds(house: OpenHouse) -> None:
    began = time.monotonic()
    assert checked(house, "--quick")["outcome"] == "clean"
    assert time.monotonic() - began < 60
