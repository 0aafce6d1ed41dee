"""Signed checkpoints: the C2SP signed note and checkpoint formats, signed with Ed25519.

A checkpoint's text is three lines, the log's name, its size and its root in base64; a note is the text, an empty line,
and signature lines. Readers already know the key, as ``name+hash+key``; a note never brings its own.
"""

import base64
import binascii
import hashlib
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

ED25519 = b"\x01"
"""The signature type that key hashes and written keys begin with."""


class BadNote(ValueError):
    """The note cannot be read, or no signature of the key that was asked for stands under it."""


@dataclass(frozen=True, slots=True)
class Head:
    """A tree as a checkpoint states it."""

    origin: str
    size: int
    root: bytes

    @property
    def text(self) -> str:
        """The three lines that are signed."""
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"


def key_hash(name: str, public: bytes) -> bytes:
    """Return the four bytes that tell which key of ``name`` signed."""
    return hashlib.sha256(name.encode() + b"\n" + ED25519 + public).digest()[:4]


def verifier_key(name: str, public: bytes) -> str:
    """Write a public key as readers keep it: ``name+hash+key``."""
    return f"{name}+{key_hash(name, public).hex()}+{base64.b64encode(ED25519 + public).decode()}"


def public_key(written: str) -> tuple[str, bytes]:
    """Read a written verifier key; return its name and the 32 bytes of the key. Raises BadNote."""
    name, found_hash, encoded = (*written.strip().split("+", 2), "", "")[:3]
    try:
        decoded = base64.b64decode(encoded, validate=True)
    except binascii.Error:
        raise BadNote("the key is not base64") from None
    if len(decoded) != 33 or decoded[:1] != ED25519 or key_hash(name, decoded[1:]).hex() != found_hash:
        raise BadNote("not an Ed25519 verifier key")
    return name, decoded[1:]


def sign(head: Head, *, name: str, key: Ed25519PrivateKey) -> str:
    """Return the signed note of a head."""
    public = key.public_key().public_bytes_raw()
    signature = key_hash(name, public) + key.sign(head.text.encode())
    return f"{head.text}\n\u2014 {name} {base64.b64encode(signature).decode()}\n"


def read(note: str) -> Head:
    """Return what a note states, whoever signed it. Raises BadNote."""
    text, gap, _ = note.partition("\n\n")
    lines = text.split("\n")
    if (
        not gap
        or len(lines) < 3
        or not lines[0]
        or not lines[1].isdecimal()
        or lines[1] != str(int(lines[1]))
    ):
        raise BadNote("not a checkpoint")
    try:
        root = base64.b64decode(lines[2], validate=True)
    except binascii.Error:
        raise BadNote("the root is not base64") from None
    if len(root) != 32:
        raise BadNote("the root is not 32 bytes")
    return Head(origin=lines[0], size=int(lines[1]), root=root)


def check(note: str, *, key: str) -> Head:
    """Return what the note states if ``key`` (a written verifier key) signed it; raise BadNote otherwise."""
    name, public = public_key(key)
    text, gap, signatures = note.rpartition("\n\n")
    if not gap:
        raise BadNote("no signature")
    wanted = key_hash(name, public)
    for line in signatures.splitlines():
        dash, given_name, encoded = (*line.split(" ", 2), "", "")[:3]
        try:
            decoded = base64.b64decode(encoded, validate=True)
        except binascii.Error:
            continue
        if dash != "\u2014" or given_name != name or decoded[:4] != wanted:
            continue
        try:
            Ed25519PublicKey.from_public_bytes(public).verify(decoded[4:], f"{text}\n".encode())
        except InvalidSignature:
            raise BadNote("the signature is wrong") from None
        return read(note)
    raise BadNote("this key has not signed the note")
