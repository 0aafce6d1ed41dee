"""A finished round is settled anew: what was moved is taken back, the new judgement posted, nothing is edited."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import IntegrityError, transaction

from casino.models import RoundEvent
from casino.platform.refusals import Refusal
from settlement import settling
from settlement.models import Entry, Journal, Message, Settlement
from tests import world
from tests.settlement import floor
from tests.settlement.floor import (
    LATER,
    AtTable,
    a_person,
    a_table,
    a_wallet,
    corrected,
    covered,
    holds,
    lines_of,
    money,
    outcome,
)

pytestmark = pytest.mark.django_db

EARLY_CHECK = """
    bet w1 p1 100 {owner}
    lock
    p1 3S 4D
    dealer KC 6D
    check p1
    dealer stays
    close
"""
"""Hand 1 is paid early on 7 against the dealer's 6: + 100."""


def won(table: AtTable, *, owner: str = "") -> UUID:
    round_id = table.tell(EARLY_CHECK.format(owner=owner))
    assert outcome(round_id) == "settled"
    return round_id


def refusal_of(round_id: UUID, *late: str, **more: Any) -> Refusal:
    with pytest.raises(Refusal) as refused:
        corrected(round_id, *late, **more)
    return refused.value


def said(table: AtTable, round_id: UUID, text: str) -> None:
    """Something is reported of a finished round."""
    table.tell(text, round=round_id, at=LATER)


def amounts_of(journal: UUID | None) -> list[tuple[str, int, str]]:
    found = Entry.objects.filter(journal=journal).order_by("ordinal")
    return list(found.values_list("account__code", "amount", "wager"))


def told_of(round_id: UUID) -> list[Message]:
    return list(Message.objects.filter(round_id=round_id).order_by("number"))


# -- taken back and posted anew --------------------------------------------------------------------------------


def test_a_dealers_card_ruled_after_the_settlement_changes_what_was_paid() -> None:
    """The dealer had 8 and not 6: what won 100 lost 100 (the dealer's eight of two cards is a pok)."""
    table = a_table()
    round_id = won(table)
    said(table, round_id, "rule dealer.2 8D")

    settlement = corrected(round_id)

    assert (settlement.revision, settlement.outcome, settlement.house_net) == (2, "settled", 100_00)
    assert lines_of(round_id) == {"w1": -100_00}
    assert money() == {table.bank: 100_00, table.guests: -100_00}
    assert floor.posted() == [("round", 2), ("round_reversal", 2), ("round", 2)]


def test_the_reversal_inverts_the_journal_entry_for_entry() -> None:
    table = a_table(commission={"rate_bp": 500})
    round_id = won(table)
    first = settling.effective(round_id)
    said(table, round_id, "rule dealer.2 8D")

    second = corrected(round_id)

    assert first is not None
    assert second.reversal is not None
    assert second.reversal.reverses_id == first.journal_id
    assert amounts_of(second.reversal_id) == [
        (code, -amount, wager) for code, amount, wager in amounts_of(first.journal_id)
    ]


def test_the_first_revision_stays_as_it_was() -> None:
    table = a_table()
    round_id = won(table)
    kept = list(Settlement.objects.values())
    said(table, round_id, "rule dealer.2 8D")

    second = corrected(round_id)

    assert list(Settlement.objects.filter(revision=1).values()) == kept
    assert second.supersedes_id == kept[0]["id"]
    assert settling.effective(round_id) == second


def test_a_correction_and_its_opposite_leave_every_balance_as_it_was() -> None:
    table = a_table(commission={"rate_bp": 500})
    a_wallet("A17", 1_000)
    round_id = won(table, owner="account=player:A17")
    before = money()
    said(table, round_id, "rule dealer.2 8D")
    corrected(round_id)
    assert money() != before

    said(table, round_id, "rule dealer.2 6D")
    third = corrected(round_id)

    assert (third.revision, money()) == (3, before)


def test_a_correction_that_changes_no_line_stands_on_the_journal_of_the_one_before() -> None:
    """The dealer's six is ruled to be the six that everybody read: a revision, and nothing posted or told."""
    table = a_table()
    a_wallet("A17", 1_000)
    round_id = won(table, owner="account=player:A17")
    before, posted, told = money(), floor.posted(), Message.objects.count()
    said(table, round_id, "rule dealer.2 6D")

    second = corrected(round_id)

    first = Settlement.objects.get(round=round_id, revision=1)
    assert (second.revision, second.changes_nothing, second.reversal_id) == (2, True, None)
    assert second.journal_id == first.journal_id is not None
    assert (money(), floor.posted(), Message.objects.count()) == (before, posted, told)
    assert lines_of(round_id) == {"w1": 100_00}

    said(table, round_id, "rule dealer.2 8D")
    third = corrected(round_id)
    assert third.reversal is not None
    assert (third.changes_nothing, third.reversal.reverses_id) == (False, first.journal_id)
    assert lines_of(round_id) == {"w1": -100_00}


