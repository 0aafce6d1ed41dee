"""A rule sheet as people read it: one sentence for each option, whatever its value."""

from __future__ import annotations

from collections.abc import Mapping

from settlement.explanations.terms import KIND, Said, money, percent
from settlement.rules.house_rules import DrawRule, HouseRules

CHOICE: Mapping[tuple[str, str], Said] = {
    ("straights", "off"): Said("ไม่มีเรียง: ไพ่สามใบที่เรียงกันเป็นไพ่ธรรมดา", "There are no straights: a run is a normal hand."),
    ("straights", "as_sam_deng"): Said(
        "ไพ่เรียงเป็นไพ่ธรรมดา แต่คูณเท่าไพ่สามใบดอกเดียวกัน",
        "A run is a normal hand that multiplies like three of one suit.",
    ),
    ("straights", "special"): Said(
        "เรียงและสเตรทฟลัชเป็นไพ่ชนิดพิเศษ", "Straights and straight flushes are kinds of their own."
    ),
    ("ace_in_run", "low"): Said("เอซเรียงได้เฉพาะ A-2-3", "An ace runs low only: A-2-3."),
    ("ace_in_run", "high"): Said("เอซเรียงได้เฉพาะ Q-K-A", "An ace runs high only: Q-K-A."),
    ("ace_in_run", "both"): Said(
        "เอซเรียงได้ทั้ง A-2-3 และ Q-K-A ไม่มี K-A-2", "An ace runs low and high: A-2-3 and Q-K-A, never K-A-2."
    ),
    ("face_run", "sam_lueang"): Said("J-Q-K เป็นสามเหลือง", "J-Q-K is sam lueang."),
    ("face_run", "straight"): Said(
        "เมื่อมีเรียง J-Q-K นับเป็นเรียง", "Where straights are kinds of their own, J-Q-K is a straight."
    ),
    ("face_run", "straight_if_suited"): Said(
        "เมื่อมีเรียง J-Q-K ดอกเดียวกันเป็นสเตรทฟลัช ต่างดอกเป็นสามเหลือง",
        "Where straights are kinds of their own, J-Q-K of one suit is a straight flush, otherwise sam lueang.",
    ),
    ("pok_multiplier", "deng"): Said(
        "ป๊อกคูณตามเด้งของไพ่สองใบ", "A pok multiplies by the deng of its two cards."
    ),
    ("pok_multiplier", "fixed_2"): Said("ป๊อกคูณ 2 เสมอ", "A pok always multiplies by 2."),
    ("pok_multiplier", "nine_3_eight_2"): Said("ป๊อก 9 คูณ 3 ป๊อก 8 คูณ 2", "Pok nine multiplies by 3, pok eight by 2."),
    ("pok_multiplier", "one"): Said("ป๊อกคูณ 1 เสมอ", "A pok always multiplies by 1."),
    ("tie_rule", "deng_difference"): Said(
        "ชนิดและแต้มเท่ากัน: เด้งมากกว่าชนะเท่าผลต่างของเด้ง เด้งเท่ากันเสมอ",
        "Same kind and taem: the higher deng wins the difference of the deng; equal deng is a push.",
    ),
    ("tie_rule", "push"): Said("ชนิดและแต้มเท่ากัน: เสมอ", "Same kind and taem: a push."),
    ("tie_rule", "dealer_wins"): Said(
        "ชนิดและแต้มเท่ากัน: เจ้ามือกิน 1 เท่า", "Same kind and taem: the dealer wins one stake."
    ),
    ("tong_over_sam_lueang", "difference"): Said(
        "ตองชนะสามเหลืองเท่าผลต่างของเด้ง", "A tong beats sam lueang by the difference of their deng."
    ),
    ("tong_over_sam_lueang", "winner_deng"): Said(
        "ตองกับสามเหลือง: ผู้ชนะได้ตามเด้งของตน", "Between tong and sam lueang the winner's own deng is paid."
    ),
    ("tong_against_tong", "taem"): Said("ตองเจอตองวัดที่แต้ม", "Tong against tong is decided by taem."),
    ("tong_against_tong", "rank_ace_high"): Said(
        "ตองเจอตองวัดที่หน้าไพ่ เอซใหญ่สุด", "Tong against tong is decided by rank, the ace highest."
    ),
    ("tong_against_tong", "rank_ace_low"): Said(
        "ตองเจอตองวัดที่หน้าไพ่ เอซเล็กสุด", "Tong against tong is decided by rank, the ace lowest."
    ),
    ("tong_against_tong", "push"): Said("ตองเจอตองเสมอ", "Tong against tong is a push."),
    ("sam_lueang_against_same", "push"): Said("สามเหลืองเจอสามเหลืองเสมอ", "Sam lueang against sam lueang is a push."),
    ("sam_lueang_against_same", "by_faces"): Said(
        "สามเหลืองเจอสามเหลืองวัดที่หน้าไพ่ทีละใบ K ใหญ่สุด",
        "Sam lueang against sam lueang is decided card by card, the king highest.",
    ),
    ("run_against_run", "taem"): Said("เรียงเจอเรียงวัดที่แต้ม", "Run against run is decided by taem."),
    ("run_against_run", "top_card"): Said("เรียงเจอเรียงวัดที่ใบสูงสุด", "Run against run is decided by the top card."),
    ("banker", "house"): Said("บ่อนเป็นเจ้ามือ", "The house banks."),
    ("banker", "player"): Said(
        "ผู้เล่นเป็นเจ้ามือ: เก็บที่เสียทั้งหมดก่อน แล้วจ่ายตามลำดับจนเงินหมด ส่วนที่ขาดไม่มีใครเป็นหนี้",
        "A player banks: all losses are collected first, then wins are paid in turn as far as the bank lasts;"
        " what is not paid nobody owes.",
    ),
    ("bets_on_other_hands", "allowed"): Said("วางเดิมพันตามมือคนอื่นได้", "Guests may bet on another's hand."),
    ("bets_on_other_hands", "none"): Said("ห้ามวางเดิมพันตามมือคนอื่น", "Nobody bets on another's hand."),
    ("shared_hand", "none"): Said("ไม่มีขาบ๊วย", "There is no shared hand."),
    ("shared_hand", "before_dealer"): Said("ขาบ๊วยแจกก่อนเจ้ามือ", "The shared hand is dealt just before the dealer."),
    ("shared_hand", "after_dealer"): Said("ขาบ๊วยแจกหลังเจ้ามือ", "The shared hand is dealt just after the dealer."),
    ("junk_hands", "allowed"): Said("แจกมือทิ้งได้", "Junk hands may be dealt."),
    ("junk_hands", "none"): Said("ไม่มีมือแจกทิ้ง", "There are no junk hands."),
    ("junk_draw", "dealer_decides"): Said("มือแจกทิ้งเจ้ามือเลือกจั่วหรืออยู่", "The dealer decides whether a junk hand draws."),
    ("junk_draw", "forced"): Said(
        "มือแจกทิ้ง: 3 แต้มลงมาต้องจั่ว 4 แต้มไม่มีเด้งต้องจั่ว 5 แต้มขึ้นไปต้องอยู่ 4 แต้มมีเด้งไม่มีคำตอบที่ถูก",
        "A junk hand of 3 or less draws, of 4 without deng draws, of 5 or more stays;"
        " for 4 with deng no answer is right.",
    ),
    ("dealer_pok", "on_turn"): Said("เจ้ามือป๊อกเปิดเมื่อถึงตา", "The dealer's pok is shown in turn."),
    ("dealer_pok", "at_once"): Said("เจ้ามือป๊อกเปิดทันที รอบจบ", "The dealer's pok is shown at once and ends the play."),
    ("early_check", "any_hands"): Said("เจ้ามือเช็คมือใดก็ได้ก่อนจั่ว", "The dealer may check any hand before drawing."),
    ("early_check", "three_card_hands"): Said(
        "ก่อนจั่วเจ้ามือเช็คได้เฉพาะมือสามใบ", "Before drawing, the dealer may check three-card hands only."
    ),
    ("early_check", "none"): Said("เจ้ามือเช็คก่อนจั่วไม่ได้", "The dealer checks no hand before drawing."),
    ("feed_lead", "none"): Said(
        "ข้อมูลไพ่ขัดกันให้รอคำชี้ขาด", "Where reads of a card differ, the round waits for a ruling."
    ),
    ("feed_lead", "terminal"): Said(
        "ข้อมูลไพ่ขัดกันให้ถือตามเครื่องโต๊ะ", "Where reads of a card differ, the terminal's counts."
    ),
    ("feed_lead", "camera"): Said("ข้อมูลไพ่ขัดกันให้ถือตามกล้อง", "Where reads of a card differ, the camera's counts."),
}  # fmt: skip
"""Options that are a choice among names: (option, value) → what it means at the table."""

