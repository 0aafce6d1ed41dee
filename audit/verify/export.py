"""Reads an export, a ZIP, its unpacked folder or the JSON alone, and takes nothing that is not exactly in its form."""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

JSON, MANIFEST, PDF, PROGRAM, README = (
    "dossier.json",
    "manifest.json",
    "dossier.pdf",
    "verify.pyz",
    "README.txt",
)
MEMBERS = (JSON, README, MANIFEST, PDF, PROGRAM)
"""What a dossier's ZIP holds, in this order."""

EXCLUDED = (PDF,)
"""For people; it says what the JSON says, and is fixed by nothing."""

FORMAT = "pokdeng-dossier-1"
MOST_BYTES = 64 * 2**20


class Failure(Exception):
    """A check that failed: its step (``V2``), the first bad row, and what is wrong with it."""

    def __init__(self, step: str, row: str, why: str) -> None:
        super().__init__(f"{step} {row}: {why}")
        self.step = step
        self.row = row
        self.why = why


class Export(NamedTuple):
    """What was read: the dossier's content, and the entry that the house wrote of handing it out."""

    content: dict[str, Any]
    entry: dict[str, Any]
    with_manifest: bool


def canonical(value: Any) -> bytes:
    """Return the one way of writing ``value`` as JSON: sorted keys, no spaces, UTF-8."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def read(path: Path) -> Export:
    """Read an export. Raises Failure (step ``form``) for whatever is missing, too much, or written differently."""
    members = _members(path)
    with_manifest = MANIFEST in members
    if with_manifest:
        _check_manifest(members)
    return of_json(members[JSON], with_manifest=with_manifest)


def of_json(data: bytes, *, with_manifest: bool = False) -> Export:
    """Read the JSON of an export. Raises Failure."""
    try:
        whole = json.loads(data, parse_float=_no_number, parse_constant=_no_number)
    except (ValueError, RecursionError) as fault:
        raise Failure("form", JSON, f"not JSON: {fault}") from None
    if canonical(whole) != data:  # a name that stands twice is found by this too
        raise Failure("form", JSON, "not written in the canonical way")
    fits(whole, WHOLE, JSON)
    return Export(whole["content"], whole["entry"], with_manifest)


def manifest(members: Mapping[str, bytes]) -> bytes:
    """Return the manifest of an export's members: the SHA-256 of each, but for itself and what is excluded."""
    listed = {name: sha256(data) for name, data in members.items() if name not in (MANIFEST, *EXCLUDED)}
    return canonical({"format": FORMAT, "excluded": list(EXCLUDED), "sha256": listed})


def _members(path: Path) -> dict[str, bytes]:
    if path.is_dir():
        return _complete({name: _file(path / name) for name in MEMBERS if (path / name).is_file()})
    if not path.is_file():
        raise Failure("form", str(path), "there is no such file")
    if not zipfile.is_zipfile(path):
        return {JSON: _file(path)}
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if sorted(names) != sorted(MEMBERS):
                raise Failure("form", str(path), f"holds {', '.join(names)}")
            if sum(info.file_size for info in archive.infolist()) > MOST_BYTES:
                raise Failure("form", str(path), "is too large")
            # The excluded are not looked at: a broken page for people breaks no proof.
            return {name: archive.read(name) for name in MEMBERS if name not in EXCLUDED}
    except (zipfile.BadZipFile, OSError, EOFError, ValueError, NotImplementedError, zlib.error) as fault:
        raise Failure("form", str(path), f"cannot be unpacked: {fault}") from None


def _complete(members: dict[str, bytes]) -> dict[str, bytes]:
    for name in MEMBERS:
        if name not in members and name not in EXCLUDED:
            raise Failure("form", name, "is missing")
    return members


def _file(path: Path) -> bytes:
    if path.stat().st_size > MOST_BYTES:
        raise Failure("form", str(path), "is too large")
    return path.read_bytes()


def _check_manifest(members: Mapping[str, bytes]) -> None:
    if manifest(members) == members[MANIFEST]:
        return
    try:
        listed = json.loads(members[MANIFEST])["sha256"]
    except (ValueError, KeyError, TypeError, RecursionError):
        listed = {}
    for name in MEMBERS:
        if name in (MANIFEST, *EXCLUDED) or not isinstance(listed, dict):
            continue
        if listed.get(name) != sha256(members[name]):
            raise Failure("form", name, "is not the file that the manifest lists")
    raise Failure("form", MANIFEST, "is not the manifest of these files")


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no whole number")


