"""A database made for measuring, with a small house in it, and dropped afterwards."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.utils import timezone
from psycopg import sql

from deploy import demonstration
from deploy.local import paths
from deploy.local.servers import Addresses

TABLES = ("BN01", "BN02")
PLAIN = "CREATE TABLE bench_plain (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, said text NOT NULL)"


@contextmanager
def database(addresses: Addresses) -> Iterator[str]:
    """Point Django at a fresh, migrated database of these servers; give its address for the application's role."""
    name = f"pokdeng_bench_{os.getpid()}"
    before = dict(connection.settings_dict)
    administrator = psycopg.connect(_at(addresses.owner_url, "postgres"), autocommit=True)
    try:
        administrator.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        url = _at(addresses.database_url, name)
        _use(url)
        owner_url, settings.DATABASE_OWNER_URL = settings.DATABASE_OWNER_URL, addresses.owner_url
        call_command("migrate", verbosity=0, interactive=False)
        settings.DATABASE_OWNER_URL = owner_url
        with psycopg.connect(_at(addresses.owner_url, name), autocommit=True) as owner:
            owner.execute(PLAIN)
            owner.execute("GRANT INSERT ON bench_plain TO pokdeng_app")
        yield url
    finally:
        connection.close()
        connection.settings_dict.update(before)
        administrator.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
        administrator.close()


def furnish() -> dict[str, str]:
    """Make people and two open tables; return their terminals' tokens by table."""
    floor = {code: {"sheet": {"preset": "seed_table", "options": {}}, "camera": False} for code in TABLES}
    with tempfile.TemporaryDirectory() as folder:
        keys = demonstration.Keys(Path(folder) / "keys.json")
        demonstration.furnish(
            keys=keys,
            floor=floor,
            wallets={},
            codes={code: [f"{code}-terminal"] for code in TABLES},
            reopen=True,
            now=timezone.now(),
        )
    return {code: keys.token(f"{code}-terminal") for code in TABLES}


def owned(addresses: Addresses, url: str) -> str:
    """Return the administrator's address of the database that ``url`` names."""
    return _at(addresses.owner_url, urlsplit(url).path.lstrip("/"))


def _use(url: str) -> None:
    connection.close()
    found = urlsplit(url)
    connection.settings_dict.update(
        NAME=found.path.lstrip("/"), HOST=found.hostname, PORT=str(found.port), USER=found.username
    )
    connection.settings_dict["PASSWORD"] = paths.unquoted(found.password)


def _at(url: str, name: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))
