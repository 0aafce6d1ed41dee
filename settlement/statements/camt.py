"""Statements as ISO 20022 camt.053: written as version 001.08, read from any version. Pure.

An amount is always positive and its indicator says which way it went; a reversal's indicator already shows the way the
reversal moved. Names of an account that are longer than ``Id`` may be stand, whole, in ``AddtlStmtInf``.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from xml.etree.ElementTree import Element, SubElement

from defusedxml import DefusedXmlException
from defusedxml import ElementTree as Defused

from settlement.statements import forms
from settlement.statements.forms import (
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

PLACES = forms.Places(
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


def read(text: bytes) -> list[OutsideStatement]:
    """Read the statements of a camt.053 file of any version; raise Unreadable for whatever is none.

    Document types and entities are refused unread, elements that we do not know are passed over, and number and sum of
    the entries, where they are stated, must be those that are there."""
    try:
        root = Defused.fromstring(text, forbid_dtd=True)
    except (ET.ParseError, DefusedXmlException, UnicodeDecodeError, ValueError, LookupError) as fault:
        raise Unreadable("file", "no XML without document type and entities") from fault
    if not _ANY.match(root.tag):
        raise Unreadable("Document", "no camt.053")
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
    found = root.findall("BkToCstmrStmt/Stmt")
    if not found:
        raise Unreadable("Stmt", "there is no statement in it")
    return [_statement(stmt, f"Stmt[{number}]") for number, stmt in enumerate(found, start=1)]


def _statement(stmt: Element, where: str) -> OutsideStatement:
    currency = _text(stmt, "Acct/Ccy", where)
    opening, gaming_day = _stated(stmt, ("OPBD", "PRCD"), currency, where)
    closing, _ = _stated(stmt, ("CLBD",), currency, where)
    entries = stmt.findall("Ntry")
    lines = tuple(
        _line(entry, number, f"{where}/Ntry[{number}]") for number, entry in enumerate(entries, start=1)
    )
    _require_summary(stmt, lines, currency, where)
    return check_sum(
        OutsideStatement(
            number=stmt.findtext("ElctrncSeqNb") or stmt.findtext("LglSeqNb") or _text(stmt, "Id", where),
            account=_named(stmt, where),
            currency=currency,
            gaming_day=gaming_day,
            opening=opening,
            closing=closing,
            lines=lines,
        )
    )


def _named(stmt: Element, where: str) -> str:
    short_name = _text(stmt, "Acct/Id/Othr/Id", where)
    whole = (stmt.findtext("AddtlStmtInf") or "").strip()
    return whole if whole and account_id(whole) == short_name else short_name


def _stated(stmt: Element, codes: Sequence[str], currency: str, where: str) -> tuple[int, date]:
    """Return the balance of the first of ``codes`` that is there, and its day."""
    for code in codes:
        for balance in stmt.findall("Bal"):
            if balance.findtext("Tp/CdOrPrtry/Cd") == code:
                place = f"{where}/Bal/{code}"
                amount, other = _signed(balance, place)
                if other != currency:
                    raise Unreadable(place, f"in {other}, on an account in {currency}")
                return amount, _day(balance, "Dt", place)
    raise Unreadable(f"{where}/Bal", f"no balance {' or '.join(codes)}")


def _line(entry: Element, number: int, where: str) -> OutsideLine:
    amount, currency = _signed(entry, where)
    booked = _day(entry, "BookgDt", where)
    return OutsideLine(
        number=number,
        amount=amount,
        currency=currency,
        booked=booked,
        played=_day(entry, "ValDt", where) if entry.find("ValDt") is not None else booked,
        code=entry.findtext("BkTxCd/Prtry/Cd") or entry.findtext("BkTxCd/Domn/Cd") or "",
        journal=(entry.findtext("AcctSvcrRef") or "").replace("-", "").lower(),
        reference=next(_references(entry), ""),
        reversal=entry.findtext("RvslInd") in ("true", "1"),
        # The code stood in the status itself before version 001.08.
        pending=(entry.findtext("Sts/Cd") or (entry.findtext("Sts") or "").strip()) == "PDNG",
    )


def _references(entry: Element) -> Iterator[str]:
    for refs in entry.findall("NtryDtls/TxDtls/Refs"):
        text = (refs.findtext("EndToEndId") or "").strip()
        if text and text != "NOTPROVIDED":
            yield text


def _require_summary(stmt: Element, lines: Sequence[OutsideLine], currency: str, where: str) -> None:
    number = stmt.findtext("TxsSummry/TtlNtries/NbOfNtries")
    if number is not None and number.strip() != str(len(lines)):
        raise Unreadable(
            f"{where}/TxsSummry", f"{number.strip()[:20]} entries are stated, {len(lines)} are there"
        )
    total = stmt.findtext("TxsSummry/TtlNtries/Sum")
    there = sum(abs(line.amount) for line in lines)
    if (
        total is not None
        and minor(total.strip(), currency, where=f"{where}/TxsSummry/TtlNtries/Sum") != there
    ):
        raise Unreadable(f"{where}/TxsSummry", "the sum that is stated is not that of the entries")


def _signed(parent: Element, where: str) -> tuple[int, str]:
    amount = parent.find("Amt")
    currency = amount.get("Ccy", "") if amount is not None else ""
    if amount is None or not re.fullmatch("[A-Z]{3}", currency):
        raise Unreadable(f"{where}/Amt", "no amount with its currency")
    value = minor((amount.text or "").strip(), currency, where=f"{where}/Amt")
    way = parent.findtext("CdtDbtInd")
    if way not in ("CRDT", "DBIT"):
        raise Unreadable(f"{where}/CdtDbtInd", "neither CRDT nor DBIT")
    return (value if way == "CRDT" else -value), currency


def _day(parent: Element, name: str, where: str) -> date:
    text = (parent.findtext(f"{name}/Dt") or (parent.findtext(f"{name}/DtTm") or "").strip()[:10]).strip()
    # A date of XML may say its zone; the day is the one that is written.
    return forms.day(_ZONE.sub("", text), where=f"{where}/{name}")


def _text(parent: Element, path: str, where: str) -> str:
    text = (parent.findtext(path) or "").strip()
    if not text:
        raise Unreadable(f"{where}/{path}", "is missing")
    return text
