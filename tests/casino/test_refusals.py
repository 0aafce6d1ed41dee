"""How the service says no: one code, one meaning, one status, two languages."""

from __future__ import annotations

import ast
import importlib
import re
from http import HTTPStatus

import pytest

from casino.platform import refusals
from casino.platform.refusals import Refusal
from deploy.local import paths

PRODUCT = [
    path
    for package in ("casino", "settlement", "audit", "deploy")
    for path in sorted((paths.CLONE / package).rglob("*.py"))
]
# Each module adds its own codes when it is imported.
for path in PRODUCT:
    if "refusals.register(" in path.read_text():
        name = ".".join(path.relative_to(paths.CLONE).with_suffix("").parts)
        importlib.import_module(name.removesuffix(".__init__"))

THAI = re.compile(r"[\u0e00-\u0e7f]")
KNOWN = sorted(refusals.CODES)


@pytest.mark.parametrize("code", KNOWN)
def test_every_refusal_is_a_sentence_in_both_languages(code: str) -> None:
    known = refusals.CODES[code]
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", code)
    assert known.english.endswith(".")
    assert known.english[0].isupper()
    assert not THAI.search(known.english)
    assert THAI.search(known.thai)


@pytest.mark.parametrize("code", KNOWN)
def test_every_refusal_has_one_status_that_says_whose_turn_it_is(code: str) -> None:
    status = HTTPStatus(refusals.CODES[code].status)
    assert 400 <= status < 500 or code in ("internal_error", "unavailable")


def test_no_code_is_given_two_meanings() -> None:
    with pytest.raises(ValueError, match="forbidden"):
        refusals.register("forbidden", 403, "Something else.", "อย่างอื่น")


def test_a_refusal_nobody_registered_cannot_be_raised() -> None:
    with pytest.raises(KeyError, match="because"):
        Refusal("because")


def test_whatever_the_service_refuses_with_is_registered() -> None:
    """Also where no test goes: each refusal that the code spells out."""
    spelt = {
        (node.args[0].value, str(path.relative_to(paths.CLONE)))
        for path in PRODUCT
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Refusal"
        if node.args and isinstance(node.args[0], ast.Constant)
    }
    assert len(spelt) > 40
    assert {(code, where) for code, where in spelt if code not in refusals.CODES} == set()


def test_a_refusal_speaks_thai_to_whoever_asks_in_thai_and_english_to_all_others() -> None:
    refusal = Refusal("not_found")
    assert [refusal.sentence(language) for language in ("th", "th-TH", "en", "de", "")] == [
        "ไม่พบรายการนี้", "ไม่พบรายการนี้", *["There is no such thing here."] * 3,
    ]  # fmt: skip


def test_codes_are_never_taken_back() -> None:
    """Clients branch on these; the list may only grow."""
    assert set(KNOWN) >= {
        "malformed", "unknown_field", "missing_field", "invalid_value", "body_too_large", "batch_too_large",
        "not_found", "method_not_allowed", "unsupported_media_type", "not_acceptable", "not_signed_in", "invalid_token",
        "wrong_secret", "too_many_tries", "csrf_failed", "forbidden", "sod_violation", "not_on_duty",
        "idempotency_key_missing", "idempotency_key_reused", "idempotency_key_running", "table_closed", "table_open",
        "table_stopped", "rounds_unfinished", "device_numbers_missing", "last_round_differs", "sequence_reused",
        "round_exists", "other_tables_round", "kind_not_allowed", "device_not_found", "gap_not_found",
        "signature_mismatch", "number_used", "opened_twice", "internal_error", "unavailable", "round_held",
        "round_not_settled", "count_missing", "insufficient_funds",
    }  # fmt: skip
