"""Where checkpoints go: a folder outside the database, to which files are added and in which none is changed.

The signing key lies beside neither: its file is the sealer's alone. What readers need, the verifier key, is exported
with the first checkpoint.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from audit import signed_notes
from audit.signed_notes import Head


class Unreachable(OSError):
    """The store or the key cannot be read or written; ``reason`` says which."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Store:
    """A folder of exported checkpoints, and the file of the key that signs them."""

    def __init__(self, *, folder: Path, key_file: Path) -> None:
        self.folder = folder
        self.key_file = key_file

    def newest(self, origin: str) -> str | None:
        """Return the exported note of the largest size, None where there is none yet. Raises Unreachable."""
        try:
            names = sorted(path.name for path in self.folder.glob(f"{_safe(origin)}-*.note"))
            return (self.folder / names[-1]).read_text() if names else None
        except OSError as fault:
            raise Unreachable("store_unreachable") from fault

    def export(self, head: Head, note: str) -> None:
        """Add a note; the file appears whole or not at all, and never replaces another. Raises Unreachable."""
        target = self.folder / f"{_safe(head.origin)}-{head.size:020d}.note"
        partial = target.with_suffix(".partial")
        try:
            partial.unlink(missing_ok=True)
            _write(partial, note.encode(), mode=0o444)
            os.link(partial, target)
            partial.unlink()
            _sync(self.folder)
        except OSError as fault:
            raise Unreachable("store_unreachable") from fault

    def signing_key(self, origin: str, *, may_make: bool) -> Ed25519PrivateKey:
        """Return the key; make it where it may be made, on the first start of a log. Raises Unreachable
        (``key_missing``): a key that is gone is not replaced in silence, or every reader would be lost."""
        try:
            return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(self.key_file.read_text().strip()))
        except FileNotFoundError:
            if not may_make:
                raise Unreachable("key_missing") from None
        except (OSError, ValueError) as fault:
            raise Unreachable("key_missing") from fault
        key = Ed25519PrivateKey.generate()
        try:
            self.key_file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            _write(self.key_file, key.private_bytes_raw().hex().encode(), mode=0o400)
            written = signed_notes.verifier_key(origin, key.public_key().public_bytes_raw())
            self.folder.mkdir(parents=True, exist_ok=True)
            _write(self.folder / f"{_safe(origin)}.vkey", f"{written}\n".encode(), mode=0o444)
        except OSError as fault:
            raise Unreachable("store_unreachable") from fault
        return key

    def verifier_key(self, origin: str) -> str | None:
        """Return the exported verifier key of a log, None before its first checkpoint."""
        path = self.folder / f"{_safe(origin)}.vkey"
        return path.read_text().strip() if path.exists() else None


def _safe(origin: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "_", origin)


def _write(path: Path, data: bytes, *, mode: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        os.write(descriptor, data)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
