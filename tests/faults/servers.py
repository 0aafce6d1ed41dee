"""A PostgreSQL and a Valkey of these tests' own, from the embedded binaries: they are crashed and emptied.

Both are children of the test process, in a temporary folder. PostgreSQL refuses to run as root, so the folder may be
entered by everybody and what lies in it belongs to the server's user.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import psycopg
import redis
from psycopg import sql
from redis.backoff import NoBackoff
from redis.retry import Retry

from deploy.local import paths, postgres, valkey
from deploy.local.servers import Addresses
from tests.faults.waiting import until

Connection = psycopg.Connection[tuple[Any, ...]]
OTHERS = {"max_connections": "150", "shared_buffers": "64MB", "log_statement": "none"}


class Postgres:
    """One cluster. ``start`` and ``crash`` as often as a test likes; its files go with ``remove``."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="pokdeng-faults-"))
        self.folder.chmod(0o711)
        self.port = paths.free_port()
        self.secret = secrets.token_urlsafe(24)
        self._home = self.folder / "postgres"
        self._home.mkdir(mode=0o700)
        postgres._give_to_runner(self._home)
        self._server: subprocess.Popen[bytes] | None = None

    def create(self) -> None:
        """Make the cluster, its roles with their passwords, and start it."""
        password = self._home / "password"
        password.write_text(self.secret)
        postgres._give_to_runner(password)
        done = postgres._run(
            "initdb", "-D", str(self._home / "data"), "-U", paths.ADMINISTRATOR, "-A", "scram-sha-256",
            "--pwfile", str(password), "--data-checksums", "--encoding", "UTF8", "--no-instructions",
            *postgres._locale(),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        self.start()
        with self.administer() as administrator:
            administrator.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(paths.DATABASE)))
        with psycopg.connect(self.url(paths.ADMINISTRATOR), autocommit=True) as administrator:
            administrator.execute(postgres.ROLES.read_bytes())
            for role in paths.LOGINS:
                administrator.execute(
                    sql.SQL("ALTER ROLE {} PASSWORD {}").format(
                        sql.Identifier(role), sql.Literal(self.secret)
                    )
                )

    def start(self) -> None:
        """Start the server, with recovery where it crashed, and wait until it answers."""
        runner = postgres._runner()
        who: dict[str, Any] = (
            {} if runner is None else {"user": runner.pw_uid, "group": runner.pw_gid, "extra_groups": []}
        )
        options = {**postgres.SETTINGS, **OTHERS, "port": str(self.port)}
        settings = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        with (self.folder / "postgres.log").open("ab") as log:
            self._server = subprocess.Popen(
                [str(postgres._binaries() / "postgres"), "-D", str(self._home / "data"), *settings],
                cwd="/",
                env={"LC_ALL": "C", "TZ": "UTC", "PATH": os.defpath},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                **who,
            )
        until(self.answers, "PostgreSQL answers")

    def crash(self) -> None:
        """End every process of it at once, as ``pg_ctl stop -m immediate`` does; nothing is written any more."""
        if self._server is not None:
            self._server.send_signal(signal.SIGQUIT)
            self._server.wait(60)
            self._server = None

    def remove(self) -> None:
        self.crash()
        shutil.rmtree(self.folder, ignore_errors=True)

    def answers(self) -> bool:
        try:
            self.administer().close()
        except psycopg.Error:
            return False
        return True

    def url(self, role: str, *, database: str = paths.DATABASE, port: int = 0) -> str:
        """The address of a database for a role; ``port``: a proxy's. Without TLS, so that it sees what is said."""
        address = f"{paths.LOOPBACK}:{port or self.port}/{database}"
        return f"postgresql://{role}:{self.secret}@{address}?sslmode=disable"

    def administer(self, database: str = "postgres") -> Connection:
        return psycopg.connect(
            self.url(paths.ADMINISTRATOR, database=database), autocommit=True, connect_timeout=3
        )

    def addresses(self, *, redis_url: str) -> Addresses:
        app, owner, reader = (
            self.url(role).partition("?")[0]
            for role in ("pokdeng_app", paths.ADMINISTRATOR, "pokdeng_reader")
        )
        return Addresses(database_url=app, owner_url=owner, reader_url=reader, redis_url=redis_url)


class Valkey:
    """One broker that keeps nothing. Stopped and started it is back empty, at the same port."""

    def __init__(self, folder: Path) -> None:
        self.port = paths.free_port()
        self._folder = folder
        self._secret = secrets.token_urlsafe(24)
        self._server: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        lines = (
            f"bind {paths.LOOPBACK}", f"port {self.port}", f"requirepass {self._secret}", 'save ""',
            "appendonly no", "maxmemory-policy noeviction", f'dir "{self._folder}"',
        )  # fmt: skip
        with (self._folder / "valkey.log").open("ab") as log:
            self._server = subprocess.Popen(
                [str(valkey._binary()), "-"],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        assert self._server.stdin is not None
        with self._server.stdin as words:
            words.write("\n".join(lines).encode())
        until(self.answers, "Valkey answers")

    def stop(self) -> None:
        if self._server is not None:
            self._server.kill()
            self._server.wait(30)
            self._server = None

    def answers(self) -> bool:
        with contextlib.closing(self.client()) as client:
            try:
                return bool(client.ping())
            except redis.RedisError:
                return False

    def client(self) -> redis.Redis:
        return redis.Redis.from_url(self.url(), retry=Retry(NoBackoff(), 0))

    def url(self) -> str:
        return f"redis://:{self._secret}@{paths.LOOPBACK}:{self.port}/0"
