"""A ruling comes two days after the day was sealed: money moves in the open day, and the report stays as it was."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest
from django.test import Client

from casino.models import Person
from settlement import days, settling
from settlement.models import Entry, Journal
from tests.audit.disputing import decided, raised, ruled
from tests.settlement import daybook
from tests.settlement.daybook import DAY, MORNING, a_sealed_day, a_shift, accountant
from tests.settlement.floor import money

pytestmark = pytest.mark.django_db

TWO_DAYS_LATER = MORNING + timedelta(days=2)
FORMATS = ("json", "csv", "xlsx", "pdf")


def signed_in(person: Person) -> Client:
    client = Client()
    client.force_login(person)
    return client


def report(client: Client, format: str) -> bytes:
    answer = client.get(f"/api/v1/days/{DAY}/report?format={format}")
    assert answer.status_code == 200, answer.content
    return answer.content


def the_days_journals() -> list[tuple[UUID, int]]:
    return list(Entry.objects.filter(journal__gaming_day=DAY).order_by("id").values_list("journal", "amount"))


def test_ruling_after_the_seal() -> None:
    """p1 won 100 with 7 against the dealer's 6. The video shows that the dealer had a pok of 8: p1 loses 100."""
    table, sealed = a_sealed_day(rounds=1)
    client = signed_in(accountant())
    before = {name: report(client, name) for name in FORMATS}
    of_the_day, moved = the_days_journals(), money()
    (round_id,) = table.told
    assert client.get(f"/api/v1/days/{DAY}/amendments").json()["amendments"] == []

    decided(raised(round_id, now=TWO_DAYS_LATER), ruled("dealer.2", "8D"), now=TWO_DAYS_LATER)

    # A reversal and a new journal, in the open day, citing round and original day.
    open_day = DAY + timedelta(days=3)
    assert days.of(TWO_DAYS_LATER) == open_day
    later = Journal.objects.filter(gaming_day=open_day, round=round_id)
    assert sorted(later.values_list("kind", "orig_day")) == [("round", DAY), ("round_reversal", DAY)]
    effective = settling.effective(round_id)
    assert effective is not None
    assert (effective.revision, effective.house_net, effective.gaming_day) == (2, 100_00, DAY)
    assert money()[table.bank] - moved.get(table.bank, 0) == 200_00
    assert the_days_journals() == of_the_day

    # The sealed report is the same bytes, in every form; its amendments list what came.
    assert {name: report(client, name) for name in FORMATS} == before
    listed = client.get(f"/api/v1/days/{DAY}/amendments").json()
    assert listed["report_sha256"] == sealed.sha256
    assert sorted(
        (one["kind"], one["posted_in"], one["house_net"]["amount"]) for one in listed["amendments"]
    ) == [
        ("round", str(open_day), 100_00),
        ("round_reversal", str(open_day), 100_00),
    ]
    assert {one["round"] for one in listed["amendments"]} == {str(round_id)}


def test_a_dispute_that_is_open_at_the_seal_is_listed_in_the_report_and_decided_afterwards() -> None:
    table = daybook.floor.a_table()
    assert daybook.floor.outcome(table.tell(daybook.WON)) == "settled"
    daybook.a_table_closed(table, last_round=1)
    dispute = raised(table.told[0], now=daybook.NIGHT)
    daybook.closed()
    daybook.compared()
    daybook.sealed()
    client = signed_in(accountant())
    before = report(client, "json")
    assert [one["round"] for one in client.get(f"/api/v1/days/{DAY}/report").json()["disputes"]] == [
        str(table.told[0])
    ]

    decided(dispute, ruled("dealer.2", "8D"), now=TWO_DAYS_LATER)

    assert report(client, "json") == before


def test_the_shift_report_of_a_sealed_day_stays_too() -> None:
    table = daybook.floor.a_table()
    shift = a_shift(tables=[table])
    daybook.floor.outcome(table.tell(daybook.WON))
    with daybook.act(now=daybook.NIGHT):
        daybook.reports.close_shift(
            shift=shift.id, by=table.supervisor, second=daybook.a_person("M04", "manager")
        )
    daybook.a_table_closed(table, last_round=1)
    daybook.closed()
    daybook.compared()
    daybook.sealed()
    client = signed_in(accountant())
    before = client.get(f"/api/v1/shifts/{shift.id}/report").content

    decided(raised(table.told[0], now=TWO_DAYS_LATER), ruled("dealer.2", "8D"), now=TWO_DAYS_LATER)

    assert client.get(f"/api/v1/shifts/{shift.id}/report").content == before
