"""Makes the clone's own environment `.venv` from the hash-pinned lock, and goes on inside it.

Standard library only, and nothing newer than Python 3.11: this runs before anything is installed. An interpreter
that already has what the lock names (an image, somebody's own environment) is left alone.
"""

import contextlib
import fcntl
import hashlib
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path

CLONE = Path(__file__).resolve().parent.parent
HOME = CLONE / ".venv"
LOCK = CLONE / "requirements-dev.lock"
RUNTIME_LOCK = CLONE / "requirements.lock"
STAMP = HOME / "lock.sha256"
PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)\s*(;[^\\]*)?", re.MULTILINE)


class Obstacle(Exception):
    """What stands in the way, as one sentence."""


def enter() -> None:
    """Return inside an interpreter that has the lock's packages; re-execute in `.venv` where this one has not."""
    inside = Path(sys.prefix).resolve() == HOME.resolve()
    if inside and _is_fresh():
        return
    if not inside and not HOME.exists() and _has_everything():
        return
    try:
        with _alone():
            if not _is_fresh():
                _install()
    except Obstacle as obstacle:
        sys.exit(str(obstacle))
    except KeyboardInterrupt:
        sys.exit("Stopped while making .venv; the next call goes on from there.")
    python = _python()
    sys.stdout.flush()
    os.execv(python, [str(python), *sys.argv])


def _fingerprint() -> str:
    version = "%d.%d" % sys.version_info[:2]
    return version + " " + hashlib.sha256(LOCK.read_bytes()).hexdigest()


def _is_fresh() -> bool:
    """Whether `.venv` was completed from the lock as it is now, by a Python that is still there."""
    try:
        words = STAMP.read_text().split()
        lock_is_same = words[1:] == [hashlib.sha256(LOCK.read_bytes()).hexdigest()]
    except OSError:
        return False
    return lock_is_same and _python().exists()


def _has_everything() -> bool:
    """Whether this interpreter has every package a running service needs, in the lock's version."""
    for name, version, marker in PIN.findall(RUNTIME_LOCK.read_text()):
        if marker:  # for another system or an older Python, as the lock serves all of them
            continue
        try:
            if _plain(importlib.metadata.version(name)) != _plain(version):
                return False
        except importlib.metadata.PackageNotFoundError:
            return False
    return True


def _plain(version: str) -> str:
    """One spelling of a version: a package may call itself 1.000 where the lock says 1.0."""
    release = re.match(r"[0-9.]*", version)
    numbers = [str(int(part)) for part in (release.group(0) if release else "").split(".") if part]
    while numbers and numbers[-1] == "0":
        numbers.pop()
    return ".".join(numbers) + version[release.end() if release else 0 :]


def _python() -> Path:
    return HOME / "bin" / "python"


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """One installation at a time; whoever waited finds it done."""
    try:
        with open(CLONE / ".venv.lock", "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
    except OSError as error:
        raise Obstacle(_sentence(str(error))) from error


def _install() -> None:
    print(
        "Preparing .venv from requirements-dev.lock (once for each new lock) …", file=sys.stderr, flush=True
    )
    if not _runs(_python()):
        _make()
    uv = HOME / "bin" / "uv"
    pinned = ["--require-hashes", "--requirement", str(LOCK)]
    try:
        if not _uv_is_current(uv):
            _run([str(_python()), *_PIP, "--no-deps", "--require-hashes", "--requirement"], pinned_uv=True)
        _run([str(uv), "pip", "install", "--quiet", "--python", str(_python()), *pinned])
    except Obstacle:
        # Slower, but it knows the machine's own settings for proxies and mirrors.
        _run([str(_python()), *_PIP, *pinned])
    temporary = STAMP.with_name(STAMP.name + ".new")
    temporary.write_text(_fingerprint())
    temporary.replace(STAMP)


_PIP = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]


def _make() -> None:
    if HOME.is_symlink() or HOME.is_file():
        raise Obstacle(".venv is in the way: it is not a folder. Move it and start again.")
    try:
        venv.EnvBuilder(with_pip=True, clear=HOME.exists(), symlinks=True).create(HOME)
    except (OSError, subprocess.CalledProcessError, SystemExit) as error:
        shutil.rmtree(HOME, ignore_errors=True)
        words = getattr(error, "output", b"") or b""
        told = words.decode(errors="replace") if isinstance(words, bytes) else str(words)
        if not isinstance(error, OSError) and "No space" not in told:
            raise Obstacle(
                "Python's venv module cannot make an environment with pip here. "
                "On Debian and Ubuntu: apt-get install python3-venv."
            ) from error
        raise Obstacle(_sentence(f"{error} {told}")) from error


def _runs(python: Path) -> bool:
    """Whether there is an interpreter of our version with pip; not so after the system's Python was replaced."""
    try:
        program = "import pip, sys; print('%d.%d' % sys.version_info[:2])"
        done = subprocess.run(
            [str(python), "-c", program], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and done.stdout.strip() == "%d.%d" % sys.version_info[:2]


def _uv_is_current(uv: Path) -> bool:
    wanted = {name: version for name, version, _ in PIN.findall(LOCK.read_text())}.get("uv", "")
    try:
        done = subprocess.run([str(uv), "--version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.stdout.split()[1:2] == [wanted]


def _run(command: list[str], *, pinned_uv: bool = False) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as only_uv:
        if pinned_uv:
            only_uv.write(_block_of("uv"))
            only_uv.flush()
            command = [*command, only_uv.name]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
            )
        except OSError as error:
            raise Obstacle(_sentence(str(error))) from error
    if done.returncode != 0:
        raise Obstacle(_sentence(done.stderr or done.stdout))


def _block_of(name: str) -> str:
    """The lock's lines for one package, hashes and all."""
    found = re.search(rf"^{re.escape(name)}==.*?(?=^\S|\Z)", LOCK.read_text(), re.MULTILINE | re.DOTALL)
    if found is None:
        raise Obstacle(f"requirements-dev.lock does not name {name}.")
    return found.group(0)


def _sentence(words: str) -> str:
    """What a failed step says, in a sentence; its own last line where we know no better."""
    low = words.lower()
    if "no space left" in low or "disk quota" in low:
        return "The disk is full: .venv needs about 400 MB. Free some and start again."
    if "hash" in low and ("mismatch" in low or "do not match" in low):
        return "A downloaded package does not have the hash the lock names. Nothing was installed from it."
    network = ("name resolution", "failed to establish", "dns error", "error sending request", "timed out",
               "connection refused", "network is unreachable", "failed to fetch", "could not connect",
               "no matching distribution", "connection error")  # fmt: skip
    if any(sign in low for sign in network):
        return "The package registry cannot be reached, or lacks a package of the lock. Check the network."
    if "permission denied" in low or "read-only" in low:
        return f"The folder {CLONE} cannot be written to: .venv belongs there."
    lines = [line for line in words.strip().splitlines() if line.strip()]
    return "The environment could not be made: " + (lines[-1].strip() if lines else "no reason was given.")
