"""Small functions, small modules, and no drawer that takes anything."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from deploy.local import paths

MODULE_LINES = 420  # "about 400": above it, a module becomes a package of the same name
# Modules that grew past it, how long they may be at most, and since when. The numbers only fall.
DEBTS: tuple[tuple[str, int, str], ...] = ()
FUNCTION_LINES = 75  # "about 70"
JUNK_DRAWERS = {
    "services",
    "utils",
    "util",
    "helpers",
    "helper",
    "common",
    "misc",
    "core",
    "managers",
    "repositories",
}
# What has no place in the product, and why.
FORBIDDEN_CALLS = {
    "eval": "runs input",
    "exec": "runs input",
    "extra": "builds SQL by hand where the ORM would quote",
    "RawSQL": "builds SQL by hand where the ORM would quote",
}


def product() -> list[Path]:
    return [
        path
        for package in ("casino", "settlement", "audit", "deploy")
        for path in sorted((paths.CLONE / package).rglob("*.py"))
        if "migrations" not in path.parts
    ]


def everything() -> list[Path]:
    return [*product(), *sorted((paths.CLONE / "tests").rglob("*.py"))]


def long_functions(source: str) -> list[str]:
    return [
        node.name
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno + 1 > FUNCTION_LINES
    ]


def forbidden_calls(source: str) -> list[str]:
    return [
        name
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        for name in [node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")]
        if name in FORBIDDEN_CALLS
    ]


def rings(source: str) -> bool:
    return any(
        isinstance(node, ast.Attribute) and node.attr in ("delay", "apply_async", "send_task")
        for node in ast.walk(ast.parse(source))
    )


def test_no_module_is_a_junk_drawer() -> None:
    names = [path for path in everything() if {path.stem, *path.parent.parts} & JUNK_DRAWERS]
    assert [str(path.relative_to(paths.CLONE)) for path in names if path.is_relative_to(paths.CLONE)] == []


def long_modules() -> dict[str, int]:
    return {
        str(path.relative_to(paths.CLONE)): count
        for path in product()
        if (count := len(path.read_text().splitlines())) > MODULE_LINES
    }


def test_modules_are_short_but_for_known_debts() -> None:
    found = long_modules()
    assert found.keys() == {name for name, _, _ in DEBTS}, "a new debt, or one that is paid: strike it off"
    grown = {name: found[name] for name, lines, _ in DEBTS if found[name] > lines}
    assert grown == {}, "a debt may only fall"


def test_functions_are_short() -> None:
    long = {
        str(path.relative_to(paths.CLONE)): found
        for path in everything()
        if (found := long_functions(path.read_text()))
    }
    assert long == {}


def test_a_long_function_is_noticed() -> None:
    assert long_functions("def long():\n" + "    x = 1\n" * FUNCTION_LINES) == ["long"]


def test_nothing_runs_input_or_writes_its_own_sql() -> None:
    found = {
        str(path.relative_to(paths.CLONE)): calls
        for path in product()
        if (calls := forbidden_calls(path.read_text()))
    }
    assert found == {}


def test_a_forbidden_call_is_noticed() -> None:
    assert forbidden_calls("eval('1')\nPerson.objects.extra(where=[])") == ["eval", "extra"]


def test_bells_are_rung_from_tasks_alone() -> None:
    ringers = [path for path in product() if rings(path.read_text()) and path.name != "tasks.py"]
    assert [str(path.relative_to(paths.CLONE)) for path in ringers] == []


@pytest.mark.parametrize("call", ["sweep.delay()", "sweep.apply_async(kwargs={})", "app.send_task('sweep')"])
def test_a_bell_is_noticed(call: str) -> None:
    assert rings(call)
