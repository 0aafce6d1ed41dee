"""What is under way between cage and table when somebody wants to be done: chips in transit, and papers for them."""

from collections.abc import Sequence

from casino.models import TableSession
from casino.platform import refusals
from casino.platform.refusals import Refusal
from settlement.models import Slip, SlipState
from settlement.slips import numbers

refusals.register(
    "slip_in_transit",
    409,
    "Chips of a fill or credit are under way; count them in first.",
    "มีชิปตามใบเบิกหรือใบคืนอยู่ระหว่างทาง ให้นับรับก่อน",
)
refusals.register(
    "slip_not_carried",
    409,
    "A fill or credit was asked for and never carried; void it first.",
    "มีใบเบิกหรือใบคืนชิปที่ยังไม่ได้ขน ให้ยกเลิกก่อน",
)


def require_no_chips_in_transit() -> None:
    """Refuse ``slip_in_transit``, with the slips, while chips of any table are under way: at the end of a shift there
    are none. One statement."""
    under_way = Slip.objects.filter(state=SlipState.IN_TRANSIT)
    _refuse(list(under_way.select_related("series", "table").order_by("id")), "slip_in_transit")


def require_no_slip_of(session: TableSession) -> None:
    """Refuse to be done with a session whose chips are under way (``slip_in_transit``), or whose slips were asked for
    or issued and never carried (``slip_not_carried``): they are voided first. The session is locked, so none comes in
    between. One statement."""
    under_way = (SlipState.REQUESTED, SlipState.ISSUED, SlipState.IN_TRANSIT)
    of_session = Slip.objects.filter(session=session, state__in=under_way)
    found = list(of_session.select_related("series", "table").order_by("id"))
    _refuse([slip for slip in found if slip.state == SlipState.IN_TRANSIT], "slip_in_transit")
    _refuse(found, "slip_not_carried")


def _refuse(found: Sequence[Slip], code: str) -> None:
    if found:
        raise Refusal(
            code,
            slips=[
                {
                    "id": str(slip.id),
                    "kind": str(slip.kind),
                    "table": slip.table.code,
                    "state": str(slip.state),
                    "number": numbers.written(kind=slip.kind, year=slip.series.year, number=slip.number)
                    if slip.series is not None and slip.number is not None
                    else None,
                }
                for slip in found
            ],
        )
