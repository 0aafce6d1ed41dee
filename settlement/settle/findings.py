"""What deserves a second look in a round, as the record, its sheet and the money show it. Computed, never stored here."""

from __future__ import annotations

from uuid import UUID

from casino.record import Finding
from settlement.models import Settlement
from settlement.rules import conduct, payouts
from settlement.rules.payouts import Verdict
from settlement.settle import cases
from settlement.settle.cases import Case


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
    inputs = settlement.inputs if settlement else {}
    not_in_play = frozenset(inputs.get("not_in_play", ()))
    verdict = None
    if case.record is not None and case.house is not None:
        verdict = payouts.judge(case.record, case.house, bank=inputs.get("bank"), not_in_play=not_in_play)
    return case, of_case(case, verdict, not_in_play=not_in_play)
