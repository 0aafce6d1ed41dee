"""What deserves a second look in a round, as record, sheet and money show it. Computed, never stored here."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from casino.models import Round
from casino.record import Finding
from settlement import ledger
from settlement.models import Settlement
from settlement.rules import conduct
from settlement.rules.payouts import Verdict
from settlement.settle import cases, judgement, settling
from settlement.settle.cases import Case
from settlement.settle.judgement import Inputs


def of_case(
    case: Case, verdict: Verdict | None, *, not_in_play: frozenset[str] = frozenset()
) -> list[Finding]:
    """Return the findings of a settled or held round, sorted by kind and subject; none for any other.

    Beside what conduct shows: a device whose clock could not be believed, and reports that came after the settlement.
    """
    if case.record is None or case.house is None:
        return []
    found = list(conduct.breaches(case.record, case.house, verdict, not_in_play=not_in_play))
    if case.record.state == "closed":
        if case.clock_off:
            found.append(Finding("device_clock_off", ""))
        if case.late:
            found.append(Finding("late_event", "", (("events", len(case.late)),)))
    return sorted(found, key=lambda finding: (finding.kind, finding.subject))


def reviewed(round_id: UUID, settlement: Settlement | None) -> tuple[Case, list[Finding]]:
    """Return a round as it stands, with its findings: a finished one as it was settled, late acts it cites included."""
    cites = {round_id: settlement.cites} if settlement else {}
    (case,) = cases.read([round_id], lock=False, cites=cites)
    if case.record is None or case.house is None:
        return case, []
    inputs = Inputs.read(settlement.inputs) if settlement else inputs_now(case)
    found = of_case(case, judgement.judge(case, inputs), not_in_play=frozenset(inputs.not_in_play))
    if settlement:
        found = sorted([*found, *_of_money(settlement)], key=lambda finding: (finding.kind, finding.subject))
    return case, found


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A settled or held round looked at again: ``asked`` is the id it was asked by, which may be an alias of it."""

    asked: UUID
    id: UUID
    table: str
    findings: tuple[Finding, ...]


def reviewed_rounds(asked: Collection[UUID]) -> list[Reviewed]:
    """Return the findings of those of these rounds that are settled or held now, in the order asked.

    A round that is being played, is due, or was voided has none.
    """
    stands = {
        row.id: row.alias_of_id or row.id for row in Round.objects.filter(pk__in=asked).only("id", "alias_of")
    }
    rows = Round.objects.filter(pk__in=set(stands.values()), standing__in=("settled", "held"))
    found = {}
    for row in rows:
        case, findings = reviewed(row.id, settling.effective(row.id))
        found[row.id] = (case.table, tuple(findings))
    return [
        Reviewed(one, stands[one], *found[stands[one]])
        for one in asked
        if one in stands and stands[one] in found
    ]


def inputs_now(case: Case) -> Inputs:
    """Return what the wallets of an unsettled round mean for it at this moment."""
    found = ledger.balances(case.wallets())
    available = {code: account.available for code, account in found.items()}
    return judgement.inputs_of(case, found, available=available)


def _of_money(settlement: Settlement) -> list[Finding]:
    """Return the wagers that met cards without cover, and the wallets that could not pay (``missing``: minor units)."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 'uncovered', wager, reason, exposure FROM settlement_uncovered WHERE round_id = %s"
            " UNION ALL SELECT 'shortfall', a.code, '', e.amount FROM settlement_entry e"
            " JOIN settlement_account a ON a.id = e.account_id WHERE e.journal_id = %s AND a.kind = 'wallet'",
            [settlement.round_id, settlement.shortfall_id],
        )
        rows = cursor.fetchall()
    return [
        Finding(
            kind, subject, (("reason", reason), ("exposure", amount)) if reason else (("missing", amount),)
        )
        for kind, subject, reason, amount in rows
    ]
