"""Ed25519 (RFC 8032), the checking half of it, for a machine that has only Python.

Slow and not constant in time: it sees public keys, public messages and signatures, and no secret. It takes only what
is written in the one canonical way, so one signature is one string of bytes.
"""

from __future__ import annotations

import hashlib

_P = 2**255 - 19
_L = 2**252 + 27742317777372353535851937790883648493
"""The order of the base point."""
_D = -121665 * pow(121666, _P - 2, _P) % _P
_ROOT_OF_MINUS_ONE = pow(2, (_P - 1) // 4, _P)

Point = tuple[int, int, int, int]
"""Extended coordinates X, Y, Z, T: x = X/Z, y = Y/Z, T = X·Y/Z."""

_NEUTRAL: Point = (0, 1, 1, 0)


class BadPoint(ValueError):
    """The bytes are no point of the curve, or not written in the canonical way."""


def is_signed(*, public: bytes, message: bytes, signature: bytes) -> bool:
    """Say whether ``signature`` (64 bytes) is that of ``message`` under the public key (32 bytes).

    False for a key that is no point or of small order, for an S not below the group's order, and for wrong lengths.
    """
    if len(public) != 32 or len(signature) != 64:
        return False
    scalar = int.from_bytes(signature[32:], "little")
    if scalar >= _L:
        return False
    try:
        key, commitment = _point(public), _point(signature[:32])
    except BadPoint:
        return False
    if _equal(_times(8, key), _NEUTRAL):
        return False
    digest = hashlib.sha512(signature[:32] + public + message).digest()
    challenge = int.from_bytes(digest, "little") % _L
    return _equal(_times(scalar, _BASE), _plus(commitment, _times(challenge, key)))


def _plus(one: Point, other: Point) -> Point:
    a = (one[1] - one[0]) * (other[1] - other[0]) % _P
    b = (one[1] + one[0]) * (other[1] + other[0]) % _P
    c = 2 * one[3] * other[3] * _D % _P
    d = 2 * one[2] * other[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _times(scalar: int, point: Point) -> Point:
    found = _NEUTRAL
    while scalar:
        if scalar & 1:
            found = _plus(found, point)
        point = _plus(point, point)
        scalar >>= 1
    return found


def _equal(one: Point, other: Point) -> bool:
    return (one[0] * other[2] - other[0] * one[2]) % _P == 0 and (
        one[1] * other[2] - other[1] * one[2]
    ) % _P == 0


def _point(written: bytes) -> Point:
    """Read 32 bytes as a point. Raises BadPoint."""
    whole = int.from_bytes(written, "little")
    sign, y = whole >> 255, whole & (1 << 255) - 1
    if y >= _P:
        raise BadPoint("y is not below the prime")
    square = (y * y - 1) * pow(_D * y * y + 1, _P - 2, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P:
        x = x * _ROOT_OF_MINUS_ONE % _P
    if (x * x - square) % _P:
        raise BadPoint("no point has this y")
    if x == 0 and sign:
        raise BadPoint("zero has no sign")
    if x & 1 != sign:
        x = _P - x
    return x, y, 1, x * y % _P


_BASE = _point((4 * pow(5, _P - 2, _P) % _P).to_bytes(32, "little"))
