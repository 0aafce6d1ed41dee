"""Builds ``verify.pyz``: this package and the product's own pure modules as one file that needs only Python.

The same sources give the same bytes, so anybody can compare the file in a dossier with one built from the sources.
"""

from __future__ import annotations

import functools
import io
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PARTS = (
    "audit/__init__.py", "audit/merkle.py", "audit/verify", "casino/__init__.py", "casino/cards.py", "casino/record",
    "casino/platform/__init__.py", "casino/platform/values.py", "settlement/__init__.py", "settlement/explanations",
    "settlement/rules",
)  # fmt: skip
"""What the check needs, as it stands in the product."""

_MAIN = b"import sys\n\nfrom audit.verify import command\n\nsys.exit(command.main(sys.argv[1:]))\n"
_FIRST_DAY = (1980, 1, 1, 0, 0, 0)


@functools.cache
def build() -> bytes:
    """Return the bytes of ``verify.pyz``."""
    found = io.BytesIO()
    found.write(b"#!/usr/bin/env python3\n")
    with zipfile.ZipFile(found, "a", zipfile.ZIP_STORED) as archive:
        add(archive, "__main__.py", _MAIN)
        for path in sources():
            add(archive, path.relative_to(ROOT).as_posix(), path.read_bytes())
    return found.getvalue()


def sources() -> list[Path]:
    """Return the files that go into it, in the order of their names."""
    found: set[Path] = set()
    for part in PARTS:
        path = ROOT / part
        found |= {path} if path.is_file() else set(path.rglob("*.py"))
    return sorted(found)


def add(archive: zipfile.ZipFile, name: str, data: bytes, *, packed: bool = False) -> None:
    """Add a member whose bytes depend on its name and data alone: no clock, no owner, no umask."""
    member = zipfile.ZipInfo(name, _FIRST_DAY)
    member.compress_type = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
    member.create_system = 3
    member.external_attr = 0o644 << 16
    archive.writestr(member, data)
