"""What a decision does to a round and its money: a revision that cites it, the difference, and nothing by halves."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from audit import disputes
from audit.models import Decision, Dispute, LogEntry, Proposal
from casino.models import Round, RoundEvent
from casino.platform.refusals import Refusal
from settlement import settling
from settlement.models import Journal, Settlement
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
    removed,
    ruled,
    seconded,
)
from tests.casino.telling import TWO_HANDS
from tests.settlement import floor
from tests.settlement.books import journal, post
from tests.settlement.floor import NOW, a_table, a_wallet, covered, lines_of, money, outcome, posted, standing

pytestmark = pytest.mark.django_db


def revisions(round_id: UUID) -> list[tuple[int, str, UUID | None]]:
    found = Settlement.objects.filter(round=round_id).order_by("revision")
    return [(one.revision, one.outcome, one.because) for one in found]


# -- a held round ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("card", "net"), [("4D", 100_00), ("AD", -100_00)])
def test_a_held_round_is_settled_by_the_card_that_was_chosen(card: str, net: int) -> None:
    table = a_table(camera=True)
    round_id = a_held_round(table)
    decision = decided(raised(round_id), ruled("p1.2", card))

    assert (standing(round_id), lines_of(round_id)) == ("settled", {"w1": net})
    assert money() == {table.bank: -net, table.guests: net}
    assert revisions(round_id) == [(1, "settled", decision.id)]
    effective = settling.effective(round_id)
    assert effective is not None
    assert (decision.outcome, decision.settlement, effective.cites) == ("settled", effective.id, [])


def test_the_facts_that_were_chosen_are_events_of_the_dispute_by_who_decided() -> None:
    dispute = raised(a_held_round(a_table(camera=True)))
    decision = decided(dispute, ruled("p1.2", "AD"))

    (event,) = RoundEvent.objects.filter(id__in=decision.events)
    assert (event.kind, event.source, event.signed, event.late) == (
        "card_ruled", f"/disputes/{dispute.id}", "decision", False,
    )  # fmt: skip
    assert (event.person, event.signer, event.device, event.device_seq) == (auditor(), auditor(), None, None)
    assert event.payload == {"hand": "p1", "position": 2, "card": "AD", "reason": "seen_on_video"}
    assert event.seq == Round.objects.get(pk=dispute.round_id).event_count


def test_a_held_round_that_is_voided_moves_nothing() -> None:
    round_id = a_held_round(a_table(camera=True))
    decision = decided(raised(round_id), VOID)
    assert (standing(round_id), money(), decision.outcome) == ("voided", {}, "voided")
    assert revisions(round_id) == [(1, "voided", decision.id)]


def test_a_card_that_only_the_camera_saw_is_taken_away() -> None:
    table = a_table(camera=True)
    round_id = a_held_round(table, TWO_HANDS + "camera: p1.3 2H\nclose")
    assert decided(raised(round_id), removed("p1.3")).outcome == "settled"
    assert lines_of(round_id) == {"w1": 100_00}


def test_a_decision_that_leaves_another_doubt_leaves_the_round_held_for_it() -> None:
    """The camera's card lies in the dealer's hand too; the dispute is decided all the same, and another may follow."""
    table = a_table(camera=True)
    round_id = a_held_round(table, TWO_HANDS + "camera: p1.2 6D\nclose")
    dispute = raised(round_id)
    decision = decided(dispute, ruled("p1.2", "6D"))

    assert (standing(round_id), money()) == ("held: duplicate_card", {})
    assert (decision.outcome, decision.settlement, revisions(round_id)) == ("held", None, [])
    dispute.refresh_from_db()
    again = decided(raised(round_id, follows=dispute), ruled("p1.2", "4D"))
    assert (standing(round_id), revisions(round_id)) == ("settled", [(1, "settled", again.id)])


def test_a_held_round_that_stands_stays_held_and_its_dispute_is_over() -> None:
    round_id = a_held_round(a_table(camera=True))
    decision = decided(raised(round_id), STANDS)
    assert (standing(round_id), decision.outcome, decision.events) == ("held: reads_differ", "held", [])
    assert not Round.objects.get(pk=round_id).in_dispute


def test_a_decision_waits_for_no_camera() -> None:
    """It comes within the second that a camera has for its last reads."""
    round_id = a_table(camera=True).tell(CONTESTED)
    assert outcome(round_id, now=NOW) == "held: reads_differ"
    assert decided(raised(round_id, now=NOW), ruled("p1.2", "4D"), now=NOW).outcome == "settled"


def test_a_round_that_was_held_when_its_table_closed_is_decided_afterwards() -> None:
    table = a_table(camera=True)
    round_id = a_held_round(table)
    with floor.act(now=THEN):
        carriers = (floor.a_person("S01", "supervisor"), floor.a_person("M01", "manager"))
        floor.tables.close(session=table.session, last_round=1, carried_over_by=carriers, now=THEN)
    decision = decided(raised(round_id), ruled("p1.2", "4D"), now=THEN + timedelta(hours=1))
    assert (decision.outcome, money()) == ("settled", {table.bank: -100_00, table.guests: 100_00})


# -- a settled round ---------------------------------------------------------------------------------------------


def test_a_settled_round_gets_a_new_revision_that_cites_the_decision_and_moves_the_difference() -> None:
    table = a_table()
    round_id = a_settled_round(table)
    decision = decided(raised(round_id), ruled("p1.2", "AD"))

    assert revisions(round_id) == [(1, "settled", None), (2, "settled", decision.id)]
    effective = settling.effective(round_id)
    assert effective is not None
    assert (effective.cites, decision.settlement) == (decision.events, effective.id)
    assert (effective.acted_by, effective.approved_by) == (None, None)
    assert money() == {table.bank: 100_00, table.guests: -100_00}
    assert posted() == [("round", 2), ("round_reversal", 2), ("round", 2)]
    assert RoundEvent.objects.filter(id__in=decision.events, late=True).count() == 1


def test_what_was_posted_is_taken_back_entry_for_entry() -> None:
    round_id = a_settled_round(a_table(preset="thai_app"))
    decided(raised(round_id), ruled("p1.2", "AD"))
    first, second = Settlement.objects.filter(round=round_id).order_by("revision")
    reversal, posted_first = second.reversal, first.journal
    assert reversal is not None
    assert posted_first is not None
    assert reversal.reverses_id == posted_first.id
    back = list(reversal.entries.order_by("ordinal").values_list("account", "amount", "wager"))
    assert back == [
        (account, -amount, wager)
        for account, amount, wager in posted_first.entries.order_by("ordinal").values_list(
            "account", "amount", "wager"
        )
    ]


def test_a_settled_round_that_stands_keeps_its_revision_and_gets_no_event() -> None:
    table = a_table()
    round_id = a_settled_round(table)
    before = Round.objects.get(pk=round_id).event_count
    decision = decided(raised(round_id), STANDS)
    assert (decision.outcome, decision.settlement, decision.events) == ("settled", None, [])
    assert (revisions(round_id), Round.objects.get(pk=round_id).event_count) == (
        [(1, "settled", None)],
        before,
    )
    assert money() == {table.bank: -100_00, table.guests: 100_00}


def test_a_settled_round_that_is_voided_gives_everything_back() -> None:
    round_id = a_settled_round(a_table())
    decision = decided(raised(round_id), VOID)
    assert (standing(round_id), money()) == ("voided", {})
    assert revisions(round_id) == [(1, "settled", None), (2, "voided", decision.id)]


def test_a_later_decision_stands_on_the_one_before() -> None:
    """The guest's four becomes an ace, and then the dealer's six a three: 4 against 3."""
    table = a_table()
    round_id = a_settled_round(table)
    first = raised(round_id)
    one = decided(first, ruled("p1.2", "AD"))
    first.refresh_from_db()
    two = decided(raised(round_id, follows=first), ruled("dealer.2", "3D"))

    effective = settling.effective(round_id)
    assert effective is not None
    assert (effective.revision, effective.cites) == (3, [*one.events, *two.events])
    assert money() == {table.bank: -100_00, table.guests: 100_00}


def test_a_late_read_counts_only_where_a_decision_says_so() -> None:
    """The camera's ace comes after the settlement: evidence. The decision names the card, and the read stays late."""
    table = a_table(camera=True)
    round_id = a_settled_round(table)
    table.tell("camera: p1.2 AD", round=round_id, at=THEN)
    assert lines_of(round_id) == {"w1": 100_00}
    decision = decided(raised(round_id, now=THEN), ruled("p1.2", "AD"))
    effective = settling.effective(round_id)
    assert effective is not None
    assert (lines_of(round_id), effective.cites) == ({"w1": -100_00}, decision.events)


