"""A dispute goes open, claimed, proposed, decided: who may take which step, and when one is refused."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from audit import disputes
from audit.disputes import option_texts
from audit.models import Dispute, Flag, Proposal
from casino.models import Round
from casino.platform.refusals import Refusal
from settlement.rules import doubts
from tests.audit.disputing import (
    CONTESTED,
    STANDS,
    THEN,
    VOID,
    WON,
    a_held_round,
    a_settled_round,
    acting,
    answers,
    auditor,
    claimed,
    decided,
    proposed,
    raised,
    ruled,
    seconded,
    watcher,
)
from tests.settlement.floor import NOW, a_person, a_table

pytestmark = pytest.mark.django_db


def refused(code: str) -> Any:
    return pytest.raises(Refusal, match=code)


def nothing_moved(dispute: Dispute, state: str) -> None:
    found = Dispute.objects.get(pk=dispute.pk)
    assert (found.state, Proposal.objects.filter(dispute=dispute).count()) == (state, 0)


# -- raising -----------------------------------------------------------------------------------------------------


def test_a_dispute_says_who_objects_to_what_and_until_when_it_must_be_decided(settings: Any) -> None:
    settings.DISPUTES = {"deadline_hours": 24, "threshold": 500_000, "lease_minutes": 10}
    round_id = a_held_round(a_table(camera=True))
    dispute = raised(round_id, subject="p1.2")

    found = Dispute.objects.get()
    assert (found.round_id, found.subject, found.state, found.raised_by) == (
        round_id,
        "p1.2",
        "open",
        watcher(),
    )
    assert found.deadline_at == THEN + timedelta(hours=24)
    assert (found.money_at_risk, found.currency, found.needs_two) == (200_00, "THB", False)
    assert Round.objects.get(pk=round_id).in_dispute
    assert dispute.id == found.id


@pytest.mark.parametrize(("threshold", "two"), [(200_00, False), (199_99, True)])
def test_two_people_decide_above_the_threshold_not_at_it(settings: Any, threshold: int, two: bool) -> None:
    settings.DISPUTES = {"deadline_hours": 24, "threshold": threshold, "lease_minutes": 10}
    assert raised(a_held_round(a_table(camera=True))).needs_two is two


def test_a_void_alone_puts_nothing_at_risk_until_somebody_proposes_it(settings: Any) -> None:
    settings.DISPUTES = {"deadline_hours": 24, "threshold": 50_00, "lease_minutes": 10}
    dispute = raised(a_settled_round(a_table()))
    assert (dispute.money_at_risk, dispute.needs_two) == (0, False)

    proposed(dispute, VOID)
    dispute.refresh_from_db()
    assert (dispute.money_at_risk, dispute.needs_two) == (100_00, True)


def test_where_every_answer_comes_to_the_same_nothing_is_at_risk() -> None:
    """A five of diamonds or of clubs: both make the guest's eight, and whoever wins is paid whichever it was."""
    text = "bet w1 p1 100\np1 3S 5D\ndealer KC 6D\ncamera: p1.2 5C\nclose"
    dispute = raised(a_held_round(a_table(camera=True), text))
    assert dispute.money_at_risk == 0
    decided(dispute, ruled("p1.2", "5C"))
    dispute.refresh_from_db()
    assert (dispute.money_at_risk, dispute.needs_two) == (0, False)


def test_a_card_that_nobody_read_is_at_risk_as_far_as_it_is_from_what_was_read() -> None:
    """With a nine the guest has 2 and loses 100, between the answers +100 and −100; with a six of spades he wins
    double."""
    dispute = raised(a_held_round(a_table(camera=True)))
    token = claimed(dispute)
    proposed(dispute, ruled("p1.2", "9D"), token=token)
    dispute.refresh_from_db()
    assert dispute.money_at_risk == 200_00
    proposed(dispute, ruled("p1.2", "6S"), token=token)
    dispute.refresh_from_db()
    assert dispute.money_at_risk == 300_00


def test_the_same_is_disputed_once_another_part_of_the_round_besides() -> None:
    round_id = a_settled_round(a_table())
    raised(round_id, subject="p1")
    with refused("dispute_open"):
        raised(round_id, subject="p1", by=auditor())
    raised(round_id, subject="w1")
    assert Dispute.objects.count() == 2


@pytest.mark.parametrize("subject", ["p17", "p1.7", "x", "w0", "player:A17:wallet", "p1\n"])
def test_a_dispute_is_about_a_part_of_a_round(subject: str) -> None:
    with refused("invalid_value"):
        raised(a_settled_round(a_table()), subject=subject)


