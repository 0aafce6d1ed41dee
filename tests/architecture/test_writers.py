"""Only the owner writes: each kind of row is made and changed in one place, whoever wants it."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest
from django.apps import apps

from deploy.local import paths
from tests.architecture import writes
from tests.architecture.test_tidy import product

WRITERS = {
    "casino.Person": ("casino/people",),
    "casino.Appointment": ("casino/people",),
    "casino.HandOver": ("casino/people",),
    "casino.WrongTries": ("casino/people",),
    "casino.FailedSignIn": ("casino/people",),
    "casino.Signature": ("casino/people",),
    # What a device is, and the number it was last heard at: told in the statement that records its batch.
    "casino.Device": ("casino/devices.py", "casino/rounds"),
    "casino.Enrolment": ("casino/devices.py",),
    "casino.GapWaiver": ("casino/devices.py",),
    "casino.RoundWaiver": ("casino/rounds/gap_waivers.py",),
    "casino.Table": ("casino/tables.py",),
    "casino.Cage": ("casino/cages.py",),
    "casino.TableSession": ("casino/tables.py",),
    "casino.Duty": ("casino/tables.py",),
    "casino.Round": ("casino/rounds",),
    "casino.RoundEvent": ("casino/rounds",),
    "casino.RefusedEvent": ("casino/rounds",),
    # An answer is the door's own: what it said to a key, to say it again.
    "casino.ApiKey": ("casino/keys.py",),
    "casino.StoredAnswer": ("casino/api/keyed.py",),
    # How the service runs; a program that is started again is seen by its starter alone, which knows no Django.
    "casino.Sweep": ("casino/upkeep.py",),
    "casino.Aside": ("casino/upkeep.py",),
    "casino.Unread": ("casino/upkeep.py",),
    "casino.UnreadCount": ("casino/upkeep.py",),
    "casino.Program": ("deploy/local/keeping.py",),
    "settlement.RuleSheet": ("settlement/rule_sheets.py",),
    "settlement.TableRules": ("settlement/rule_sheets.py",),
    "settlement.Account": ("settlement/ledger",),
    "settlement.Journal": ("settlement/ledger",),
    "settlement.Entry": ("settlement/ledger",),
    "settlement.Hold": ("settlement/ledger",),
    "settlement.RefusedCover": ("settlement/settling",),
    "settlement.Uncovered": ("settlement/settling",),
    "settlement.Settlement": ("settlement/settling",),
    "settlement.Line": ("settlement/settling",),
    "settlement.Counting": ("settlement/table_floats",),
    "settlement.Count": ("settlement/table_floats",),
    "settlement.Float": ("settlement/table_floats",),
    "settlement.Drop": ("settlement/table_floats",),
    # Written by the migration that brings a version of the formula.
    "settlement.FormulaDate": (),
    "settlement.CashAct": ("settlement/cashier",),
    "settlement.GamingDay": ("settlement/days",),
    "settlement.StartHour": ("settlement/days",),
    "settlement.Shift": ("settlement/days",),
    "settlement.Report": ("settlement/reports",),
    "settlement.ReportFile": ("settlement/reports",),
    "settlement.DayJob": ("settlement/reports",),
    "settlement.Message": ("settlement/webhooks",),
    "settlement.ApprovedTarget": ("settlement/webhooks",),
    "settlement.Endpoint": ("settlement/webhooks",),
    "settlement.EndpointChange": ("settlement/webhooks",),
    "settlement.Delivery": ("settlement/webhooks",),
    "settlement.Attempt": ("settlement/webhooks",),
    "settlement.CashierSystem": ("settlement/external_wallets",),
    "settlement.ExternalHold": ("settlement/external_wallets",),
    "settlement.ExternalCall": ("settlement/external_wallets",),
    "settlement.Break": ("settlement/breaks",),
    "settlement.BreakStep": ("settlement/breaks",),
    "settlement.Run": ("settlement/reconciliation",),
    "settlement.Chunk": ("settlement/reconciliation",),
    "settlement.Result": ("settlement/reconciliation",),
    "settlement.Series": ("settlement/slips",),
    "settlement.Slip": ("settlement/slips",),
    "settlement.SlipStep": ("settlement/slips",),
    "settlement.PaySlip": ("settlement/slips",),
    "settlement.Statement": ("settlement/statements",),
    "settlement.StatementDay": ("settlement/statements",),
    "settlement.MatchingRule": ("settlement/statements",),
    "settlement.OutsideFile": ("settlement/statements",),
    "settlement.OutsideStatement": ("settlement/statements",),
    "settlement.OutsideLine": ("settlement/statements",),
    "settlement.Match": ("settlement/statements",),
    "settlement.MatchedEntry": ("settlement/statements",),
    "audit.LogEntry": ("audit/log.py",),
    "audit.Leaf": ("audit/seal.py",),
    "audit.Subtree": ("audit/seal.py",),
    "audit.Frontier": ("audit/seal.py",),
    "audit.Checkpoint": ("audit/seal.py",),
    "audit.Flag": ("audit/flags",),
    "audit.Reading": ("audit/flags",),
    "audit.Dispute": ("audit/disputes",),
    "audit.Proposal": ("audit/disputes",),
    "audit.Decision": ("audit/disputes",),
    "audit.Inspection": ("audit/controls/along_the_log.py",),
    "audit.Discrepancy": ("audit/controls/along_the_log.py",),
    "audit.Analysis": ("audit/analytics",),
    "audit.AnalysisResult": ("audit/analytics",),
}
"""Model → the modules or packages that write its rows; a second one says why."""


@functools.cache
def names() -> writes.Names:
    models = [
        model for app in ("casino", "settlement", "audit") for model in apps.get_app_config(app).get_models()
    ]
    return writes.Names(
        models={model.__name__: model._meta.label for model in models},
        tables={model._meta.db_table: model._meta.label for model in models},
        functions=writes.returns((path.stem, path.read_text()) for path in product()),
    )


@functools.cache
def written() -> dict[str, set[str]]:
    """Row → the modules that write it."""
    known = names()
    found: dict[str, set[str]] = {}
    for path in product():
        for row in writes.rows(path.read_text(), known):
            found.setdefault(row, set()).add(str(path.relative_to(paths.CLONE)))
    return found


def owner_of(row: str, module: str) -> str | None:
    """The owner in the table that a module is, or is in."""
    owners = (owner for owner in WRITERS.get(row, ()) if Path(module).is_relative_to(owner))
    return next(owners, None)


def test_every_kind_of_row_has_its_owner() -> None:
    assert set(WRITERS) == set(names().models.values())


def test_only_the_owner_writes() -> None:
    strangers = {
        (row, module) for row, modules in written().items() for module in modules if not owner_of(row, module)
    }
    assert strangers == set()


def test_every_owner_writes() -> None:
    found = {(row, owner_of(row, module)) for row, modules in written().items() for module in modules}
    assert {(row, owner) for row, owners in WRITERS.items() for owner in owners} - found == set()


@pytest.mark.parametrize(
    "source",
    [
        "Round.objects.create(number=1)",
        "models.Round.objects.filter(pk=1).update(standing='settled')",
        "Round.objects.using('default').bulk_create(rows)",
        "def void(round: Round) -> None:\n    round.save()",
        "def void(round: 'Round | None') -> None:\n    round.delete()",
        "def void(id):\n    round = Round.objects.get(pk=id)\n    round.save()",
        "def void():\n    for round in Round.objects.all():\n        round.delete()",
        "def found() -> Round: ...\ndef void() -> None:\n    found().save()",
        "def void():\n    round, why = rounds.found()\n    round.save()",
        "def void():\n    Round(number=1).save(force_insert=True)",
        "def void(found: QuerySet[Round]) -> None:\n    found.filter(number=1).update(number=2)",
        "SQL = 'INSERT INTO casino_round (id) VALUES (1)'",
        "SQL = 'WITH gone AS (DELETE FROM ONLY casino_round RETURNING *) SELECT 1'",
        "SQL = f'update \"casino_round\" SET number = {number}'",
        "SQL = 'TRUNCATE casino_round'",
    ],
)
def test_a_stranger_who_writes_a_round_is_noticed(source: str) -> None:
    known = names()
    functions = writes.returns([("rounds", "def found() -> tuple[Round, str]: ...")])
    assert writes.rows(source, writes.Names(known.models, known.tables, functions)) == {"casino.Round"}


@pytest.mark.parametrize(
    "source", ["def end(it):\n    it.save()", "page.round.delete()", "SQL = f'UPDATE {table} SET number = 1'"]
)
def test_a_write_of_which_nobody_can_tell_the_row_is_noticed(source: str) -> None:
    [found] = writes.rows(source, names())
    assert found.startswith(writes.UNKNOWN)


@pytest.mark.parametrize(
    "source",
    [
        "Round.objects.filter(number=1).first()",
        "def keep(keys: Keys) -> None:\n    keys.save()",
        "told.update(other)",
        "SQL = 'SELECT 1 FROM casino_round FOR UPDATE'",
        "SQL = 'SELECT 1 FROM casino_round r FOR UPDATE OF r'",
    ],
)
def test_whoever_only_reads_writes_nothing(source: str) -> None:
    assert writes.rows(source, names()) == set()
