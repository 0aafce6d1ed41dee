"""Statements as ISO 20022 camt.053: written as version 001.08, read from any version. Pure.

An amount is always positive and its indicator says which way it went; a reversal's indicator already shows the way the
reversal moved. Names of an account that are longer than ``Id`` may be stand, whole, in ``AddtlStmtInf``.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from xml.etree.ElementTree import Element, SubElement

from defusedxml import DefusedXmlException
from defusedxml import ElementTree as Defused

from casino.platform import values
from settlement.statements import statement_values
from settlement.statements.statement_values import (
    SHORT_ACCOUNT,
    Line,
    OutsideLine,
    OutsideStatement,
    Statement,
    Unreadable,
    check_sum,
    decimal,
    minor,
    short,
)

NAMESPACE = "urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"
_ZONE = re.compile(r"(Z|[+-][0-9]{2}:[0-9]{2})\Z")

PLACES = statement_values.Places(
    statement=lambda number: f"Stmt[{number}]/Bal/CLBD/Dt",
    booked=lambda number, line: f"Stmt[{number}]/Ntry[{line}]/BookgDt",
    played=lambda number, line: f"Stmt[{number}]/Ntry[{line}]/ValDt",
)
_ANY = re.compile(r"\{urn:iso:std:iso:20022:tech:xsd:camt\.053\.001\.\d\d\}Document\Z")


def written(statement: Statement) -> bytes:
    """Write a statement of ours."""
    document = Element("Document", xmlns=NAMESPACE)
    message = SubElement(document, "BkToCstmrStmt")
    header = SubElement(message, "GrpHdr")
    _add(header, "MsgId", statement.id)
    _add(header, "CreDtTm", _at(statement.made_at))
    stmt = SubElement(message, "Stmt")
    _add(stmt, "Id", statement.id)
    if statement.number is not None:
        _add(stmt, "ElctrncSeqNb", str(statement.number))
    _add(stmt, "CreDtTm", _at(statement.made_at))
    _add(stmt, "FrToDt/FrDtTm", _at(statement.begins))
    _add(stmt, "FrToDt/ToDtTm", _at(statement.ends))
    _add(stmt, "Acct/Id/Othr/Id", account_id(statement.account))
    _add(stmt, "Acct/Ccy", statement.currency)
    _balance(stmt, statement, "OPBD", statement.opening)
    _balance(stmt, statement, "CLBD", statement.closing)
    _summary(stmt, statement)
    for line in statement.lines:
        _entry(stmt, statement, line)
    if account_id(statement.account) != statement.account:
        _add(stmt, "AddtlStmtInf", statement.account)
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(document, encoding="utf-8")


def account_id(code: str) -> str:
    """Return an account's code as ``Acct/Id`` can carry it."""
    return short(code, most=SHORT_ACCOUNT)


def _summary(stmt: Element, statement: Statement) -> None:
    entries = SubElement(SubElement(stmt, "TxsSummry"), "TtlNtries")
    _add(entries, "NbOfNtries", str(len(statement.lines)))
    _add(entries, "Sum", decimal(sum(abs(line.amount) for line in statement.lines), statement.currency))
    net = SubElement(entries, "TtlNetNtry")
    moved = statement.closing - statement.opening
    _add(net, "Amt", decimal(abs(moved), statement.currency))
    _add(net, "CdtDbtInd", _indicator(moved))


def _balance(stmt: Element, statement: Statement, code: str, amount: int) -> None:
    balance = SubElement(stmt, "Bal")
    _add(balance, "Tp/CdOrPrtry/Cd", code)
    _amount(balance, amount, statement.currency)
    _add(balance, "CdtDbtInd", _indicator(amount))
    _add(balance, "Dt/Dt", statement.gaming_day.isoformat())


def _entry(stmt: Element, statement: Statement, line: Line) -> None:
    entry = SubElement(stmt, "Ntry")
    _add(entry, "NtryRef", str(line.entry))
    _amount(entry, line.amount, statement.currency)
    _add(entry, "CdtDbtInd", _indicator(line.amount))
    if line.reverses:
        _add(entry, "RvslInd", "true")
    _add(entry, "Sts/Cd", "BOOK")
    _add(entry, "BookgDt/Dt", line.gaming_day.isoformat())
    _add(entry, "ValDt/Dt", line.played.isoformat())
    _add(entry, "AcctSvcrRef", line.journal.replace("-", ""))
    _add(entry, "BkTxCd/Prtry/Cd", line.code)
    if line.slip_no or line.reference:
        _add(entry, "NtryDtls/TxDtls/Refs/EndToEndId", short(line.slip_no or line.reference))


def _amount(parent: Element, amount: int, currency: str) -> None:
    SubElement(parent, "Amt", Ccy=currency).text = decimal(abs(amount), currency)


def _indicator(amount: int) -> str:
    return "CRDT" if amount >= 0 else "DBIT"