def test_a_reason_is_one_of_the_list() -> None:
    with refused("invalid_value"):
        raised(a_settled_round(a_table()), reason_code="because")


def test_a_round_whose_opening_never_came_cannot_be_disputed() -> None:
    table = a_table(camera=True)
    round_id = table.tell("camera: p1.1 3S")
    Round.objects.filter(pk=round_id).update(opened_at=None)
    with refused("round_not_opened"):
        raised(round_id)


def test_a_flag_becomes_a_dispute_about_what_it_names() -> None:
    round_id = a_held_round(a_table(camera=True))
    flag = a_flag(round_id, "reads_differ", "p1.2")
    with acting(watcher()):
        dispute = disputes.raise_from_flag(flag=flag.id, by=watcher(), reason="look again")

    flag.refresh_from_db()
    assert (flag.state, flag.dispute) == ("disputed", dispute.id)
    assert (dispute.subject, dispute.reason_code, dispute.raised_by) == ("p1.2", "flag", watcher())
    with refused("flag_answered"), acting(watcher()):
        disputes.raise_from_flag(flag=flag.id, by=watcher(), reason="again")


def a_flag(round_id: Any, kind: str, part: str) -> Flag:
    round = Round.objects.get(pk=round_id)
    return Flag.objects.create(
        id=uuid4(),
        kind=kind,
        subject=f"rounds/{round_id}#{part}",
        table=round.table,
        round=round,
        raised_at=NOW,
    )


def test_a_wallets_flag_becomes_a_dispute_about_the_whole_round() -> None:
    """A wallet is no part of a round that could be ruled on, and its name may be long."""
    flag = a_flag(a_settled_round(a_table()), "shortfall", f"player:{'A' * 60}:wallet")
    with acting(watcher()):
        assert disputes.raise_from_flag(flag=flag.id, by=watcher(), reason="").subject == ""


def test_a_flag_of_another_round_or_of_none_is_no_ground() -> None:
    table = a_table()
    first, second = a_settled_round(table), a_settled_round(table)
    flag = a_flag(first, "closed_too_fast", "")
    with refused("invalid_value"):
        raised(second, flag=flag.id)
    Flag.objects.filter(pk=flag.pk).update(state="open")
    camera = Flag.objects.create(
        id=uuid4(), kind="camera_gap", subject="devices/PD01-camera#1-2", raised_at=NOW
    )
    with refused("invalid_value"), acting(watcher()):
        disputes.raise_from_flag(flag=camera.id, by=watcher(), reason="")
    assert Dispute.objects.count() == 0


# -- what could be decided ---------------------------------------------------------------------------------------


def test_the_options_are_the_cards_that_were_read_each_with_what_it_moves() -> None:
    """Seat 1 wins 100 with the terminal's card, loses 100 with the camera's; nothing was settled yet."""
    found = answers(raised(a_held_round(a_table(camera=True))))

    assert list(found) == ["card_ruled p1.2 4D", "card_ruled p1.2 AD", "stands", "round_voided"]
    nets = {
        name: [(line.wager, line.before, line.after) for line in one.lines] for name, one in found.items()
    }
    assert nets == {
        "card_ruled p1.2 4D": [("w1", None, 100_00)],
        "card_ruled p1.2 AD": [("w1", None, -100_00)],
        "stands": [],
        "round_voided": [],
    }
    assert [(one.outcome, one.moved, one.house_net) for one in found.values()] == [
        ("settled", 100_00, -100_00), ("settled", 100_00, 100_00), ("held", 0, 0), ("voided", 0, 0),
    ]  # fmt: skip
    assert found["stands"].reasons == ("reads_differ",)


def test_of_a_settled_round_the_options_say_what_stays_as_paid_and_what_is_moved() -> None:
    """The terminal leads, so the round was settled by its card: seven against six."""
    table = a_table(camera=True, feed_lead="terminal")
    found = answers(raised(a_settled_round(table, CONTESTED)))

    lines = {
        name: [(line.hand, line.owner, line.before, line.after) for line in one.lines]
        for name, one in found.items()
    }
    seat = {"seat": "1"}
    assert lines == {
        "card_ruled p1.2 4D": [("p1", seat, 100_00, 100_00)],
        "card_ruled p1.2 AD": [("p1", seat, 100_00, -100_00)],
        "stands": [("p1", seat, 100_00, 100_00)],
        "round_voided": [("p1", seat, 100_00, None)],
    }  # fmt: skip
    assert [one.moved for one in found.values()] == [0, 200_00, 0, 100_00]


