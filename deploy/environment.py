"""The environment's variables as typed values. A value that cannot be read stops the start, naming its variable."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured


def text(name: str, default: str = "") -> str:
    return os.environ.get(name, default).strip()


def flag(name: str, *, default: bool) -> bool:
    value = text(name).lower()
    if value in ("1", "true", "yes", "on"):
        return True
    if value in ("0", "false", "no", "off"):
        return False
    if value == "":
        return default
    raise ImproperlyConfigured(f"{name} is {value!r}; write 1 or 0.")


def number(name: str, *, default: int, least: int, most: int) -> int:
    value = text(name)
    if value == "":
        return default
    if not value.isascii() or not value.isdigit() or not least <= int(value) <= most:
        raise ImproperlyConfigured(f"{name} is {value!r}; write a whole number from {least} to {most}.")
    return int(value)


def choice(name: str, *, default: str, among: tuple[str, ...]) -> str:
    value = text(name) or default
    if value not in among:
        raise ImproperlyConfigured(f"{name} is {value!r}; write one of {', '.join(among)}.")
    return value


def words(name: str, *, default: str = "") -> list[str]:
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def database(url: str, *, name: str = "DATABASE_URL") -> dict[str, Any]:
    """What Django wants to know of a PostgreSQL address: `postgresql://user:password@host:port/database`.

    A `sslmode` in the query is passed on; anything else there is refused, so that no time-out can be
    loosened by an address.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("postgresql", "postgres") or not parts.path.strip("/"):
        raise ImproperlyConfigured(f"{name} must look like postgresql://user:password@host:port/database.")
    options: dict[str, Any] = {}
    for pair in filter(None, parts.query.split("&")):
        key, _, value = pair.partition("=")
        if key not in ("sslmode", "sslrootcert", "sslcert", "sslkey"):
            raise ImproperlyConfigured(f"{name} may carry sslmode and certificate paths, not {key!r}.")
        options[key] = unquote(value)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.strip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": parts.hostname or "",
        "PORT": str(parts.port or ""),
        "OPTIONS": options,
    }
