"""What every answer carries, and the few addresses that are nobody's layer."""

from __future__ import annotations

import json

import pytest
from django.test import Client

STRICT = (
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
)


@pytest.mark.django_db
def test_the_house_says_that_it_is_well(client: Client) -> None:
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


@pytest.mark.django_db
def test_every_request_gets_a_name_of_ours(client: Client) -> None:
    sent = "0" * 32
    names = [client.get("/healthz", headers={"X-Request-Id": sent})["X-Request-Id"] for _ in range(2)]
    assert sent not in names
    assert len(set(names)) == 2


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/healthz", "/api/docs/", "/admin/login/", "/nowhere"])
def test_every_page_is_under_the_same_policy(client: Client, path: str) -> None:
    answer = client.get(path)
    policy = answer["Content-Security-Policy"]
    assert [part for part in STRICT if part not in policy] == []
    assert "unsafe" not in policy
    assert answer["X-Content-Type-Options"] == "nosniff"


def test_the_interface_documents_itself_without_an_inline_script(client: Client) -> None:
    page = client.get("/api/docs/").content.decode()
    assert "<script>" not in page
    assert "<style" not in page
    assert "://" not in page  # nothing is fetched from elsewhere
    script = client.get("/api/docs/?script=")
    assert script["Content-Type"].startswith("application/javascript")


def test_the_interface_describes_itself_in_openapi_3_1(client: Client) -> None:
    described = json.loads(client.get("/api/schema/").content)
    assert described["openapi"].startswith("3.1")
    assert any(path.endswith("/events") for path in described["paths"])
    assert described["components"]["securitySchemes"].keys() == {"device", "key", "session", "csrf"}


def test_a_blocked_script_is_logged_and_nothing_else(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    report = {"csp-report": {"blocked-uri": "inline", "document-uri": "/admin/"}}
    answer = client.post("/csp-reports/", data=json.dumps(report), content_type="application/csp-report")
    assert answer.status_code == 204
    assert [record.getMessage() for record in caplog.records] == ["content security policy blocked something"]


def test_a_report_of_a_megabyte_is_not_read(client: Client) -> None:
    answer = client.post("/csp-reports/", data="x" * 1_000_000, content_type="application/csp-report")
    assert answer.status_code == 413
