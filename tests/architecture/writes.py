"""Which rows a module of the product writes, read from its source.

Seen are calls on a model's manager or on what came of it, ``save`` and ``delete`` of an object whose class its function
tells (by annotation, or by where it got it), and SQL that names one of our tables.
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

METHODS = {
    *(
        "save",
        "create",
        "bulk_create",
        "get_or_create",
        "update_or_create",
        "update",
        "bulk_update",
        "delete",
    ),
    *("asave", "acreate", "abulk_create", "aget_or_create", "aupdate_or_create", "aupdate", "abulk_update"),
    "adelete",
}
SQL = re.compile(
    r"\b(?:insert\s+into|update|delete\s+from|merge\s+into|truncate(?:\s+table)?|copy)\s+(?:only\s+)?\"?(\w+|\{\})",
    re.IGNORECASE,
)
UNKNOWN = "?"
"""The row of a write of which nobody can tell whose it is."""


@dataclass(frozen=True)
class Names:
    """The models of the house, as labels: ``models`` by the name of the class, ``tables`` by that in the database.
    ``functions`` is what those of other modules return, as annotated, by ``module.function``."""

    models: Mapping[str, str]
    tables: Mapping[str, str]
    functions: Mapping[str, ast.expr] = field(default_factory=dict)


def returns(sources: Iterable[tuple[str, str]]) -> dict[str, ast.expr]:
    """Return what the functions of modules, given by name and source, return; none that two modules tell apart."""
    found: dict[str, list[ast.expr]] = {}
    for module, source in sources:
        for node in ast.parse(source).body:
            if isinstance(node, ast.FunctionDef) and node.returns is not None:
                found.setdefault(f"{module}.{node.name}", []).append(node.returns)
    return {name: told[0] for name, told in found.items() if len({ast.dump(one) for one in told}) == 1}


def rows(source: str, names: Names) -> set[str]:
    """Return the labels (``casino.Round``) of what a module writes; ``?`` and the call, where it does not tell."""
    tree = ast.parse(source)
    return {*_by_calls(tree, names), *_by_sql(tree, names)}


def _by_sql(tree: ast.Module, names: Names) -> Iterator[str]:
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            text = node.value
        elif isinstance(node, ast.JoinedStr):
            text = "".join(
                part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else "{}"
                for part in node.values
            )
        else:
            continue
        for table in SQL.findall(text):
            if table in names.tables:
                yield names.tables[table]
            elif table == "{}":
                yield f"{UNKNOWN} {' '.join(text.split())[:60]}"


def _by_calls(tree: ast.Module, names: Names) -> Iterator[str]:
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    for function in [tree, *functions.values()]:
        scope = _Scope(function, functions, names)
        for node in _own(function):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            method, receiver = node.func.attr, node.func.value
            if method not in METHODS:
                continue
            found = scope.row(receiver)
            if found is not None:
                yield from found & set(names.models.values())
            elif method not in ("update", "aupdate") or _is_of_rows(node):
                yield f"{UNKNOWN} {ast.unparse(node.func)}"


def _is_of_rows(call: ast.Call) -> bool:
    """Whether an ``update`` could be one of rows: those take columns, dictionaries mostly take a dictionary."""
    assert isinstance(call.func, ast.Attribute)
    return bool(call.keywords) and not call.args and isinstance(call.func.value, ast.Call | ast.Name)


def _own(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions inside it."""
    for child in ast.iter_child_nodes(function):
        yield child
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _own(child)


class _Scope:
    """What the names in one function stand for, as far as it says so."""

    def __init__(self, function: ast.AST, functions: Mapping[str, ast.FunctionDef], names: Names) -> None:
        self._functions = functions
        self._names = names
        self._known: dict[str, set[str]] = {}
        if isinstance(function, ast.FunctionDef):
            given = function.args
            for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs):
                if argument.annotation is not None:
                    self._known[argument.arg] = self._named(argument.annotation)
        for node in _own(function):
            self._learn(node)

    def row(self, expression: ast.expr) -> set[str] | None:
        """The names of classes an expression may be of, ours as their labels; None where nothing says so."""
        if isinstance(expression, ast.Name):
            return self._known.get(expression.id)
        if isinstance(expression, ast.Attribute):
            if expression.attr in ("objects", "_base_manager", "_default_manager"):
                return self._named(expression.value)
            return None
        if isinstance(expression, ast.IfExp):
            return self.row(expression.body) or self.row(expression.orelse)
        if isinstance(expression, ast.BoolOp):
            return self.row(expression.values[0])
        if isinstance(expression, ast.Subscript):
            return self.row(expression.value)
        if isinstance(expression, ast.Call):
            return self._called(expression.func)
        return None

    def _called(self, function: ast.expr) -> set[str] | None:
        name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
        if name[:1].isupper():
            return self._named(function)
        if isinstance(function, ast.Attribute):
            elsewhere = self._names.functions.get(ast.unparse(function))
            return self._named(elsewhere) if elsewhere is not None else self.row(function.value)
        known = self._functions.get(name)
        return self._named(known.returns) if known is not None and known.returns is not None else None

    def _learn(self, node: ast.AST) -> None:
        found: set[str] | None = None
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name | ast.Tuple):
            target: ast.expr = node.targets[0]
            found = self.row(node.value)
        elif isinstance(node, ast.AnnAssign):
            target, found = node.target, self._named(node.annotation)
        elif isinstance(node, ast.For):
            target, found = node.target, self.row(node.iter)
        elif isinstance(node, ast.NamedExpr):
            target, found = node.target, self.row(node.value)
        if found is not None:
            for name in ast.walk(target):
                if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                    self._known[name.id] = found

    def _named(self, annotation: ast.expr) -> set[str]:
        """The names in an annotation, written as text or not."""
        found: set[str] = set()
        for node in ast.walk(annotation):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                with contextlib.suppress(SyntaxError):  # a word of a Literal need not be a name
                    found |= self._named(ast.parse(node.value, mode="eval").body)
            elif isinstance(node, ast.Name | ast.Attribute):
                name = node.id if isinstance(node, ast.Name) else node.attr
                found.add(self._names.models.get(name, name))
        return found
