"""What must not go live: checks of the start, and of `check --deploy`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
