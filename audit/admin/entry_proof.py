"""What the page of an entry shows beside its bytes: its place in the tree, proved, and what the act touched."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.urls import reverse
from django.utils.html import format_html, format_html_join

from audit import merkle, proofs, signed_notes
from audit.admin.bilingual import either
from audit.models import Checkpoint, Dispute, Flag, LogEntry
from casino.models import Device, Person, Round, Table
from casino.platform.refusals import Refusal
from settlement.models import Journal, RuleSheet, Settlement

NOT_YET = either("not under a signed checkpoint yet", "ยังไม่มีจุดตรวจที่ลงนามครอบคลุม")
DAMAGED = either("cannot be proved: leaves are missing", "พิสูจน์ไม่ได้: ต้นไม้ขาดบางส่วน")


def proof_of(entry: LogEntry) -> str:
    """Return the entry's proof as it can be checked by hand, and whether it leads to the signed root."""
    checkpoint = Checkpoint.objects.filter(origin=entry.origin).order_by("-size").first()
    try:
        if checkpoint is None:
            raise Refusal("not_sealed_yet")
        (sealed,) = proofs.under(checkpoint, [entry])
    except Refusal as refusal:
        return str(NOT_YET if refusal.code == "not_sealed_yet" else DAMAGED)
    path = "\n".join(node.hex() for node in sealed.proof)
    text = (
        f"leaf {sealed.index} of {checkpoint.size}\n{sealed.leaf.hex()}\n\n{path}\n\n"
        f"root {bytes(checkpoint.root).hex()}\n\n{checkpoint.note}"
    )
    return format_html("<pre>{}</pre>", text)


def leads_to_root(entry: LogEntry) -> bool | None:
    """Say whether the proof of the entry's own bytes leads to the root of its checkpoint; None while there is none."""
    checkpoint = Checkpoint.objects.filter(origin=entry.origin).order_by("-size").first()
    if checkpoint is None:
        return None
    try:
        (sealed,) = proofs.under(checkpoint, [entry])
    except Refusal as refusal:
        return None if refusal.code == "not_sealed_yet" else False
    leaf = merkle.leaf_hash(bytes(entry.bytes))
    try:
        root = signed_notes.read(checkpoint.note).root
        merkle.check_inclusion(
            leaf=leaf, index=sealed.index, size=checkpoint.size, proof=sealed.proof, root=root
        )
    except (merkle.BadProof, signed_notes.BadNote):
        return False
    return leaf == sealed.leaf


_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_KNOWN: tuple[tuple[str, Any], ...] = (
    ("casino_round", Round),
    ("settlement_settlement", Settlement),
    ("settlement_journal", Journal),
    ("audit_flag", Flag),
    ("audit_dispute", Dispute),
    ("casino_person", Person),
    ("casino_device", Device),
    ("settlement_rulesheet", RuleSheet),
)
MOST = 40


def touched_by(entry: LogEntry, data: Any) -> str:
    """Return links to everything the act names: its table, rounds, money, questions and people."""
    return format_html_join("", "<div>{}: <a href='{}'>{}</a></div>", _links(entry, data))


def _links(entry: LogEntry, data: Any) -> Iterator[tuple[str, str, str]]:
    if entry.table_code:
        for table in Table.objects.filter(code=entry.table_code):
            yield _link("casino_table", table)
    named = [entry.subject, str(entry.round or ""), str(entry.person or ""), str(data)]
    ids = list(dict.fromkeys(UUID(found) for text in named for found in _ID.findall(text)))[:MOST]
    for name, model in _KNOWN:
        for row in model.objects.filter(pk__in=ids):
            yield _link(name, row)
    if entry.device:
        for device in Device.objects.filter(code=entry.device).exclude(pk__in=ids):
            yield _link("casino_device", device)


def _link(name: str, row: Any) -> tuple[str, str, str]:
    shown = str(row.pk) if isinstance(row, (Round, Settlement)) else str(row)
    return name.partition("_")[2], reverse(f"admin:{name}_change", args=[row.pk]), shown
