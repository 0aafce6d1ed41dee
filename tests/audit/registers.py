"""People, places and devices of a built house, as people of the house add and end them: written last, as nobody is
there without two others after that."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from django.utils import timezone

from casino import cages, devices, events, people, tables
from casino.events import Act
from casino.models import Person
from casino.people import Newcomer, Rights
from settlement import cashier, table_floats


def write(*, administrator: Person, managers: tuple[Person, Person]) -> None:
    """Take a cashier on and let a dealer go; add a table and two cages, end one of each; enrol a terminal, renew its
    token, and admit another that never comes."""
    by, second = managers
    with _acting():
        cashier_, _, code = people.take_on(
            Newcomer("C20", "C20", "HR-20"), Rights("cashier", ["counter"]), by=administrator, approved_by=by
        )
        people.take_over(code, password="long enough C20", pin="481516")
    with _acting():
        people.appoint(cashier_.id, Rights("cashier", ["runner"]), by=administrator, approved_by=by)
    with _acting():
        people.hand_over(cashier_.id, by=administrator, approved_by=by)
        gone, _, _ = people.take_on(
            Newcomer("D20", "D20", "HR-21"), Rights("dealer"), by=administrator, approved_by=None
        )
    with _acting():
        people.let_go(gone.id, by=administrator)
    with _acting():
        for code in ("PD20", "PD21"):
            tables.add(code=code, currency="THB", camera=False, by=by, approved_by=second)
        for code in ("C8", "C9"):
            cages.add(code=code, by=by, approved_by=administrator)
    with _acting():
        table_floats.end_table(table=tables.of_code("PD21"), by=by, approved_by=second)
        cashier.end_cage(cage=cages.of_code("C9"), by=by, approved_by=second)
    with _acting():
        table = tables.of_code("PD20")
        _, text = devices.admit(code="PD20-terminal", kind="terminal", table=table, by=administrator)
        device, _ = devices.come_in(text)
        devices.admit(code="PD20-second", kind="terminal", table=table, by=administrator)
    with _acting():
        first = devices.rotate(device)
    devices.authenticate(first, now=timezone.now())
    with _acting():
        devices.rotate(device)


@contextlib.contextmanager
def _acting() -> Iterator[Act]:
    with events.act(actor=events.SERVICE, request_id="built", now=timezone.now()) as act:
        yield act
