"""Five wrong secrets in a row become a question for whoever is there to ask it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client

from audit import flags
from audit.models import Flag
from casino import people
from casino.platform.refusals import Refusal
from tests.audit import flagged
from tests.casino.floor import NOW, a_table

pytestmark = pytest.mark.django_db(transaction=True)


def fails(badge: str, at: str, *, times: int, later: float = 0) -> None:
    for n in range(times):
        with pytest.raises(Refusal):
            people.check_secret(
                badge=badge, secret="000000", with_pin=True, at=at, now=NOW + timedelta(seconds=later + n)
            )


def test_five_wrong_pins_at_a_terminal_are_a_flag_that_its_supervisor_sees() -> None:
    here = a_table("PD01")
    a_table("PD02")
    fails("S77", "device:PD01-tablet", times=4)
    flagged.read_all()
    assert not Flag.objects.exists()
    fails("S77", "device:PD01-tablet", times=3)
    fails("S77", "device:PD01-tablet", times=5, later=400)  # once a day for this badge there

    flagged.read_all()

    (flag,) = Flag.objects.filter(kind="signin_failures")
    assert flag.table is not None
    assert (flag.table.code, flag.detail["origin"], flag.detail["failures"]) == ("PD01", "PD01-tablet", 5)
    said = flags.said(flag)
    assert said is not None
    assert said["en"] == "5 wrong sign-ins in a row came from PD01-tablet — ask whose badge it is"
    client = Client()
    client.force_login(here.supervisor)
    (seen,) = client.get("/api/v1/flags").json()["flags"]
    assert (seen["kind"], seen["table"]) == ("signin_failures", "PD01")


def test_five_wrong_passwords_from_an_address_are_a_flag_of_no_table() -> None:
    fails("M01", "203.0.113.9", times=5)
    flagged.read_all()
    flag = Flag.objects.get(kind="signin_failures")
    assert (flag.table, flag.detail["origin"]) == (None, "203.0.113.9")