def test_a_correction_that_changes_a_card_and_no_sum_is_posted_and_told_to_no_owner() -> None:
    """The dealer's six is of hearts: another line, the same money."""
    table = a_table()
    a_wallet("A17", 1_000)
    round_id = won(table, owner="account=player:A17")
    before = money()
    said(table, round_id, "rule dealer.2 6H")

    second = corrected(round_id)

    assert (second.changes_nothing, money()) == (False, before)
    assert second.reversal_id is not None
    assert [message.type for message in told_of(round_id)] == [
        "round.settled", "wallet.settled", "round.corrected",
    ]  # fmt: skip


def test_a_correction_tells_only_the_owners_whose_sum_it_changes() -> None:
    """Hand 1 is found to have won double; hand 2, of another wallet, is what it was."""
    table = a_table()
    a_wallet("A17", 1_000), a_wallet("B2", 1_000)
    round_id = table.tell(
        "bet w1 p1 100 account=player:A17\nbet w2 p2 100 account=player:B2\nlock\np1 3S 4D\np2 3H 4C\ndealer KC 6D\n"
        "p1 stays\np2 stays\ndealer stays\nclose"
    )
    assert outcome(round_id) == "settled"
    said(table, round_id, "rule p1.2 4S")
    before = len(told_of(round_id))
    corrected(round_id)

    told = [json.loads(message.body)["data"] for message in told_of(round_id)[before:]]
    accounts = [body["account"] for body in told if "account" in body]
    assert accounts == ["player:A17:wallet", "player:A17:wallet"]

    said(table, round_id, "rule p2.2 4H")
    before = len(told_of(round_id))
    corrected(round_id)
    told = [json.loads(message.body)["data"] for message in told_of(round_id)[before:]]
    back = next(body for body in told if body.get("account") and "reverses" in body)
    first = Settlement.objects.get(round=round_id, revision=1)
    # B2 was last told of the first revision's journal, and that is what is taken back from B2.
    assert (back["account"], back["reverses"]) == ("player:B2:wallet", str(first.journal_id))


@pytest.mark.parametrize(
    "change",
    [
        "journal_id = NULL",
        "house_net = house_net + 1",
        "outcome = 'voided'",
    ],
)
def test_the_database_lets_no_revision_say_that_it_changes_nothing(change: str) -> None:
    table = a_table()
    round_id = won(table)
    first = settling.effective(round_id)
    assert first is not None
    values: dict[str, Any] = dict(Settlement.objects.filter(pk=first.pk).values()[0])
    values |= {
        "id": uuid4(),
        "revision": 2,
        "supersedes_id": first.id,
        "because": uuid4(),
        "changes_nothing": True,
    }
    for part in change.split(","):
        name, _, value = part.partition(" = ")
        values[name] = {"NULL": None, "house_net + 1": first.house_net + 1, "'voided'": "voided"}[value]
    with pytest.raises(IntegrityError), transaction.atomic():
        Settlement.objects.create(**values)


def test_late_acts_cited_before_stay_cited() -> None:
    """The dealer is ruled to have a pok of 8, later the guest a pok of 9 in spades: together that wins double."""
    table = a_table()
    round_id = won(table)
    said(table, round_id, "rule dealer.2 8D")
    first = list(RoundEvent.objects.filter(late=True).values_list("id", flat=True))
    corrected(round_id)
    said(table, round_id, "rule p1.2 6S")
    second = list(RoundEvent.objects.filter(late=True).exclude(id__in=first).values_list("id", flat=True))

    with floor.act(now=LATER):
        third = settling.correct(round_id, cites=second, because=uuid4())

    assert third.cites == sorted(first + second)
    assert lines_of(round_id) == {"w1": 200_00}


def test_a_round_whose_correction_moves_nothing_new_has_only_the_reversal() -> None:
    """Six against six after all: the win is taken back and nothing takes its place."""
    table = a_table()
    round_id = won(table)
    said(table, round_id, "rule p1.1 2H")

    second = corrected(round_id)

    assert (second.journal_id, money()) == (None, {})
    assert floor.posted() == [("round", 2), ("round_reversal", 2)]