def _at(instant: datetime) -> str:
    return instant.isoformat().replace("+00:00", "Z")


def _add(parent: Element, path: str, text: str) -> None:
    """Add a chain of elements below ``parent``, in the last of them the text; what is there already is gone into."""
    *way, name = path.split("/")
    for step in way:
        found = parent.find(step)
        parent = SubElement(parent, step) if found is None else found
    SubElement(parent, name).text = text


# -- reading -----------------------------------------------------------------------------------------------

_DECLARED = re.compile(rb"""\A\s*<\?xml[^>]*\sencoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")
_CODECS = {"windows-874": "cp874"}
"""Encodings by a name that the parser does not know; it knows those of Python."""

_BOOKED = "BOOK"
_NOT_BOOKED = frozenset({"PDNG", "INFO", "FUTR"})
_NO_REFERENCE = frozenset({"", "NOTPROVIDED"})


@dataclass(frozen=True, slots=True)
class HouseClock:
    """Which gaming day an instant belongs to, and the zone of a time that names none."""

    day_of: Callable[[datetime], date]
    zone: tzinfo


def read(text: bytes, *, clock: HouseClock) -> list[OutsideStatement]:
    """Read the statements of a camt.053 file of any version; raise Unreadable for whatever is none.

    Document types and entities are refused unread, elements that we do not know are passed over, and numbers and sums
    of the entries, where they are stated, must be those that are there. A statement is of the day of its closing
    balance: the opening one may be what the day before closed with (``PRCD``). Where the standard allows an instant
    for a day, it is the gaming day of that instant."""
    try:
        root = Defused.fromstring(_decoded(text), forbid_dtd=True)
    except (ET.ParseError, DefusedXmlException, UnicodeDecodeError, ValueError, LookupError) as fault:
        raise Unreadable("file", "no XML without document type and entities") from fault
    if not _ANY.match(root.tag):
        raise Unreadable("Document", "no camt.053")
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
    found = root.findall("BkToCstmrStmt/Stmt")
    if not found:
        raise Unreadable("Stmt", "there is no statement in it")
    return [_statement(stmt, f"Stmt[{number}]", clock) for number, stmt in enumerate(found, start=1)]


def _decoded(text: bytes) -> bytes | str:
    declared = _DECLARED.match(text)
    codec = _CODECS.get(declared[1].decode().lower()) if declared else None
    return text.decode(codec) if codec else text


def _statement(stmt: Element, where: str, clock: HouseClock) -> OutsideStatement:
    _require_whole(stmt, where)
    currency = _said(stmt, "Acct/Ccy") or _currency_of_balances(stmt)
    opening, _ = _stated(stmt, ("OPBD", "PRCD"), currency, where, clock)
    closing, gaming_day = _stated(stmt, ("CLBD",), currency, where, clock)
    lines = tuple(
        _line(entry, number, f"{where}/Ntry[{number}]", gaming_day, clock)
        for number, entry in enumerate(stmt.findall("Ntry"), start=1)
    )
    _require_summary(stmt, lines, currency, where)
    return check_sum(
        OutsideStatement(
            number=_said(stmt, "ElctrncSeqNb") or _said(stmt, "LglSeqNb") or _text(stmt, "Id", where),
            account=_named(stmt, where),
            currency=currency,
            gaming_day=gaming_day,
            opening=opening,
            closing=closing,
            lines=lines,
        )
    )


def _require_whole(stmt: Element, where: str) -> None:
    """A statement may come in pages, each with interim balances: only a whole one says what a day came to."""
    page, is_last = _said(stmt, "StmtPgntn/PgNb"), _said(stmt, "StmtPgntn/LastPgInd")
    if page and (page != "1" or is_last not in ("true", "1")):
        raise Unreadable(f"{where}/StmtPgntn", "a page of a statement; the whole one is needed")


def _currency_of_balances(stmt: Element) -> str:
    amount = stmt.find("Bal/Amt")
    return "" if amount is None else amount.get("Ccy", "")


def _named(stmt: Element, where: str) -> str:
    short_name = _text(stmt, "Acct/Id/Othr/Id", where)
    whole = _said(stmt, "AddtlStmtInf")
    return whole if whole and account_id(whole) == short_name else short_name


def _stated(
    stmt: Element, codes: Sequence[str], currency: str, where: str, clock: HouseClock
) -> tuple[int, date]:
    """Return the balance of the first of ``codes`` that is there, and its day."""
    for code in codes:
        for balance in stmt.findall("Bal"):
            if _said(balance, "Tp/CdOrPrtry/Cd") == code:
                place = f"{where}/Bal/{code}"
                amount, other = _signed(balance, place)
                if other != currency:
                    raise Unreadable(place, f"in {other}, on an account in {currency}")
                day = _day(balance, "Dt", place, clock)
                if day is None:
                    raise Unreadable(f"{place}/Dt", "is missing")
                return amount, day
    raise Unreadable(f"{where}/Bal", f"no balance {' or '.join(codes)}")


def _line(entry: Element, number: int, where: str, of_day: date, clock: HouseClock) -> OutsideLine:
    """Read an entry. Its days are optional: what is booked on no day of its own is booked on the statement's."""
    amount, currency = _signed(entry, where)
    value_day = _day(entry, "ValDt", where, clock)
    booked = _day(entry, "BookgDt", where, clock) or value_day or of_day
    names = _names(entry)
    return OutsideLine(
        number=number,
        amount=amount,
        currency=currency,
        booked=booked,
        played=value_day or booked,
        code=_said(entry, "BkTxCd/Prtry/Cd") or _said(entry, "BkTxCd/Domn/Cd"),
        journal=_plain(_said(entry, "AcctSvcrRef")),
        reference=names[0] if len(names) == 1 else "",
        names=names if len(names) > 1 else (),
        reversal=_said(entry, "RvslInd") in ("true", "1"),
        pending=not _is_booked(entry, where),
    )


def _is_booked(entry: Element, where: str) -> bool:
    # The code stood in the status itself before version 001.08.
    code = _said(entry, "Sts/Cd") or _said(entry, "Sts")
    if code != _BOOKED and code not in _NOT_BOOKED:
        raise Unreadable(f"{where}/Sts", f"{code[:20]!r} is none of BOOK, PDNG, INFO, FUTR")
    return code == _BOOKED


def _names(entry: Element) -> tuple[str, ...]:
    """Return what the transactions of an entry name, each once: a paper or key of ours, or our journal."""
    found = dict.fromkeys(_name(refs) for refs in entry.findall("NtryDtls/TxDtls/Refs"))
    return tuple(name for name in found if name)


def _name(refs: Element) -> str:
    for path in ("EndToEndId", "InstrId", "TxId"):
        if (text := _said(refs, path)) not in _NO_REFERENCE:
            return text
    return _plain(_said(refs, "AcctSvcrRef"))


def _plain(reference: str) -> str:
    return reference.replace("-", "").lower()


def _require_summary(stmt: Element, lines: Sequence[OutsideLine], currency: str, where: str) -> None:
    place = f"{where}/TxsSummry"
    number = _said(stmt, "TxsSummry/TtlNtries/NbOfNtries")
    if number and number.lstrip("0") != str(len(lines) or ""):
        raise Unreadable(place, f"{number[:20]} entries are stated, {len(lines)} are there")
    credits = sum(line.amount for line in lines if line.amount > 0)
    debits = -sum(line.amount for line in lines if line.amount < 0)
    for name, there in (("TtlNtries", credits + debits), ("TtlCdtNtries", credits), ("TtlDbtNtries", debits)):
        total = _said(stmt, f"TxsSummry/{name}/Sum")
        if total and minor(total, currency, where=f"{place}/{name}/Sum") != there:
            raise Unreadable(place, "the sum that is stated is not that of the entries")


def _signed(parent: Element, where: str) -> tuple[int, str]:
    amount = parent.find("Amt")
    currency = amount.get("Ccy", "") if amount is not None else ""
    if amount is None or not re.fullmatch("[A-Z]{3}", currency):
        raise Unreadable(f"{where}/Amt", "no amount with its currency")
    value = minor((amount.text or "").strip(), currency, where=f"{where}/Amt")
    way = _said(parent, "CdtDbtInd")
    if way not in ("CRDT", "DBIT"):
        raise Unreadable(f"{where}/CdtDbtInd", "neither CRDT nor DBIT")
    return (value if way == "CRDT" else -value), currency


def _day(parent: Element, name: str, where: str, clock: HouseClock) -> date | None:
    """Return the day that a ``Dt`` names, or the gaming day of a ``DtTm``; None where the element is not there."""
    try:
        if day := _said(parent, f"{name}/Dt"):
            # A date of XML may say its zone; the day is the one that is written.
            return statement_values.day(_ZONE.sub("", day), where=f"{where}/{name}")
        if at := _said(parent, f"{name}/DtTm"):
            if _ZONE.search(at):
                return clock.day_of(values.instant(at))
            return clock.day_of(values.instant(f"{at}Z").replace(tzinfo=clock.zone))
    except values.Wrong as wrong:
        raise Unreadable(f"{where}/{name}", wrong.why) from wrong
    if parent.find(name) is not None:
        raise Unreadable(f"{where}/{name}", "no day")
    return None


def _said(parent: Element, path: str) -> str:
    """Return the text of an element without the space around it; empty where it is not there."""
    return (parent.findtext(path) or "").strip()


def _text(parent: Element, path: str, where: str) -> str:
    text = _said(parent, path)
    if not text:
        raise Unreadable(f"{where}/{path}", "is missing")
    return text
