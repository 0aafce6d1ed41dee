"""A box that was counted as another's: its count is taken back, and it waits to be counted again."""

from uuid import UUID

from casino import events, people
from casino.events import Fact
from casino.models import Person, Table
from casino.platform.refusals import Refusal
from settlement import breaks, days, ledger
from settlement.models import BreakCode, Count, Drop
from settlement.table_floats.variances import Journals


def take_back(*, table: Table, count: UUID, by: Person, reason: str) -> Drop:
    """Withdraw what the accepted count of a box took: its journals are posted back, and the box waits again.

    By a supervisor or a manager who neither counted nor carried it (``sod_violation``), with a reason. Refuses
    ``not_found`` where nothing stands by that count, and ``day_sealed`` once the day whose drop it is was sealed: what
    is learnt then is a variance of an open day. Must run in an act.
    """
    act = events.current()
    today = days.running()
    last_sealed = ledger.share_day([today])
    found = Drop.objects.select_related("count__counting", "journal", "variance").select_for_update(
        of=("self",)
    )
    row = found.filter(session__table=table, count=count, withdrawn_at=None).first()
    if row is None:
        raise Refusal("not_found")
    if last_sealed is not None and row.gaming_day <= last_sealed:
        raise Refusal("day_sealed")
    if by.role not in people.RULERS or not by.is_active:
        raise Refusal("forbidden")
    counted = Count.objects.filter(counting=row.count.counting_id).values_list("counted_by", flat=True)
    if by.id in {*counted, row.count.counting.carried_by_id}:
        raise Refusal("sod_violation")
    if not reason:
        raise Refusal("invalid_value", fields={"reason": "says why"})
    code = table.code
    drop, vault, variance = f"table:{code}:drop", f"cage:{row.cage}:vault", f"variance:{code}"
    journals = Journals(
        key=f"drop:{row.id}:back",
        day=today,
        currency=table.currency,
        orig_day=row.gaming_day if row.gaming_day != today else None,
    )
    journals.move("journal_back", "drop_counted", vault, drop, row.count.amount)
    journals.move("variance_back", "variance", drop, variance, row.count.amount - row.recorded)
    posted = ledger.post(list(journals.named.values()))
    ids: dict[str, UUID] = dict(zip(journals.named, posted, strict=True))
    row.withdrawn_by, row.withdrawn_at, row.withdrawn_reason = by, act.now, reason
    row.journal_back_id, row.variance_back_id = ids.get("journal_back"), ids.get("variance_back")
    row.save(
        update_fields=["withdrawn_by", "withdrawn_at", "withdrawn_reason", "journal_back", "variance_back"]
    )
    breaks.cleared(
        code=BreakCode.COUNT_VARIANCE, subjects=[f"drops/{row.id}"], reason="the count was taken back"
    )
    events.announce(
        [
            Fact(
                "drop.withdrawn",
                f"tables/{code}",
                {
                    "drop": str(row.id),
                    "count": str(row.count_id),
                    "reason": {"code": "withdrawn", "text": reason},
                    "journals": journals.described(ids),
                },
                table=code,
                person=by.id,
            )
        ]
    )
    return row
