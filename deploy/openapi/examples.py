"""A worked example of each operation: what was asked and answered in a run of the tests, kept as data.

``manage.py test --write-examples`` makes ``examples.json`` anew; the tests hold that each operation has an example, and
that every one is what the description says.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

STORED = Path(__file__).with_name("examples.json")
FROM_A_RUN = "from a run"


@lru_cache(maxsize=1)
def examples() -> dict[str, dict[str, Any]]:
    """Return the examples by operation id: ``path``, ``query``, ``media_type`` and ``request`` (null: no body),
    ``status``, ``answer_type`` and ``answer`` (null: no JSON)."""
    found: dict[str, dict[str, Any]] = json.loads(STORED.read_text())
    return found


def show(paths: dict[str, Any]) -> None:
    """Put each operation's example where it belongs: at its parameters, its body and its answer."""
    for template, item in paths.items():
        for operation in item.values():
            example = examples().get(operation["operationId"])
            if example is not None:
                _show(operation, template, example)


def _show(operation: dict[str, Any], template: str, example: dict[str, Any]) -> None:
    given = {"path": _in_path(template, example["path"]), "query": _in_query(example["query"])}
    for parameter in operation.get("parameters", []):
        value = given.get(parameter["in"], {}).get(parameter["name"])
        if value is not None:
            parameter["example"] = value
    asked = operation.get("requestBody", {}).get("content", {}).get(example["media_type"])
    if asked is not None and example["request"] is not None:
        asked["examples"] = {FROM_A_RUN: {"value": example["request"]}}
    answer = operation["responses"].get(str(example["status"]), {})
    content = answer.get("content", {}).get(example["answer_type"])
    if content is not None and example["answer"] is not None:
        content["examples"] = {FROM_A_RUN: {"value": example["answer"]}}


def _in_path(template: str, path: str) -> dict[str, str]:
    pattern = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(template))
    found = re.fullmatch(pattern, path)
    return found.groupdict() if found else {}


def _in_query(query: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(query).items()}
