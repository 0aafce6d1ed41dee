"""The float of a table: counted blind, posted, and its difference from the books named.

At the close, in this order: what wallets won or lost is cleared with the cage, chips that guests carried
off leave the table, the difference between count and books goes to ``variance``, and the float goes to the
vault. Behind that, bank and commission of the table come to nothing; where the float stays locked on the
table, to what was counted.

    expected tray = bank + commission − wallet net

(The commission lies in the tray as chips, though it is an account of its own. A wallet's money never was a
chip.)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from uuid import UUID

from django.db import connection

from casino import events, people, refusals, tables
from casino.events import Act, Fact
from casino.models import Person, Role, Table, TableSession
from casino.refusals import Refusal
from settlement import days, ledger
from settlement.ledger import Balance, NewJournal, Posting
from settlement.models import Count, CountKind, Float

refusals.register("count_differs", 409, "The counts differ; a third person counts.", "ผลนับไม่ตรงกัน ให้คนที่สามนับ")
refusals.register(
    "count_missing", 422, "Two people count, a third where they differ.", "ต้องนับสองคน ถ้าไม่ตรงให้คนที่สามนับ"
)

COUNTERS = (Role.DEALER, Role.SUPERVISOR, Role.MANAGER)


@dataclass(frozen=True, slots=True)
class BlindCount:
    """Pieces by denomination (minor units) as one person counted them, without the figures of anybody
    else."""

    by: Person
    pieces: dict[int, int]

    @property
    def lines(self) -> list[dict[str, int]]:
        """Return what was there, the largest denomination first; none of a kind is the same as not naming
        it."""
        return [
            {"denomination": denomination, "pieces": pieces}
            for denomination, pieces in sorted(self.pieces.items(), reverse=True)
            if pieces
        ]

    @property
    def amount(self) -> int:
        return sum(denomination * pieces for denomination, pieces in self.pieces.items())


def open_table(
    *, table: Table, dealer: Person, supervisor: Person, counts: Sequence[BlindCount], cage: str = ""
) -> TableSession:
    """Open the table with its counted float, brought from the vault of ``cage`` or ("") found locked on the
    table.

    Two counts by two people, equal in every denomination; where they differ, ``count_differs``, and sent
    again with a third by a third person, which decides. A float found on the table that differs from the
    books is posted as variance. Refuses ``table_open``, ``sod_violation``, ``forbidden`` too.
    """
    act = events.current()
    accepted = _accepted(counts)
    today = days.of(act.now)
    ledger.share_day([today])
    session = tables.open(table=table, dealer=dealer, supervisor=supervisor, now=act.now)
    stored = _record(counts, session=session, table=table, kind=CountKind.OPENER, act=act)
    books = _books(table, cage=cage)
    posting = _Posting(session=session, table=table, kind=CountKind.OPENER, day=today)
    if cage:
        expected = _last_closer(table)
        posting.move("journal", CountKind.OPENER, f"cage:{cage}:vault", posting.bank, accepted.amount)
    else:
        expected = books[posting.bank].balance + books[posting.commission].balance
        posting.move("variance", "variance", posting.variance, posting.bank, accepted.amount - expected)
    posting.accept(stored[counts.index(accepted)], expected=expected, books=books, cage=cage, act=act)
    return session


def close_table(
    *,
    table: Table,
    last_round: int,
    counts: Sequence[BlindCount],
    cage: str = "",
    carried_over_by: tuple[Person, Person] | None = None,
) -> Float:
    """Close the table: count its float, post it, and end its session at round ``last_round``.

    The float goes to the vault of ``cage``, or ("") stays locked on the table. Counts as for
    ``open_table``. Refuses ``table_closed`` and what ``casino.tables.close`` refuses.
    """
    act = events.current()
    accepted = _accepted(counts)
    today = days.of(act.now)
    ledger.share_day([today])
    session = tables.lock_session(table)
    stored = _record(counts, session=session, table=table, kind=CountKind.CLOSER, act=act)
    books = _books(table, cage=cage)
    posting = _Posting(session=session, table=table, kind=CountKind.CLOSER, day=today)
    bank, code = books[posting.bank], table.code
    cleared = -_wallet_net(bank, since=_cleared_up_to(table))
    expected = bank.balance - cleared + books[posting.commission].balance
    posting.move("clearing", "wallet_clearing", posting.bank, f"suspense:clearing:{code}", cleared)
    posting.move(
        "chips_left", "chips_left", posting.guests, f"suspense:chips:{code}", books[posting.guests].balance
    )
    posting.move("variance", "variance", posting.variance, posting.bank, accepted.amount - expected)
    if cage:
        posting.move("journal", CountKind.CLOSER, posting.bank, f"cage:{cage}:vault", accepted.amount)
    closed = posting.accept(
        stored[counts.index(accepted)], expected=expected, books=books, cage=cage, act=act
    )
    tables.close(session=session, last_round=last_round, carried_over_by=carried_over_by, now=act.now)
    return closed


# -- counts ------------------------------------------------------------------------------------------------


def _accepted(counts: Sequence[BlindCount]) -> BlindCount:
    """Return the count that is taken as true; the refusals tell nobody what another counted."""
    if not 2 <= len(counts) <= 3:
        raise Refusal("count_missing")
    people.different(*(count.by.id for count in counts))
    for count in counts:
        if count.by.role not in COUNTERS or not count.by.is_active:
            raise Refusal("forbidden")
        if any(denomination < 1 or pieces < 0 for denomination, pieces in count.pieces.items()):
            raise Refusal(
                "invalid_value", fields={"lines": "denominations and pieces are whole and not negative"}
            )
    first, second = counts[:2]
    if first.lines == second.lines:
        return first
    if len(counts) == 2:
        raise Refusal("count_differs")
    return counts[2]


def _record(
    counts: Sequence[BlindCount], *, session: TableSession, table: Table, kind: CountKind, act: Act
) -> list[Count]:
    stored = Count.objects.bulk_create(
        [
            Count(
                id=events.uuid7(act.now),
                session=session,
                kind=kind,
                ordinal=ordinal,
                lines=count.lines,
                currency=table.currency,
                counted_by=count.by,
                counted_at=act.now,
            )
            for ordinal, count in enumerate(counts, start=1)
        ]
    )
    events.announce(
        [
            Fact(
                "count.recorded",
                f"counts/{row.id}",
                {
                    "session": str(session.id),
                    "kind": str(kind),
                    "ordinal": row.ordinal,
                    "lines": count.lines,
                    "amount": count.amount,
                    "currency": table.currency,
                },
                table=table.code,
                person=count.by.id,
            )
            for row, count in zip(stored, counts, strict=True)
        ]
    )
    return stored


# -- books -------------------------------------------------------------------------------------------------


def _books(table: Table, *, cage: str) -> dict[str, Balance]:
    """Lock what opening or closing may move, and what it reads, in one go."""
    code = table.code
    codes = [f"table:{code}:{name}" for name in ("bank", "guests", "commission")]
    codes += [f"variance:{code}", f"suspense:clearing:{code}", f"suspense:chips:{code}"]
    codes += [f"cage:{cage}:vault"] if cage else []
    return ledger.ensure_accounts(codes, currency=table.currency)


def _last_closer(table: Table) -> int | None:
    last = Float.objects.filter(session__table=table, kind=CountKind.CLOSER).order_by(
        "-bank_version", "-accepted_at"
    )
    return last.values_list("count__amount", flat=True).first()


def _cleared_up_to(table: Table) -> int:
    """Return the version of the table's bank up to which wallets were cleared with the cage."""
    closers = Float.objects.filter(session__table=table, kind=CountKind.CLOSER).order_by("-bank_version")
    return closers.values_list("bank_version", flat=True).first() or 0