def test_days_later_the_difference_is_posted_in_the_running_day_and_says_which_day_it_is_of() -> None:
    round_id = a_settled_round(a_table())
    decided(raised(round_id), ruled("p1.2", "AD"), now=THEN + timedelta(days=2))
    days = list(
        Journal.objects.filter(round=round_id)
        .order_by("recorded_at", "kind")
        .values_list("kind", "gaming_day", "orig_day")
    )
    assert [(kind, str(day), str(orig)) for kind, day, orig in days] == [
        ("round", "2026-03-01", "None"),
        ("round", "2026-03-03", "2026-03-01"),
        ("round_reversal", "2026-03-03", "2026-03-01"),
    ]  # fmt: skip


# -- wallets -----------------------------------------------------------------------------------------------------

LOST = "lock\np1 3S AD\ndealer KC 6D\nclose"


def test_a_held_rounds_wallet_is_freed_and_paid_by_the_decision() -> None:
    table = a_table(camera=True)
    wallet = a_wallet("A17", 1_000)
    round_id = table.tell("bet w1 p1 100 account=player:A17")
    covered(round_id)
    table.tell("bet w2 p1 50\nlock\np1 3S 4D\ndealer KC 6D\ncamera: p1.2 AD\nclose", round=round_id)
    assert outcome(round_id) == "held: reads_differ"
    assert floor.holds() == {wallet: 500_00}
    decided(raised(round_id), ruled("p1.2", "4D"))
    assert floor.holds() == {}
    assert (money()[wallet], money()[table.guests]) == (1_100_00, 50_00)


