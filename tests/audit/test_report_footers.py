"""Under a report stands a signed checkpoint that covers the entry which fixed it, outside the report's own bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from audit.checkpoints import Store
from casino.models import Person
from settlement import days
from tests import world
from tests.audit import sealing
from tests.settlement import daybook
from tests.settlement.daybook import DAY, a_sealed_day, a_shift
from tests.settlement.floor import a_person, act

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def store(tmp_path: Path, settings: Any) -> Store:
    found = sealing.a_store(tmp_path)
    settings.CHECKPOINT_FOLDER, settings.SEAL_KEY_FILE = str(found.folder), str(found.key_file)
    return found


def at_desk(person: Person) -> Client:
    client = Client()
    client.force_login(person)
    return client


def test_a_sealed_days_footer_leads_to_the_entry_that_fixed_it(store: Store) -> None:
    _, report = a_sealed_day()
    auditor = at_desk(world.an_auditor(badge="A09"))
    path = f"/api/v1/days/{DAY}/report/footer"
    assert auditor.get(path).json()["code"] == "not_sealed_yet"
    note = sealing.sealed(store)

    footer = auditor.get(path).json()

    assert (footer["sha256"], footer["checkpoint"]) == (report.sha256, note)
    proof = auditor.get(f"/api/v1/audit/proof?hash={footer['entry']}").json()
    assert f'"sha256":"{report.sha256}"' in proof["bytes"]
    assert footer["checkpoint"] not in bytes(report.canonical).decode()


def test_a_closed_shifts_footer_can_be_printed_by_a_supervisor(store: Store) -> None:
    shift = a_shift()
    with act(now=daybook.NIGHT):
        report = daybook.reports.close_shift(
            shift=shift.id, by=a_person("M08", "manager"), second=a_person("M09", "manager")
        )
    sealing.sealed(store)
    footer = at_desk(world.a_supervisor(badge="S09")).get(f"/api/v1/shifts/{shift.id}/report/footer").json()
    assert footer["sha256"] == report.sha256


@pytest.mark.parametrize(
    ("day", "status"), [("today", 404), ("2019-03-02", 422), ("2026-02-30", 404), ("x", 404)]
)
def test_where_nothing_was_fixed_there_is_no_footer(store: Store, day: str, status: int) -> None:
    """A day that is running has none yet; one before the house began is out of bounds, and the rest are no days."""
    manager = at_desk(world.a_manager(badge="M09"))
    asked = days.of(timezone.now()).isoformat() if day == "today" else day
    assert manager.get(f"/api/v1/days/{asked}/report/footer").status_code == status
