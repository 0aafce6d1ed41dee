from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
from django.conf import settings
from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections

from deploy import environment
from deploy.local import paths

ROLES = paths.CLONE / "deploy" / "roles.sql"


class Command(migrate.Command):
    """Django's migrate, as the owner: the application's role may not create or change a table.

    Signs in by `DATABASE_OWNER_URL` and works as `pokdeng_owner`. The roles are made before the first migration,
    as migrations speak of them, and every grant is renewed after the last.
    """

    def handle(self, *args: Any, **options: Any) -> None:
        connection = connections[options["database"]]
        url = settings.DATABASE_OWNER_URL
        if not url:
            raise CommandError(
                "migrate needs DATABASE_OWNER_URL: the address of an administrator who may act as pokdeng_owner."
            )
        url = _at(url, database=connection.settings_dict["NAME"])
        apply_roles(url)
        own = dict(connection.settings_dict)
        connection.close()
        try:
            connection.settings_dict.update(_as_owner(url))
            super().handle(*args, **options)
        finally:
            connection.close()
            connection.settings_dict.update(own)
        apply_roles(url)


def apply_roles(url: str) -> None:
    """Bring roles, owners and grants to what roles.sql says; in one transaction, so nobody sees half of it."""
    with psycopg.connect(url, connect_timeout=5) as administrator:
        administrator.execute("SET lock_timeout = '5s'")
        administrator.execute(ROLES.read_bytes())


def _at(url: str, *, database: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{database}"))


def _as_owner(url: str) -> dict[str, Any]:
    """The connection of a migration. Waiting for a lock it gives up soon, as others queue behind it."""
    found = environment.database(url, name="DATABASE_OWNER_URL")
    found["OPTIONS"] |= {
        "assume_role": "pokdeng_owner",
        "options": "-c lock_timeout=5000 -c statement_timeout=0",
        "application_name": "pokdeng-migrate",
        "connect_timeout": 5,
    }
    return found
