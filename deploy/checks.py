"""What must not go live: checks of the start, and of `check --deploy`."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.utils.module_loading import import_string


@register()
def somebody_witnesses(*, app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    try:
        witness = import_string(settings.WITNESS)
    except ImportError as error:
        return [
            Error(f"WITNESS names nobody: {error}", hint="Set it to audit.log.witness.", id="deploy.E001")
        ]
    if not callable(witness):
        return [Error("WITNESS names something that cannot be called.", id="deploy.E001")]
    return []


@register(Tags.security, deploy=True)
def rulings_are_signed(*, app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    if settings.SIGNATURES == "required":
        return []
    return [
        Error(
            "SIGNATURES is on_duty: a ruling on a card counts without its supervisor's signature.",
            hint="Set SIGNATURES=required.",
            id="deploy.E002",
        )
    ]


@register(Tags.security, deploy=True)
def no_demonstration(*, app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    if not settings.DEMONSTRATION:
        return []
    return [
        Error(
            "DEMONSTRATION is on: cookies travel without TLS, and the house has people with known passwords.",
            hint="Unset DEMONSTRATION.",
            id="deploy.E003",
        )
    ]


@register(Tags.security, deploy=True)
def the_service_owns_nothing(*, app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    if settings.DATABASES["default"]["USER"] == "pokdeng_app":
        return []
    return [
        Error(
            "DATABASE_URL signs in as somebody other than pokdeng_app, whose rights roles.sql limits.",
            hint="Web and worker sign in as pokdeng_app; the administrator's address is DATABASE_OWNER_URL.",
            id="deploy.E004",
        )
    ]


@register(Tags.security, deploy=True)
def webhooks_stay_outside(*, app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    if not settings.WEBHOOKS["demonstration"]:
        return []
    return [
        Error(
            "WEBHOOK_DEMONSTRATION is on: webhooks may go to this machine and its network, without TLS.",
            hint="Unset WEBHOOK_DEMONSTRATION; name private networks with the target that two people approve.",
            id="deploy.E005",
        )
    ]


def _error(number: int, message: str, hint: str) -> list[CheckMessage]:
    return [Error(message, hint=hint, id=f"deploy.E{number:03}")]


@register(Tags.security)
def proxies_can_be_read(*, app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    wrong = [word for word in settings.PROXY_ADDRESSES if _network(word) is None]
    if not wrong:
        return []
    return _error(
        6,
        f"PROXY_ADDRESSES holds {', '.join(wrong)[:100]!r}, which is no address and no network.",
        "Write addresses or networks, as 10.0.3.7 or 10.0.3.0/28, with commas between.",
    )


@register(Tags.security, deploy=True)
def hosts_are_named(*, app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    open_ones = [host for host in settings.ALLOWED_HOSTS if "*" in host or host.strip(".").count(".") == 0]
    if not open_ones:
        return []
    return _error(
        7,
        f"ALLOWED_HOSTS holds {', '.join(open_ones)[:100]!r}: whoever asks may say what this house is called.",
        "Name the hosts by which it is reached, as office.example.com.",
    )


@register(Tags.security, deploy=True)
def a_proxy_ends_tls(*, app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    if not settings.BEHIND_PROXY:
        return _error(
            8,
            "Nothing says that a proxy ends TLS in front of the service, which speaks plain HTTP itself.",
            "Set BEHIND_TLS_PROXY=1, and PROXY_ADDRESSES to the proxy's own addresses.",
        )
    wide = [word for word in settings.PROXY_ADDRESSES if _is_wide(word)]
    if wide:
        return _error(
            9,
            f"PROXY_ADDRESSES holds {', '.join(wide)[:100]!r}: anybody there may say where a request comes from.",
            "Name the proxy's own addresses.",
        )
    return []


@register(Tags.security, deploy=True)
def foreign_pages_are_not_trusted(
    *, app_configs: Sequence[AppConfig] | None, **kwargs: Any
) -> list[CheckMessage]:
    loose = [
        origin
        for origin in settings.CSRF_TRUSTED_ORIGINS
        if "*" in origin or not origin.startswith("https://")
    ]
    if not loose:
        return []
    return _error(
        10,
        f"CSRF_TRUSTED_ORIGINS holds {', '.join(loose)[:100]!r}: pages of others may write in somebody's name.",
        "Name single origins over TLS, as https://office.example.com, or none.",
    )


@register(Tags.security, deploy=True)
def servers_are_reached_safely(
    *, app_configs: Sequence[AppConfig] | None, **kwargs: Any
) -> list[CheckMessage]:
    if settings.LOCAL:
        return _error(
            11,
            "DATABASE_URL is missing: the clone's own servers are used, whose administrator the service could be.",
            "Set DATABASE_URL and REDIS_URL to servers of their own.",
        )
    found: list[CheckMessage] = []
    database = settings.DATABASES["default"]
    if not _is_here(database["HOST"]) and database["OPTIONS"].get("sslmode") != "verify-full":
        found += _error(
            12,
            "DATABASE_URL goes over a network without sslmode=verify-full: somebody else may answer or listen.",
            "Add ?sslmode=verify-full&sslrootcert=…, or use a socket.",
        )
    broker = urlsplit(settings.REDIS_URL)
    is_near = broker.scheme == "unix" or _is_here(broker.hostname or "")
    if not is_near and (broker.scheme != "rediss" or not broker.password):
        found += _error(
            13,
            "REDIS_URL goes over a network without TLS or without a password.",
            "Write rediss://user:password@host:port/0, or use a socket.",
        )
    return found


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


def _is_wide(text: str) -> bool:
    """Whether a network is more than a house's own: a public one of more than 256 addresses, a private one of more
    than 65,536."""
    network = _network(text)
    if network is None:
        return True
    most = 16 if network.is_private and network.prefixlen else 8
    return network.max_prefixlen - network.prefixlen > (most if network.version == 4 else most * 4)


def _is_here(host: str) -> bool:
    """Whether a server is on this machine: a socket's folder, or loopback."""
    if host == "" or host.startswith("/") or host == "localhost":
        return True
    network = _network(host)
    return network is not None and network.is_loopback
