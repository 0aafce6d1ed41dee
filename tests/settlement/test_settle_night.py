"""The recorded night goes through record, judgement and ledger once, however its rounds are cut into batches."""

from __future__ import annotations

import gzip
import itertools
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from casino.api import event_payloads, strict_json
from casino.rounds import Report
from settlement.models import Entry, Line, Settlement
from settlement.settling import Settled
from tests.cases import NIGHT
from tests.rules.given import case
from tests.settlement import floor
from tests.settlement.books import taken_back
from tests.settlement.floor import NOW, AtTable, a_table, money, settled

BATCH = 500


def reports_of_the_night() -> dict[tuple[str, str], list[dict[str, Any]]]:
    """What each device of each table sent, in the order in which it arrived."""
    sent: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    with gzip.open(NIGHT, "rt") as lines:
        for line in lines:
            told = strict_json.read(line.encode())
            device = "camera" if told["event"]["source"].endswith("camera") else "tablet"
            sent[told["table"], device].append(told["event"])
    return sent


def chunks(found: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    return (found[start : start + size] for start in range(0, len(found), size))


def recorded_night() -> dict[str, AtTable]:
    """The whole night in the record, nothing settled."""
    expected = case("night.expected.json")
    tables = {
        code: a_table(
            code, preset=known["sheet"]["preset"], camera=known["camera"], **known["sheet"]["options"]
        )
        for code, known in expected["tables"].items()
    }
    for (code, device), sent in reports_of_the_night().items():
        for batch in chunks(sent, BATCH):
            reports: list[Report] = [
                event_payloads.report_of(event, device=tables[code].devices[device]) for event in batch
            ]
            with floor.act():
                answers = floor.rounds.append(
                    device=tables[code].devices[device],
                    reports=reports,
                    sent_at=datetime.fromisoformat(batch[-1]["time"]),
                )
            refused = [answer for answer in answers if answer.outcome == "refused"]
            assert refused == []
    return tables


def settle_all(batches: Iterable[Sequence[UUID]]) -> list[Settled]:
    """Settle batch after batch, an hour after the last close."""
    return [answer for batch in batches for answer in settled(*batch, now=NOW + timedelta(hours=1))]


def in_other_pieces(ids: Sequence[UUID]) -> Iterator[Sequence[UUID]]:
    """Shuffled, and cut where chance has it."""
    chance = random.Random(20260301)
    left = chance.sample(ids, len(ids))
    while left:
        size = chance.randint(1, 150)
        yield left[:size]
        left = left[size:]


@pytest.mark.django_db
@pytest.mark.timeout(600)
def test_the_night_is_posted_to_the_satang_in_any_cutting() -> None:
    expected = case("night.expected.json")
    tables = recorded_night()
    ids = [UUID(key) for key in expected["rounds"]]
    cuttings: dict[str, list[Sequence[UUID]]] = {
        "a hundred at a time": list(chunks(ids, 100)),
        "one by one": [[id] for id in ids],
        "shuffled and cut by chance": list(in_other_pieces(ids)),
    }
    found = {}
    for name, batches in cuttings.items():
        with taken_back():
            answers = settle_all(batches)
            found[name] = money()
            if name == "a hundred at a time":
                compare(answers, expected)
                chained()
                assert {answer.outcome for answer in settle_all([ids])} <= {"settled", "held", "voided"}
                assert money() == found[name]

    house = {code: known["house_net"] for code, known in expected["tables"].items()}
    first, *others = found.values()
    assert {
        code: first.get(table.bank, 0) + first.get(table.commission, 0) for code, table in tables.items()
    } == house
    assert sum(first.values()) == 0
    assert others == [first, first]


def compare(answers: Sequence[Settled], expected: dict[str, Any]) -> None:
    lines: dict[str, dict[str, int]] = defaultdict(dict)
    for round_id, wager, net in Line.objects.values_list("settlement__round", "wager", "net"):
        lines[str(round_id)][wager] = net
    differing = {}
    for answer in answers:
        known = expected["rounds"][str(answer.round)]
        came = (answer.outcome, list(answer.reasons), lines[str(answer.round)])
        if came != (known["outcome"], known.get("because", []), known.get("lines", {})):
            differing[answer.round] = (came, known)
    assert differing == {}
    assert len(answers) == len(expected["rounds"]) == 480


def chained() -> None:
    """Each account's versions run without a gap, and each balance follows from the one before."""
    entries = Entry.objects.order_by("account", "version").values_list(
        "account", "version", "amount", "balance_after"
    )
    for _, rows in itertools.groupby(entries, key=lambda row: row[0]):
        balance = 0
        for place, (_, version, amount, after) in enumerate(rows, 1):
            balance += amount
            assert (version, after) == (place, balance)
    assert Settlement.objects.filter(revision__gt=1).count() == 0
