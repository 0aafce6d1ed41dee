"""What a database's administrator can do to a copy of a sealed house: switch its guards off, alter, switch them on."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.core.management import call_command
from django.utils import timezone

from audit import controls, dossier, merkle, signed_notes
from audit.controls import round_rows
from audit.controls.round_rows import Case
from audit.signed_notes import Head
from audit.verify import export, steps
from audit.verify import signed_notes as verify_signed_notes
from audit.verify.export import Failure
from casino import events
from casino.platform.refusals import Refusal
from settlement import settling
from tests.audit.conftest import Played

CHECKED = "verified"


@dataclass
class Administrator:
    """One who owns the server, and a copy of the house; ``kept`` is a checkpoint that lies where he cannot reach it."""

    played: Played
    folder: Path
    told: dict[str, UUID] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.told |= self.played.told

    @property
    def kept(self) -> str:
        """The newest exported checkpoint."""
        return max(self.played.store.folder.glob("*.note")).read_text()

    def rows(self, statement: str, parameters: Any = None) -> list[tuple[Any, ...]]:
        return self.played.administrator.execute(statement, parameters).fetchall()

    def one(self, statement: str, parameters: Any = None) -> Any:
        ((found,),) = self.rows(statement, parameters)
        return found

    def alter(self, *statements: str, dropping: Sequence[tuple[str, str]] = (), **parameters: Any) -> None:
        """Run statements with the triggers of their tables off, and on again as they were; each must change rows.

        ``dropping`` names constraints (table, name) that are in the way: put back without looking at what is there.
        """
        with self.unguarded(statements, dropping=dropping):
            for statement in statements:
                assert self.played.administrator.execute(statement, self.told | parameters).rowcount > 0, (
                    statement
                )

    @contextmanager
    def unguarded(self, statements: Iterable[str], *, dropping: Sequence[tuple[str, str]] = ()) -> Any:
        tables = {
            table
            for statement in statements
            for table in re.findall(r"(?:UPDATE|DELETE FROM|INSERT INTO) (\w+)", statement)
        }
        execute = self.played.administrator.execute
        triggers = self.rows(
            "SELECT tgrelid::regclass::text, quote_ident(tgname), tgenabled FROM pg_trigger"
            " WHERE tgrelid::regclass::text = ANY (%s) ORDER BY 1, 2",
            [sorted(tables)],
        )
        constraints = [
            (
                table,
                name,
                self.one("SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = %s", [name]),
            )
            for table, name in dropping
        ]
        for table, trigger, _ in triggers:
            execute(f"ALTER TABLE {table} DISABLE TRIGGER {trigger}")
        for table, name, _ in constraints:
            execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
        yield
        for table, name, definition in constraints:
            execute(f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition} NOT VALID")
        for table, trigger, enabled in triggers:
            execute(
                f"ALTER TABLE {table} {'ENABLE ALWAYS' if enabled == 'A' else 'ENABLE'} TRIGGER {trigger}"
            )
        assert triggers == self.rows(
            "SELECT tgrelid::regclass::text, quote_ident(tgname), tgenabled FROM pg_trigger"
            " WHERE tgrelid::regclass::text = ANY (%s) ORDER BY 1, 2",
            [sorted(tables)],
        )

    # -- money in step ----------------------------------------------------------------------------------------

    def move(self, entry: int, amount: int) -> None:
        """Change one amount of the ledger, every balance behind it, and its account."""
        self.alter(
            "UPDATE settlement_entry e SET balance_after = e.balance_after + %(by)s FROM settlement_entry o"
            " WHERE o.id = %(entry)s AND e.account_id = o.account_id AND e.version >= o.version",
            "UPDATE settlement_entry SET amount = amount + %(by)s WHERE id = %(entry)s",
            "UPDATE settlement_account a SET balance = balance + %(by)s FROM settlement_entry o"
            " WHERE o.id = %(entry)s AND a.id = o.account_id",
            entry=entry,
            by=amount,
        )

    def case_of(self, settlement: UUID) -> Case:
        with controls.opened(scope=controls.Scope(None)) as house:
            (case,) = round_rows.chosen(house, [settlement])
            return case

    def settle_as(self, settlement: UUID, case: Case) -> None:
        """Make record, lines, ledger and settlement say what the altered events come to, all in step."""
        journal = self.one("SELECT journal_id FROM settlement_settlement WHERE id = %s", [settlement])
        wanted = {(account, wager): amount for account, wager, amount in case.judged.moves(table=case.table)}
        for entry, account, wager, amount in self.rows(
            "SELECT e.id, a.code, e.wager, e.amount FROM settlement_entry e"
            " JOIN settlement_account a ON a.id = e.account_id WHERE e.journal_id = %s",
            [journal],
        ):
            if wanted[account, wager] != amount:
                self.move(entry, wanted[account, wager] - amount)
        for line in case.judged.lines:
            self.alter(
                f"UPDATE settlement_line SET ({', '.join(settling.LINE_FIELDS)})"
                f" = ROW({', '.join(f'%(f_{name})s' for name in settling.LINE_FIELDS)})"
                " WHERE settlement_id = %(settlement)s AND wager = %(f_wager)s",
                settlement=settlement,
                **{f"f_{name}": line[name] for name in settling.LINE_FIELDS},
            )
        self.alter(
            "UPDATE settlement_settlement SET house_net = %(house)s, record_sha256 = %(sha256)s WHERE id = %(id)s",
            "UPDATE casino_round SET record = %(record)s, cards_seen = %(seen)s WHERE id = %(round)s",
            id=settlement, house=case.judged.house_net, sha256=controls.judgements.sha256_of(case.written),
            record=json.dumps(case.written), seen=case.record.cards_seen, round=case.round,
        )  # fmt: skip

    # -- the tree in step -------------------------------------------------------------------------------------

    def rebuild(self) -> None:
        """Number every leaf anew from the entries, keep the subtrees and the edge that come of it, sign every
        checkpoint again with the house's own key."""
        entries = self.rows(
            "SELECT id, xid::text, leaf_hash, recorded_at FROM audit_logentry e ORDER BY e.xid, e.id"
        )
        leaves = [bytes(leaf) for _, _, leaf, _ in entries]
        sizes = [size for (size,) in self.rows("SELECT size FROM audit_checkpoint ORDER BY size")]
        key = self.played.store.signing_key("pokdeng", may_make=False)
        notes_of = {}
        for size in sizes:
            head = Head("pokdeng", size, merkle.root(leaves[:size]))
            notes_of[size] = (head.root, signed_notes.sign(head, name="pokdeng", key=key))
        edge = merkle.Frontier()
        kept = []
        for index, leaf in enumerate(leaves):
            kept += [(h, index >> h, root) for h, root in enumerate(edge.add(leaf), start=1) if h % 8 == 0]
        tables = ("audit_leaf", "audit_subtree", "audit_checkpoint", "audit_frontier")
        execute = self.played.administrator.execute
        with self.unguarded([f"UPDATE {table}" for table in tables]):
            execute("DELETE FROM audit_leaf")
            execute(
                "INSERT INTO audit_leaf (origin, index, entry_id, leaf_hash, numbered_at) SELECT 'pokdeng', n.* FROM"
                " unnest(%s::bigint[], %s::bigint[], %s::bytea[], %s::timestamptz[]) AS n",
                [list(range(len(entries))), [one[0] for one in entries], leaves, [one[3] for one in entries]],
            )
            execute("DELETE FROM audit_subtree")
            execute(
                "INSERT INTO audit_subtree (origin, height, index, hash) SELECT 'pokdeng', n.* FROM"
                " unnest(%s::smallint[], %s::bigint[], %s::bytea[]) AS n",
                [list(column) for column in zip(*kept, strict=True)],
            )
            execute(
                "UPDATE audit_frontier SET size = %s, peaks = %s, last_xid = %s::xid8, last_id = %s",
                [edge.size, edge.peaks, entries[-1][1], entries[-1][0]],
            )
            for size, (root, note) in notes_of.items():
                execute(
                    "UPDATE audit_checkpoint SET root = %s, note = %s WHERE size = %s", [root, note, size]
                )


