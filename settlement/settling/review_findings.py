"""What deserves a second look in a round, as record, sheet and money show it. Computed, never stored here."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from casino import rounds
from casino.models import Standing
from casino.record import Finding
from settlement import ledger
from settlement.ledger import Balance
from settlement.models import Settlement
from settlement.rules import conduct
from settlement.settling import judging, late_evidence, round_inputs, settle_and_correct
from settlement.settling.judging import Inputs
from settlement.settling.late_evidence import Heard
from settlement.settling.round_inputs import Case


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A settled or held round looked at again: ``asked`` is the id it was asked by, which may be an alias of it."""

    asked: UUID
    id: UUID
    table: str
    findings: tuple[Finding, ...]


def reviewed(round_id: UUID, settlement: Settlement | None) -> tuple[Case, list[Finding]]:
    """Return a round as it stands, with its findings: a finished one as it was settled, late acts it cites included."""
    cites = {round_id: settlement.cites} if settlement else {}
    (case,) = round_inputs.read([round_id], lock=False, cites=cites)
    found = _looked_at([case], {round_id: settlement} if settlement else {})
    return case, found.get(round_id, [])


def reviewed_rounds(asked: Collection[UUID]) -> list[Reviewed]:
    """Return the findings of those of these rounds that are settled or held now, in the order asked.

    A round that is being played, is due, or was voided has none. At most eleven statements, whatever their number.
    """
    stands = _standing(asked)
    ids = {row for row, standing in stands.values() if standing in (Standing.SETTLED, Standing.HELD)}
    if not ids:
        return []
    settlements = settle_and_correct.effective_of(ids)
    found = round_inputs.read(ids, lock=False, cites={key: one.cites for key, one in settlements.items()})
    findings = _looked_at(found, settlements)
    tables = {case.id: case.table for case in found}
    return [
        Reviewed(one, stands[one][0], tables[stands[one][0]], tuple(findings[stands[one][0]]))
        for one in asked
        if one in stands and stands[one][0] in findings
    ]


def inputs_now(case: Case) -> Inputs:
    """Return what the wallets of an unsettled round mean for it at this moment."""
    return _inputs(case, ledger.balances(case.wallets()))


def _inputs(case: Case, balances: Mapping[str, Balance]) -> Inputs:
    available = {code: account.available for code, account in balances.items()}
    return judging.inputs_of(case, balances, available=available)


def _standing(asked: Collection[UUID]) -> dict[UUID, tuple[UUID, str]]:
    """Each round, or the one it is an alias of, and where that stands. One statement."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT r.id, coalesce(w.id, r.id), coalesce(w.standing, r.standing) FROM casino_round r"
            " LEFT JOIN casino_round w ON w.id = r.alias_of_id WHERE r.id = ANY(%s)",
            [list(asked)],
        )
        return {asked: (stands, standing) for asked, stands, standing in cursor.fetchall()}


def _looked_at(found: Sequence[Case], settlements: Mapping[UUID, Settlement]) -> dict[UUID, list[Finding]]:
    """The findings of cases by round, sorted by kind and subject. One without a record or a sheet is left out."""
    known = [case for case in found if case.record is not None and case.house is not None]
    unsettled = [case for case in known if case.id not in settlements]
    wallets = {code for case in unsettled for code in case.wallets()}
    balances = ledger.balances(wallets) if wallets else {}
    heard = rounds.recorded([case.id for case in known if _needs_its_events(case)])
    of_money = _of_money([settlements[case.id] for case in known if case.id in settlements])
    shown = _shown_sheets([case for case in known if case.record and not case.record.sheet_shown])
    answers = {}
    for case in known:
        settlement = settlements.get(case.id)
        inputs = Inputs.read(settlement.inputs) if settlement else _inputs(case, balances)
        parted = Heard.of(heard.get(case.id, ()), cites=settlement.cites if settlement else ())
        findings = _of_case(case, inputs, parted)
        if findings is not None:
            findings += [*of_money.get(case.id, ()), *shown.get(case.id, ())]
        answers[case.id] = sorted(findings or [], key=lambda finding: (finding.kind, finding.subject))
    return answers


def _needs_its_events(case: Case) -> bool:
    assert case.record is not None
    return bool(case.late) or late_evidence.checked_and_ruled(case.record)


def _of_case(case: Case, inputs: Inputs, heard: Heard) -> list[Finding] | None:
    """What record and sheet show of a closed round, one finding per kind and subject; None of any other."""
    assert case.record is not None
    assert case.house is not None
    if case.record.state != "closed":
        return None
    verdict = judging.judge(case, inputs)
    found = [
        *conduct.breaches(case.record, case.house, verdict, not_in_play=frozenset(inputs.not_in_play)),
        *late_evidence.of_late(case.record, heard, house=case.house, currency=case.currency),
        *late_evidence.of_early_checks(case.record, verdict, heard, house=case.house, currency=case.currency),
    ]
    if case.clock_off:
        found.append(Finding("device_clock_off", ""))
    once: dict[tuple[str, str], Finding] = {}
    for finding in found:
        once.setdefault((finding.kind, finding.subject), finding)
    return list(once.values())


def _of_money(settlements: Sequence[Settlement]) -> dict[UUID, list[Finding]]:
    """The wagers that met cards without cover, and the wallets that could not pay (``missing``: minor units), by round.
    One statement."""
    if not settlements:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT u.round_id, u.wager, u.reason, u.exposure FROM settlement_uncovered u"
            " WHERE u.round_id = ANY(%(rounds)s)"
            " UNION ALL SELECT j.round, a.code, '', e.amount FROM settlement_journal j"
            " JOIN settlement_entry e ON e.journal_id = j.id JOIN settlement_account a ON a.id = e.account_id"
            " WHERE j.id = ANY(%(loans)s) AND a.kind = 'wallet'",
            {
                "rounds": [one.round_id for one in settlements],
                "loans": [one.shortfall_id for one in settlements if one.shortfall_id],
            },
        )
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    found: dict[UUID, list[Finding]] = {}
    for round_id, subject, reason, amount in rows:
        found.setdefault(round_id, []).append(
            Finding("uncovered", subject, (("reason", reason), ("exposure", amount)))
            if reason
            else Finding("shortfall", subject, (("missing", amount),))
        )
    return found


def _shown_sheets(found: Sequence[Case]) -> dict[UUID, list[Finding]]:
    """The rounds whose recorder said, before they were closed, that it shows another sheet than the one in force.

    For rounds whose opening names no sheet. A device states what it shows now and then, and only its last word is
    known: one that was given after the close says nothing of the round. One statement.
    """
    if not found:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT r.id, d.stated->>'sheet_shown', d.stated->>'sent_at' FROM casino_round r"
            " JOIN casino_device d ON d.id = r.recorder_id"
            " WHERE r.id = ANY(%s) AND d.stated->>'sheet_shown' IS NOT NULL",
            [[case.id for case in found]],
        )
        stated = {round_id: (shown, sent_at) for round_id, shown, sent_at in cursor.fetchall()}
    wrong = {}
    for case in found:
        shown, sent_at = stated.get(case.id, ("", ""))
        if not shown or case.house is None or shown == case.house.sha256 or case.closed_at is None:
            continue
        if datetime.fromisoformat(sent_at) <= case.closed_at:
            detail = (("shown", shown), ("in_force", case.house.sha256))
            wrong[case.id] = [Finding("wrong_sheet_shown", "", detail)]
    return wrong