def test_a_push_that_was_none_is_posted_without_a_reversal() -> None:
    table = a_table()
    round_id = table.tell(EARLY_CHECK.format(owner="").replace("3S 4D", "2S 4D"))
    outcome(round_id)
    said(table, round_id, "rule p1.2 5D")

    second = corrected(round_id)

    assert (second.reversal_id, money()) == (None, {table.bank: -100_00, table.guests: 100_00})


def test_the_correction_says_who_acted_who_approved_and_what_it_cites(settings: Any) -> None:
    table = a_table()
    round_id = won(table)
    said(table, round_id, "rule dealer.2 8D")
    settings.WITNESS = "tests.world.notebook"
    world.notebook.pages.clear()
    acted, approved = a_person("S01", "supervisor"), a_person("M01", "manager")

    second = corrected(round_id, acted_by=acted, approved_by=approved)

    assert (second.acted_by, second.approved_by, second.because) == (acted, approved, None)
    [(_, fact)] = world.notebook.pages
    assert (fact.action, fact.data["revision"], fact.data["cites"]) == ("round.corrected", 2, second.cites)
    assert (fact.data["acted_by"], fact.data["approved_by"]) == (str(acted.id), str(approved.id))
    assert [journal["kind"] for journal in fact.data["journals"]] == ["round_reversal", "round"]


# -- what may be corrected, and by whom ------------------------------------------------------------------------


def test_one_person_does_not_correct_alone() -> None:
    table = a_table()
    round_id = won(table)
    said(table, round_id, "rule dealer.2 8D")
    one = a_person("M01", "manager")

    assert refusal_of(round_id, acted_by=one, approved_by=one).code == "sod_violation"
    assert refusal_of(round_id, acted_by=one, approved_by=None).code == "sod_violation"
    assert Settlement.objects.count() == 1


def test_a_decision_needs_no_second_person() -> None:
    table = a_table()
    round_id = won(table)
    said(table, round_id, "rule dealer.2 8D")
    decision = uuid4()

    assert corrected(round_id, because=decision).because == decision


def test_a_round_that_was_never_settled_is_not_corrected() -> None:
    played = a_table().tell(EARLY_CHECK.format(owner=""))

    for round_id in (played, uuid4()):
        with pytest.raises(Refusal) as refused, floor.act():
            settling.correct(round_id, cites=[], because=uuid4())
        assert refused.value.code == "round_not_settled"


def test_only_late_events_of_the_round_can_be_cited() -> None:
    table = a_table()
    round_id, other = won(table), won(table)
    said(table, other, "rule dealer.2 8D")
    in_time = RoundEvent.objects.filter(round=round_id, late=False).values_list("id", flat=True)[0]
    of_another = RoundEvent.objects.get(round=other, late=True).id

    for cited in (in_time, of_another):
        with pytest.raises(Refusal) as refused, floor.act(now=LATER):
            settling.correct(round_id, cites=[cited], because=uuid4())
        assert refused.value.code == "invalid_value"


def test_a_correction_into_a_doubt_is_refused_with_the_reason() -> None:
    """The ruled card lies in the guest's hand already."""
    table = a_table()
    round_id = won(table)
    before = money()
    said(table, round_id, "rule dealer.2 4D")

    refused = refusal_of(round_id)

    assert (refused.code, refused.extra) == ("round_held", {"reasons": ["duplicate_card"]})
    assert (money(), Settlement.objects.count()) == (before, 1)


def test_a_ruling_that_nobody_signed_corrects_nothing(settings: Any) -> None:
    table = a_table()
    round_id = won(table)
    before = money()
    settings.SIGNATURES = "required"
    said(table, round_id, "rule dealer.2 8D")

    assert (corrected(round_id).revision, money()) == (2, before)


# -- late events -----------------------------------------------------------------------------------------------


def test_what_comes_late_changes_no_revision_unless_it_is_cited() -> None:
    """A camera reads another card, the terminal corrects itself, a bet is raised: all of it too late. Then the guest's
    card is ruled, and that alone counts."""
    table = a_table(camera=True)
    round_id = won(table)
    said(table, round_id, "camera: dealer.2 8D\ncorrect dealer.2 9D\nchange w1 900\nrule p1.1 2H")

    second = corrected(round_id, "card_ruled")

    assert len(second.cites) == 1
    assert (second.house_net, money()) == (0, {})