# -- those who check ----------------------------------------------------------------------------------------------


def found_by_the_books(*, checkpoint: Path | None = None) -> set[str]:
    """Return the invariants under which ``check_books --full`` finds something."""
    out = io.StringIO()
    arguments = ["--full", "--json", *(["--checkpoint", str(checkpoint)] if checkpoint else [])]
    with pytest.raises(SystemExit):
        call_command("check_books", *arguments, stdout=out)
    document = json.loads(out.getvalue())
    assert document["outcome"] in ("clean", "offending"), document["trouble"]
    return {row["id"] for row in document["rows"]}


def verified(administrator: Administrator, round_id: UUID, *, kept: str = "") -> str:
    """Return what a stranger with the house's key says of a dossier made now: the step that fails, or ``verified``."""
    sizes = [signed_notes.read(kept).size] if kept else []
    make: Callable[[Any], Any] = lambda _: dossier.of_round(round_id, kept=sizes)  # noqa: E731
    try:
        made = events.attempt(make, actor=events.SERVICE, request_id="dossier", now=timezone.now())
    except Refusal as refusal:
        return refusal.code
    path = administrator.folder / "dossier.zip"
    path.write_bytes(dossier.pack(made))
    written = administrator.played.store.verifier_key("pokdeng")
    assert written is not None
    try:
        steps.check(
            export.read(path),
            keys=[verify_signed_notes.key_of(written)],
            kept=[("the kept checkpoint", kept)] if kept else [],
        )
    except Failure as failure:
        return failure.step
    return CHECKED
