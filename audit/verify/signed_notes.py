"""Signed checkpoints as a stranger reads them: what a note states, and whether a key that one already has signed it.

The C2SP formats, read here on their own: whoever checks the house should not have to trust how the house reads.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from functools import lru_cache
from typing import NamedTuple

from audit.verify import ed25519

_ED25519 = b"\x01"
_DASH = "\N{EM DASH}"


class BadNote(ValueError):
    """The note or the key cannot be read, or no signature of the key stands under the note."""


class Head(NamedTuple):
    """A tree as a checkpoint states it: the log's name, how many leaves, their root."""

    origin: str
    size: int
    root: bytes


class Key(NamedTuple):
    """A public key and the name that it signs under."""

    name: str
    public: bytes

    @property
    def hash(self) -> bytes:
        """The four bytes by which signature lines name the key."""
        return hashlib.sha256(self.name.encode() + b"\n" + _ED25519 + self.public).digest()[:4]


def key_of(written: str) -> Key:
    """Read a verifier key, ``name+hash+key``. Raises BadNote."""
    parts = written.strip().split("+", 2)
    if len(parts) != 3 or not parts[0]:
        raise BadNote("a key is written name+hash+base64")
    decoded = _decoded(parts[2])
    if len(decoded) != 33 or decoded[:1] != _ED25519:
        raise BadNote("not an Ed25519 key")
    key = Key(parts[0], decoded[1:])
    if key.hash.hex() != parts[1]:
        raise BadNote("the key's hash is not that of its name and bytes")
    return key


def read(note: str) -> Head:
    """Return what a note states, whoever signed it. Raises BadNote."""
    text = _parted(note)[0]
    lines = text.split("\n")
    if len(lines) != 4 or lines[3] or not lines[0]:
        raise BadNote("a checkpoint has three lines")
    if (
        not lines[1].isascii()
        or not lines[1].isdecimal()
        or lines[1] != str(int(lines[1]))
        or lines[1] == "0"
    ):
        raise BadNote("the size is no whole number above zero")
    root = _decoded(lines[2])
    if len(root) != 32:
        raise BadNote("the root is not 32 bytes")
    return Head(lines[0], int(lines[1]), root)


@lru_cache(maxsize=64)
def signed(note: str, key: Key) -> Head:
    """Return what the note states if ``key`` signed it. Raises BadNote.

    Every line under the text must be a signature line; those of other keys are passed over.
    """
    text, lines = _parted(note)
    found = False
    for line in lines:
        dash, _, rest = line.partition(" ")
        name, _, encoded = rest.partition(" ")
        if dash != _DASH or not name or not encoded:
            raise BadNote("a line under the text is no signature")
        decoded = _decoded(encoded)
        if (name, decoded[:4]) != (key.name, key.hash):
            continue
        if not ed25519.is_signed(public=key.public, message=text.encode(), signature=decoded[4:]):
            raise BadNote("the signature is wrong")
        found = True
    if not found:
        raise BadNote("this key has not signed the note")
    return read(note)


def _parted(note: str) -> tuple[str, list[str]]:
    """The text that is signed, with its last line's end, and the signature lines."""
    text, gap, signatures = note.rpartition("\n\n")
    if not gap or not signatures.endswith("\n"):
        raise BadNote("no signature stands under the text")
    return f"{text}\n", signatures[:-1].split("\n")


def _decoded(encoded: str) -> bytes:
    try:
        decoded = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise BadNote("not base64") from None
    if base64.b64encode(decoded).decode() != encoded:
        raise BadNote("base64 written in another way")
    return decoded
