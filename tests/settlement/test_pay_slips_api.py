"""Pay slips over HTTP: issued at the table, paid at the cage, by people or by a cashier system with a key."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from casino import events, keys
from casino.keys import Wanted
from casino.models import Person
from settlement.models import PaySlip
from tests import world
from tests.settlement.doors import Night, a_corrected_round, asked, thb
from tests.settlement.test_slips_api import code, ok, people, signed_in, tell
from tests.world import AtTable, House

__all__ = ["people"]

pytestmark = pytest.mark.django_db


def a_claim(at: AtTable, night: Night) -> dict[str, Any]:
    """A claim for what hand 1 won: 100 baht, less a commission where the sheet takes one."""
    told = night.told(at)
    world.at_terminal(at).settle(told.id)
    answer: dict[str, Any] = ok(
        tell(signed_in(at.supervisor), f"rounds/{told.id}/pay-slips", {"wager": "w1"})
    )
    return answer


def test_a_claim_is_issued_for_what_was_won_and_paid_once(
    at: AtTable, night: Night, people: dict[str, Person]
) -> None:
    claim = a_claim(at, night)
    assert (claim["state"], claim["revision"], claim["amount"], claim["settled_before"]) == (
        "issued", 1, claim["line"]["net"], thb(0),
    )  # fmt: skip
    cashier = signed_in(people["C01"])
    paid = ok(tell(cashier, f"pay-slips/{claim['number']}/pay"))
    assert (paid["state"], paid["cage"], paid["paid_by"]) == ("paid", "C1", str(people["C01"].id))
    assert code(tell(cashier, f"pay-slips/{claim['number']}/pay")) == (409, "slip_paid")
    assert len(paid["journals"]) == 2


def test_the_same_key_pays_once_and_gets_the_first_answer(
    at: AtTable, night: Night, people: dict[str, Person]
) -> None:
    number = a_claim(at, night)["number"]
    first = tell(signed_in(people["C01"]), f"pay-slips/{number}/pay", key="k1")
    again = tell(signed_in(people["C01"]), f"pay-slips/{number}/pay", key="k1")
    assert (again.status_code, again.json(), again["Idempotency-Replayed"]) == (201, first.json(), "true")


def test_above_the_limit_a_second_cashier_signs_by_badge_and_pin(
    at: AtTable, night: Night, people: dict[str, Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "CASH", settings.CASH | {"second_person": 1})
    number = a_claim(at, night)["number"]
    cashier = signed_in(people["C01"])
    assert code(tell(cashier, f"pay-slips/{number}/pay")) == (403, "second_person_needed")
    body = {"cage": "C1", "badge": "C02", "pin": world.PIN}
    assert code(tell(cashier, f"pay-slips/{number}/pay", body | {"badge": "C01"})) == (403, "sod_violation")
    assert ok(tell(cashier, f"pay-slips/{number}/pay", body))["state"] == "paid"


def test_a_claim_says_why_it_would_not_be_paid_and_is_voided_with_a_reason(
    staff: House, at: AtTable, night: Night, people: dict[str, Person]
) -> None:
    told = a_corrected_round(staff, at, night)  # what won 100 lost 100
    assert code(tell(signed_in(at.supervisor), f"rounds/{told.id}/pay-slips", {"wager": "w1"})) == (
        422, "pay_slip_not_due",
    )  # fmt: skip
    number = a_claim(at, night)["number"]
    auditor = signed_in(world.an_auditor())
    assert asked(auditor, f"pay-slips/{number}")[1]["stopped"] is None
    supervisor = signed_in(at.supervisor)
    assert code(tell(supervisor, f"pay-slips/{number}/void", {})) == (400, "missing_field")
    void = ok(
        tell(supervisor, f"pay-slips/{number}/void", {"reason": "paid in chips", "paid_in_chips": True})
    )
    assert (void["state"], void["number"], void["void_reason"]) == ("void", number, "paid in chips")
    assert code(tell(signed_in(people["C01"]), f"pay-slips/{number}/pay")) == (409, "slip_void")


def test_the_claims_in_force_of_a_table_are_listed(
    at: AtTable, night: Night, people: dict[str, Person]
) -> None:
    claims = [a_claim(at, night)["number"] for _ in range(3)]
    ok(tell(signed_in(people["C01"]), f"pay-slips/{claims[0]}/pay"))
    surveillance = signed_in(world.a_person(role="surveillance", badge="V01"))
    _, page = asked(surveillance, "pay-slips", table="PD01", state="issued")
    assert [one["number"] for one in page["pay_slips"]] == [claims[2], claims[1]]
    _, first = asked(surveillance, "pay-slips", limit=2)
    _, rest = asked(surveillance, "pay-slips", limit=2, cursor=first["next"])
    assert [one["number"] for one in first["pay_slips"] + rest["pay_slips"]] == claims[::-1]
    assert rest["next"] is None


def test_who_may_do_what_with_a_claim(
    staff: House, at: AtTable, night: Night, people: dict[str, Person]
) -> None:
    number = a_claim(at, night)["number"]
    elsewhere = signed_in(staff.tables["PD02"].supervisor)
    dealer, manager = signed_in(at.dealer), signed_in(staff.author)
    assert asked(elsewhere, f"pay-slips/{number}")[0] == 404
    assert code(tell(elsewhere, f"pay-slips/{number}/void", {"reason": "x"})) == (404, "not_found")
    assert asked(elsewhere, "pay-slips")[1]["pay_slips"] == []
    assert asked(dealer, f"pay-slips/{number}")[0] == 403
    assert code(tell(manager, f"pay-slips/{number}/pay")) == (403, "forbidden")
    assert code(tell(signed_in(people["C01"]), f"pay-slips/{number}/void", {"reason": "x"})) == (
        403,
        "forbidden",
    )
    for no in ("PAY-2026-999999", "FILL-2026-000001", number.lower(), "PAY-2026-1", "x"):
        assert asked(manager, f"pay-slips/{no}")[0] == 404


def with_key(staff: House, *, system: str, tables: tuple[str, ...]) -> Client:
    admin = world.a_person(role="administrator", badge=f"X-{system}")
    with world.acting(actor=events.SERVICE):
        wanted = Wanted(
            scopes=("pay_pay_slip", "read_pay_slips"), addresses=("127.0.0.1/32",), tables=tables, cages=("C1",),
            expires_at=timezone.now() + timedelta(days=1),
        )  # fmt: skip
        _, token = keys.make(system=system, wanted=wanted, by=admin, approved_by=staff.author)
    client = Client()
    client.defaults["HTTP_AUTHORIZATION"] = f"Bearer {token}"
    return client


def test_a_cashier_system_pays_at_its_own_tables_and_cages_up_to_the_limit(
    staff: House, at: AtTable, night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = a_claim(at, night)["number"], a_claim(at, night)["number"]
    cage = with_key(staff, system="cage_one", tables=("PD01",))
    elsewhere = with_key(staff, system="cage_two", tables=("PD02",))
    assert code(tell(elsewhere, f"pay-slips/{first}/pay")) == (404, "not_found")
    assert code(tell(cage, f"pay-slips/{first}/pay", {"cage": "C2"})) == (404, "not_found")
    assert ok(tell(cage, f"pay-slips/{first}/pay"))["paid_by"] is None
    row = PaySlip.objects.select_related("paid_key").get(state="paid")
    assert row.paid_key is not None
    assert row.paid_key.system == "cage_one"
    monkeypatch.setattr(settings, "CASH", settings.CASH | {"second_person": 1})
    assert code(tell(cage, f"pay-slips/{second}/pay")) == (403, "second_person_needed")
    assert asked(cage, f"pay-slips/{second}")[1]["state"] == "issued"
