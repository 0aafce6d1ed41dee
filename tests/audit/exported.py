"""Dossiers of the built house as its readers downloaded them: bytes, that need no database to be looked at."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone
from psycopg import sql

from audit import dossier, merkle
from audit.dossier import Dossier
from audit.verify import export, signed_notes
from audit.verify.export import Export
from audit.verify.signed_notes import Key
from casino import events, people
from casino.events import Principal
from casino.models import Person, Round
from settlement.models import Settlement
from tests.audit.evidence import copied
from tests.database import House

READERS = ("A01", "V01", "M01", "S01", "D01")


@dataclass(frozen=True)
class Exported:
    """The house's own dossiers by their story (``plain``, ``wallet``, ``corrected``, ``unchanged``, ``voided``,
    ``held``, ``elsewhere``, ``disputed``), those of one round by their reader's badge, the house's key, and its
    checkpoints, oldest first."""

    zips: dict[str, bytes]
    by_reader: dict[str, bytes]
    key: Key
    written_key: str
    kept: list[str]

    def json(self, story: str) -> bytes:
        return member(self.zips[story], export.JSON)

    def content(self, story: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.json(story))["content"]
        return found


def member(packed: bytes, name: str) -> bytes:
    return zipfile.ZipFile(io.BytesIO(packed)).read(name)


def receipted(content: dict[str, Any]) -> Export:
    """A content under an entry of its own, as whoever alters a dossier could make one: its hashes are right."""
    written = events.canonical(
        {"v": 1, "action": "evidence.read", "data": {"sha256": export.sha256(events.canonical(content))}}
    )
    entry = {"bytes": written.decode(), "hash": merkle.leaf_hash(written).hex()}
    return export.of_json(events.canonical({"content": content, "entry": entry}))


@pytest.fixture(scope="session")
def exported(
    house: House,
    built_house: tuple[str, dict[str, UUID]],
    evidence_folder: Path,
    tmp_path_factory: pytest.TempPathFactory,
    django_db_blocker: Any,
) -> Exported:
    name, told = built_house
    store = copied(evidence_folder, tmp_path_factory.mktemp("dossiers"))
    copy = f"{name}_dossiers"
    with django_db_blocker.unblock(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(settings, "CHECKPOINT_FOLDER", str(store.folder))
        with house.administer() as administrator:
            administrator.execute(
                sql.SQL("CREATE DATABASE {} TEMPLATE {} OWNER pokdeng_owner").format(
                    sql.Identifier(copy), sql.Identifier(name)
                )
            )
        before = house.use(copy)
        try:
            written = store.verifier_key("pokdeng")
            assert written is not None
            kept = [path.read_text() for path in sorted(store.folder.glob("*.note"))]
            sizes = [signed_notes.read(note).size for note in kept]
            made = _dossiers(told, sizes)
            zips = {story: dossier.pack(one) for story, one in made.items()}
            plain = UUID(made["plain"].content["round"]["id"])
            by_reader = {badge: dossier.pack(read_by(badge, plain)) for badge in READERS}
        finally:
            house.use(before)
            house.drop(copy)
    return Exported(zips, by_reader, signed_notes.key_of(written), written, kept)


def _dossiers(told: dict[str, UUID], sizes: list[int]) -> dict[str, Dossier]:
    settled = Round.objects.filter(standing="settled", table__code="PD06").order_by("number")
    rounds = {story: told[story] for story in ("corrected", "unchanged", "voided", "held", "elsewhere")}
    rounds["plain"], rounds["wallet"] = paid("PD06")[0].round_id, settled.reverse()[0].id
    found = {story: made(events.SERVICE, round_id, kept=sizes) for story, round_id in rounds.items()}
    with events.act(actor=events.SERVICE, request_id="test", now=timezone.now()):
        return {**found, "disputed": dossier.of_dispute(told["by_two"])}


def paid(table: str) -> QuerySet[Settlement]:
    """The first revisions at a table that moved money and that nobody disputes, in the order of play."""
    return (
        Settlement.objects.filter(
            round__standing="settled", round__table__code=table, round__in_dispute=False, revision=1,
            journal__isnull=False,
        )
        .select_related("round__session", "round__table")
        .order_by("round__number")
    )  # fmt: skip


def made(actor: Principal, round_id: UUID, *, kept: list[int] | None = None) -> Dossier:
    with events.act(actor=actor, request_id="test", now=timezone.now()):
        return dossier.of_round(round_id, kept=kept or [])


def read_by(badge: str, round_id: UUID) -> Dossier:
    return made(people.principal_of(Person.objects.get(badge=badge)), round_id)
