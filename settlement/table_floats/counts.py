"""One door for every count: whoever counts says what lies there, and what is complete is taken at once.

An opener or a closer waits for the table to be opened or closed with it. The count of a shift or of the start hour, the
table going on, and that of a drop box are posted with the count that completes them.
"""

from datetime import timedelta
from uuid import UUID

from django.db import connection

from casino import events
from casino.events import Fact
from casino.models import Person, Table
from casino.platform.refusals import Refusal
from settlement import days, ledger
from settlement.models import Count, Counting, CountKind, Drop, Float
from settlement.table_floats import accepted_counts, blind_counts, expected_tray, variances
from settlement.table_floats.accepted_counts import Accepted
from settlement.table_floats.blind_counts import BlindCount, Box, Saved
from settlement.table_floats.variances import Journals


def count(
    *,
    table: Table,
    kind: str,
    by: Person,
    count: BlindCount | None,
    box: Box | None = None,
    supersedes: UUID | None = None,
    session: UUID | None = None,
) -> Saved:
    """Ask for a count of ``session`` (``count`` None) or save one person's; with the one that completes it, take a
    shift's, a rollover's or a box's. Refuses what ``counting.keep`` refuses. Must run in an act."""
    ledger.share_day([days.running()])
    if count is None:
        return blind_counts.asked(blind_counts.ask(table=table, kind=kind, by=by, box=box, named=session))
    saved = blind_counts.keep(
        table=table, kind=kind, count=count, box=box, supersedes=supersedes, named=session
    )
    if saved.needs or saved.count is None:
        return saved
    if kind in (CountKind.SHIFT, CountKind.ROLLOVER):
        _take_float(saved.counting, saved.count, table=table)
    if kind == CountKind.DROP:
        _take_box(saved.counting, saved.count, table=table)
    return saved


def _take_float(asked: Counting, count: Count, *, table: Table) -> Float:
    """The table goes on with what was counted: the difference is posted, no chip moves. The wallets' net stays until
    the close."""
    assert asked.session is not None
    today = days.running()
    tray = expected_tray.lock(table)
    if count.bank_version != tray.of("bank").version:
        raise Refusal("count_overtaken")
    ends = today - timedelta(days=1) if asked.kind == CountKind.ROLLOVER else today
    taken = Accepted(session=asked.session, table=table, kind=asked.kind, count=count, day=today, ends=ends)
    taken.journals.move("variance", "variance", taken.variance, taken.bank, count.amount - tray.expected)
    row, _ = accepted_counts.accept(taken, tray=tray, expected=tray.expected)
    return row


# What was recorded as put into a box: from the box before it, or the session's opening, up to the count with which it
# was carried off.
_RECORDED = """
SELECT coalesce(sum(e.amount), 0)::bigint
  FROM settlement_entry e JOIN settlement_journal j ON j.id = e.journal_id AND j.kind = 'buy_in'
 WHERE e.account_id = %(account)s AND e.version <= %(upto)s AND e.version > coalesce(
     (SELECT max(f.drop_version) FROM settlement_drop d JOIN settlement_float f ON f.id = d.until_id
       WHERE d.session_id = %(session)s AND (f.drop_version, f.accepted_at) < (%(upto)s, %(carried_at)s)),
     (SELECT f.drop_version FROM settlement_float f WHERE f.session_id = %(session)s AND f.kind = 'opener'))
"""


def _recorded(until: Float, *, account: int) -> int:
    """Return what was recorded as put into the box that was carried off with ``until``. One statement."""
    with connection.cursor() as cursor:
        cursor.execute(
            _RECORDED,
            {
                "account": account,
                "upto": until.drop_version,
                "carried_at": until.accepted_at,
                "session": until.session_id,
            },
        )
        (recorded,) = cursor.fetchone()
    return int(recorded)


def _take_box(asked: Counting, count: Count, *, table: Table) -> Drop:
    """What was counted goes to the vault; what differs from the recorded buy-ins is variance. The estimated drop stays
    what was recorded."""
    act = events.current()
    until = asked.box
    assert until is not None
    today = days.running()
    drop, vault, variance = f"table:{table.code}:drop", f"cage:{asked.cage}:vault", f"variance:{table.code}"
    books = ledger.ensure_accounts([drop, vault, variance], currency=table.currency)
    recorded = _recorded(until, account=books[drop].id)
    journals = Journals(
        key=f"count:{asked.id}",
        day=today,
        currency=table.currency,
        orig_day=until.gaming_day if until.gaming_day != today else None,
    )
    journals.move("journal", "drop_counted", drop, vault, count.amount)
    journals.move("variance", "variance", variance, drop, count.amount - recorded)
    posted = ledger.post(list(journals.named.values()), locked=books)
    ids: dict[str, UUID] = dict(zip(journals.named, posted, strict=True))
    what = variances.graded(counted=count.amount, expected=recorded, on=until.gaming_day)
    row = Drop(
        id=events.uuid7(act.now),
        session=until.session,
        until=until,
        count=count,
        recorded=recorded,
        cage=asked.cage,
        gaming_day=until.gaming_day,
        grade=what.grade,
        limits_from=what.limits_from,
        accepted_at=act.now,
        **{f"{name}_id": id for name, id in ids.items()},
    )
    row.save(force_insert=True)
    events.announce(
        [
            Fact(
                "drop.counted",
                f"tables/{table.code}",
                {
                    "drop": str(row.id),
                    "session": str(row.session_id),
                    "until": str(until.id),
                    "count": str(count.id),
                    "counted": count.amount,
                    "recorded": recorded,
                    "cage": row.cage,
                    "gaming_day": row.gaming_day.isoformat(),
                    "grade": str(row.grade),
                    "limits_from": row.limits_from.isoformat() if row.limits_from else None,
                    "journals": journals.described(ids),
                },
                table=table.code,
            )
        ]
    )
    variances.found(
        what,
        subject=f"drops/{row.id}",
        table=table,
        kind=asked.kind,
        count=count.id,
        journal=ids.get("variance"),
    )
    return row
