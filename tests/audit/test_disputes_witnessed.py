"""Every step of flags and disputes leaves exactly its entries, and takes its locks in the order of the house."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from audit import disputes, flags
from audit.models import Dispute, Flag, LogEntry
from casino.models import Round
from casino.platform.refusals import Refusal
from tests import world
from tests.audit.disputing import (
    CONTESTED,
    STANDS,
    THEN,
    VOID,
    WON,
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
    watcher,
)
from tests.audit.test_disputes_api import Office, a
from tests.settlement.floor import NOW, a_table, outcome

pytestmark = pytest.mark.django_db


def entries(do: Callable[[], Any]) -> list[str]:
    """The actions that ``do`` leaves in the log, in their order."""
    last = LogEntry.objects.order_by("-id").values_list("id", flat=True).first() or 0
    do()
    return list(LogEntry.objects.filter(id__gt=last).order_by("id").values_list("action", flat=True))


def fact(action: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(bytes(LogEntry.objects.filter(action=action).latest("id").bytes))
    return found


def a_flag(round_id: UUID) -> Flag:
    round = Round.objects.get(pk=round_id)
    subject = f"rounds/{round_id}#p1.2"
    return Flag.objects.create(
        id=uuid4(), kind="reads_differ", subject=subject, table=round.table, round=round, raised_at=NOW
    )


def closes(flag: Flag) -> None:
    with acting(watcher()):
        flags.close(flag=flag.id, by=watcher(), code="explained", reason="Somchai slipped")


def disputes_it(flag: Flag) -> None:
    with acting(watcher()):
        disputes.raise_from_flag(flag=flag.id, by=watcher(), reason="Somchai again")


def renews(dispute: Dispute, token: UUID) -> None:
    with acting(auditor()):
        disputes.renew(dispute=dispute.id, by=auditor(), token=token)


def takes_over(dispute: Dispute) -> None:
    with acting(auditor("A02")):
        disputes.take_over(dispute=dispute.id, by=auditor("A02"), reason="A01 went home")


def puts_off(dispute: Dispute) -> None:
    with acting(auditor()):
        disputes.snooze(dispute=dispute.id, by=auditor(), until=THEN + timedelta(hours=1), reason="video")


def withdraws(dispute: Dispute) -> None:
    with acting(auditor()):
        disputes.withdraw(dispute=dispute.id, by=auditor())


def test_each_step_leaves_its_own_entry() -> None:
    table = a_table(camera=True)
    round_id = a_held_round(table)
    flag, other = a_flag(round_id), a_flag(a_settled_round(table, WON))
    assert entries(lambda: closes(flag)) == ["flag.closed"]
    assert entries(lambda: disputes_it(other)) == ["flag.disputed", "dispute.raised"]

    kept: list[Any] = []
    assert entries(lambda: kept.append(raised(round_id))) == ["dispute.raised"]
    (dispute,) = kept
    assert entries(lambda: puts_off(dispute)) == ["dispute.snoozed"]
    assert entries(lambda: kept.append(claimed(dispute))) == ["dispute.claimed"]
    assert entries(lambda: renews(dispute, kept[1])) == ["dispute.claim_renewed"]
    facts = ruled("p1.2", "4D")
    assert entries(lambda: proposed(dispute, facts, token=kept[1])) == ["dispute.proposed"]
    assert entries(lambda: withdraws(dispute)) == ["dispute.withdrawn"]
    assert entries(lambda: takes_over(dispute)) == ["dispute.taken_over"]


DECISIONS: list[tuple[str, str, Any, list[str]]] = [
    ("held, then settled", CONTESTED, ruled("p1.2", "4D"), ["round.recorded", "round.settled"]),
    ("held, then held", CONTESTED.replace("AD", "6D"), ruled("p1.2", "6D"), ["round.recorded", "round.held"]),
    ("held, then voided", CONTESTED, VOID, ["round.recorded", "round.voided"]),
    ("held, and stays so", CONTESTED, STANDS, []),
    ("settled, then corrected", WON, ruled("p1.2", "AD"), ["round.recorded", "round.corrected"]),
    ("settled, then voided", WON, VOID, ["round.recorded", "round.corrected"]),
    ("settled, and stands", WON, STANDS, []),
]


@pytest.mark.parametrize(
    ("text", "facts", "told"), [case[1:] for case in DECISIONS], ids=[case[0] for case in DECISIONS]
)
def test_a_decision_leaves_both_its_steps_and_what_became_of_the_round(
    text: str, facts: Any, told: list[str]
) -> None:
    round_id = a_table(camera=text != WON).tell(text)
    outcome(round_id)
    dispute = raised(round_id)
    claim = ["dispute.claimed"]
    assert entries(lambda: decided(dispute, facts)) == [*claim, "dispute.proposed", *told, "dispute.decided"]


def test_the_entry_of_a_decision_says_who_chose_what_and_what_followed() -> None:
    dispute = raised(a_held_round(a_table(camera=True)))
    decision = seconded(proposed(dispute, ruled("p1.2", "4D")))
    entry = fact("dispute.decided")
    assert entry["actor"]["person"] == str(auditor("A02").id)
    assert (entry["subject"], entry["table"], entry["round"]) == (
        f"disputes/{dispute.id}", "PD01", str(dispute.round_id),
    )  # fmt: skip
    assert entry["data"] == {
        "decision": str(decision.id),
        "proposal": str(decision.proposal_id),
        "sha256": decision.proposal.sha256,
        "facts": decision.proposal.facts,
        "outcome": "settled",
        "settlement": str(decision.settlement),
        "events": decision.events,
        "proposed_by": str(auditor().id),
        "decided_by": str(auditor("A02").id),
        "needs_two": 0,
    }
    assert fact("round.settled")["data"]["because"] == str(decision.id)


def test_no_entry_holds_what_somebody_typed() -> None:
    """People write names into reasons: the log keeps their hashes."""
    table = a_table(camera=True)
    dispute = raised(a_held_round(table), reason="Somchai saw it")
    with acting(auditor()):
        token = disputes.claim(dispute=dispute.id, by=auditor()).claim_token
    assert token is not None
    with acting(auditor()):
        disputes.propose(
            dispute=dispute.id, by=auditor(), token=token, facts=ruled("p1.2", "4D"), reason_code="other",
            note="Somchai is right",
        )  # fmt: skip
    closes(a_flag(dispute.round_id))
    disputes_it(a_flag(a_settled_round(table, WON)))
    takes_over(dispute)
    assert not any(b"Somchai" in bytes(entry.bytes) for entry in LogEntry.objects.all())


def test_a_step_that_is_refused_leaves_the_refusal_alone() -> None:
    dispute = raised(a_settled_round(a_table()))
    office = Office(watcher_with_a_desk(dispute))
    assert entries(lambda: office.post(f"disputes/{dispute.id}/claim")) == ["act.refused"]


def watcher_with_a_desk(dispute: Dispute) -> Any:
    return dispute.raised_by


def test_a_domain_refusal_leaves_nothing() -> None:
    dispute = raised(a_settled_round(a_table()))

    def tries() -> None:
        with pytest.raises(Refusal):
            proposed(dispute, STANDS, token=uuid4())

    assert entries(tries) == []


# -- locks and statements ---------------------------------------------------------------------------------------

LOCKS = (
    ("key", "pg_try_advisory_xact_lock"),
    ("day", "settlement_share_days"),
    ("dispute", 'FOR UPDATE OF "audit_dispute"'),
    ("session", 'FROM "casino_tablesession"'),
    ("round", 'FOR UPDATE OF "casino_round"'),
    ("accounts", "FOR NO KEY UPDATE"),
)


def locks_of(statements: list[str]) -> list[str]:
    """The kinds of locks in the order in which each is first taken. A session's is told by its table and its words."""
    taken: list[str] = []
    for sql in statements:
        for name, words in LOCKS:
            locks = words in sql and (name != "session" or "FOR UPDATE" in sql)
            if locks and name not in taken:
                taken.append(name)
    return taken


