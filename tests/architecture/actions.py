"""Which actions the facts of the product can have, and which kinds its flags, read from its source."""

from __future__ import annotations

import ast
from collections.abc import Iterator

UNKNOWN = "?"


def of(source: str) -> set[str]:
    """Return the actions of a module's facts; ``?`` and an expression where it does not spell them out.

    A name is looked for where it is assigned and, where it is a parameter, in the calls of its function, and what is
    chosen from a table in the whole of that table; what is put into a text when it runs is written ``{}``.
    """
    return spelt(source, of=("Fact", "events.Fact"), argument="action")


def spelt(source: str, *, of: tuple[str, ...], argument: str) -> set[str]:
    """Return what a module gives to calls of these names as their first argument, or by its name."""
    tree = ast.parse(source)
    return {word for given in _given(tree, of, argument) for word in _spelt(given, tree, frozenset())}


def _given(tree: ast.Module, of: tuple[str, ...], argument: str) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in of:
            named = [keyword.value for keyword in node.keywords if keyword.arg == argument]
            if node.args or named:
                yield node.args[0] if node.args else named[0]


def _spelt(expression: ast.expr, tree: ast.Module, seen: frozenset[str]) -> Iterator[str]:
    if isinstance(expression, ast.Constant) and isinstance(expression.value, str):
        yield expression.value
    elif isinstance(expression, ast.JoinedStr):
        yield "".join(
            str(part.value) if isinstance(part, ast.Constant) else "{}" for part in expression.values
        )
    elif isinstance(expression, ast.IfExp):
        yield from _spelt(expression.body, tree, seen)
        yield from _spelt(expression.orelse, tree, seen)
    elif isinstance(expression, ast.Name) and expression.id not in seen:
        found = [*_assigned(expression.id, tree), *_passed(expression.id, tree)]
        for one in found:
            yield from _spelt(one, tree, seen | {expression.id})
        if not found:
            yield f"{UNKNOWN} {expression.id}"
    elif isinstance(expression, ast.Subscript) and (listed := _listed(expression.value, tree)):
        for one in listed:
            yield from _spelt(one, tree, seen)
    elif not isinstance(expression, ast.Name):
        yield f"{UNKNOWN} {ast.unparse(expression)}"


def _listed(expression: ast.expr, tree: ast.Module) -> list[ast.expr]:
    """What stands in the table of that name, whichever of it is chosen when the service runs."""
    return [
        value
        for node in ast.walk(tree)
        if isinstance(node, ast.AnnAssign | ast.Assign) and isinstance(node.value, ast.Dict)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if ast.unparse(target) == ast.unparse(expression)
        for value in node.value.values
    ]


def _assigned(name: str, tree: ast.Module) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == name for target in node.targets
        ):
            yield node.value


def _passed(name: str, tree: ast.Module) -> Iterator[ast.expr]:
    """What the functions that have a parameter of that name are called with."""
    places: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            given = [one.arg for one in (*node.args.posonlyargs, *node.args.args) if one.arg != "self"]
            if name in given:
                places[node.name] = given.index(name)
            elif name in [one.arg for one in node.args.kwonlyargs]:
                places[node.name] = -1
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            place = places.get(called)
            if place is None:
                continue
            yield from (keyword.value for keyword in node.keywords if keyword.arg == name)
            if 0 <= place < len(node.args):
                yield node.args[place]
