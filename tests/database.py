"""Where tests run: a real PostgreSQL as the application's role, and a real broker. A pytest plugin.

One database is migrated as the owner and kept as a template for as long as migrations and roles stay the same.
Ordinary tests share a clone of it and are rolled back. A test that commits (`django_db(transaction=True)`) gets a
clone of its own, dropped afterwards: tables that refuse TRUNCATE cannot be emptied, and must not learn to. The fixtures
are in `tests/conftest.py`, as pytest-django's would win over those of a plugin.

The servers of this clone are started by the first test that asks for the database, unless they run already;
`DATABASE_URL` with `DATABASE_OWNER_URL` and `REDIS_URL` name others.
"""

from __future__ import annotations

import hashlib
import itertools
import os
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql

from deploy.local import paths, servers

# Before Django reads its settings: a house without TLS, where a supervisor on duty is enough for a ruling.
os.environ["DEMONSTRATION"] = "1"
os.environ["SIGNATURES"] = "on_duty"
os.environ["SECRET_KEY"] = "not a secret: signs nothing outside of the tests, and is long enough to pass"
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "deploy.settings")

Connection = psycopg.Connection[tuple[Any, ...]]
KEPT_TEMPLATES = 3
_numbers = itertools.count(1)


class House:
    """The servers of this test process and the database its tests see at the moment."""

    def __init__(self, *, addresses: servers.Addresses) -> None:
        self.addresses = addresses
        self.template = f"pokdeng_template_{_fingerprint()}"

    def administer(self) -> Connection:
        return psycopg.connect(at(self.addresses.owner_url, database="postgres"), autocommit=True)

    def clone(self) -> str:
        """A fresh database like the template. Owner and closed doors do not come with a clone by themselves."""
        name = f"pokdeng_test_{os.getpid()}_{next(_numbers)}"
        with self.administer() as administrator:
            database = sql.Identifier(name)
            administrator.execute(
                sql.SQL("CREATE DATABASE {} TEMPLATE {} OWNER pokdeng_owner").format(
                    database, sql.Identifier(self.template)
                )
            )
            administrator.execute(sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(database))
            administrator.execute(
                sql.SQL("GRANT CONNECT ON DATABASE {} TO pokdeng_app, pokdeng_reader, pokdeng_sealer").format(
                    database
                )
            )
        return name

    def drop(self, name: str) -> None:
        with self.administer() as administrator:
            administrator.execute(
                sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
            )

    def use(self, name: str) -> str:
        """Point Django at another database; returns the one before. New threads follow, as they read the same dict."""
        from django.db import connection

        before: str = connection.settings_dict["NAME"]
        connection.close()
        found = urlsplit(self.addresses.database_url)
        connection.settings_dict.update(
            NAME=name, HOST=found.hostname, PORT=str(found.port), USER="pokdeng_app"
        )
        connection.settings_dict["PASSWORD"] = paths.unquoted(found.password)
        return before

    def prepare(self) -> None:
        """See that the template exists, and that what killed runs left behind does not."""
        with paths.locked("template"), self.administer() as administrator:
            self._sweep(administrator)
            known = administrator.execute("SELECT 1 FROM pg_database WHERE datname = %s", [self.template])
            if known.fetchone() is None:
                self._migrate(administrator)

    def _sweep(self, administrator: Connection) -> None:
        found = administrator.execute(
            "SELECT datname FROM pg_database WHERE datname LIKE 'pokdeng\\_%' ORDER BY oid"
        )
        names = [name for (name,) in found.fetchall()]
        templates = [name for name in names if name.startswith("pokdeng_template_") and name != self.template]
        for name in names:
            if name.startswith("pokdeng_test_") and not _is_running(int(name.split("_")[2])):
                self.drop(name)
        for name in templates[:-KEPT_TEMPLATES] if len(templates) > KEPT_TEMPLATES else []:
            self.drop(name)

    def _migrate(self, administrator: Connection) -> None:
        from django.conf import settings
        from django.core.management import call_command

        building = f"{self.template}_building"
        self.drop(building)
        administrator.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(building)))
        before = self.use(building)
        settings.DATABASE_OWNER_URL = self.addresses.owner_url
        call_command("migrate", verbosity=0, interactive=False)
        self.use(before)
        administrator.execute(
            sql.SQL("ALTER DATABASE {} RENAME TO {}").format(
                sql.Identifier(building), sql.Identifier(self.template)
            )
        )


def _fingerprint() -> str:
    """Changes with anything that decides how a migrated database looks."""
    digest = hashlib.sha256(f"{version('django')} {version('djangorestframework')}".encode())
    clone = paths.CLONE
    files = [clone / "deploy" / "roles.sql", clone / "deploy" / "management" / "commands" / "migrate.py"]
    for app in ("casino", "settlement", "audit"):
        files += sorted(
            path for path in (clone / app / "migrations").rglob("*") if path.suffix in (".py", ".sql")
        )
    for path in files:
        digest.update(str(path.relative_to(clone)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _is_running(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists() if Path("/proc/self").exists() else True


def at(url: str, *, database: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{database}"))


def given_addresses() -> servers.Addresses | None:
    """The servers named by the environment, where all of them are."""
    database, owner, broker = (
        os.environ.get(name) for name in ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL")
    )
    if database and owner and broker:
        reader = os.environ.get("DATABASE_READER_URL", "")
        return servers.Addresses(database_url=database, owner_url=owner, reader_url=reader, redis_url=broker)
    return None


def broker_of_this_process(url: str) -> str:
    """A Redis database of its own for each test process; 0 is the house's."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
    return urlunsplit(urlsplit(url)._replace(path=f"/{int(worker) % 14 + 1}"))
