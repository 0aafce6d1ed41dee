"""Why a round waits, and for whom: one sentence for each reason, with the places it is about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from casino import cards as deck
from casino.record import Gap, Owner, RoundRecord, Slot, led
from settlement.explanations.terms import Said, both, card, hand, money, place, start, times
from settlement.rules import doubts
from settlement.rules.house_rules import HouseRules

HELD = Said("ค้าง ยังไม่คิดเงิน:", "is held, no money has moved:")
"""What stands between a round's number and the reasons it waits for."""


class _Wait(NamedTuple):
    """A held round, as it stands under its sheet, and the missing numbers that touch it."""

    record: RoundRecord
    house: HouseRules
    gaps: tuple[Gap, ...]
    currency: str


def held(
    record: RoundRecord,
    house: HouseRules,
    reasons: tuple[str, ...],
    *,
    gaps: tuple[Gap, ...] = (),
    currency: str = "THB",
) -> tuple[tuple[str, Said], ...]:
    """Return the sentence of each of the reasons for which a folded round is held. KeyError for an unknown reason."""
    wait = _Wait(led(record, lead=house.feed_lead), house, gaps, currency)
    return tuple((reason, _REASONS[reason](wait)) for reason in reasons)


def _sequence_gap(wait: _Wait) -> Said:
    after = Said(
        "เปิดเครื่องนั้นให้ส่งที่ค้าง ถ้าเครื่องเสีย เรียกหัวหน้า",
        "switch that device on so that it sends them; if it is broken, call the supervisor",
    )
    missing = ", ".join(f"{gap.source} {gap.first}–{gap.last}" for gap in wait.gaps)
    if not missing:
        return Said(f"ลำดับของเครื่องขาดหาย — {after.th}", f"Numbers of a device are missing — {after.en}")
    return Said(f"ขาดลำดับ {missing} — {after.th}", f"Missing numbers: {missing} — {after.en}")


def _too_many_hands(wait: _Wait) -> Said:
    count, most = len(wait.record.hands) + 1, wait.house.max_hands
    return Said(
        f"มี {count} มือ เกิน {most} — หัวหน้าตรวจว่ากรอกมือไหนเกิน หรือยกเลิกรอบ",
        f"{count} hands, more than {most} — a supervisor finds the hand entered too many, or voids the round",
    )


def _too_many_cards(wait: _Wait) -> Said:
    counts = {name: len(slots) for name, slots in _live(wait.record).items()}
    found = [(hand(name), count) for name, count in counts.items() if count > 3]
    said = both(
        [Said(f"{one.th} มีไพ่ {count} ใบ", f"{start(one.en)} has {count} cards") for one, count in found]
    )
    return Said(
        f"{said.th} — หัวหน้าชี้ใบที่เกินแล้วเอาออก",
        f"{said.en} — a supervisor names the extra one and removes it",
    )


def _pok_drew(wait: _Wait) -> Said:
    found = [hand(finding.subject) for finding in wait.record.findings if finding.kind == "pok_drew"]
    said = both(
        [
            Said(f"{one.th} ป๊อกแต่ได้ใบที่สาม", f"{start(one.en)} has pok and was given a third card")
            for one in found
        ]
    )
    return Said(
        f"{said.th} — หัวหน้าชี้ว่าใบที่สามเป็นไพ่ตาย หรือยกเลิกรอบ",
        f"{said.en} — a supervisor rules that card dead, or voids the round",
    )  # fmt: skip


def _duplicate_card(wait: _Wait) -> Said:
    found = {}
    for finding in wait.record.findings:
        if finding.kind == "duplicate_card":
            detail = dict(finding.detail)
            found[detail["card"]] = both([place(slot) for slot in detail["slots"]], th=" และ", en=" and ")
    said = both(
        [
            Said(f"{card(name)} อยู่สองที่ ({where.th})", f"{card(name)} is in two places ({where.en})")
            for name, where in found.items()
        ]
    )
    return Said(
        f"{said.th} — หัวหน้าดูไพ่จริงแล้วชี้ใบที่ผิด",
        f"{said.en} — a supervisor looks at the cards and rules which is wrong",
    )


