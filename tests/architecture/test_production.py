"""Settings that must not go live do not pass the check."""

from __future__ import annotations

import sys

import pytest

from deploy.local import paths
from deploy.management.commands import test as test_command
from tests.architecture import clone

ADDRESS = "postgresql://pokdeng_app:secret@127.0.0.1:1/pokdeng"


def _check(**changes: str) -> tuple[int, str]:
    production = test_command.production({"DATABASE_URL": ADDRESS, "REDIS_URL": "redis://127.0.0.1:1/0"})
    done = clone.run(
        sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING",
        at=paths.CLONE, environment={**production, **changes},
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def test_production_settings_pass_without_a_warning() -> None:
    assert _check()[0] == 0, _check()[1]
    over_a_network = {
        "DATABASE_URL": ADDRESS.replace("127.0.0.1", "db.example") + "?sslmode=verify-full",
        "REDIS_URL": "rediss://user:secret@broker.example:6379/0",
        "PROXY_ADDRESSES": "10.0.3.7,10.0.4.0/28",
    }
    assert _check(**over_a_network)[0] == 0, _check(**over_a_network)[1]


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("SIGNATURES", "on_duty", "deploy.E002"),
        ("DEMONSTRATION", "1", "deploy.E003"),
        ("DATABASE_URL", ADDRESS.replace("pokdeng_app", "postgres"), "deploy.E004"),
        ("WEBHOOK_DEMONSTRATION", "1", "deploy.E005"),
        ("WITNESS", "audit.log.nobody", "deploy.E001"),
        ("PROXY_ADDRESSES", "*", "deploy.E006"),
        ("ALLOWED_HOSTS", "*", "deploy.E007"),
        ("ALLOWED_HOSTS", "office.example,*.example", "deploy.E007"),
        ("ALLOWED_HOSTS", "office.example,.com", "deploy.E007"),
        ("BEHIND_TLS_PROXY", "0", "deploy.E008"),
        ("PROXY_ADDRESSES", "0.0.0.0/0", "deploy.E009"),
        ("PROXY_ADDRESSES", "10.0.0.0/8", "deploy.E009"),
        ("PROXY_ADDRESSES", "127.0.0.1,::/0", "deploy.E009"),
        ("CSRF_TRUSTED_ORIGINS", "https://*.example", "deploy.E010"),
        ("CSRF_TRUSTED_ORIGINS", "http://office.example", "deploy.E010"),
        ("DATABASE_URL", "", "deploy.E011"),
        ("DATABASE_URL", ADDRESS.replace("127.0.0.1", "db.example"), "deploy.E012"),
        ("DATABASE_URL", ADDRESS.replace("127.0.0.1", "db.example") + "?sslmode=require", "deploy.E012"),
        ("REDIS_URL", "redis://user:secret@broker.example:6379/0", "deploy.E013"),
        ("REDIS_URL", "rediss://broker.example:6379/0", "deploy.E013"),
        ("SECRET_KEY_FALLBACKS", "short", "security.W025"),
        ("SECRET_KEY", "short", "security.W009"),
        ("SECRET_KEY", "", "SECRET_KEY is missing"),
        ("SIGNATURES", "sometimes", "SIGNATURES is 'sometimes'"),
        ("PROPERTY_DAY_START_HOUR", "24", "PROPERTY_DAY_START_HOUR is '24'"),
        ("DATABASE_URL", ADDRESS + "?options=-c%20statement_timeout=0", "may carry sslmode"),
    ],
)
def test_a_setting_that_must_not_go_live_is_refused(name: str, value: str, told: str) -> None:
    status, output = _check(**{name: value})
    assert status != 0
    assert told in output