@pytest.mark.parametrize(
    ("text", "options", "reason", "wanted"),
    [
        ("bet w1 p1 100\np1 3H 2D\np1 draws\np1.3 9S\ndealer 9S 6D\nclose", {}, "duplicate_card",
         ["card_removed dealer.1", "card_removed p1.3"]),
        ("bet w1 p1 100\np1 9S KD 2C\ndealer KC 6D\nclose", {}, "pok_drew", ["card_removed p1.3"]),
        ("bet w1 p1 100\np1 AS 2D 3H 4C\ndealer KC 6D\nclose", {}, "too_many_cards",
         ["card_removed p1.1", "card_removed p1.2", "card_removed p1.3", "card_removed p1.4"]),
        ("bet w1 p1 100\np1 3S 4D\njunk1 2S 5C\ndealer KC 6D\nclose", {"max_hands": 2}, "too_many_hands",
         ["card_removed junk1.1 + card_removed junk1.2"]),
        (WON, {"requires": {"camera": False, "declared_result": True}}, "missing_declaration",
         ["hold_waived missing_declaration"]),
        ("bet w1 p1 100\np1 3S 4D\ndealer KC 6D\ncamera: p1.3 2H\nclose", {}, "reads_differ",
         ["card_ruled p1.3 2H", "card_removed p1.3"]),
        ("bet w1 p1 100\np1 3S\ndealer KC 6D\nclose", {}, "missing_card", []),
    ],
)  # fmt: skip
def test_each_reason_to_hold_has_the_answers_that_release_it(
    text: str, options: dict[str, Any], reason: str, wanted: list[str]
) -> None:
    table = a_table(camera="camera" in text, **options)
    found = answers(raised(a_held_round(table, text, reason=reason)))
    assert list(found) == [*wanted, "stands", "round_voided"]
    if wanted:
        assert any(one.outcome == "settled" for one in found.values())


def said(round_id: Any, **more: Any) -> list[tuple[str, str]]:
    """The options in words, Thai and English."""
    written = [option.written()["says"] for option in disputes.options_of(round_id, **more)]
    return [(one["th"], one["en"]) for one in written]


def test_each_option_says_in_one_line_what_would_come_of_it() -> None:
    """The terminal's five lost to the dealer's six; the camera's pair of threes wins by its deng."""
    table = a_table(camera=True, feed_lead="terminal")
    text = "bet w1 p1 300\np1 3S 2D\ndealer KC 6D\ncamera: p1.2 3C\nclose"
    assert said(a_settled_round(table, text)) == [
        ("2♦: −฿300 ตามที่จ่ายแล้ว", "2♦: −฿300 as paid"),
        ("3♣: +฿300 ย้าย ฿600", "3♣: +฿300, ฿600 moves"),
        ("คงเดิม: −฿300 ตามที่จ่ายแล้ว", "it stands: −฿300 as paid"),
        ("ยกเลิกรอบ: ฿0 ย้าย ฿300", "void the round: ฿0, ฿300 moves"),
    ]


def test_of_a_held_round_an_option_says_who_would_win_or_that_no_money_moves() -> None:
    """A pair of threes wins against the dealer's six by its deng; the other card is the dealer's."""
    table = a_table(camera=True)
    text = "bet w1 p1 300\np1 3S 3C\ndealer KC 6D\ncamera: p1.2 6D\nclose"
    assert said(a_held_round(table, text)) == [
        ("3♣: +฿300", "3♣: +฿300"),
        ("6♦: ยังค้าง (ไพ่ซ้ำสองที่)", "6♦: still held (one card in two places)"),
        ("คงเดิม: ยังค้าง (อ่านไพ่ไม่ตรงกัน)", "it stands: still held (reads differ)"),
        ("ยกเลิกรอบ: เงินไม่ย้าย", "void the round: no money moves"),
    ]


def test_every_reason_to_wait_has_its_words() -> None:
    assert set(option_texts._WAITS) == set(doubts.REASONS)


def test_the_card_in_question_can_be_confirmed_although_every_feed_agrees() -> None:
    dispute = raised(a_settled_round(a_table()), subject="p1.2")
    assert list(answers(dispute)) == ["card_ruled p1.2 4D", "stands", "round_voided"]


