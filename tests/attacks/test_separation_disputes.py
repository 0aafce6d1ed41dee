"""Nobody judges in their own cause: told so by the service, and by the database whatever way the row comes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from audit import flags
from audit.models import Decision, Dispute, Flag, LogEntry, Proposal
from casino.models import Device, Duty, Person, Round
from casino.platform.refusals import Refusal
from settlement import settling
from tests import world
from tests.audit.disputing import (
    CONTESTED,
    THEN,
    a_held_round,
    a_settled_round,
    acting,
    auditor,
    claimed,
    decided,
    proposed,
    raised,
    ruled,
    seconded,
)
from tests.audit.test_disputes_api import Office, told
from tests.casino.floor import becomes
from tests.settlement import floor
from tests.settlement.floor import LATER, AtTable, a_person, a_table, outcome

pytestmark = pytest.mark.django_db

CHECKED = "23514"


# -- who has a part in it ---------------------------------------------------------------------------------------


def the_raiser(table: AtTable) -> tuple[Dispute, Person]:
    person = auditor("A09")
    return raised(a_held_round(table), by=person), person


def a_former_dealer(table: AtTable) -> tuple[Dispute, Person]:
    """He dealt the round, and is an auditor since."""
    dispute = raised(a_held_round(table))
    return dispute, becomes(table.dealer, "auditor")


def a_dealer_named_by_an_event(table: AtTable) -> tuple[Dispute, Person]:
    """She dealt one card and was on duty nowhere."""
    person = a_person("D-RELIEF", "dealer")
    round_id = table.tell(CONTESTED.removesuffix("close"))
    seq = Device.objects.get(pk=table.devices["tablet"].pk).last_seq
    close = floor.a_report(seq + 1, "round_closed", round_id, {})
    table.send([replace(close, person=person.id)])
    assert outcome(round_id) == "held: reads_differ"
    return raised(round_id), person


def who_ruled(table: AtTable) -> tuple[Dispute, Person]:
    """The supervisor on duty ruled on a card of it, and is an auditor since."""
    round_id = table.tell(CONTESTED.replace("close", "rule p1.2 4D\nclose"))
    assert outcome(round_id) == "settled"
    dispute = raised(round_id)
    return dispute, becomes(table.supervisor, "auditor")


def who_approved_the_payout(table: AtTable) -> tuple[Dispute, Person]:
    """He approved a correction of it, and is an auditor since."""
    round_id = a_settled_round(table)
    table.tell("rule p1.2 2D", round=round_id, at=LATER)
    approver = a_person("M09", "manager")
    floor.corrected(round_id, acted_by=a_person("S01", "supervisor"), approved_by=approver)
    dispute = raised(round_id)
    return dispute, becomes(approver, "auditor")


PARTIES: list[Callable[[AtTable], tuple[Dispute, Person]]] = [
    the_raiser, a_former_dealer, a_dealer_named_by_an_event, who_ruled, who_approved_the_payout,
]  # fmt: skip


@pytest.fixture(params=PARTIES, ids=[party.__name__ for party in PARTIES])
def party(request: pytest.FixtureRequest) -> tuple[Dispute, Person]:
    dispute, person = request.param(a_table(camera=True))
    return dispute, becomes(person, "auditor")


def test_whoever_had_a_part_takes_no_step(party: tuple[Dispute, Person]) -> None:
    dispute, person = party
    steps: list[Callable[[], Any]] = [
        lambda: claimed(dispute, by=person),
        lambda: proposed(dispute, ruled("p1.2", "4D"), by=person, token=uuid4()),
        lambda: decided(dispute, ruled("p1.2", "4D"), by=person),
    ]
    for step in steps:
        with pytest.raises(Refusal, match="sod_violation"):
            step()
    proposal = proposed(dispute, ruled("p1.2", "4D"))
    with pytest.raises(Refusal, match="sod_violation"):
        seconded(proposal, by=person)
    assert Decision.objects.count() == 0


def test_the_database_refuses_their_rows_by_itself(party: tuple[Dispute, Person]) -> None:
    dispute, person = party
    assert refused(lambda: propose_by_sql(dispute, person)) == (CHECKED, "proposal_is_apart")
    proposal = proposed(dispute, ruled("p1.2", "4D"))
    assert refused(lambda: decide_by_sql(proposal, person)) == (CHECKED, "decision_is_apart")
    assert refused(lambda: decide_by_sql(proposal, auditor("A02"))) is None


def test_the_refusal_is_answered_and_written_down() -> None:
    """Over HTTP: the raiser, an auditor, would claim; the log keeps that."""
    raiser = world.a_person(role="auditor", badge="A09")
    dispute = raised(a_held_round(a_table(camera=True)), by=raiser)
    before = LogEntry.objects.count()
    assert told(Office(raiser).post(f"disputes/{dispute.id}/claim")) == (403, "sod_violation")
    entry = LogEntry.objects.latest("id")
    assert (LogEntry.objects.count(), entry.action, entry.person) == (before + 1, "act.refused", raiser.id)
    assert b'"code":"sod_violation"' in bytes(entry.bytes)


def test_whoever_dealt_a_round_does_not_close_its_flags() -> None:
    table = a_table(camera=True)
    round = Round.objects.get(pk=a_held_round(table))
    flag = Flag.objects.create(
        id=uuid4(),
        kind="reads_differ",
        subject=f"rounds/{round.id}#p1.2",
        table=round.table,
        round=round,
        raised_at=THEN,
    )
    dealer = becomes(table.dealer, "auditor")
    with pytest.raises(Refusal, match="sod_violation"), acting(dealer):
        flags.close(flag=flag.id, by=dealer, code="explained", reason="it was nothing")
    with acting(auditor()):
        assert flags.close(flag=flag.id, by=auditor(), code="explained", reason="seen").state == "closed"


def test_whoever_dealt_before_or_after_the_round_has_no_part_in_it() -> None:
    table = a_table(camera=True)
    round_id = a_held_round(table)
    earlier, later = a_person("D-EARLY", "auditor"), a_person("D-LATE", "auditor")
    opened, closed = Round.objects.values_list("opened_at", "closed_at").get(pk=round_id)
    assert opened is not None
    assert closed is not None
    hour = timedelta(hours=1)
    for person, on_at, off_at in (
        (earlier, opened - hour, opened - hour / 2),
        (later, closed + hour, closed + 2 * hour),
    ):
        Duty.objects.create(session=table.session, person=person, role="dealer", on_at=on_at, off_at=off_at)
    dispute = raised(round_id)
    proposal = proposed(dispute, ruled("p1.2", "4D"), by=earlier)
    assert seconded(proposal, by=later).outcome == "settled"


def test_who_decided_a_dispute_may_decide_the_one_that_follows() -> None:
    """A decision's own acts make nobody a party."""
    table = a_table(camera=True)
    dispute = raised(a_held_round(table))
    decided(dispute, ruled("p1.2", "4D"))
    dispute.refresh_from_db()
    assert decided(raised(dispute.round_id, follows=dispute), ruled("p1.2", "AD")).outcome == "settled"


