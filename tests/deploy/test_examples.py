"""Each operation of the description has a worked example, taken from a run, and it is what the description says."""

from __future__ import annotations

from typing import Any

import pytest

from deploy.openapi import document
from deploy.openapi.examples import examples
from tests import answers


def operations() -> dict[str, tuple[str, dict[str, Any]]]:
    return {
        operation["operationId"]: (method, operation)
        for item in document()["paths"].values()
        for method, operation in item.items()
    }


def test_every_operation_has_an_example_and_no_other_has() -> None:
    assert set(examples()) == set(operations())


@pytest.mark.parametrize("name", sorted(operations()))
def test_an_example_is_what_the_description_says(name: str) -> None:
    example, (method, operation) = examples()[name], operations()[name]
    described = answers.description()
    found = described.find(method.upper(), example["path"])
    assert found is not None
    assert found[1][method]["operationId"] == name
    answer = operation["responses"][str(example["status"])]
    content = answer.get("content", {}).get(example["answer_type"])
    if example["answer"] is not None:
        assert described.wrong(content["schema"], example["answer"]) is None
    if "requestBody" in operation and example["request"] is not None:
        body = operation["requestBody"]["content"][example["media_type"]]
        assert described.wrong(body["schema"], example["request"]) is None
    assert example["request"] is not None or not operation.get("requestBody", {}).get("required")