def test_a_round_that_still_waits_for_its_settlement_can_only_be_voided() -> None:
    table = a_table()
    dispute = raised(table.tell("bet w1 p1 100\nlock\np1 3S 4D"))
    assert list(answers(dispute)) == ["round_voided"]
    token = claimed(dispute)
    for facts in (STANDS, ruled("p1.2", "9D")):
        with refused("round_not_settled"):
            proposed(dispute, facts, token=token)
    assert decided(dispute, VOID).outcome == "voided"


def test_what_a_missing_number_may_hide_is_not_judged_by_a_ruling() -> None:
    """A card is ruled, and the terminal's numbers are missing all the same: the round stays held for them."""
    table = a_table(camera=True)
    text = CONTESTED.replace("\nclose", "\nskip 2\nclose")
    dispute = raised(a_held_round(table, text, reason="sequence_gap reads_differ"))
    found = answers(dispute)["card_ruled p1.2 4D"]
    assert (found.outcome, found.reasons) == ("held", ("sequence_gap",))
    assert decided(dispute, ruled("p1.2", "4D")).outcome == "held"


# -- the claim ---------------------------------------------------------------------------------------------------


def test_a_claim_is_a_lease_of_some_minutes_and_names_whose_it_is_to_others() -> None:
    dispute = raised(a_settled_round(a_table()))
    claimed(dispute)
    dispute.refresh_from_db()
    assert (dispute.state, dispute.claimed_by, dispute.claim_until) == (
        "claimed",
        auditor(),
        THEN + timedelta(minutes=10),
    )

    with pytest.raises(Refusal, match="claimed") as told:
        claimed(dispute, by=auditor("A02"))
    assert told.value.extra == {
        "claimed_by": str(auditor().id),
        "until": (THEN + timedelta(minutes=10)).isoformat(),
    }
    claimed(dispute, by=auditor("A02"), now=THEN + timedelta(minutes=10))


def test_a_claim_is_renewed_by_its_token_until_it_has_run_out() -> None:
    dispute = raised(a_settled_round(a_table()))
    token = claimed(dispute)
    later = THEN + timedelta(minutes=9)
    with acting(auditor(), now=later):
        assert disputes.renew(dispute=dispute.id, by=auditor(), token=token).claim_until == later + timedelta(
            minutes=10
        )
    for who, with_token, now in (
        (auditor(), uuid4(), later),
        (auditor("A02"), token, later),
        (auditor(), token, later + timedelta(minutes=10)),
    ):
        with refused("claim_lost"), acting(who, now=now):
            disputes.renew(dispute=dispute.id, by=who, token=with_token)


def test_what_the_former_holder_had_open_decides_nothing_after_it_was_taken_over() -> None:
    dispute = raised(a_settled_round(a_table()))
    old = claimed(dispute)
    second = auditor("A02")
    with acting(second):
        taken = disputes.take_over(dispute=dispute.id, by=second, reason="A01 went home")
    with refused("claim_lost"):
        proposed(dispute, STANDS, token=old)
    assert taken.claim_token is not None
    proposed(dispute, STANDS, by=second, token=taken.claim_token)


def test_claiming_again_makes_the_older_page_worthless() -> None:
    dispute = raised(a_settled_round(a_table()))
    old = claimed(dispute)
    claimed(dispute)
    with refused("claim_lost"):
        proposed(dispute, STANDS, token=old)
    nothing_moved(dispute, "claimed")


def test_a_dispute_is_put_off_with_a_reason_never_past_its_deadline() -> None:
    dispute = raised(a_settled_round(a_table()))
    for until in (THEN, dispute.deadline_at + timedelta(seconds=1)):
        with refused("invalid_value"), acting(auditor()):
            disputes.snooze(dispute=dispute.id, by=auditor(), until=until, reason="video tomorrow")
    with acting(auditor()):
        put_off = disputes.snooze(dispute=dispute.id, by=auditor(), until=dispute.deadline_at, reason="video")
    assert (put_off.snoozed_until, put_off.state) == (dispute.deadline_at, "open")


# -- proposing ---------------------------------------------------------------------------------------------------


def test_a_proposal_holds_what_would_come_of_it_and_its_facts_bear_its_reason() -> None:
    dispute = raised(a_held_round(a_table(camera=True)))
    proposal = proposed(dispute, ruled("p1.2", "AD"))

    dispute.refresh_from_db()
    assert (dispute.state, proposal.ordinal, proposal.proposed_by) == ("proposed", 1, auditor())
    fact = {"kind": "card_ruled", "hand": "p1", "position": 2, "card": "AD", "reason": "seen_on_video"}
    assert proposal.facts == [fact]
    assert proposal.consequences["lines"] == [
        {"wager": "w1", "hand": "p1", "owner": {"seat": "1"}, "before": None, "after": -100_00}
    ]


