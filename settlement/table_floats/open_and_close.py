"""Opening and closing a table with a float that was counted and accepted before.

At the close, in this order: what wallets won or lost is cleared with the cage, and so is what pay slips pay there;
chips that guests carried off leave the table, the difference between count and books goes to ``variance``, and the
float goes to the vault. Behind that, bank and commission of the table come to nothing; where the float stays locked on
the table, to what was counted.
"""

from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from casino import cages, events, people, tables
from casino.models import Duty, Person, Role, Table, TableSession
from casino.platform.refusals import Refusal
from settlement import days, ledger
from settlement.models import CountKind, Float
from settlement.slips import under_way
from settlement.table_floats import accepted_counts, blind_counts, expected_tray
from settlement.table_floats.accepted_counts import Accepted


@dataclass(frozen=True, slots=True)
class Closed:
    """A closed session's float, and the break of its difference where there is one. ``missing`` are device numbers
    that had not arrived: the close is provisional until they are explained."""

    float: Float
    variance: UUID | None

    @property
    def is_provisional(self) -> bool:
        return bool(self.float.missing)


def open_table(*, table: Table, dealer: Person, supervisor: Person, cage: str = "") -> TableSession:
    """Open the table with its accepted opener, brought from the vault of ``cage`` or ("") found locked on the table.

    Whatever differs from the last closer is graded and opens a break; on a float found on the table, which no vault
    answers for, it is posted as variance. What was settled, claimed or taken back meanwhile is the session's own.
    Refuses ``count_missing`` where no opener was counted and accepted, ``table_open``, ``sod_violation``, and
    ``day_closing`` in a day that is being closed.
    """
    act = events.current()
    today = days.running()
    ledger.share_day([today])
    days.sessions_may_open(today)
    if cage:
        cages.require_open(cage)
    session = tables.open(table=table, dealer=dealer, supervisor=supervisor, now=act.now)
    count = blind_counts.accepted(table=table, kind=CountKind.OPENER)
    tray = expected_tray.lock(table, cage=cage, since_close=False)
    taken = Accepted(session=session, table=table, kind=CountKind.OPENER, count=count, cage=cage, day=today)
    expected = expected_tray.last_closer(table)
    if cage:
        taken.journals.move("journal", CountKind.OPENER, f"cage:{cage}:vault", taken.bank, count.amount)
    else:
        if expected is None or not days.counts_in_the_tray(today):
            expected = tray.expected
        taken.journals.move("variance", "variance", taken.variance, taken.bank, count.amount - expected)
    accepted_counts.accept(taken, tray=tray, expected=expected)
    return session


def close_table(
    *,
    table: Table,
    last_round: int,
    cage: str = "",
    carried_over_by: tuple[Person, Person] | None = None,
    overridden_by: tuple[Person, Person] | None = None,
) -> Closed:
    """Close the table with its accepted closer: post it, and end the session at round ``last_round``.

    The float goes to the vault of ``cage``, or ("") stays locked on the table. Refuses ``count_missing`` where no
    closer was counted and accepted, ``slip_in_transit`` and ``slip_not_carried`` with the slips of the session that are
    under way, ``count_overtaken`` where chips moved since, ``table_closed`` and what ``casino.tables.close`` refuses.
    Numbers of devices or rounds that did not arrive are closed over by two people
    (``overridden_by``), supervisors on duty there or managers, and the close is provisional.
    """
    act = events.current()
    today = days.running()
    ledger.share_day([today])
    if cage:
        cages.require_open(cage)
    session = tables.lock_session(table)
    under_way.require_no_slip_of(session)
    count = blind_counts.accepted(table=table, kind=CountKind.CLOSER, session=session)
    missing = _missing(session)
    if missing and overridden_by is not None:
        _require_two_rulers(overridden_by, session=session)
    tray = expected_tray.lock(table, cage=cage)
    if count.bank_version != tray.of("bank").version:
        raise Refusal("count_overtaken")
    taken = Accepted(session=session, table=table, kind=CountKind.CLOSER, count=count, cage=cage, day=today)
    move, code = taken.journals.move, table.code
    move("clearing", "wallet_clearing", taken.bank, f"suspense:clearing:{code}", tray.cleared)
    move("slip_clearing", "slip_clearing", f"suspense:clearing:{code}", taken.bank, tray.slips)
    move("chips_left", "chips_left", taken.guests, f"suspense:chips:{code}", tray.of("guests").balance)
    move("variance", "variance", taken.variance, taken.bank, count.amount - tray.expected)
    if cage:
        move("journal", CountKind.CLOSER, taken.bank, f"cage:{cage}:vault", count.amount)
    if missing and overridden_by is not None:
        taken.missing, taken.overridden_by = missing, overridden_by
    taken.held = _held(session)
    closed, variance = accepted_counts.accept(taken, tray=tray, expected=tray.expected)
    tables.close(
        session=session,
        last_round=last_round,
        carried_over_by=carried_over_by,
        now=act.now,
        despite_missing=overridden_by,
    )
    return Closed(closed, variance)


def _missing(session: TableSession) -> dict[str, list[list[int]]]:
    """What did not arrive: numbers of devices by the device's code, and the session's own under ``rounds``."""
    missing = tables.missing_numbers(session)
    unplayed = tables.missing_rounds([session.id]).get(session.id)
    return missing | ({"rounds": unplayed} if unplayed else {})


def _require_two_rulers(two: tuple[Person, Person], *, session: TableSession) -> None:
    people.different(*(person.id for person in two))
    for person in two:
        if not person.is_active or person.role not in people.RULERS:
            raise Refusal("second_person_forbidden")
        on_duty = Duty.objects.filter(session=session, person=person, off_at=None)
        if person.role == Role.SUPERVISOR and not on_duty.exists():
            raise Refusal("not_on_duty")


_HELD = """
SELECT r.id, r.number, coalesce(sum(h.amount), 0)::bigint
  FROM casino_round r LEFT JOIN settlement_hold h ON h.round_id = r.id AND h.ended_at IS NULL
 WHERE r.session_id = %s AND r.standing = 'held' AND r.alias_of_id IS NULL
 GROUP BY r.id ORDER BY r.number
"""


def _held(session: TableSession) -> list[list[object]]:
    """Return the rounds that wait for a person, with what their holds lock."""
    with connection.cursor() as cursor:
        cursor.execute(_HELD, [session.id])
        return [[str(id), number, locked] for id, number, locked in cursor.fetchall()]