_ROUNDING = {
    "half_up": Said("ปัดครึ่งขึ้น", "rounded half up"),
    "up": Said("ปัดขึ้น", "rounded up"),
    "down": Said("ปัดลง", "rounded down"),
    "half_even": Said("ปัดครึ่งเข้าเลขคู่", "rounded half to even"),
}
_SIDE = {
    "guest": Said("จากเงินที่ผู้เล่นได้", "of a guest's win"),
    "banker": Said("จากเงินที่ผู้เล่นเจ้ามือได้", "of a banking player's win"),
    "both": Said("จากเงินที่ผู้เล่นได้และที่ผู้เล่นเจ้ามือได้", "of a guest's win and of a banking player's win"),
}


def sheet(house: HouseRules, *, currency: str) -> tuple[tuple[str, Said], ...]:
    """Return every option of a sheet with its sentence, in the order in which a sheet lists them."""
    told = {name: CHOICE[name, getattr(house, name)] for name in {name for name, _ in CHOICE}}
    told |= {
        "type_order": _type_order(house),
        "deng": _deng(house),
        "max_deng": _max_deng(house),
        "commission": _commission(house, currency),
        "stakes": _stakes(house, currency),
        "max_hands": Said(
            f"เล่นได้ไม่เกิน {house.max_hands} มือ นับเจ้ามือ ขาบ๊วย และมือแจกทิ้งด้วย",
            f"At most {house.max_hands} hands, the dealer's, shared and junk hands included.",
        ),
        "player_draw": _draw(house.player_draw, Said("ผู้เล่น", "A guest")),
        "dealer_draw": _draw(house.dealer_draw, Said("เจ้ามือ", "The dealer")),
        "requires": _requires(house),
    }
    return tuple((name, told[name]) for name in house.__dataclass_fields__)


