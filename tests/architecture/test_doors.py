"""A door parses, makes one call into the domain in one act, and renders; it writes nothing itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from deploy.local import paths
from tests.architecture import writes
from tests.architecture.test_tidy import product
from tests.architecture.test_writers import names

PACKAGES = ("casino", "settlement", "audit")
NO_DOMAIN = {
    "api",
    "models",
    "events",
    "platform",
    "cards",
    "gaming_day",
    "record",
    "rules",
    "explanations",
    "merkle",
    "signed_notes",
}
"""Modules of values, rows, facts and shapes: a door reads and renders with them."""
ASIDE = {
    "tables.lock_session": "what follows is checked against the people on duty, who may not change meanwhile",
}
"""Called in an act beside its one call, and why."""
WRITES = {("casino/api/keyed.py", "casino.StoredAnswer")}
"""What a door keeps of its own: the answer to a key."""
ANNOUNCE = {
    "casino/api/door.py": "a refusal: nothing happened that a domain module could tell of",
    "audit/admin/evidence_reads.py": "the reading of a page of Django's admin, which knows no domain module",
}


def is_door(path: Path) -> bool:
    return "api" in path.parts or path.name in ("api.py", "evidence_reads.py", "tasks.py")


def doors() -> list[tuple[str, str]]:
    """Path and source of each module of doors."""
    return [
        (str(path.relative_to(paths.CLONE)), path.read_text())
        for path in product()
        if is_door(path.relative_to(paths.CLONE)) and path.relative_to(paths.CLONE).parts[0] in PACKAGES
    ]


def acts(source: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each act of a module by the line where it begins: the calls into the domain made in it."""
    tree = ast.parse(source)
    modules = domain(tree)
    parents = {child: parent for parent in ast.walk(tree) for child in ast.iter_child_nodes(parent)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        begins = ast.unparse(node.func)
        if begins in ("self.act", "events.attempt") and node.args:
            done = node.args[0]
        elif begins == "self.once" and len(node.args) == 2:
            done = node.args[1]
        else:
            continue
        body = _body(done, node, parents)
        yield f"{begins} in line {node.lineno}", list(_domain_calls(body, modules))


def domain(tree: ast.Module) -> set[str]:
    """The domain modules of ours that a module imports whole."""
    return {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module in PACKAGES
        for alias in node.names
    } - NO_DOMAIN


def _body(done: ast.expr, at: ast.AST, parents: dict[ast.AST, ast.AST]) -> ast.AST:
    """What is done in an act: the lambda itself, or the nearest function of that name around the call."""
    if not isinstance(done, ast.Name):
        return done
    around = at
    while around in parents:
        around = parents[around]
        for child in getattr(around, "body", ()):
            if isinstance(child, ast.FunctionDef) and child.name == done.id:
                return child
    return done


def _domain_calls(body: ast.AST, modules: set[str]) -> Iterator[str]:
    for node in ast.walk(body):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            module = node.func.value
            if isinstance(module, ast.Name) and module.id in modules:
                yield f"{module.id}.{node.func.attr}"


def many(source: str) -> list[tuple[str, Sequence[str]]]:
    """Return the acts of more calls than one, those aside not counted."""
    told = [(act, [call for call in calls if call not in ASIDE]) for act, calls in acts(source)]
    return [(act, calls) for act, calls in told if len(calls) > 1]


def acts_of_methods(source: str) -> Iterator[tuple[str, int]]:
    """Yield each method of a class with the number of acts that it begins."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and node.name in ("get", "post", "put", "delete"):
            begun = [
                call
                for call in ast.walk(node)
                if isinstance(call, ast.Call)
                and ast.unparse(call.func) in ("self.act", "self.once", "events.attempt", "events.act")
            ]
            yield f"{node.name} in line {node.lineno}", len(begun)


def announces(source: str) -> bool:
    return any(
        isinstance(node, ast.Attribute) and ast.unparse(node) == "events.announce"
        for node in ast.walk(ast.parse(source))
    )


def test_there_are_doors_and_acts_to_look_at() -> None:
    calls = [call for _, source in doors() for _, made in acts(source) for call in made]
    assert {
        "settling.settle_rounds",
        "rounds.append",
        "table_floats.open_table",
        "disputes.raise_dispute",
    } <= set(calls)


def test_an_act_makes_one_call_into_the_domain() -> None:
    assert {path: found for path, source in doors() if (found := many(source))} == {}


def test_a_request_is_one_act() -> None:
    found = {(path, method): count for path, source in doors() for method, count in acts_of_methods(source)}
    assert {where: count for where, count in found.items() if count > 1} == {}


def test_a_door_writes_no_row_itself() -> None:
    known = names()
    assert {(path, row) for path, source in doors() for row in writes.rows(source, known)} == WRITES


def test_a_door_announces_nothing_itself() -> None:
    assert {path for path, source in doors() if announces(source)} == set(ANNOUNCE)


def test_nothing_is_called_aside_without_need() -> None:
    beside = {call for _, source in doors() for _, calls in acts(source) if len(calls) > 1 for call in calls}
    assert set(ASIDE) - beside == set()


@pytest.mark.parametrize(
    "act",
    [
        "self.act(lambda _: (tables.stop(), rounds.void()))",
        "def do(_):\n    tables.stop()\n    rounds.void()\nself.act(do)",
        "def do(_, prepared):\n    tables.stop()\n    return 200, rounds.void()\nself.once(prepare, do)",
        "events.attempt(lambda _: tables.stop() or rounds.void(), actor=who)",
    ],
)
def test_an_act_of_two_calls_is_noticed(act: str) -> None:
    [(_, calls)] = many(f"from casino import events, rounds, tables\n{act}")
    assert calls == ["tables.stop", "rounds.void"]


def test_a_request_of_two_acts_is_noticed() -> None:
    source = "def post(self):\n    self.act(stop)\n    self.act(void)\n"
    assert list(acts_of_methods(source)) == [("post in line 1", 2)]


def test_a_door_that_announces_is_noticed() -> None:
    assert announces("events.announce([fact])")