def test_a_new_proposal_replaces_the_one_before_and_both_are_kept() -> None:
    dispute = raised(a_held_round(a_table(camera=True)))
    token = claimed(dispute)
    first = proposed(dispute, ruled("p1.2", "AD"), token=token)
    second = proposed(dispute, ruled("p1.2", "4D"), token=token)
    first.refresh_from_db()
    assert (first.withdrawn_at, second.withdrawn_at, second.ordinal) == (THEN, None, 2)


def test_a_proposal_is_withdrawn_by_who_made_it() -> None:
    dispute = raised(a_held_round(a_table(camera=True)))
    proposal = proposed(dispute, ruled("p1.2", "AD"))
    with refused("not_yours"), acting(auditor("A02")):
        disputes.withdraw(dispute=dispute.id, by=auditor("A02"))
    with acting(auditor()):
        assert disputes.withdraw(dispute=dispute.id, by=auditor()).state == "claimed"
    with refused("nothing_proposed"):
        seconded(proposal)
    with refused("nothing_proposed"), acting(auditor()):
        disputes.withdraw(dispute=dispute.id, by=auditor())


@pytest.mark.parametrize(
    "facts",
    [
        [*STANDS, *ruled("p1.2", "AD")],
        [*STANDS, *STANDS],
        [{"kind": "bet_placed"}],
        [],
    ],
)
def test_facts_that_no_decision_can_choose_are_refused(facts: Any) -> None:
    dispute = raised(a_held_round(a_table(camera=True)))
    token = claimed(dispute)
    with refused("invalid_value"):
        decided_with(dispute, facts, token)
    nothing_moved(dispute, "claimed")


def decided_with(dispute: Dispute, facts: Any, token: Any) -> None:
    with acting(auditor()):
        disputes.propose_and_decide(
            dispute=dispute.id, by=auditor(), token=token, facts=facts, reason_code="other", note=""
        )


# -- deciding: who ----------------------------------------------------------------------------------------------


def above(settings: Any) -> Dispute:
    """A dispute about 100 baht where two people decide above 50."""
    settings.DISPUTES = {"deadline_hours": 24, "threshold": 50_00, "lease_minutes": 10}
    return raised(a_held_round(a_table(camera=True)))


def test_below_the_threshold_one_auditor_proposes_and_decides_and_both_steps_are_written() -> None:
    decision = decided(raised(a_held_round(a_table(camera=True))), ruled("p1.2", "4D"))
    assert (decision.decided_by, decision.proposal.proposed_by, decision.proposal.ordinal) == (
        auditor(),
        auditor(),
        1,
    )


def test_above_the_threshold_one_auditor_alone_decides_nothing(settings: Any) -> None:
    dispute = above(settings)
    token = claimed(dispute)
    with refused("two_people_needed"):
        decided_with(dispute, ruled("p1.2", "4D"), token)
    nothing_moved(dispute, "claimed")


@pytest.mark.parametrize("role", ["auditor", "manager"])
def test_above_the_threshold_another_auditor_or_a_manager_is_the_second(settings: Any, role: str) -> None:
    decision = seconded(proposed(above(settings), ruled("p1.2", "4D")), by=a_person("X01", role))
    assert (decision.outcome, decision.dispute.state) == ("settled", "decided")


@pytest.mark.parametrize("role", ["dealer", "supervisor", "surveillance", "cashier", "administrator"])
def test_nobody_else_is_the_second(settings: Any, role: str) -> None:
    proposal = proposed(above(settings), ruled("p1.2", "4D"))
    with refused("forbidden"):
        seconded(proposal, by=a_person("X01", role))


def test_below_the_threshold_a_manager_is_not_asked() -> None:
    proposal = proposed(raised(a_held_round(a_table(camera=True))), ruled("p1.2", "4D"))
    with refused("forbidden"):
        seconded(proposal, by=a_person("X01", "manager"))


def test_above_the_threshold_whoever_proposed_does_not_decide(settings: Any) -> None:
    proposal = proposed(above(settings), ruled("p1.2", "4D"))
    with refused("sod_violation"):
        seconded(proposal, by=auditor())


