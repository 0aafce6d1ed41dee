"""Statements of others: a file is taken in whole or not at all, and once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db.models import Count, Q

from casino import events, keys
from casino.events import Fact
from casino.models import ApiKey, Person
from casino.platform import refusals, values
from casino.platform.refusals import Refusal
from settlement import cashier, days
from settlement.models import Account, AccountKind, OutsideFile, OutsideLine, OutsideStatement
from settlement.statements import camt053, csv_format, statement_values
from settlement.statements.statement_values import Unreadable

refusals.register(
    "statement_unreadable",
    422,
    "The file is no statement, or does not add up.",
    "ไฟล์นี้ไม่ใช่ใบแจ้งยอด หรือยอดไม่ลงตัว",
)
refusals.register(
    "statement_differs",
    409,
    "A statement of that number and day was taken in before, from another file.",
    "เคยรับใบแจ้งยอดเลขและวันนี้จากไฟล์อื่นแล้ว",
)

Form = Literal["csv", "camt.053"]

MOST_STATEMENTS = 1_000


@dataclass(frozen=True, slots=True)
class Taken:
    """A file that was taken in, now or (``again``) before."""

    file: OutsideFile
    again: bool


def take(content: bytes, *, form: Form, by: Person | None, key: ApiKey | None = None) -> Taken:
    """Take in a file of statements of our accounts by somebody else; the same bytes again are the same file.

    Refuses ``statement_unreadable`` with the place in the file, ``unknown_account``, ``wrong_currency`` and
    ``statement_differs``; then nothing of it is kept. Must run in an act; seven statements, however many lines.
    """
    act = events.current()
    sha256 = hashlib.sha256(content).digest()
    before = OutsideFile.objects.filter(sha256=sha256).first()
    if before is not None:
        return Taken(before, again=True)
    read = _read(content, form=form, now=act.now)
    accounts = _accounts(read, key=key)
    file = OutsideFile.objects.create(
        id=events.uuid7(act.now),
        sha256=sha256,
        form=form,
        bytes=content,
        taken_by=by,
        key=key,
        taken_at=act.now,
    )
    rows = OutsideStatement.objects.bulk_create(
        [
            OutsideStatement(
                id=events.uuid7(act.now),
                file=file,
                ordinal=ordinal,
                account=accounts[one.account],
                number=one.number,
                gaming_day=one.gaming_day,
                currency=one.currency,
                opening=one.opening,
                closing=one.closing,
                lines=len(one.lines),
            )
            for ordinal, one in enumerate(read, start=1)
        ]
    )
    OutsideLine.objects.bulk_create(
        [
            OutsideLine(
                statement=row,
                number=line.number,
                account_id=row.account_id,
                amount=line.amount,
                currency=line.currency,
                booked=line.booked,
                played=line.played,
                code=line.code[:35],
                journal=line.journal[:35],
                reference=statement_values.short(line.reference, most=120),
                names=[statement_values.short(name, most=120) for name in line.names],
                reversal=line.reversal,
                pending=line.pending,
            )
            for row, one in zip(rows, read, strict=True)
            for line in one.lines
        ]
    )
    _announce(file, rows)
    return Taken(file, again=False)


def _read(content: bytes, *, form: Form, now: datetime) -> list[statement_values.OutsideStatement]:
    try:
        read = csv_format.read(content) if form == "csv" else camt053.read(content, clock=_clock())
        statement_values.require_days(
            read,
            asked=days.asked(now=now),
            latest=days.of(values.takes_effect(now=now).last),
            places=csv_format.PLACES if form == "csv" else camt053.PLACES,
        )
    except Unreadable as fault:
        raise Refusal("statement_unreadable", fields={fault.where[:200]: fault.why[:200]}) from fault
    if len(read) > MOST_STATEMENTS:
        raise Refusal("statement_unreadable", fields={"file": f"more than {MOST_STATEMENTS} statements"})
    for one in read:
        if len(one.number) > 40:
            raise Refusal("statement_unreadable", fields={"number": "longer than 40 characters"})
    return read


def _clock() -> camt053.HouseClock:
    return camt053.HouseClock(day_of=days.of, zone=ZoneInfo(str(settings.PROPERTY["zone"])))


def _accounts(read: Sequence[statement_values.OutsideStatement], *, key: ApiKey | None) -> dict[str, Account]:
    """Return the accounts that the statements name; refuse a statement that was taken from another file, or is in this
    one twice. Senders may begin their numbers anew: the same statement is the same number and the same day."""
    found = {
        account.code: account for account in Account.objects.filter(code__in={one.account for one in read})
    }
    if key is not None:
        found = {code: account for code, account in found.items() if of_key(key, account)}
    unknown = sorted({one.account for one in read} - set(found))
    if unknown:
        raise Refusal("unknown_account", accounts=unknown[:20])
    wrong = sorted({one.account for one in read if found[one.account].currency != one.currency})
    if wrong:
        raise Refusal("wrong_currency", accounts=wrong[:20])
    named = [(found[one.account].id, one.number, one.gaming_day) for one in read]
    used = OutsideStatement.objects.filter(
        account__in=[id for id, _, _ in named],
        number__in=[number for _, number, _ in named],
        gaming_day__in=[day for _, _, day in named],
    )
    taken = set(named) & set(used.values_list("account", "number", "gaming_day"))
    if taken or len(set(named)) != len(named):
        raise Refusal(
            "statement_differs", fields={"number": "a statement of this number and day is there already"}
        )
    return found


def _announce(file: OutsideFile, rows: Sequence[OutsideStatement]) -> None:
    told = [
        {
            "id": str(row.id),
            "account": row.account.code,
            "number": row.number,
            "gaming_day": row.gaming_day.isoformat(),
            "opening": row.opening,
            "closing": row.closing,
            "currency": row.currency,
            "lines": row.lines,
        }
        for row in rows
    ]
    data = {
        "sha256": bytes(file.sha256).hex(),
        "form": file.form,
        "taken_by": str(file.taken_by_id) if file.taken_by_id else None,
        "key": str(file.key_id) if file.key_id else None,
        "statements": told,
    }
    events.announce([Fact("statements.taken", f"outside-files/{file.id}", data)])


def of_key(key: ApiKey, account: Account) -> bool:
    """Say whether a system's key is good for an account: a wallet it reaches, the vault and the cash of a cage it
    names, and at a table it names the account kept with the system itself. What a tray should hold follows from the
    others, and is for people who may see expected figures."""
    if account.kind == AccountKind.WALLET:
        ref = account.code.removeprefix("player:").removesuffix(":wallet")
        return cashier.reaches(keys.principal_of(key), ref)
    if account.kind == AccountKind.VAULT:
        return account.code.split(":")[1] in key.cages
    if account.kind != AccountKind.EXTERNAL:
        return False
    _, what, place = account.code.split(":")
    return place in key.cages or (place in key.tables and what == key.system)


def of_file(file: UUID, *, key: ApiKey | None) -> OutsideFile:
    """Return a file that was taken in, by the same system where a ``key`` asks; refuse ``not_found``."""
    found = OutsideFile.objects.select_related("key").filter(pk=file).first()
    if found is None or (key is not None and (found.key is None or found.key.system != key.system)):
        raise Refusal("not_found")
    return found


def progress(file: OutsideFile) -> list[tuple[OutsideStatement, int, int]]:
    """Return a file's statements, each with how many of its lines are matched and how many are only announced."""
    counted = file.statements.select_related("account").annotate(
        with_match=Count("entries", filter=Q(entries__match__isnull=False)),
        only_announced=Count("entries", filter=Q(entries__pending=True)),
    )
    return [(one, one.with_match, one.only_announced) for one in counted.order_by("ordinal")]