def _reads_differ(wait: _Wait) -> Said:
    found = []
    for slot in wait.record.slots:
        if slot.contested and not slot.removed:
            where, reads = place(f"{slot.hand}.{slot.position}"), _reads(slot)
            found.append(Said(f"{where.th}: {reads.th}", f"{start(where.en)}: {reads.en}"))
    said = both(found)
    return Said(f"{said.th} — หัวหน้าเลือกใบที่ถูก", f"{said.en} — a supervisor chooses the right one")


def _reads(slot: Slot) -> Said:
    said = [
        Said(f"{read.source} {_face(read.card)}", f"{read.source} {_face(read.card)}") for read in slot.reads
    ]
    if slot.silent:
        said.insert(0, Said("เครื่องโต๊ะไม่มีใบที่สาม", "the terminal has no third card"))
    return both(said, th=" ", en=", ")


def _missing_card(wait: _Wait) -> Said:
    live = _live(wait.record)
    found = []
    for one in (*wait.record.hands, wait.record.dealer):
        named, seen = hand(one.name), len(live.get(one.name, []))
        if one.drew and seen == 2:
            found.append(
                Said(f"{named.th} จั่วแล้วยังไม่มีหน้าไพ่", f"{start(named.en)} drew and the face is missing")
            )
        elif seen < 2:
            found.append(Said(f"{named.th} มีหน้าไพ่ {seen} ใบ", f"{start(named.en)} has {seen} of two faces"))
        elif _has_a_hole(one.name, wait.record):
            found.append(Said(f"{named.th} ขาดใบระหว่างกลาง", f"{start(named.en)} lacks a card below another"))
    said = both(found) if found else Said("ขาดหน้าไพ่", "A face is missing")
    return Said(
        f"{said.th} — กรอก ดูจากกล้อง หรือยกเลิกรอบ",
        f"{said.en} — enter it, look at the camera, or void the round",
    )


def _awaiting_camera(wait: _Wait) -> Said:
    slots = [place(f"{name}.{position}") for name, position in doubts.unread_by_camera(wait.record)]
    said = both(slots, th=", ", en="; ")
    return Said(
        f"กล้องยังไม่อ่าน {said.th} กติกาโต๊ะนี้ต้องมีกล้อง — รอกล้อง หรือให้หัวหน้ายกเว้น",
        f"The camera has not read {said.en}, and the sheet requires it — wait for it, or a supervisor waives it",
    )


def _missing_declaration(wait: _Wait) -> Said:
    missing = [
        Said(f"{hand(wager.hand).th} ({wager.id})", f"{hand(wager.hand).en} ({wager.id})")
        for wager in doubts.undeclared(wait.record)
    ]
    said = both(missing, th=", ", en=", ")
    return Said(
        f"ยังไม่ได้ประกาศผล {said.th} — ประกาศ หรือให้หัวหน้ายกเว้น",
        f"No result was declared for {said.en} — declare it, or a supervisor waives it",
    )


def _declared_differs(wait: _Wait) -> Said:
    hands = {wager.id: hand(wager.hand) for wager in wait.record.wagers}
    said = both(
        [
            Said(
                f"{hands[apart.wager].th} ({apart.wager}): ประกาศ {times(apart.declared)} เท่า"
                f" ระบบคิดได้ {times(apart.judged)} เท่า",
                f"{start(hands[apart.wager].en)} ({apart.wager}): declared {times(apart.declared)},"
                f" judged {times(apart.judged)}",
            )
            for apart in doubts.declared_apart(wait.record, wait.house)
        ]
    )
    return Said(f"{said.th} — ตรวจไพ่แล้วให้หัวหน้าชี้ขาด", f"{said.en} — check the cards, then a supervisor rules")