# -- raw SQL as the application ---------------------------------------------------------------------------------


def refused(do: Callable[[], Any]) -> tuple[str, str] | None:
    """The state and the constraint by which the database refuses, None where it does not."""
    try:
        with transaction.atomic():
            do()
    except IntegrityError as fault:
        cause = fault.__cause__
        assert isinstance(cause, psycopg.Error)
        return str(cause.sqlstate), str(cause.diag.constraint_name)
    return None


def sql(statement: str, *values: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def propose_by_sql(dispute: Dispute, person: Person) -> None:
    sql(
        "INSERT INTO audit_proposal (id, dispute_id, ordinal, facts, consequences, sha256, reason_code, note,"
        " proposed_by_id, proposed_at) VALUES (%s, %s, 9, '[]', '{}', '', 'other', '', %s, %s)",
        uuid4(), dispute.id, person.id, THEN,
    )  # fmt: skip


def decide_by_sql(proposal: Proposal, person: Person, *, dispute: UUID | None = None) -> None:
    sql(
        "INSERT INTO audit_decision (id, dispute_id, proposal_id, decided_by_id, decided_at, outcome, events)"
        " VALUES (%s, %s, %s, %s, %s, 'settled', '{}')",
        uuid4(), dispute or proposal.dispute_id, proposal.id, person.id, THEN,
    )  # fmt: skip


@pytest.fixture
def dispute() -> Dispute:
    return raised(a_held_round(a_table(camera=True)))


def test_sql_runs_as_the_application(dispute: Dispute) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user")
        assert cursor.fetchone() == ("pokdeng_app",)


def test_one_person_is_not_two_above_the_threshold(settings: Any, dispute: Dispute) -> None:
    proposal = proposed(dispute, ruled("p1.2", "4D"))
    assert refused(lambda: Dispute.objects.filter(pk=dispute.pk).update(needs_two=True)) is None
    assert refused(lambda: decide_by_sql(proposal, auditor())) == (CHECKED, "decision_is_apart")
    assert refused(lambda: decide_by_sql(proposal, a_person("M09", "manager"))) is None


@pytest.mark.parametrize(
    "role", ["dealer", "supervisor", "manager", "surveillance", "cashier", "administrator"]
)
def test_nobody_but_an_auditor_has_a_row_below_the_threshold(role: str, dispute: Dispute) -> None:
    person = a_person("X09", role)
    assert refused(lambda: propose_by_sql(dispute, person)) == (CHECKED, "proposal_is_apart")
    proposal = proposed(dispute, ruled("p1.2", "4D"))
    assert refused(lambda: decide_by_sql(proposal, person)) == (CHECKED, "decision_is_apart")


def test_a_disabled_account_neither_proposes_nor_decides(dispute: Dispute) -> None:
    proposal = proposed(dispute, ruled("p1.2", "4D"))
    gone = auditor("A09")
    Person.objects.filter(pk=gone.pk).update(is_active=False)
    assert refused(lambda: decide_by_sql(proposal, gone)) == (CHECKED, "decision_is_apart")
    Proposal.objects.update(withdrawn_at=THEN)
    assert refused(lambda: propose_by_sql(dispute, gone)) == (CHECKED, "proposal_is_apart")


def test_only_a_standing_proposal_of_that_dispute_is_decided(dispute: Dispute) -> None:
    second = auditor("A02")
    proposal = proposed(dispute, ruled("p1.2", "4D"))
    other = raised(a_held_round(a_table("PD02", camera=True)))
    proposed(other, ruled("p1.2", "4D"))
    assert refused(lambda: decide_by_sql(proposal, second, dispute=other.id)) == (
        CHECKED,
        "decision_of_a_standing_proposal",
    )
    Proposal.objects.filter(pk=proposal.pk).update(withdrawn_at=THEN)
    assert refused(lambda: decide_by_sql(proposal, second)) == (CHECKED, "decision_of_a_standing_proposal")


def test_a_decision_of_a_dispute_that_was_not_proposed_has_no_place(dispute: Dispute) -> None:
    claimed(dispute)
    propose_by_sql(dispute, auditor())
    assert refused(lambda: decide_by_sql(Proposal.objects.get(), auditor("A02"))) == (
        CHECKED, "decision_of_a_standing_proposal",
    )  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        "state = 'proposed'", "state = 'decided'", "money_at_risk = money_at_risk - 1", "reason_code = 'other'",
        "needs_two = true, state = 'proposed'",
    ],
)  # fmt: skip
def test_an_open_dispute_does_not_jump_nor_get_smaller_nor_change(change: str, dispute: Dispute) -> None:
    """Columns that the application may not touch at all are refused by grant (42501), the others by the trigger."""
    with pytest.raises(Exception, match=r"goes open, claimed|permission denied"), transaction.atomic():
        sql(f"UPDATE audit_dispute SET {change} WHERE id = %s", dispute.id)


