"""Dossiers of rounds that are not the usual ones: each is made, and each holds when it is checked."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from django.utils import timezone

from audit import dossier, flags
from audit.verify import export, signed_notes, steps
from audit.verify.export import Failure
from casino import events
from settlement import explanations, ledger
from tests.audit import sealing
from tests.audit.exported import receipted
from tests.settlement import floor
from tests.settlement.floor import a_table, a_wallet, corrected, covered, outcome

pytestmark = pytest.mark.django_db(transaction=True)

Checked = Callable[[UUID], dict[str, Any]]


@pytest.fixture
def checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checked:
    """Seal the house, take the dossier of a round, check it as a stranger would; return its content."""
    store = sealing.a_store(tmp_path)
    monkeypatch.setattr(settings, "CHECKPOINT_FOLDER", str(store.folder))

    def check(round_id: UUID) -> dict[str, Any]:
        sealing.sealed(store)
        with events.act(actor=events.SERVICE, request_id="test", now=timezone.now()):
            made = dossier.of_round(round_id)
        path = tmp_path / "dossier.zip"
        path.write_bytes(dossier.pack(made))
        steps.check(export.read(path), keys=[signed_notes.key_of(store.verifier_key("pokdeng") or "")])
        content: dict[str, Any] = json.loads(made.json)["content"]
        return content

    return check


PLAYED = """
    bet w1 p1 100
    lock
    p1 3S 4D
    dealer KC 6D
    p1 stays
    dealer stays
    close
"""


def test_a_players_bank_has_a_line_and_a_sentence_of_its_own(checked: Checked) -> None:
    table = a_table(banker="player", commission={"rate_bp": 500, "side": "both"})
    a_wallet("B1", 250)
    round_id = table.tell(
        "open 1 clockwise player:B1/250\nbet w1 p1 100\nbet w2 p2 100\nbet w3 p3 100 account=player:A17\n"
    )
    a_wallet("A17", 2_000)
    covered(round_id)
    table.tell("lock\np1 3S 4D\np2 3C 4H\np3 3D 4C\ndealer KC 6D\ndealer stays\nclose", round=round_id)
    assert outcome(round_id) == "settled"

    content = checked(round_id)

    said = {line["wager"]: line for line in content["revisions"][0]["said"]}
    assert said["bank"]["en"] == "The bank of player B1: put up ฿250, result −฿250"
    assert "not paid ฿50" in said["w3"]["en"]
    assert "bank_short" in {finding["kind"] for finding in content["findings"]}


def test_what_a_wallet_could_not_pay_and_its_taking_back_stand_in_the_journals(checked: Checked) -> None:
    table = a_table()
    a_wallet("A17", 50)
    round_id = table.tell(
        PLAYED.replace("p1 100", "p1 100 account=player:A17")
        .replace("6D", "8D")
        .replace("dealer stays\n", "")
    )
    assert outcome(round_id) == "settled"
    table.tell("page: rule dealer.2 2D", round=round_id, at=floor.LATER)
    corrected(round_id)

    content = checked(round_id)

    parts = [[journal["part"] for journal in revision["journals"]] for revision in content["revisions"]]
    assert parts == [["shortfall", "journal"], ["reversal", "shortfall_reversal", "journal"]]
    assert [revision["house_net"] for revision in content["revisions"]] == [100_00, -100_00]


def test_a_round_held_by_missing_numbers_names_them(checked: Checked) -> None:
    table = a_table()
    round_id = table.tell(PLAYED.replace("dealer KC", "skip 2\ndealer KC"))
    assert outcome(round_id).startswith("held: sequence_gap")

    content = checked(round_id)

    (gap,) = content["gaps"]
    assert gap["last"] - gap["first"] == 1
    assert f"{gap['source']} {gap['first']}–{gap['last']}" in content["held"][0]["en"]
    content["round"]["record"]["cards_seen"] += 1
    with pytest.raises(Failure, match="is held on another record than was sealed"):
        steps.check(receipted(content))


def test_a_round_that_is_still_played_has_its_dossier_too(checked: Checked) -> None:
    table = a_table()
    round_id = table.tell("bet w1 p1 100\nlock\np1 3S 4D")
    content = checked(round_id)
    assert (content["round"]["standing"], content["revisions"], content["findings"]) == ("", [], [])
    assert content["sheet"]["said"]


def test_a_round_voided_before_it_settled_moves_nothing(checked: Checked) -> None:
    table = a_table()
    round_id = table.tell(PLAYED.replace("close", "page: void"))
    assert outcome(round_id) == "voided"
    content = checked(round_id)
    assert [(revision["outcome"], revision["journals"]) for revision in content["revisions"]] == [
        ("voided", [])
    ]


def test_a_round_whose_wagers_all_push_has_lines_and_no_journal(checked: Checked) -> None:
    table = a_table()
    round_id = table.tell(PLAYED.replace("KC 6D", "2C 5H"))
    assert outcome(round_id) == "settled"
    (revision,) = checked(round_id)["revisions"]
    assert (len(revision["lines"]), revision["journals"]) == (1, [])
    assert "no money moves" in revision["said"][0]["en"]


def test_a_wallet_nobody_opened_plays_no_wager(checked: Checked) -> None:
    table = a_table()
    round_id = table.tell(PLAYED.replace("p1 100", "p1 100 account=player:GHOST"))
    assert outcome(round_id) == "settled"
    content = checked(round_id)
    assert content["revisions"][0]["inputs"]["not_in_play"] == ["w1"]
    assert "there is no such wallet" in content["findings"][0]["en"]


def test_reads_that_differ_stand_side_by_side(checked: Checked) -> None:
    table = a_table(camera=True)
    round_id = table.tell(PLAYED.replace("close", "camera: p1.1 7S\nclose"))
    assert outcome(round_id) == "held: reads_differ"
    held = checked(round_id)["held"]
    assert [reason["reason"] for reason in held] == ["reads_differ"]
    assert "3♠" in held[0]["th"]
    assert "7♠" in held[0]["th"]


def test_every_kind_of_flag_that_can_be_raised_has_its_sentence() -> None:
    assert flags.KINDS <= explanations.KINDS


def test_a_sheet_that_came_into_force_later_judges_nothing_before(checked: Checked) -> None:
    table = a_table()
    round_id = table.tell(PLAYED)
    assert outcome(round_id) == "settled"
    with floor.act(now=floor.LATER):
        floor.put_in_force(table.table, preset="seed_table", options={}, from_=floor.LATER)
    content = checked(round_id)
    assert json.loads(content["sheet"]["canonical"])["straights"] == "off"
    assert ledger.balances({table.bank})[table.bank].balance == -100_00