def _type_order(house: HouseRules) -> Said:
    order = [KIND[kind] for kind in house.type_order]
    return Said(
        f"ชนิดไพ่จากใหญ่ไปเล็ก: {', '.join(kind.th for kind in order)}",
        f"Kinds from best to worst: {', '.join(kind.en for kind in order)}.",
    )


def _deng(house: HouseRules) -> Said:
    deng = house.deng
    return Said(
        f"เด้ง: คู่หรือสองใบดอกเดียวกัน {deng.song} · สามใบดอกเดียวกัน {deng.sam} · สามเหลือง {deng.sam_lueang}"
        f" · เรียง {deng.straight} · สเตรทฟลัช {deng.straight_flush} · ตอง {deng.tong} · อื่น ๆ 1",
        f"Deng: a pair or two of one suit {deng.song} · three of one suit {deng.sam} · sam lueang {deng.sam_lueang}"
        f" · straight {deng.straight} · straight flush {deng.straight_flush} · tong {deng.tong} · all else 1.",
    )


def _max_deng(house: HouseRules) -> Said:
    if house.max_deng is None:
        return Said("ไม่จำกัดจำนวนเด้ง", "There is no cap on the multiple.")
    return Said(
        f"เดิมพันหนึ่งได้เสียไม่เกิน {house.max_deng} เท่า", f"No wager moves more than {house.max_deng} stakes."
    )


def _commission(house: HouseRules, currency: str) -> Said:
    terms = house.commission
    if terms.rate_bp == 0:
        return Said("ไม่มีค่าต๋ง", "There is no commission.")
    rate, rounding, side = percent(terms.rate_bp), _ROUNDING[terms.rounding], _SIDE[terms.side]
    unit = money(terms.unit, currency)
    return Said(
        f"ค่าต๋ง {rate}% {side.th} {rounding.th}ทีละ {unit} เสมอไม่เก็บ",
        f"Commission is {rate}% {side.en}, {rounding.en} to {unit}, never on a push.",
    )


def _stakes(house: HouseRules, currency: str) -> Said:
    if house.stakes is None:
        return Said("ไม่จำกัดเดิมพัน", "Stakes have no limits.")
    least, most, step = (
        money(amount, currency) for amount in (house.stakes.min, house.stakes.max, house.stakes.step)
    )
    return Said(f"เดิมพัน {least} ถึง {most} ทีละ {step}", f"Stakes are {least} to {most}, in steps of {step}.")


def _draw(rule: DrawRule, who: Said) -> Said:
    draw, stay = rule.must_draw_to, rule.must_stay_from
    if draw is None and stay is None:
        return Said(f"{who.th}จั่วหรืออยู่ได้ตามใจ", f"{who.en} is free to draw or stay.")
    th, en = [], []
    if draw is not None:
        th.append(f"{draw} แต้มลงมาต้องจั่ว")
        en.append(f"must draw on {draw} or less")
    if stay is not None:
        th.append(f"{stay} แต้มขึ้นไปต้องอยู่")
        en.append(f"must stay on {stay} or more")
    return Said(f"{who.th} {' '.join(th)} ไม่ดูเด้ง", f"{who.en} {' and '.join(en)}, whatever the deng.")


def _requires(house: HouseRules) -> Said:
    th, en = [], []
    if house.requires.camera:
        th.append("กล้องต้องอ่านไพ่ทุกใบ")
        en.append("the camera has read every face")
    if house.requires.declared_result:
        th.append("เจ้ามือต้องประกาศผลทุกเดิมพัน")
        en.append("the dealer has declared every wager's result")
    if not th:
        return Said(
            "คิดเงินได้โดยไม่ต้องมีกล้องหรือการประกาศผล", "A round settles without a camera or a declared result."
        )
    return Said(f"ก่อนคิดเงิน {' และ'.join(th)}", f"A round settles once {' and '.join(en)}.")