def test_a_decided_dispute_is_over(dispute: Dispute) -> None:
    decided(dispute, ruled("p1.2", "4D"))
    for change in ("state = 'proposed'", "money_at_risk = money_at_risk + 1", "claim_until = now()"):
        wanted = (CHECKED, "dispute_goes_on")
        assert refused(lambda change=change: sql(f"UPDATE audit_dispute SET {change}")) == wanted  # type: ignore[misc]


def test_two_people_once_needed_stay_needed(dispute: Dispute) -> None:
    assert refused(lambda: Dispute.objects.update(needs_two=True)) is None
    assert refused(lambda: Dispute.objects.update(needs_two=False)) == (CHECKED, "dispute_goes_on")


def test_a_dispute_and_a_flag_begin_open(dispute: Dispute) -> None:
    born = (
        "INSERT INTO audit_dispute (id, round_id, subject, reason_code, reason, raised_by_id, raised_at, deadline_at,"
        " money_at_risk, currency, needs_two, state) SELECT gen_random_uuid(), round_id, 'w9', 'card', '',"
        " raised_by_id, now(), now(), 0, 'THB', false, 'decided' FROM audit_dispute"
    )
    assert refused(lambda: sql(born)) == (CHECKED, "dispute_goes_on")
    flag = (
        "INSERT INTO audit_flag (id, kind, subject, detail, raised_at, state, closed_by_id, closed_at, close_code,"
        " close_reason) SELECT gen_random_uuid(), 'mispay', 'x', '{}', now(), 'closed', raised_by_id, now(),"
        " 'no_fault', '' FROM audit_dispute"
    )
    assert refused(lambda: sql(flag)) == (CHECKED, "flag_stays")


def test_nobody_claims_what_they_raised(dispute: Dispute) -> None:
    claim = "claimed_by_id = raised_by_id, claim_token = gen_random_uuid(), claim_until = now()"
    assert refused(lambda: sql(f"UPDATE audit_dispute SET {claim}")) == (
        CHECKED,
        "dispute_not_claimed_by_its_raiser",
    )


def test_a_decision_is_neither_changed_nor_taken_away(dispute: Dispute) -> None:
    decided(dispute, ruled("p1.2", "4D"))
    for statement in (
        "UPDATE audit_decision SET decided_by_id = decided_by_id",
        "DELETE FROM audit_decision",
        "TRUNCATE audit_decision CASCADE",
        "DELETE FROM audit_proposal",
        "UPDATE audit_proposal SET facts = '[]'",
        "DELETE FROM audit_dispute",
    ):
        with pytest.raises(Exception, match="permission denied"), transaction.atomic():
            sql(statement)
    effective = settling.effective(dispute.round_id)
    assert effective is not None
    assert (Decision.objects.count(), effective.revision) == (1, 1)


def test_the_hash_of_an_older_proposal_is_stale_over_http(dispute: Dispute) -> None:
    token = claimed(dispute, now=timezone.now())
    old = proposed(dispute, ruled("p1.2", "AD"), token=token, now=timezone.now())
    new = proposed(dispute, ruled("p1.2", "4D"), token=token, now=timezone.now())
    office = Office(world.a_person(role="auditor", badge="A08"))
    answer = office.post(f"disputes/{dispute.id}/decide", {"sha256": old.sha256, "pin": world.PIN})
    assert (told(answer), answer.json()["sha256"]) == ((409, "stale_proposal"), new.sha256)
