"""PostgreSQL and Valkey for this clone: the first user starts them, the last one out stops them.

Each user (the started house, every test process) holds a share of one file lock while it needs the
servers. The kernel drops the share of a killed process, so servers left behind by `kill -9` are found
running by the next user, and stopped by the last.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from deploy.local import paths, postgres, valkey
from deploy.local.start_errors import Trouble


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where to reach the servers. `owner_url` is an administrator's: for migrations and tests alone."""

    database_url: str
    owner_url: str
    reader_url: str
    redis_url: str

    def environment(self) -> dict[str, str]:
        return {
            "DATABASE_URL": self.database_url,
            "DATABASE_OWNER_URL": self.owner_url,
            "DATABASE_READER_URL": self.reader_url,
            "REDIS_URL": self.redis_url,
        }


@contextmanager
def running() -> Iterator[Addresses]:
    paths.make()
    with paths.locked("starting"):
        share = paths.share("servers")
        try:
            secrets = paths.passwords()
            postgres.start(secrets=secrets)
            valkey.start(secret=secrets["valkey"])
            addresses = _addresses()
        except BaseException:
            if paths.is_last(share):
                _stop()
            share.close()
            raise
    try:
        yield addresses
    finally:
        with paths.locked("starting"), share:
            if paths.is_last(share):
                _stop()


def alive() -> bool:
    """Whether both servers run. Asked every half second: a look at a process and a port, and no word with them."""
    return postgres.is_there() and valkey.is_there()


def again() -> Addresses:
    """Start what is gone of the servers that this process shares, and return where they answer now."""
    with paths.locked("starting"):
        secrets = paths.passwords()
        postgres.start(secrets=secrets)
        valkey.start(secret=secrets["valkey"])
        return _addresses()


def stop_unused() -> int:
    """Stop servers that a killed user left behind and nobody shares; returns how many were running."""
    with paths.locked("starting"), paths.share("servers") as share:
        if not paths.is_last(share):
            return 0
        return int(valkey.stop()) + int(postgres.stop())


def _addresses() -> Addresses:
    database, owner, reader = (
        paths.database_url(role=role) for role in ("pokdeng_app", paths.ADMINISTRATOR, "pokdeng_reader")
    )
    broker = paths.redis_url()
    if not (database and owner and reader and broker):
        raise Trouble("The servers' addresses in .local/ are gone. Run `down`, then start again.")
    return Addresses(database_url=database, owner_url=owner, reader_url=reader, redis_url=broker)


def _stop() -> None:
    valkey.stop()
    postgres.stop()