def test_below_the_threshold_one_auditor_may_also_look_at_the_proposal_before_deciding_it() -> None:
    proposal = proposed(raised(a_held_round(a_table(camera=True))), ruled("p1.2", "4D"))
    decision = seconded(proposal, by=auditor())
    assert (decision.proposal, decision.decided_by, decision.dispute.state) == (
        proposal,
        auditor(),
        "decided",
    )


def test_only_an_auditor_proposes(settings: Any) -> None:
    dispute = above(settings)
    manager = a_person("X01", "manager")
    token = claimed(dispute, by=manager)
    with refused("forbidden"):
        proposed(dispute, ruled("p1.2", "4D"), by=manager, token=token)


# -- deciding: once, and what was shown --------------------------------------------------------------------------


def test_what_was_decided_is_decided_and_whoever_comes_later_is_told_by_whom() -> None:
    dispute = raised(a_held_round(a_table(camera=True)))
    decision = decided(dispute, ruled("p1.2", "4D"))
    second = auditor("A02")
    late: list[Any] = [
        lambda: seconded(decision.proposal),
        lambda: claimed(dispute, by=second),
        lambda: disputes.take_over(dispute=dispute.id, by=second, reason="mine"),
        lambda: disputes.withdraw(dispute=dispute.id, by=auditor()),
        lambda: disputes.snooze(dispute=dispute.id, by=second, until=dispute.deadline_at, reason="later"),
    ]
    for step in late:
        with pytest.raises(Refusal, match="already_decided") as told, acting(second):
            step()
        assert told.value.extra == {
            "decision": str(decision.id),
            "decided_by": str(auditor().id),
            "decided_by_name": "A01",
            "decided_at": THEN.isoformat(),
        }


def test_the_hash_of_an_older_proposal_decides_nothing() -> None:
    dispute = raised(a_held_round(a_table(camera=True)))
    token = claimed(dispute)
    old = proposed(dispute, ruled("p1.2", "AD"), token=token)
    new = proposed(dispute, ruled("p1.2", "4D"), token=token)
    with pytest.raises(Refusal, match="stale_proposal") as told:
        seconded(old)
    assert told.value.extra == {"sha256": new.sha256}
    assert seconded(new).proposal == new


@pytest.mark.parametrize(
    "meanwhile",
    ["camera: p1.1 3S", "note", "rule p1.2 4D"],
    ids=["a camera agrees", "a note", "a supervisor rules"],
)
def test_a_round_that_changed_since_is_looked_at_again_before_it_is_decided(meanwhile: str) -> None:
    table = a_table(camera=True)
    round_id = a_held_round(table)
    dispute = raised(round_id)
    proposal = proposed(dispute, ruled("p1.2", "AD"))
    table.tell(meanwhile, round=round_id, at=THEN)
    Round.objects.filter(pk=round_id, standing="due").update(standing="held", reasons=["reads_differ"])
    with refused("stale_proposal"):
        seconded(proposal)
    dispute.refresh_from_db()
    assert dispute.state == "proposed"


def test_whoever_objects_to_a_decision_raises_a_dispute_that_follows_it() -> None:
    dispute = raised(a_held_round(a_table(camera=True)), subject="p1")
    follower: dict[str, Any] = {
        "subject": "p1",
        "follows": dispute,
        "reason_code": "reopened",
        "by": auditor("A02"),
    }
    with refused("dispute_undecided"):
        raised(dispute.round_id, **follower)

    decided(dispute, ruled("p1.2", "4D"))
    dispute.refresh_from_db()
    again = raised(dispute.round_id, **follower)
    assert (again.follows, again.state) == (dispute, "open")
    decided(again, ruled("p1.2", "AD"))
    with refused("dispute_followed"):
        raised(dispute.round_id, **follower | {"subject": "p2"})


def test_a_decision_is_followed_at_its_own_round() -> None:
    table = a_table(camera=True)
    dispute = raised(a_held_round(table))
    decided(dispute, ruled("p1.2", "4D"))
    dispute.refresh_from_db()
    with refused("dispute_undecided"):
        raised(a_settled_round(table), follows=dispute)


def test_a_round_stays_in_dispute_until_the_last_of_its_disputes_is_decided() -> None:
    round_id = a_settled_round(a_table())
    first, second = raised(round_id, subject="p1"), raised(round_id, subject="w1")
    decided(first, STANDS)
    assert Round.objects.get(pk=round_id).in_dispute
    decided(second, STANDS)
    assert not Round.objects.get(pk=round_id).in_dispute
