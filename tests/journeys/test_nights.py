"""Whole nights, played over HTTP into a house that was opened by its one command.

The house is a copy of the project in a folder of its own, with servers of its own, opened once for all of them.
"""

from __future__ import annotations

import gzip
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import psycopg
import pytest

from deploy.local import paths
from tests import cases
from tests.journeys import second
from tests.journeys.test_start import Copy

pytestmark = pytest.mark.timeout(900)

BOOKS = "SELECT code, balance, held, version FROM settlement_account ORDER BY code"
WRITTEN = """
SELECT (SELECT count(*) FROM casino_roundevent), (SELECT count(*) FROM casino_refusedevent),
       (SELECT count(*) FROM settlement_journal), (SELECT count(*) FROM settlement_settlement)
"""

Found = list[tuple[Any, ...]]


class OpenHouse(Copy):
    """A house that is open, and its books read as the reader's role reads them."""

    def play(self, recording: Path, *more: str, expect: Path) -> CompletedProcess[str]:
        return self.manage("play", str(recording), "--expect", str(expect), *more)

    def read(self, statement: str) -> Found:
        port = self.note("postgres.json")["port"]
        secret = self.note("secrets.json")["pokdeng_reader"]
        with psycopg.connect(
            host=paths.LOOPBACK, port=port, user="pokdeng_reader", password=secret, dbname=paths.DATABASE
        ) as connection:
            return connection.execute(statement).fetchall()


@pytest.fixture(scope="module")
def house() -> Iterator[OpenHouse]:
    with tempfile.TemporaryDirectory(prefix="house-", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)
        opened = OpenHouse(at=Path(name))
        said = opened.up()
        assert said.returncode == 0, said.stdout + said.stderr
        yield opened
        opened.manage("down")
        assert opened.processes() == []


def came_out(played: CompletedProcess[str]) -> bool:
    assert played.returncode == 0, played.stdout + played.stderr
    return "Everything came out as expected." in played.stdout


def at_other_tables(path: Path, *, to: Path) -> Path:
    """The same night at tables, and in rounds, of other names: it may be played beside the first."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt") as told:
        text = told.read().replace("PD0", "CH0").replace("01a222", "01a333")
    if path.suffix == ".gz":
        to.write_bytes(gzip.compress(text.encode(), 1))
    else:
        to.write_text(text)
    return to


@pytest.fixture(scope="module")
def played(house: OpenHouse) -> OpenHouse:
    """The house after both recorded evenings."""
    ((before, *_),) = house.read(WRITTEN)
    assert came_out(house.play(cases.NIGHT, expect=cases.NIGHT_EXPECTED))
    ((events, refused, *_),) = house.read(WRITTEN)
    assert (events - before, refused) == (18_119, 0)
    assert came_out(house.play(cases.SECOND, "--prepare", expect=cases.SECOND_EXPECTED))
    return house


def test_the_recorded_night_comes_out_to_the_satang_and_playing_it_again_moves_nothing(
    played: OpenHouse,
) -> None:
    books, written = played.read(BOOKS), played.read(WRITTEN)
    assert came_out(played.play(cases.NIGHT, expect=cases.NIGHT_EXPECTED))
    assert played.read(BOOKS) == books
    assert played.read(WRITTEN) == written


def test_the_night_comes_out_the_same_through_a_terrible_network(house: OpenHouse, tmp_path: Path) -> None:
    night = at_other_tables(cases.NIGHT, to=tmp_path / "night.jsonl.gz")
    expected = at_other_tables(cases.NIGHT_EXPECTED, to=tmp_path / "expected.json")
    assert came_out(house.play(night, "--prepare", "--chaos", "1", expect=expected))


def test_the_second_evening_comes_out_as_worked_by_hand_and_playing_it_again_moves_nothing(
    played: OpenHouse,
) -> None:
    books, written = played.read(BOOKS), played.read(WRITTEN)
    assert came_out(played.play(cases.SECOND, expect=cases.SECOND_EXPECTED))
    assert played.read(BOOKS) == books
    assert played.read(WRITTEN) == written


def test_what_comes_out_otherwise_is_named_and_fails(house: OpenHouse, tmp_path: Path) -> None:
    expected = json.loads(cases.SECOND_EXPECTED.read_text())
    first, other = list(expected["rounds"])[:2]
    expected["rounds"][first]["lines"]["w1"] += 1
    expected["rounds"][other]["outcome"] = "held"
    expected["tables"]["PD12"]["wagers"] += 1
    expected["accounts"]["player:K24:wallet"] = 1
    wrong = tmp_path / "expected.json"
    wrong.write_text(json.dumps(expected))
    played = house.play(cases.SECOND, "--prepare", expect=wrong)
    assert played.returncode == 1
    assert "lines is {'w1': -100000}, expected {'w1': -99999}" in played.stderr
    assert "outcome is settled, expected held" in played.stderr
    assert "wagers is 5, expected 6" in played.stderr
    assert "player:K24:wallet: 0, expected 1" in played.stderr


def test_secrets_are_kept_from_others_and_out_of_sight(house: OpenHouse) -> None:
    kept = house.at / ".local" / "demonstration.json"
    assert kept.stat().st_mode & 0o077 == 0
    keys = json.loads(kept.read_text())
    secrets = [*keys["devices"].values(), *(who["password"] for who in keys["people"].values())]
    assert len(secrets) > 20
    folder = house.at / ".local"
    shown = "".join(
        path.read_text(errors="replace") for path in [*folder.glob("log/*.log"), folder / "up.log"]
    )
    assert [secret for secret in secrets if secret in shown] == []


def test_the_file_of_the_second_evening_is_the_evening_as_it_is_told(tmp_path: Path) -> None:
    second.evening().write(tmp_path / "second.jsonl.gz")
    assert gzip.decompress((tmp_path / "second.jsonl.gz").read_bytes()) == gzip.decompress(
        cases.SECOND.read_bytes()
    )


# -- the books afterwards ------------------------------------------------------------------------------------


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


def test_after_the_nights_the_books_are_clean_with_the_exported_checkpoint(played: OpenHouse) -> None:
    wait_until_sealed(played)
    newest = max((played.at / ".local" / "checkpoints").glob("*.note"))
    document = checked(played, "--full", "--checkpoint", str(newest))
    assert document["rows"] == []
    assert document["outcome"] == "clean", document["trouble"]


def test_what_was_settled_in_the_nights_is_derived_from_its_events_again(played: OpenHouse) -> None:
    run = played.manage("inspect")
    ((settled,),) = played.read("SELECT count(*) FROM settlement_settlement")
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.startswith(f"{settled} settlements looked at, 0 not right; verified through ")
    assert settled > 400


def test_a_quick_check_after_a_clean_one_finds_nothing_either(played: OpenHouse) -> None:
    assert checked(played, "--quick")["outcome"] == "clean"
