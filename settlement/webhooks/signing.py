"""Standard Webhooks 1.0.0: secrets, and the signatures that go with each try."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings

SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class Secret:
    """What one generation of signatures is made with: ``symmetric`` (whsec_…), which the receiver has too, and
    ``private`` (whsk_…), of which the receiver has the public part. Receivers check whichever they like."""

    symmetric: str
    private: str

    @property
    def public(self) -> str:
        """The public part of ``private``, as receivers write it: whpk_ and 32 bytes in base64."""
        return f"whpk_{_encoded(_private_key(self.private).public_key().public_bytes_raw())}"


def new_secret() -> Secret:
    """Return a new secret of 32 random bytes, and a new key pair."""
    private = Ed25519PrivateKey.generate()
    pair = private.private_bytes_raw() + private.public_key().public_bytes_raw()
    return Secret(f"whsec_{_encoded(secrets.token_bytes(SECRET_BYTES))}", f"whsk_{_encoded(pair)}")


def lock(secret: Secret) -> str:
    """Return a secret as it is stored: whoever reads the database alone cannot sign with it."""
    return _locks().encrypt(json.dumps([secret.symmetric, secret.private]).encode()).decode()


def unlock(stored: str) -> Secret:
    """Return a stored secret; raises ValueError where neither SECRET_KEY nor a fallback locked it."""
    try:
        return Secret(*json.loads(_locks().decrypt(stored)))
    except InvalidToken as fault:
        raise ValueError("this secret was locked with another SECRET_KEY") from fault


def headers(*, message: UUID, timestamp: int, body: bytes, signed_by: Sequence[Secret]) -> dict[str, str]:
    """Return the three headers of one try. ``timestamp`` is this try's (seconds); what is signed are the bytes of the
    body as they are sent. Every secret signs twice: v1 (HMAC-SHA256) and v1a (Ed25519)."""
    signed = b".".join([str(message).encode(), str(timestamp).encode(), body])
    signatures = [
        *(f"v1,{_encoded(_hmac(secret.symmetric, signed))}" for secret in signed_by),
        *(f"v1a,{_encoded(_private_key(secret.private).sign(signed))}" for secret in signed_by),
    ]
    return {
        "webhook-id": str(message),
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(signatures),
    }


def _hmac(secret: str, signed: bytes) -> bytes:
    return hmac.new(base64.b64decode(secret.removeprefix("whsec_")), signed, hashlib.sha256).digest()


def _private_key(secret: str) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(base64.b64decode(secret.removeprefix("whsk_"))[:32])


def _encoded(value: bytes) -> str:
    return base64.b64encode(value).decode()


def _locks() -> MultiFernet:
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return MultiFernet([Fernet(base64.urlsafe_b64encode(_derived(key))) for key in keys])


def _derived(key: str) -> bytes:
    return hashlib.sha256(b"pokdeng webhook secrets\n" + key.encode()).digest()
