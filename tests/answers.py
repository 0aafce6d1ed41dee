"""Every answer that a test gets from the API is compared with the API's own description.

Status, media type, headers, body and the code of a refusal must be those of the operation; what was accepted must be
what the description lets in. A member, a code or a status that nobody described fails the test that met it. The
description is made once in each process, by the first test that asks the API anything.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qs, unquote

import jsonschema_rs

API = "/api/v1/"
NAME = "urn:pokdeng:description"
PROBLEM = "application/problem+json"
NOT_FOUND = frozenset({"not_found", "malformed"})
"""Where no door was found at all."""

complaints: list[str] = []
"""What the running test met and nobody described; a fixture of conftest fails the test for it."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer, as bytes."""

    method: str
    path: str
    query: str
    asked_type: str
    asked: bytes
    status: int
    headers: Mapping[str, str]
    body: bytes | None
    """None where it is not at hand: a file that is streamed."""

    @property
    def media_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


@dataclass(frozen=True, slots=True)
class Found:
    """An operation of the description, by the template of its path."""

    template: str
    method: str
    operation: dict[str, Any]


class Description:
    """The description as a check of answers: closed, where the published one lets members be added."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = closed(copy.deepcopy(dict(document)))
        self._registry = jsonschema_rs.Registry([(NAME, self.document)], draft=jsonschema_rs.Draft202012)
        self._validators: dict[int, tuple[Any, Any]] = {}
        paths = sorted(self.document["paths"].items(), key=lambda item: (item[0].count("{"), item[0]))
        self._paths = [(_pattern(template, item), template, item) for template, item in paths]

    def find(self, method: str, path: str) -> tuple[str, dict[str, Any]] | None:
        """Return the template and the operations of a path, None for a path that is not described."""
        for pattern, template, item in self._paths:
            if pattern.fullmatch(path):
                return template, item
        return None

    def operation(self, exchange: Exchange) -> Found | None:
        """Return the operation that was asked, None for none."""
        found = self.find(exchange.method, exchange.path)
        method = exchange.method.lower()
        return Found(found[0], method, found[1][method]) if found is not None and method in found[1] else None

    def complaint(self, exchange: Exchange) -> str | None:
        """Return in a sentence what of an exchange is not described, None for nothing."""
        found = self.find(exchange.method, exchange.path)
        if found is None:
            return None if exchange.status in (400, 404) else "no path of the description"
        template, item = found
        method = "get" if exchange.method == "HEAD" and "get" in item else exchange.method.lower()
        if method not in item:
            return self._undeclared_method(exchange, item)
        return self._answered(exchange, Found(template, method, item[method]))

    def _undeclared_method(self, exchange: Exchange, item: Mapping[str, Any]) -> str | None:
        """A method that an address does not take is 405 and says which it does, whoever asks."""
        if exchange.status in (401, 404) and exchange.media_type == PROBLEM:
            return None
        if exchange.status != 405:
            return f"405 is the answer to a method that is not described, not {exchange.status}"
        if exchange.media_type != PROBLEM:
            return f"405 as {exchange.media_type}"
        allowed = {method.upper() for method in item if method in ("get", "post", "put", "delete")}
        allowed |= {"HEAD"} if "GET" in allowed else set()
        told = {method.strip() for method in exchange.headers.get("allow", "").split(",")}
        return None if told == allowed else f"Allow: {sorted(told)}, described {sorted(allowed)}"

    def _answered(self, exchange: Exchange, found: Found) -> str | None:
        answer = found.operation["responses"].get(str(exchange.status))
        if answer is None:
            code = _json(exchange.body).get("code") if exchange.media_type == PROBLEM else ""
            return f"status {exchange.status} {code}"
        if 200 <= exchange.status < 300:
            wrong = self._asked(exchange, found)
            if wrong:
                return f"accepted: {wrong}"
        content = answer.get("content")
        if content is None:
            return "a body where none is described" if exchange.body else None
        if exchange.media_type not in content:
            return f"{exchange.status} as {exchange.media_type!r}, described {sorted(content)}"
        if exchange.body is None or exchange.method == "HEAD" or not exchange.media_type.endswith("json"):
            return None
        return self.wrong(content[exchange.media_type]["schema"], json.loads(exchange.body))

    def _asked(self, exchange: Exchange, found: Found) -> str | None:
        """Return what of a request that was accepted the description would not have let in."""
        parameters = found.operation.get("parameters", [])
        named = {one["name"]: one for one in parameters if one["in"] == "query"}
        for name, values in parse_qs(exchange.query, keep_blank_values=True).items():
            if name not in named:
                return f"the query's {name!r} is not described"
            for value in values:
                wrong = self.wrong(named[name]["schema"], _read(value, named[name]["schema"]))
                if wrong and value:
                    return f"the query's {name}={value!r}: {wrong}"
        body = found.operation.get("requestBody")
        if body is None or not exchange.asked:
            return None if body is None or not body.get("required") else "no body"
        asked_type = exchange.asked_type.partition(";")[0].strip().lower()
        content = body["content"].get(asked_type)
        if content is None:
            return f"a body as {asked_type!r}"
        if not asked_type.endswith("json"):
            return None
        asked = json.loads(exchange.asked)
        if found.operation["operationId"] == "recordEvents":
            return self._recorded(content["schema"], asked, _json(exchange.body).get("events", []))
        return self.wrong(content["schema"], asked)

    def _recorded(self, schema: Any, asked: Any, answers: list[dict[str, Any]]) -> str | None:
        """Return what of the events that were not refused the description would not have let in."""
        events = asked if isinstance(asked, list) else [asked]
        taken = [
            event for event, answer in zip(events, answers, strict=True) if answer["outcome"] != "refused"
        ]
        return self.wrong(schema, taken if isinstance(asked, list) else taken[0]) if taken else None

    def wrong(self, schema: Any, value: Any) -> str | None:
        """Return how a value is not as a schema of this document has it, None where it is."""
        errors = self.validator(schema).iter_errors(value)
        said = [
            f"{'.'.join(map(str, error.instance_path)) or 'body'}: {error.message[:300]}" for error in errors
        ]
        return "; ".join(said[:5]) or None

    def validator(self, schema: Any) -> Any:
        """Return the compiled check of a schema of this document."""
        known = self._validators.get(id(schema))
        if known is None:
            made = jsonschema_rs.Draft202012Validator(
                _absolute(schema), registry=self._registry, validate_formats=True
            )
            known = self._validators[id(schema)] = (schema, made)
        return known[1]


def closed(document: dict[str, Any]) -> dict[str, Any]:
    """Let no object have members that nobody described; changes what it is given."""
    for node in _objects(document):
        if "allOf" in node:
            node.setdefault("unevaluatedProperties", False)
        elif "properties" in node and node.get("type") == "object":
            node.setdefault("additionalProperties", False)
    for name in _inside_all_of(document):
        document["components"]["schemas"][name].pop("additionalProperties", None)
    return document


def _inside_all_of(document: dict[str, Any]) -> set[str]:
    """Names of components that others extend: those say what is let in."""
    return {
        part["$ref"].rpartition("/")[2]
        for node in _objects(document)
        for part in node.get("allOf", [])
        if "$ref" in part
    }


def _objects(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
    for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _objects(inner)


def _absolute(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {
            name: f"{NAME}{inner}" if name == "$ref" and inner.startswith("#") else _absolute(inner)
            for name, inner in schema.items()
        }
    return [_absolute(inner) for inner in schema] if isinstance(schema, list) else schema


def _pattern(template: str, item: Mapping[str, Any]) -> re.Pattern[str]:
    forms = {"uuid": r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", "integer": r"[0-9]+"}
    schemas = {
        one["name"]: one["schema"]
        for operation in item.values()
        for one in operation.get("parameters", [])
        if one["in"] == "path"
    }
    parts = re.split(r"\{(\w+)\}", template)
    for place in range(1, len(parts), 2):
        schema = schemas.get(parts[place], {})
        parts[place] = forms.get(schema.get("format", ""), forms.get(schema.get("type", ""), "[^/]+"))
    parts[::2] = [re.escape(part) for part in parts[::2]]
    return re.compile("".join(parts))


def _read(value: str, schema: Mapping[str, Any]) -> Any:
    if schema.get("type") == "integer" and re.fullmatch(r"-?[0-9]+", value):
        return int(value)
    if schema.get("type") == "boolean" and value in ("true", "false"):
        return value == "true"
    return value


def _json(body: bytes | None) -> dict[str, Any]:
    try:
        found = json.loads(body or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


@dataclass(frozen=True, slots=True)
class Described:
    """An address by its template in the description, and the right that each of its methods needs."""

    template: str
    declares: Mapping[str, str]


@lru_cache(maxsize=1)
def addresses() -> tuple[Described, ...]:
    """Every door, as the description names it."""
    from tests.attacks.addresses import doors

    return tuple(
        Described("/" + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", one.pattern), one.declares) for one in doors()
    )


@lru_cache(maxsize=1)
def description() -> Description:
    """The description of this process."""
    from deploy.openapi import document

    return Description(document())


def look(exchange: Exchange, told: Callable[[Exchange, Found], None] | None) -> None:
    """Note what of an exchange nobody described; let ``told`` know of one that is as described and succeeded."""
    if not exchange.path.startswith(API):
        return
    wrong = description().complaint(exchange)
    if wrong:
        complaints.append(f"{exchange.method} {exchange.path} → {exchange.status}: {wrong}")
    elif told is not None and 200 <= exchange.status < 300:
        found = description().operation(exchange)
        if found is not None:
            told(exchange, found)


def watch_django(*, told: Callable[[Exchange, Found], None] | None = None) -> None:
    """Look at every exchange of Django's test client, in whichever thread it is used."""
    from django.test import Client

    ask = Client.request

    def asked(self: Client, **request: Any) -> Any:
        response = ask(self, **request)
        payload = request.get("wsgi.input")
        content = getattr(payload, "_FakePayload__content", None)
        look(
            Exchange(
                method=request.get("REQUEST_METHOD", "GET"),
                path=unquote(request.get("PATH_INFO", "").encode("latin-1").decode(errors="replace")),
                query=request.get("QUERY_STRING", ""),
                asked_type=request.get("CONTENT_TYPE", ""),
                asked=content.getvalue() if content is not None else b"",
                status=response.status_code,
                headers={name.lower(): value for name, value in response.headers.items()},
                body=None if response.streaming else response.content,
            ),
            told,
        )
        return response

    Client.request = asked  # type: ignore[method-assign]