def test_late_events_deserve_a_second_look_and_a_note_is_never_late() -> None:
    table = a_table()
    round_id = won(table)
    said(table, round_id, "change w1 900\nnote")

    _, found = settling.reviewed(round_id, settling.effective(round_id))

    assert [(one.kind, one.detail) for one in found if one.kind == "late_event"] == [
        ("late_event", (("events", 1),))
    ]


def test_a_gap_that_shows_after_the_settlement_does_not_stop_a_correction() -> None:
    """The ruling's own number comes after one that is missing: that number cannot have been of the round as settled."""
    table = a_table()
    round_id = won(table)
    said(table, round_id, "skip 1\nrule dealer.2 8D")

    assert corrected(round_id).house_net == 100_00


# -- voids -----------------------------------------------------------------------------------------------------


def test_a_void_after_the_settlement_gives_everything_back() -> None:
    table, nok = a_table(commission={"rate_bp": 500}), a_wallet("A17", 1_000)
    round_id = won(table, owner="account=player:A17")
    said(table, round_id, "void")

    second = corrected(round_id)

    assert (second.outcome, second.journal_id, second.house_net) == ("voided", None, 0)
    assert (lines_of(round_id), floor.standing(round_id)) == ({}, "voided")
    assert money() == {"external:cash:C1": -1_000_00, nok: 1_000_00}


def test_a_void_takes_back_winnings_that_were_spent_and_says_what_is_missing() -> None:
    """A17 won 100 and has lost all but 30 of his 200 since: 100 are due, 30 are there."""
    table, nok = a_table(), a_wallet("A17", 100)
    round_id = won(table, owner="account=player:A17")
    lost = table.tell("bet w1 p1 170 account=player:A17\nlock\np1 2S 3D\ndealer KC 6D\ndealer stays\nclose")
    assert outcome(lost) == "settled"
    assert money()[nok] == 30_00
    said(table, round_id, "void")

    second = corrected(round_id)

    assert (money().get(nok, 0), money()[table.shortfall]) == (0, -70_00)
    assert amounts_of(second.shortfall_id) == [(table.shortfall, -70_00, ""), (nok, 70_00, "")]
    assert floor.posted()[-2:] == [("hold_shortfall", 2), ("round_reversal", 2)]


def test_a_shortfall_is_taken_back_with_the_loss_it_covered() -> None:
    """350 baht against 500: 150 were lent. The dealer's third seven was a misread, the wallet gets its 350 back."""
    table, nok = a_table(), a_wallet("A17", 350)
    round_id = table.tell(
        "bet w1 p1 100 account=player:A17\nlock\np1 9S 8D\ndealer 7C 7D\ndealer draws\ndealer.3 7H\nclose"
    )
    outcome(round_id)
    assert (money().get(nok, 0), money()[table.shortfall]) == (0, -150_00)
    said(table, round_id, "void")

    second = corrected(round_id)

    assert second.shortfall_reversal_id is not None
    assert money() == {"external:cash:C1": -350_00, nok: 350_00}


def short_by_150(table: AtTable) -> UUID:
    """A17 has 350 and loses 500: three sevens."""
    a_wallet("A17", 350)
    round_id = table.tell(
        "bet w1 p1 100 account=player:A17\nlock\np1 9S 8D\ndealer 7C 7D\ndealer draws\ndealer.3 7H\nclose"
    )
    outcome(round_id)
    assert money()[table.shortfall] == -150_00
    return round_id


def test_a_correction_that_changes_nothing_collects_no_loan_from_what_was_paid_in_since() -> None:
    table = a_table()
    round_id = short_by_150(table)
    nok = floor.paid_in("A17", 1_000_00)
    said(table, round_id, "rule dealer.3 7H")

    corrected(round_id)

    assert (money()[nok], money()[table.shortfall]) == (1_000_00, -150_00)


def test_a_loan_that_a_correction_ended_is_back_with_its_opposite_and_the_wallet_is_as_it_was() -> None:
    """The third seven is ruled a six, then a seven again; meanwhile 1,000 were paid in."""
    table = a_table()
    round_id = short_by_150(table)
    nok = floor.paid_in("A17", 1_000_00)
    said(table, round_id, "rule dealer.3 6H")
    corrected(round_id)
    assert table.shortfall not in money()

    said(table, round_id, "rule dealer.3 7H")
    corrected(round_id)

    assert (money()[nok], money()[table.shortfall]) == (1_000_00, -150_00)


