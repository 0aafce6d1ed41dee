"""Settle and correct: each is one act, and asked twice it pays once."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date, timedelta
from uuid import UUID

from casino import events, people
from casino.models import Person
from casino.platform import refusals
from casino.platform.refusals import Refusal
from settlement import days, ledger
from settlement.models import Settlement
from settlement.settling import earlier_revisions, round_inputs, settlement_batch
from settlement.settling.settlement_batch import Docket, Settled
from settlement.slips import voiding

refusals.register(
    "round_held", 409, "The round is held; a supervisor settles the doubt first.", "รอบนี้ค้าง ให้หัวหน้าชี้ขาดก่อน"
)
refusals.register("round_not_settled", 409, "The round has not been settled.", "รอบนี้ยังไม่ได้คิดเงิน")


def settle_rounds(ids: Collection[UUID], *, because: Mapping[UUID, UUID] | None = None) -> list[Settled]:
    """Settle what can be settled of these rounds; say of each, in the order of ids, what became of it.

    A round that was settled or voided before stays as it is, so asking twice pays once. ``because`` names the decision
    that let a held round settle, by round. Must run in an act. At most
    seventeen statements, whatever the number of rounds, wagers and events.
    """
    act = events.current()
    last_sealed = keep_days_open()
    found = round_inputs.read(ids, lock=True)
    open_cases = [case for case in found if not case.finished]
    ours = Docket(act=act, today=days.of(act.now), last_sealed=last_sealed, because=because)
    ours.lock_accounts(open_cases)
    answers = {case.id: ours.hear(case) for case in open_cases}
    ours.write()
    return [answers[case.id] if case.id in answers else Settled(case.id, case.standing) for case in found]


def keep_days_open() -> date | None:
    """Keep the gaming days that this act may post in from being sealed until it ends; return the last sealed day.
    Days are locked before disputes and rounds, so whoever decides a dispute asks for this first."""
    today = days.running()
    return ledger.share_day([today - timedelta(days=back) for back in range(settlement_batch.COUNTED_DAYS)])


def after_decision(round_id: UUID, *, cites: Collection[int], because: UUID) -> tuple[str, UUID | None]:
    """Let the acts of a decision (RoundEvent ids) count: a held round is settled, a finished one is corrected.

    Return what the round stands as now, and its new revision; None where it is held for another reason. Refuses
    ``round_held`` where a finished round could not be judged under them.
    """
    (standing,) = settle_rounds([round_id], because={round_id: because})
    before = effective(round_id)
    if standing.outcome not in ("settled", "voided") or before is None:
        return standing.outcome, None
    if before.because == because:
        return standing.outcome, before.id
    corrected = correct(round_id, cites=cites, because=because)
    return corrected.outcome, corrected.id


def correct(
    round_id: UUID,
    *,
    cites: Collection[int],
    because: UUID | None = None,
    acted_by: Person | None = None,
    approved_by: Person | None = None,
) -> Settlement:
    """Settle a finished round anew: the fold of what was not late and the late acts it cites (RoundEvent ids).

    A correction is one revision: what the one before moved is taken back and the new judgement posted, in one
    transaction; a pay slip that was not paid is taken back with it. Where no line changes, nothing is posted, told or
    taken back. It needs a decision (``because``) or two different people. Refuses ``round_not_settled``, ``round_held``
    with the reasons where the new fold is in doubt, ``sod_violation``, ``invalid_value`` for an act that is no late
    event of the round, and for a ruling of a bet without a decision. Must run in an act.
    """
    act = events.current()
    if because is None:
        if acted_by is None or approved_by is None:
            raise Refusal("sod_violation")
        people.different(acted_by.id, approved_by.id)
    today = days.of(act.now)
    ledger.share_day([today])
    # The lock first: what was settled last, and what it cited, is read under it.
    locked = round_inputs.read([round_id], lock=True)
    before = effective(round_id)
    if not locked or before is None:
        raise Refusal("round_not_settled")
    named = {*cites, *before.cites}
    (case,) = round_inputs.read([round_id], lock=True, cites={round_id: named})
    if not named <= set(case.late):
        raise Refusal("invalid_value", fields={"acts": "only late events of this round can be cited"})
    if because is None and not case.late_bets.isdisjoint(cites):
        raise Refusal(
            "invalid_value", fields={"acts": "two people choose cards; a bet is for a dispute to decide"}
        )
    ours = Docket(act=act, today=today)
    earlier = earlier_revisions.of(round_id)
    claimed = voiding.in_force(round_id)
    ours.lock_accounts([case], and_those_of=earlier, and_also=voiding.moved_by(claimed))
    ours.amend(
        case,
        before=before,
        history=earlier,
        cites=sorted(named),
        because=because,
        people=(acted_by, approved_by),
    )
    ours.write()
    corrected = effective(round_id)
    assert corrected is not None
    if not corrected.changes_nothing:
        voiding.supersede(claimed, by=corrected.id)
    return corrected


def effective_of(ids: Collection[UUID]) -> dict[UUID, Settlement]:
    """Return the latest revision of each round that has one, by round. One statement."""
    found = Settlement.objects.filter(round__in=ids).order_by("round", "-revision").distinct("round")
    return {one.round_id: one for one in found}


def effective(round_id: UUID) -> Settlement | None:
    """Return the latest revision of a round's settlement, None where there is none. One statement."""
    return Settlement.objects.select_related("sheet").filter(round=round_id).order_by("-revision").first()