# -- the form --------------------------------------------------------------------------------------------------


class Maybe(NamedTuple):
    """A value of this form, or null."""

    form: Any


class Sometimes(NamedTuple):
    """A part of this form, or none of that name."""

    form: Any


SAID = {"th": str, "en": str}
ANY = object()
"""Whatever JSON can say."""

POSTING = {
    "ordinal": int,
    "account": str,
    "amount": int,
    "wager": str,
    "version": Maybe(int),
    "after": Maybe(int),
}
JOURNAL = {
    "id": str, "part": str, "kind": str, "key": str, "gaming_day": str, "orig_day": Maybe(str), "currency": str,
    "reverses": Maybe(str), "entries": [POSTING],
}  # fmt: skip
REVISION = {
    "id": str, "revision": int, "outcome": str, "sheet_sha256": str, "record_sha256": str, "house_net": int,
    "currency": str, "gaming_day": str, "settled_at": str, "upto": int, "cites": [int],
    "inputs": {"bank": Maybe(int), "not_in_play": [str], "elsewhere": Sometimes(dict)}, "because": Maybe(str),
    "acted_by": Maybe(str), "approved_by": Maybe(str), "lines": [ANY], "said": [{"wager": str, **SAID}],
    "journals": [JOURNAL],
}  # fmt: skip
EVENT = {
    "id": int, "round": str, "seq": int, "kind": str, "data": dict, "source": str, "feed": str,
    "device_seq": Maybe(int), "sha256": str, "sent": Maybe(dict), "happened_at": str, "instant": str,
    "recorded_at": str, "offset_ms": Maybe(int), "late": bool, "clock_off": bool, "person": Maybe(str),
    "signed": str, "signer": Maybe(str), "signature": Maybe(str), "jumped_from": Sometimes(int),
}  # fmt: skip
CONTENT = {
    "format": str,
    "round": {
        "id": str, "aliases": [str], "table": str, "currency": str, "session": str, "number": Maybe(int),
        "standing": str, "reasons": [str], "in_dispute": bool, "opened_at": Maybe(str), "closed_at": Maybe(str),
        "gaming_day": Maybe(str), "record": Maybe(dict),
    },
    "house": {"code": str, "zone": str, "day_start_hour": int},
    "reader": {"role": str, "withheld": [str]},
    "log": {"checkpoint": str, "key": Maybe(str), "growth": [{"checkpoint": str, "proof": [str]}]},
    "entries": [{"index": int, "hash": str, "proof": [str], "bytes": Maybe(str)}],
    "events": [EVENT],
    "gaps": [{"source": str, "first": int, "last": int, "feed": str}],
    "sheet": Maybe({"id": str, "name": str, "canonical": str, "sha256": str, "said": [{"option": str, **SAID}]}),
    "held": [{"reason": str, **SAID}],
    "findings": [{"kind": str, "subject": str, "detail": dict, **SAID}],
    "revisions": [REVISION],
    "flags": [
        {"id": str, "kind": str, "subject": str, "detail": dict, "state": str, "raised_at": str,
         "close_code": str, "dispute": Maybe(str), **SAID}
    ],
    "duties": [{"person": str, "role": str, "on_at": str, "off_at": Maybe(str)}],
    "people": [{"id": str, "role": str, "badge": Maybe(str), "name": Maybe(str)}],
    "dispute": Maybe(dict),
}  # fmt: skip
WHOLE = {"content": CONTENT, "entry": {"bytes": str, "hash": str}}


def fits(value: Any, form: Any, path: str) -> None:
    """Raise Failure, naming the path, unless ``value`` has exactly this form."""
    if form is ANY:
        return
    if isinstance(form, Maybe):
        if value is not None:
            fits(value, form.form, path)
    elif isinstance(form, dict):
        needed = {name for name, part in form.items() if not isinstance(part, Sometimes)}
        if not isinstance(value, dict) or not needed <= value.keys() <= form.keys():
            raise Failure("form", path, "has other parts than it should")
        for name in value:
            part = form[name]
            fits(value[name], part.form if isinstance(part, Sometimes) else part, f"{path}.{name}")
    elif isinstance(form, list):
        if not isinstance(value, list):
            raise Failure("form", path, "is no list")
        for place, item in enumerate(value):
            fits(item, form[0], f"{path}.{place}")
    elif type(value) is not form:
        raise Failure("form", path, f"is no {form.__name__}")