def captured(do: Callable[[], Any]) -> list[str]:
    with CaptureQueriesContext(connection) as queries:
        do()
    return [query["sql"] for query in queries]


@pytest.mark.parametrize("text", [CONTESTED, WON], ids=["held", "settled"])
@pytest.mark.parametrize("alone", [True, False])
def test_a_decision_locks_key_day_dispute_session_round_and_accounts_in_this_order(
    text: str, alone: bool
) -> None:
    round_id = a_table(camera=text != WON).tell(text)
    outcome(round_id)
    dispute = raised(round_id)
    office = a("auditor", "A07")
    if alone:
        token = office.post(f"disputes/{dispute.id}/claim").json()["token"]
        body = {"token": token, "facts": ruled("p1.2", "AD"), "reason_code": "other"}
    else:
        body = {"sha256": proposed(dispute, ruled("p1.2", "AD")).sha256}
    answers: list[Any] = []
    seen = captured(
        lambda: answers.append(office.post(f"disputes/{dispute.id}/decide", body | {"pin": world.PIN}))
    )
    assert answers[0].status_code == 200
    assert locks_of(seen) == [name for name, _ in LOCKS]
    for lock, change in (
        ("dispute", 'UPDATE "audit_dispute"'),
        ("round", "UPDATE casino_round"),
        ("accounts", "UPDATE settlement_account"),
    ):
        first = next(place for place, sql in enumerate(seen) if change in sql)
        assert lock in locks_of(seen[:first])


def test_raising_locks_the_dispute_before_the_round() -> None:
    round_id = a_settled_round(a_table())
    seen = captured(lambda: raised(round_id))
    inserted = next(place for place, sql in enumerate(seen) if 'INSERT INTO "audit_dispute"' in sql)
    told = next(place for place, sql in enumerate(seen) if 'UPDATE "casino_round"' in sql)
    assert inserted < told


def test_a_decision_takes_the_same_statements_for_one_wager_and_for_sixteen() -> None:
    second, counts = auditor("A02"), []
    for code, hands in (("PD01", 1), ("PD02", 16)):
        bets = "".join(f"bet w{n} p{n} 100\n" for n in range(1, hands + 1))
        pairs = [f"{rank}{suits[0]} {rank}{suits[1]}" for suits in ("SH", "CD") for rank in "23456789"]
        cards = "".join(f"p{n} {pairs[n - 1]}\n" for n in range(1, hands + 1))
        round_id = a_table(code).tell(f"{bets}lock\n{cards}dealer KC QD\nclose")
        assert outcome(round_id) == "settled"
        proposal = proposed(raised(round_id), ruled("dealer.2", "JD"))
        counts.append(len(captured(functools.partial(seconded, proposal, by=second))))
    assert counts[0] == counts[1]
