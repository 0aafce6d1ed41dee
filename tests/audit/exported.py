"""Dossiers of a house that played a part of a night, as readers of different roles downloaded them: bytes, no database."""

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
from django.utils import timezone

from audit import dossier
from casino import events, people
from casino.models import Person, Round
from tests.audit import sealing


@dataclass(frozen=True)
class Exported:
    """A sealed house's dossiers by the round's story (``corrected``, ``voided``, ``held``, ``plain``, ``wallet``), those
    of one round by its reader's role, the house's key, and notes kept on the way, oldest first."""

    zips: dict[str, bytes]
    by_role: dict[str, bytes]
    key: str
    kept: list[str]

    def json(self, story: str) -> dict[str, Any]:
        return member(self.zips[story], "dossier.json")


def member(packed: bytes, name: str) -> Any:
    data = zipfile.ZipFile(io.BytesIO(packed)).read(name)
    return json.loads(data) if name.endswith(".json") else data


def export(told: dict[str, UUID], folder: Path, monkeypatch: pytest.MonkeyPatch) -> Exported:
    """Seal the house that is in use now and take dossiers of it."""
    store = sealing.a_store(folder)
    monkeypatch.setattr(settings, "CHECKPOINT_FOLDER", str(store.folder))
    kept = [sealing.sealed(store)]
    stories = {story: told[story] for story in ("corrected", "voided", "held")}
    settled = Round.objects.filter(standing="settled").order_by("table__code", "number")
    stories["plain"] = settled.exclude(id__in=stories.values()).filter(table__code="PD06").first().id
    stories["wallet"] = settled.filter(table__code="PD06").last().id
    with events.act(actor=events.SERVICE, request_id="test", now=timezone.now()):
        for role in ("auditor", "surveillance"):
            people.hire(badge=f"{role}-1", display_name=f"A {role}", role=role, password="long enough 1", pin="123456")
    kept.append(sealing.sealed(store))
    zips = {story: dossier.pack(_made(events.SERVICE, round_id)) for story, round_id in stories.items()}
    by_role = {
        badge: dossier.pack(_made(people.principal_of(Person.objects.get(badge=badge)), stories["plain"]))
        for badge in ("auditor-1", "surveillance-1", "M01", "S01", "D01")
    }
    key = store.verifier_key("pokdeng")
    assert key is not None
    return Exported(zips, by_role, key, kept)


def _made(actor: events.Principal, round_id: UUID) -> dossier.Dossier:
    with events.act(actor=actor, request_id="test", now=timezone.now()):
        return dossier.of_round(round_id)
