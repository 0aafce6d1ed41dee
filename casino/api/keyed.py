"""One answer to one ``Idempotency-Key``: the first, the same bytes and status each time. Writes StoredAnswer.

A key is the client's own: another client's same key is another one. What is stored lives for ever.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.db import connection
from django.utils.crypto import salted_hmac
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api import media_types, problems
from casino.events import Act
from casino.models import StoredAnswer
from casino.platform.refusals import Refusal

NOT_REMEMBERED = frozenset(
    {"idempotency_key_running", "idempotency_key_reused", "not_signed_in", "wrong_secret", "too_many_tries"}
)
"""Answers about who asks, or about the key itself: the same request may fare better."""


class Given(Response):
    """An answer that is bytes already."""

    def __init__(self, content: bytes, *, status: int, media_type: str, headers: dict[str, str]) -> None:
        super().__init__(None, status=status, headers=headers, content_type=media_type)
        self._given = content

    @property
    def rendered_content(self) -> bytes:  # type: ignore[override]  # JSON is bytes in DRF too
        self["Content-Type"] = str(self.content_type)
        return self._given


class Key:
    """The key of one request of one client, and what the request is known by."""

    def __init__(self, request: Request, *, client: str) -> None:
        """Refuses ``idempotency_key_missing``."""
        self.client = client
        self.key = _text(request)
        self.prints = _prints(request)

    def stored(self) -> Response | None:
        """Return the first answer, None where there is none yet; refuse ``idempotency_key_reused``."""
        found = StoredAnswer.objects.filter(client=self.client, key=self.key).first()
        if found is None:
            return None
        if bytes(found.request_sha256) not in self.prints:
            raise Refusal("idempotency_key_reused")
        headers = {"Idempotency-Replayed": "true"}
        if found.language:
            headers["Content-Language"] = found.language
        media_type = found.media_type or (media_types.JSON if found.status < 400 else problems.MEDIA_TYPE)
        # What was stored before there were bytes is written anew.
        content = bytes(found.content) if found.content is not None else _bytes(found.body)
        return Given(content, status=found.status, media_type=media_type, headers=headers)

    def claim(self) -> Response | None:
        """Claim the key for the running act; refuse ``idempotency_key_running`` while another act has it."""
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))",
                [f"idempotency:{self.client}:{self.key}"],
            )
            (free,) = cursor.fetchone()
        if not free:
            raise Refusal("idempotency_key_running")
        return self.stored()

    def keep(self, act: Act, status: int, answer: dict[str, Any]) -> Response:
        """Store the answer of the running act, and return it."""
        content = _bytes(answer)
        self._store(act, status, content, media_types.JSON, "")
        return Given(content, status=status, media_type=media_types.JSON, headers={})

    def remember(self, act: Act, refusal: Refusal, request: Request) -> None:
        """Store the answer of an act that was refused, unless another one has the key by now."""
        if self.claim() is None:
            content = _bytes(problems.document(refusal, request))
            self._store(act, refusal.status, content, problems.MEDIA_TYPE, problems.language_of(request))

    def _store(self, act: Act, status: int, content: bytes, media_type: str, language: str) -> None:
        StoredAnswer.objects.create(
            client=self.client,
            key=self.key,
            request_sha256=self.prints[0],
            status=status,
            content=content,
            media_type=media_type,
            language=language,
            answered_at=act.now,
        )


def _bytes(answer: Any) -> bytes:
    return bytes(JSONRenderer().render(answer))


def _text(request: Request) -> str:
    key = request.headers.get("Idempotency-Key", "").strip()
    if len(key) >= 2 and key[0] == key[-1] == '"':
        key = key[1:-1]
    if not 1 <= len(key) <= 200:
        raise Refusal("idempotency_key_missing")
    return key


def _prints(request: Request) -> Sequence[bytes]:
    """Return what a request is known by, under the secret key in use and under those that went before it.

    Keyed, because a body may hold a PIN: whoever reads the stored print must not be able to try PINs against it.
    """
    written = b"\n".join([str(request.method).encode(), request.path.encode(), request.body])
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return [salted_hmac("idempotency", written, secret=key, algorithm="sha256").digest() for key in keys]
