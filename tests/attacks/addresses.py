"""Every address of the interface, read from the URL map itself: a new one is tried without anybody listing it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from uuid import uuid4

from django.urls import URLPattern, URLResolver, get_resolver

from casino.api.door import Door

API = "api/v1/"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")


@dataclass(frozen=True)
class Address:
    """One address: its pattern as written (``rounds/<uuid:round>``), and what answers there."""

    pattern: str
    view: Any

    @property
    def declares(self) -> Mapping[str, str]:
        """The right that each method needs."""
        declared: Mapping[str, str] = self.view.declares
        return declared

    @property
    def names(self) -> list[str]:
        """What stands in the address: ``round``, ``code``."""
        return re.findall(r"<(?:\w+:)?(\w+)>", self.pattern)

    def path(self, **known: Any) -> str:
        """The address with these in it, and something of the right form for all else."""

        def fill(match: re.Match[str]) -> str:
            kind, name = match.groups()
            made = {"uuid": str(uuid4()), "int": "7"}.get(kind or "str", "PD98")
            return str(known.get(name, made))

        return "/" + re.sub(r"<(?:(\w+):)?(\w+)>", fill, self.pattern)


def _walk(patterns: Any, before: str = "") -> Iterator[Address]:
    for pattern in patterns:
        here = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _walk(pattern.url_patterns, here)
        elif isinstance(pattern, URLPattern):
            yield Address(here, getattr(pattern.callback, "cls", pattern.callback))


@cache
def everything() -> tuple[Address, ...]:
    return tuple(_walk(get_resolver().url_patterns))


def doors() -> list[Address]:
    """What answers under /api/v1/."""
    return [address for address in everything() if address.pattern.startswith(API)]


def is_door(address: Address) -> bool:
    return isinstance(address.view, type) and issubclass(address.view, Door)