def _wallet_net(bank: Balance, *, since: int) -> int:
    """Return what wallets won at the table (lost: below zero) in rounds and their corrections posted after
    ``since``.

    By the versions of the bank, which are those of our lock: a correction of an earlier session that came
    after its close is cleared with this one. What a shortfall account lent a wallet was no play and is not
    in it.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT coalesce(sum(e.amount), 0)::bigint
            FROM settlement_entry e JOIN settlement_account a ON a.id = e.account_id
            WHERE a.kind = 'wallet' AND e.journal_id IN (
                SELECT b.journal_id
                FROM settlement_entry b JOIN settlement_journal j ON j.id = b.journal_id
                WHERE b.account_id = %s AND b.version > %s AND j.kind IN ('round', 'round_reversal')
            )
            """,
            [bank.id, since],
        )
        (net,) = cursor.fetchone()
    return int(net)


# -- posting -----------------------------------------------------------------------------------------------


class _Posting:
    """The journals of one opening or closing, gathered and posted together."""

    def __init__(self, *, session: TableSession, table: Table, kind: CountKind, day: date) -> None:
        self.session, self.table, self.kind, self.day = session, table, kind, day
        self.bank, self.guests = f"table:{table.code}:bank", f"table:{table.code}:guests"
        self.commission, self.variance = f"table:{table.code}:commission", f"variance:{table.code}"
        self.journals: dict[str, NewJournal] = {}

    def move(self, name: str, kind: str, source: str, target: str, amount: int) -> None:
        """Move ``amount`` (below zero: the other way) from source to target, unless it is nothing."""
        if amount:
            self.journals[name] = NewJournal(
                kind=str(kind),
                key=f"float:{self.session.id}:{self.kind}:{kind}",
                gaming_day=self.day,
                currency=self.table.currency,
                postings=(Posting(source, -amount), Posting(target, amount)),
            )

    def accept(
        self, count: Count, *, expected: int | None, books: dict[str, Balance], cage: str, act: Act
    ) -> Float:
        journals = list(self.journals.values())
        ids: dict[str, UUID] = dict(zip(self.journals, ledger.post(journals, locked=books), strict=True))
        moved = [posting.account for journal in journals for posting in journal.postings]
        row = Float(
            id=events.uuid7(act.now),
            session=self.session,
            kind=self.kind,
            count=count,
            expected=expected,
            cage=cage,
            bank_version=books[self.bank].version + moved.count(self.bank),
            accepted_at=act.now,
            **{f"{name}_id": id for name, id in ids.items()},
        )
        row.save(force_insert=True)
        opened = self.kind == CountKind.OPENER
        events.announce(
            [
                Fact(
                    "table.float_opened" if opened else "table.float_closed",
                    f"tables/{self.table.code}",
                    {
                        "float": str(row.id),
                        "session": str(self.session.id),
                        "count": str(count.id),
                        "expected": expected,
                        "cage": cage,
                        "journals": [self.journals[name].described(id) for name, id in ids.items()],
                    },
                    table=self.table.code,
                )
            ]
        )
        return row