def test_a_loss_that_a_correction_brings_is_taken_from_what_the_wallet_has() -> None:
    """A17 won 100 and has 1,100; ruled, he lost 100."""
    table, nok = a_table(), a_wallet("A17", 1_000)
    round_id = won(table, owner="account=player:A17")
    said(table, round_id, "rule dealer.2 8D")

    corrected(round_id)

    assert (money()[nok], table.shortfall in money()) == (900_00, False)


def test_what_another_round_has_set_aside_is_not_taken_for_a_correction() -> None:
    table, nok = a_table(), a_wallet("A17", 400)
    round_id = won(table, owner="account=player:A17")
    covered(table.tell("bet w1 p1 100 account=player:A17"))
    assert (money()[nok], holds()[nok]) == (500_00, 500_00)
    said(table, round_id, "void")

    corrected(round_id)

    assert (money()[nok], holds()[nok], money()[table.shortfall]) == (500_00, 500_00, -100_00)


def test_a_voided_rounds_number_stays_and_it_can_be_corrected_no_further_into_money() -> None:
    table = a_table()
    round_id = won(table)
    said(table, round_id, "void")
    corrected(round_id)
    said(table, round_id, "rule dealer.2 8D")

    assert (corrected(round_id).outcome, money()) == ("voided", {})


# -- a player's bank -------------------------------------------------------------------------------------------


def test_a_correction_plays_for_the_bank_that_was_put_up_then() -> None:
    """Put up 150: hands 1 and 2 won 100 each, so hand 2 got 50. Since then the banker has paid in 1,000 more, and hand
    1 turns out to have pushed: now hand 2 gets its 100, out of the same 150."""
    table, banker = a_table(banker="player"), a_wallet("B1", 150)
    round_id = table.tell("open 1 clockwise player:B1/800\nbet w1 p1 100\nbet w2 p2 100")
    covered(round_id)
    table.tell("lock\np1 3S 4D\np2 3C 4H\ndealer KC 6D\ndealer stays\nclose", round=round_id)
    outcome(round_id)
    assert lines_of(round_id) == {"w1": 100_00, "w2": 50_00, "bank": -150_00}
    floor.paid_in("B1", 1_000_00)
    said(table, round_id, "rule p1.1 2H")

    second = corrected(round_id)

    assert second.inputs == {"bank": 150_00, "not_in_play": []}
    assert lines_of(round_id) == {"w1": 0, "w2": 100_00, "bank": -100_00}
    assert (money()[banker], money()[table.guests]) == (1_050_00, 100_00)


def test_a_banker_who_spent_what_a_correction_takes_is_short_of_it() -> None:
    """The banker won 100 and plays it away; the hand he won from had won: 100 back and 100 to pay, of 100 he has."""
    table, banker = a_table(banker="player"), a_wallet("B1", 100)
    round_id = table.tell("open 1 clockwise player:B1/100\nbet w1 p1 100")
    covered(round_id)
    table.tell("lock\np1 2S 3D\ndealer KC 6D\ndealer stays\nclose", round=round_id)
    outcome(round_id)
    assert money()[banker] == 200_00
    said(table, round_id, "rule p1.1 4S")

    corrected(round_id)

    assert lines_of(round_id) == {"w1": 100_00, "bank": -100_00}
    assert (money().get(banker, 0), money()[table.guests]) == (0, 100_00)


def test_a_wallet_opened_since_brings_no_wager_into_play() -> None:
    table = a_table()
    round_id = table.tell(
        EARLY_CHECK.format(owner="").replace("lock", "bet w2 p1 50 account=player:NEW\nlock")
    )
    outcome(round_id)
    new = a_wallet("NEW", 1_000)
    said(table, round_id, "rule dealer.2 8D")

    second = corrected(round_id)

    assert second.inputs == {"bank": None, "not_in_play": ["w2"]}
    assert (lines_of(round_id), money()[new]) == ({"w1": -100_00}, 1_000_00)


def test_a_banker_whose_wallet_was_opened_since_does_not_bank() -> None:
    table = a_table(banker="player")
    round_id = table.tell(
        "open 1 clockwise player:B1/800\n" + EARLY_CHECK.format(owner="") + "waive missing_banker"
    )
    assert outcome(round_id) == "settled"
    banker = a_wallet("B1", 1_000)
    said(table, round_id, "rule dealer.2 8D")

    corrected(round_id)

    assert (money()[banker], money()[table.bank]) == (1_000_00, 100_00)
    assert Journal.objects.filter(kind="round_reversal").count() == 1