def _records_differ(wait: _Wait) -> Said:
    found = []
    for one in wait.record.bets_apart:
        where, whose = hand(one.hand), _owner(one.owner)
        theirs, ours = money(one.stake, wait.currency), money(one.ours, wait.currency)
        found.append(
            Said(
                f"{where.th} ของ{whose.th}: {one.source} {theirs} เครื่องที่บันทึก {ours}",
                f"{start(where.en)}, {whose.en}: {theirs} by {one.source}, {ours} by the recording terminal",
            )
        )
    said = both(found)
    return Said(
        f"{said.th} — ดูชิปแล้วให้หัวหน้าชี้ขาดเดิมพัน หรือยกเว้น",
        f"{said.en} — look at the chips; a supervisor rules the bet, or waives this",
    )


def _owner(owner: Owner) -> Said:
    if owner.kind == "seat":
        return Said(f"แขกที่นั่ง {owner.ref}", f"the guest of seat {owner.ref}")
    if owner.kind == "account":
        return Said(owner.ref, owner.ref)
    return Said("พนักงาน", "a member of the staff")


def _check_in_doubt(wait: _Wait) -> Said:
    found = []
    for one in wait.record.checks_in_doubt:
        where, card_at = hand(one.hand), place(one.slot)
        found.append(
            Said(
                f"{where.th} เช็คกับ{card_at.th} ซึ่งถูกเอาออกทีหลัง",
                f"{start(where.en)} was checked against {card_at.en}, removed afterwards",
            )
        )
    said = both(found)
    return Said(
        f"{said.th} — หัวหน้ายกเว้น (เทียบกับสองใบแรกที่เหลือ) ชี้ไพ่ใบนั้น หรือยกเลิกรอบ",
        f"{said.en} — a supervisor waives it (the dealer's first two that are left count), rules that card,"
        " or voids the round",
    )


def _number_jump(wait: _Wait) -> Said:
    last = next((dict(one.detail)["last"] for one in wait.record.findings if one.kind == "number_jump"), None)
    after = Said("", "") if last is None else Said(f" ต่อจาก {last}", f" after {last}")
    return Said(
        f"เลขรอบ {wait.record.number}{after.th} ห่างเกินไป — หัวหน้ายืนยันเลข หรือยกเลิกรอบ",
        f"Its number is {wait.record.number}{after.en}, too far on"
        " — a supervisor confirms the number, or voids the round",
    )


def _live(record: RoundRecord) -> dict[str, list[Slot]]:
    """The slots of each hand that hold a card, or are fought over."""
    found: dict[str, list[Slot]] = {}
    for slot in record.slots:
        if not slot.removed and (slot.card is not None or slot.contested):
            found.setdefault(slot.hand, []).append(slot)
    return found


def _has_a_hole(name: str, record: RoundRecord) -> bool:
    positions = sorted(slot.position for slot in record.slots if slot.hand == name)
    return positions != list(range(1, len(positions) + 1))


def _face(number: int) -> str:
    return card(deck.text(number))


_REASONS: Mapping[str, Callable[[_Wait], Said]] = {
    "sequence_gap": _sequence_gap,
    "too_many_hands": _too_many_hands,
    "too_many_cards": _too_many_cards,
    "pok_drew": _pok_drew,
    "duplicate_card": _duplicate_card,
    "reads_differ": _reads_differ,
    "missing_card": _missing_card,
    "awaiting_camera": _awaiting_camera,
    "missing_banker": lambda _: Said(
        "รอบนี้ยังไม่ระบุเจ้ามือ (ผู้เล่น) — ระบุ หรือให้หัวหน้าให้บ่อนเป็นเจ้ามือ",
        "No player was named as the bank — name one, or a supervisor lets the house bank",
    ),
    "missing_declaration": _missing_declaration,
    "declared_differs": _declared_differs,
    "records_differ": _records_differ,
    "check_in_doubt": _check_in_doubt,
    "number_jump": _number_jump,
}
