"""A cage's vault: what it held before this service, and that it holds nothing when its cage ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from casino import cages, events, people
from casino.events import Fact
from casino.models import Cage, Person
from casino.platform import refusals
from casino.platform.refusals import Refusal
from settlement import days, ledger
from settlement.cashier import cash_acts
from settlement.ledger import NewJournal, Posting
from settlement.models import Counting, Journal, Slip, SlipState

refusals.register(
    "cage_not_empty",
    409,
    "Its vault holds chips, or chips and boxes are on their way to it.",
    "ห้องนิรภัยยังมีชิป หรือมีชิปและกล่องกำลังมาส่ง",
)
refusals.register("vault_stocked", 409, "That take-over was posted before.", "บันทึกรับชิปตามเอกสารนี้ไปแล้ว")


def stock(
    *,
    cage: str,
    amount: int,
    document: str,
    lines: Sequence[Mapping[str, int]] = (),
    by: Person | None = None,
    approved_by: Person | None = None,
) -> None:
    """Take over chips worth ``amount`` into the vault of a cage from wherever the house kept them before this service.

    ``document`` names the take-over: the same one again moves nothing when the service furnishes a house, and is
    refused ``vault_stocked`` when people (a manager with another or an administrator) count ``lines`` in.
    Must run in an act.
    """
    told: dict[str, object] = {}
    if by is not None and approved_by is not None:
        people.require_two_for_places(by, approved_by)
        if Journal.objects.filter(key=f"stock:{document}").exists():
            raise Refusal("vault_stocked", fields={"document": "taken over before"})
        told = {"by": str(by.id), "approved_by": str(approved_by.id), "lines": [dict(line) for line in lines]}
    elif events.current().actor != events.SERVICE:
        raise Refusal("forbidden")
    cages.require_open(cage)
    today = days.running()
    ledger.share_day([today])
    vault = f"cage:{cage}:vault"
    journal = NewJournal(
        kind="external_mirror",
        key=f"stock:{document}",
        gaming_day=today,
        currency=cash_acts.currency(),
        postings=(Posting(f"external:chips:{cage}", -amount), Posting(vault, amount)),
    )
    (id,) = ledger.post([journal])
    events.announce([Fact("vault.stocked", f"accounts/{vault}", told | {"journal": journal.described(id)})])


def end(*, cage: Cage, by: Person, approved_by: Person) -> Cage:
    """End a cage whose vault holds nothing and to which nothing is on its way; refuse ``cage_not_empty``, and what
    ``cages.end`` refuses. Must run in an act."""
    cages.hold_alone(cage)
    vault = f"cage:{cage.code}:vault"
    if ledger.balances([vault]):  # one that was never used has none, and needs none to end
        locked = ledger.lock([vault], currency=cash_acts.currency())
        under_way = Slip.objects.filter(cage=cage.code, state__in=[SlipState.ISSUED, SlipState.IN_TRANSIT])
        counted_for = Counting.objects.filter(cage=cage.code, state=Counting.State.OPEN)
        if locked[vault].balance or under_way.exists() or counted_for.exists():
            raise Refusal("cage_not_empty")
    return cages.end(cage=cage, by=by, approved_by=approved_by)
