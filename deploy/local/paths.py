"""Where the embedded servers keep their things: the git-ignored folder `.local/` of this clone. Those of its tests
keep theirs in memory where there is such a folder: a test that commits takes a database of its own, and would wait
for the disk. Their settings are those of any house.

Standard library only, and nothing is created by importing it: the settings read addresses from here.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import secrets
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote, unquote

from deploy.local.start_errors import Trouble, no_room

CLONE = Path(__file__).resolve().parent.parent.parent
ROOM_BYTES = 4_000_000_000  # a gigabyte of PostgreSQL's own log, databases of tests, and as much to spare
IN_MEMORY = "LOCAL_IN_MEMORY"
"""Names the environment's word for servers in memory, 1."""
LOOPBACK = "127.0.0.1"
DATABASE = "pokdeng"
ADMINISTRATOR = "postgres"
LOGINS = ("pokdeng_app", "pokdeng_reader", "pokdeng_sealer")


def _named_for_the_clone(folder: str) -> Path:
    return Path(folder) / f"pokdeng-{hashlib.sha256(str(CLONE).encode()).hexdigest()[:16]}"


def _in_memory() -> Path:
    """The folder in memory where one is there already or has room for a run of all tests, else a temporary one."""
    memory, temporary = (
        _named_for_the_clone(folder)
        for folder in ("/dev/shm", tempfile.gettempdir())  # noqa: S108  whose it is is checked when it is made
    )
    if memory.exists() or temporary.exists():
        return memory if memory.exists() else temporary
    is_open = os.access(memory.parent, os.W_OK | os.X_OK)
    return memory if is_open and shutil.disk_usage(memory.parent).free >= ROOM_BYTES else temporary


FOLDER = _in_memory() if os.environ.get(IN_MEMORY) == "1" else CLONE / ".local"


def use_memory() -> None:
    """Let this process and those that it starts keep everything in memory from now on; what is there is used again."""
    global FOLDER
    os.environ[IN_MEMORY] = "1"
    FOLDER = _in_memory()


def make() -> None:
    if FOLDER.parent == CLONE:
        _make(FOLDER, doing="The folder .local")
    else:
        _make_ours(FOLDER)


def outside() -> Path:
    """A folder every user may enter, for a clone that lies where only its owner may.

    PostgreSQL refuses to run as root, and the user it runs as instead must reach its files.
    """
    # It survives a restart of the machine, unlike /tmp.
    return _make_ours(_named_for_the_clone("/var/tmp"))  # noqa: S108  whose it is is checked


def _make_ours(folder: Path) -> Path:
    """Make a folder where everybody may; raises Trouble where it is somebody else's."""
    _make(folder, doing="A folder for the database")
    if folder.is_symlink() or folder.lstat().st_uid != os.getuid():
        raise Trouble(f"{folder} belongs to somebody else. Remove it and start again.")
    return folder


def _make(folder: Path, *, doing: str) -> None:
    try:
        folder.mkdir(mode=0o711, exist_ok=True)
    except OSError as error:
        raise no_room(error, doing=doing) from error


def open_closed(path: Path, *, anew: bool = False) -> IO[bytes]:
    """Open a file to be written to at its end, or ``anew``, that nobody but its owner may read: logs hold what happened
    in a house."""
    how = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if anew else os.O_APPEND)
    handle = os.open(path, how, 0o600)
    os.fchmod(handle, 0o600)  # one that was made before, or under another mask
    return os.fdopen(handle, "wb" if anew else "ab")


def write(name: str, value: dict[str, Any]) -> None:
    """Replace a JSON file of the folder in one step; readable by its owner alone."""
    try:
        handle, temporary = tempfile.mkstemp(dir=FOLDER, prefix=f".{name}.")
        try:
            with os.fdopen(handle, "w") as file:
                json.dump(value, file, indent=1)
            os.replace(temporary, FOLDER / name)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise no_room(error, doing=f"Writing .local/{name}") from error


def read(name: str) -> dict[str, Any]:
    """The JSON file, or an empty dict where it is missing or was cut off by a crash."""
    try:
        value = json.loads((FOLDER / name).read_text())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def passwords() -> dict[str, str]:
    """Every secret of this clone by its name, made on first use. Call under the starting lock."""
    known = read("secrets.json")
    wanted = (ADMINISTRATOR, *LOGINS, "valkey", "django")
    if any(name not in known for name in wanted):
        for name in wanted:
            known.setdefault(name, secrets.token_urlsafe(48))
        write("secrets.json", known)
    return known


def database_url(*, role: str, database: str = DATABASE) -> str | None:
    """Where the embedded PostgreSQL was last started, or None where it never was."""
    port, password = read("postgres.json").get("port"), read("secrets.json").get(role)
    if not port or not password:
        return None
    return f"postgresql://{role}:{quote(password, safe='')}@{LOOPBACK}:{port}/{database}"


def unquoted(part: str | None) -> str:
    """A part of an address as it was before it was put into one."""
    return unquote(part or "")


def redis_url(*, database: int = 0) -> str | None:
    port, password = read("valkey.json").get("port"), read("secrets.json").get("valkey")
    if not port or not password:
        return None
    return f"redis://:{quote(password, safe='')}@{LOOPBACK}:{port}/{database}"


def django_secret() -> str | None:
    return read("secrets.json").get("django")


def port_is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return False
            raise
    return True


def is_listened_to(port: int | None) -> bool:
    """Whether somebody listens on the port. The socket is not connected: nothing is heard of it on the other side."""
    return port is not None and not port_is_free(port)


def free_port(*, preferred: int | None = None) -> int:
    """The preferred port while nobody listens on it, else one the system picks."""
    if preferred and port_is_free(preferred):
        return preferred
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
    return port


def _open_lock(name: str) -> IO[str]:
    try:
        return open(FOLDER / f"{name}.lock", "a")  # held, not read: closing it releases the lock
    except OSError as error:
        raise no_room(error, doing=f"The lock .local/{name}.lock") from error


@contextmanager
def locked(name: str) -> Iterator[None]:
    """Wait for the named lock and hold it. A killed process holds nothing: the kernel lets go."""
    with _open_lock(name) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def try_lock(name: str) -> IO[str] | None:
    """The held lock as an open file, or None where somebody else holds it."""
    file = _open_lock(name)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


def share(name: str) -> IO[str]:
    """Hold the named lock together with others who share it."""
    file = _open_lock(name)
    fcntl.flock(file, fcntl.LOCK_SH)
    return file


def is_last(file: IO[str]) -> bool:
    """Whether nobody else shares this lock. Asked on leaving: the share is given up either way."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