def test_what_a_wallet_cannot_give_back_is_lent_and_the_house_is_short_of_it() -> None:
    """Paid by mistake, 200 baht went to a wallet that has 50 left: the decision takes 200, and 150 of it is lent."""
    table = a_table()
    wallet = a_wallet("A17", 0)
    round_id = table.tell("bet w1 p1 100 account=player:A17\nlock\np1 9S 9D\ndealer KC 6D\nclose")
    assert outcome(round_id) == "settled"
    assert money()[wallet] == 200_00
    post(journal("withdrawal", {wallet: -150_00, "external:cash:C1": 150_00}))
    decision = decided(raised(round_id), ruled("p1.2", "7D"))  # 6 against 6: a push

    assert lines_of(round_id) == {"w1": 0}
    assert (money().get(wallet, 0), money()[table.shortfall]) == (0, -150_00)
    assert decision.settlement is not None
    assert Settlement.objects.get(pk=decision.settlement).shortfall is not None


# -- nothing by halves -------------------------------------------------------------------------------------------


def everything() -> dict[str, Any]:
    return {
        "money": money(),
        "rounds": list(Round.objects.values_list("id", "standing", "event_count", "in_dispute")),
        "rows": [
            model.objects.count() for model in (RoundEvent, Settlement, Journal, Decision, Proposal, LogEntry)
        ],
        "disputes": list(Dispute.objects.values_list("state", "money_at_risk", "needs_two")),
    }


def test_a_decision_under_which_a_settled_round_would_be_held_is_refused_and_changes_nothing() -> None:
    """The dealer has that card."""
    dispute = raised(a_settled_round(a_table()))
    token = claimed(dispute)
    proposed(dispute, ruled("p1.2", "6D"), token=token)
    before = everything()
    with pytest.raises(Refusal, match="round_held") as told:
        seconded(Proposal.objects.get())
    assert told.value.extra == {"reasons": ["duplicate_card"]}
    assert everything() == before


def test_a_decision_refused_in_one_step_writes_neither_of_its_two() -> None:
    dispute = raised(a_settled_round(a_table()))
    token = claimed(dispute)
    before = everything()
    with pytest.raises(Refusal, match="round_held"), acting(auditor()):
        disputes.propose_and_decide(
            dispute=dispute.id,
            by=auditor(),
            token=token,
            facts=ruled("p1.2", "6D"),
            reason_code="other",
            note="",
        )
    assert everything() == before


def test_what_was_decided_of_a_round_is_what_the_proposal_said_would_come_of_it() -> None:
    table = a_table(preset="thai_app")
    round_id = table.tell("bet w1 p1 100\nbet w2 p2 300\nlock\np1 3S 4D\np2 2S 5H\ndealer KC 6D\nclose")
    assert outcome(round_id) == "settled"
    dispute = raised(round_id)
    proposal = proposed(dispute, ruled("dealer.2", "8C"))
    dispute.refresh_from_db()
    seconded(proposal, by=auditor("A02"))

    said = {line["wager"]: line["after"] for line in proposal.consequences["lines"]}
    effective = settling.effective(round_id)
    assert effective is not None
    assert (said, proposal.consequences["house_net"]) == (lines_of(round_id), effective.house_net)


def test_the_first_revision_of_a_voided_round_can_be_followed_by_none_but_a_void() -> None:
    """A void is not taken back: whatever else is decided, the round stays void."""
    table = a_table()
    round_id = table.tell(WON.replace("close", "void"))
    assert outcome(round_id) == "voided"
    decision = decided(raised(round_id), ruled("p1.2", "AD"))
    assert (decision.outcome, money()) == ("voided", {})
