"""Whatever is flagged is on the closed list, and has its sentence in Thai and in English before it can be raised.

The list is written out here, as the house's page of messages has it: a further kind enters it by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from audit import flags
from deploy.local import paths
from settlement import explanations
from tests.architecture import actions
from tests.architecture.test_tidy import product
from tests.rules.test_sentences import FIGURES, THAI

CLOSED_LIST = """
    bank_short banker_bet_on_guest bet_not_in_play bet_on_other_hand bet_ruled camera_gap card_after_stay
    cards_uneven cash_across_days check_after_dealer_drew check_against_dealer_pok check_not_allowed checked_twice
    chips_exceed_outstanding clock_drift_burst closed_too_fast count_variance ctr_due dealer_bet_on_guest
    declared_differs device_clock_off draw_missed drew_after_check duplicate_card hand_not_offered hold_band
    junk_deng_four junk_drew_against_rule junk_stayed_against_rule late_bet late_bet_wins late_event mark_differs
    mispay mispay_rate number_jump off_duty out_of_order_event out_of_turn pace pok_drew reads_differ reconstructed
    sequence_reused sequence_too_far shared_hand_misplaced short_deck shortfall signin_failures
    stake_outside_limits stay_missed stray_read too_many_cards too_many_hands unchecked_hands uncomputable uncovered
    unsigned_ruling wrong_sheet_shown
""".split()  # noqa: SIM905 - one list of words, as people keep it

RAISED_BY = (
    "Alarm", "Finding", "Raised", "flags.Raised", "kinds.Raised", "self._doubt", "story.find",
)  # fmt: skip
"""Calls whose first argument is the kind of a flag."""

OF_CONTROLS = ("audit/controls/",)
"""What checks the books has findings of its own, which are lines for whoever reads them and no flags."""

PASSED_ON = {
    ("casino/record/slots.py", "? doubt"),
    ("casino/record/fold_state.py", "? kind"),
    ("audit/analytics/runs.py", "? alarm['kind']"),
    ("audit/analytics/deck_watch.py", "? one.kind"),
    ("audit/flags/log_reader.py", "? finding.kind"),
}
"""Where a kind is handed on that another place has spelt."""


def raised() -> Iterator[tuple[str, str]]:
    for path in product():
        name = str(path.relative_to(paths.CLONE))
        if name.startswith(OF_CONTROLS):
            continue
        for kind in actions.spelt(path.read_text(), of=RAISED_BY, argument="kind"):
            if (name, kind) not in PASSED_ON:
                yield kind, name


def test_every_kind_that_is_raised_anywhere_is_on_the_closed_list() -> None:
    assert {(kind, name) for kind, name in raised() if kind not in CLOSED_LIST} == set()


def test_the_closed_list_is_what_can_be_raised() -> None:
    assert sorted(flags.KINDS) == sorted(CLOSED_LIST)


@pytest.mark.parametrize("kind", CLOSED_LIST)
def test_every_kind_of_the_list_has_its_sentence_in_both_languages(kind: str) -> None:
    for subject, detail in FIGURES[kind]:
        said = explanations.finding(kind, subject, detail, currency="THB")
        assert THAI.search(said.th), said
        assert re.search("[A-Za-z]", said.en), said
        assert not THAI.search(said.en), said


@pytest.mark.parametrize("kind", ["card_marked", "bank_short"])
def test_a_flag_without_a_sentence_cannot_be_raised(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explanations, "KINDS", explanations.KINDS - {"bank_short"})
    with pytest.raises(ValueError, match=kind):
        flags.raise_new([flags.Raised(kind, "rounds/1", {})], now=datetime(2026, 3, 1, tzinfo=UTC))
