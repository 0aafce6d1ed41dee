"""Questions about play in words: one sentence for each kind of flag, with its figures.

A flag is a question and accuses nobody, so every sentence says what was seen and where to look. Takes a finding's
detail as a record or a stored flag holds it; a figure that is not there is left out, never guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from settlement.explanations import (
    analytics_flags,
    cash_flags,
    count_flags,
    device_flags,
    house_flags,
    play_flags,
)
from settlement.explanations.flag_figures import Seen, plain
from settlement.explanations.terms import Said

FLAGGED = Said("ข้อสังเกต เงินไม่เปลี่ยน:", "For review, money unchanged:")
"""What goes before a flag's sentence."""


def finding(kind: str, subject: str, detail: Mapping[str, Any], *, currency: str) -> Said:
    """Return the sentence of a finding; KeyError for a kind without one.

    ``subject`` is the part after ``#`` of a flag's subject (empty: the round), or a finding's own.
    """
    return _KINDS[kind](Seen(subject, detail, currency))


_KINDS: Mapping[str, Callable[[Seen], Said]] = {
    "bank_short": play_flags.bank_short,
    "banker_bet_on_guest": play_flags.banker_bet_on_guest,
    "bet_not_in_play": play_flags.bet_not_in_play,
    "bet_on_other_hand": play_flags.bet_on_other_hand,
    "bet_ruled": play_flags.bet_ruled,
    "camera_gap": device_flags.camera_gap,
    "card_after_stay": plain(
        "{0} อยู่แล้วแต่ได้ใบที่สาม คิดตามไพ่ที่แจก — ดูภาพ",
        "{0} stayed and then got a third card; it is judged as it lies — look at the replay",
    ),
    "cards_uneven": analytics_flags.cards_uneven,
    "cash_across_days": cash_flags.cash_across_days,
    "check_after_dealer_drew": plain(
        "เช็ค{0} หลังเจ้ามือจั่ว จึงเทียบกับไพ่ทั้งหมดของเจ้ามือ — ดูเวลาที่จ่ายจริง",
        "{0} was checked after the dealer drew, so it meets all of the dealer's cards — see when it was paid",
    ),
    "check_against_dealer_pok": plain(
        "เช็ค{0} ทั้งที่เจ้ามือป๊อก — ดูภาพ",
        "{0} was checked although the dealer had pok — look at the replay",
    ),
    "check_not_allowed": play_flags.check_not_allowed,
    "checked_twice": plain(
        "เช็ค{0} สองครั้ง นับครั้งแรก — ดูว่าจ่ายซ้ำหรือไม่",
        "{0} was checked twice, the first counts — see whether it was paid twice",
    ),
    "chips_exceed_outstanding": cash_flags.chips_exceed_outstanding,
    "clock_drift_burst": device_flags.clock_drift_burst,
    "closed_too_fast": device_flags.closed_too_fast,
    "count_variance": count_flags.count_variance,
    "ctr_due": cash_flags.ctr_due,
    "dealer_bet_on_guest": play_flags.dealer_bet_on_guest,
    "declared_differs": play_flags.declared_differs,
    "device_clock_off": plain(
        "นาฬิกาของเครื่องคลาดเกิน 1 นาที ลำดับยังถูกต้อง — ตั้งเวลา และอย่าใช้เวลานั้นอ้างอิง",
        "A device's clock is more than a minute off, the order stands — set it, and do not rely on its times",
    ),
    "draw_missed": play_flags.draw_missed,
    "drew_after_check": plain(
        "{0} จั่วหลังถูกเช็ค คิดทุกใบที่มี — ดูว่าจ่ายเมื่อใด",
        "{0} drew after it was checked, all its cards count — see when it was paid",
    ),
    "duplicate_card": device_flags.duplicate_card,
    "hand_not_offered": plain(
        "แจก{0} ที่กติกาโต๊ะนี้ไม่มี คิดตามไพ่ที่แจก — แจ้งเจ้ามือ",
        "{0} was dealt, which the sheet does not have; it is judged as it lies — tell the dealer",
    ),
    "hold_band": analytics_flags.hold_band,
    "junk_deng_four": play_flags.junk_deng_four,
    "junk_drew_against_rule": play_flags.junk(
        Said("กติกาให้อยู่ — ดูภาพ", "the sheet says stay — look at the replay")
    ),
    "junk_stayed_against_rule": play_flags.junk(
        Said("กติกาบังคับจั่ว — ดูภาพ", "the sheet says draw — look at the replay")
    ),
    "late_bet": play_flags.late_bet,
    "late_bet_wins": analytics_flags.late_bet_wins,
    "late_event": device_flags.late_event,
    "mark_differs": play_flags.mark_differs,
    "mispay": play_flags.mispay,
    "mispay_rate": analytics_flags.mispay_rate,
    "number_jump": device_flags.number_jump,
    "off_duty": device_flags.off_duty,
    "out_of_order_event": device_flags.out_of_order,
    "out_of_turn": play_flags.out_of_turn,
    "pace": analytics_flags.pace,
    "pok_drew": plain(
        "{0} ป๊อกแล้วได้ใบที่สาม — ดูว่าเกิดขึ้นอย่างไร แม้ชี้ขาดแล้ว",
        "{0} had pok and got a third card — see how it came about, also once it is ruled",
    ),
    "reads_differ": device_flags.reads_differ,
    "reconstructed": plain(
        "รอบนี้กรอกจากกองไพ่ทิ้ง มีพยานสองคน — ตรวจบันทึกและภาพ",
        "The round was rebuilt from the discards before two witnesses — check the note and the picture",
    ),
    "sequence_reused": device_flags.sequence_reused,
    "sequence_too_far": device_flags.sequence_too_far,
    "shared_hand_misplaced": play_flags.shared_hand_misplaced,
    "short_deck": analytics_flags.short_deck,
    "shortfall": play_flags.shortfall,
    "signin_failures": house_flags.signin_failures,
    "stake_outside_limits": play_flags.stake_outside_limits,
    "stay_missed": play_flags.stay_missed,
    "stray_read": device_flags.stray_read,
    "too_many_cards": plain(
        "{0} มีไพ่เกิน — ดูว่าเกิดขึ้นอย่างไร แม้ชี้ขาดแล้ว",
        "{0} had a card too many — see how it came about, also once it is ruled",
    ),
    "too_many_hands": play_flags.too_many_hands,
    "unchecked_hands": analytics_flags.unchecked_hands,
    "uncomputable": house_flags.uncomputable,
    "uncovered": play_flags.uncovered,
    "unsigned_ruling": device_flags.unsigned_ruling,
    "wrong_sheet_shown": device_flags.wrong_sheet_shown,
}

KINDS = frozenset(_KINDS)
"""Every kind that has a sentence; none is raised without one."""
