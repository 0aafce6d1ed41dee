"""What a device may write, kind by kind, and how a body is read before anybody believes it."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from casino.api import event_payloads, strict_json
from casino.models import Device
from casino.platform.refusals import Refusal
from casino.rounds import Report
from tests.timing import least_seconds

TABLET = Device(code="PD01-tablet", kind="terminal")
ROUND = "rounds/0195f1a0-0000-7000-8000-000000000001"
THB = {"amount": 100_00, "currency": "THB"}
SLOT = {"hand": "p1", "position": 1}
SEEN = {"reason": "seen on video"}
SHEET = "ab" * 32

WRITTEN: dict[str, list[dict[str, Any]]] = {
    "round_opened": [
        {"number": 1, "direction": "clockwise"},
        {"number": 2**31 - 1, "direction": "counter_clockwise", "deck": "7", "sheet_shown": SHEET},
        {"number": 7, "direction": "clockwise", "banker": {"account": "player:K88", "limit": THB}},
    ],
    "bet_placed": [
        {"wager": "w1", "hand": "p16", "owner": {"seat": 16}, "stake": THB},
        {"wager": "w1", "hand": "shared", "owner": {"account": "player:A-17_b"}, "stake": THB},
        {"wager": "w999", "hand": "p1", "owner": {"person": str(uuid4())}, "stake": THB},
        {"wager": "w1", "hand": "junk9", "owner": {"seat": 1}, "stake": THB | {"amount": 10**12}},
        {"wager": "w1", "hand": "dealer", "owner": {"seat": 1}, "stake": THB | {"amount": 1}},
    ],
    "bet_changed": [{"wager": "w1", "stake": THB}],
    "bet_withdrawn": [{"wager": "w1"}],
    "bets_locked": [{}, {"direction": "clockwise"}, {"order": ["p1", "p2", "dealer"]}],
    "card_dealt": [
        SLOT | {"card": "TS"},
        SLOT | {"position": 6, "card": "AH"},
        SLOT | {"card": "9C", "confidence": 1},
    ],
    "pok_shown": [{"hand": "p1"}, {"hand": "shared", "by": {"seat": 3}}],
    "hand_stayed": [{"hand": "p1"}, {"hand": "shared", "by": {"account": "player:A17"}}],
    "hand_drew": [{"hand": "p1"}],
    "hand_checked": [{"hands": ["p1"]}, {"hands": ["p1", "shared", "junk1"]}],
    "dealer_drew": [{}],
    "dealer_stayed": [{}],
    "result_declared": [{"multiples": {}}, {"multiples": {"w1": -5, "w2": 0, "w3": 2}}],
    "card_corrected": [SLOT | {"card": "2D"} | SEEN],
    "card_removed": [SLOT | SEEN],
    "card_ruled": [SLOT | {"card": "2D"} | SEEN],
    "bet_ruled": [
        {"wager": "w2", "hand": "p1", "owner": {"seat": 2}, "stake": THB} | SEEN,
        {"wager": "w2", "hand": "p1", "owner": {"account": "player:A17"}, "stake": THB | {"amount": 0}}
        | SEEN,
    ],
    "hold_waived": [
        {"reason_code": code} | SEEN
        for code in (
            "awaiting_camera",
            "missing_banker",
            "missing_declaration",
            "declared_differs",
            "records_differ",
            "check_in_doubt",
            "number_jump",
        )
    ],
    "round_closed": [{}],
    "round_voided": [SEEN],
    "recorder_changed": [{}],
    "mispay_put_right": [{"wager": "w1", "paid": THB | {"amount": 0}, "due": THB}],
    "mispay_found": [{"wager": "w1", "paid": THB | {"amount": 0}, "due": THB} | SEEN],
    "note": [{"text": "two witnesses"}, {"text": "ล้มโต๊ะ", "kind": "table"}],
}


def envelope(kind: str, data: Any, **more: Any) -> dict[str, Any]:
    return {
        "specversion": "1.0",
        "id": "0195f1a0-0000-7000-8000-00000000000a",
        "source": "/devices/PD01-tablet",
        "type": f"pokdeng.{kind}.v1",
        "time": "2026-03-01T14:00:00.123Z",
        "subject": ROUND,
        "sequence": "7",
        "data": data,
    } | more


def read(kind: str, data: Any, **more: Any) -> Report:
    return event_payloads.report_of(envelope(kind, data, **more), device=TABLET)


def refused(kind: str, data: Any, **more: Any) -> tuple[str, str]:
    """The code, and the one field that it names."""
    refusal = read(kind, data, **more).refusal
    assert refusal is not None
    (field,) = refusal.fields
    return refusal.code, field


def test_every_kind_of_event_is_written_here() -> None:
    assert set(WRITTEN) == set(event_payloads.KINDS)


@pytest.mark.parametrize("kind", WRITTEN)
def test_a_well_written_event_is_read_as_it_stands(kind: str) -> None:
    for data in WRITTEN[kind]:
        report = read(kind, data)
        assert report.refusal is None
        assert (report.seq, report.kind, report.round) == (7, kind, UUID(ROUND.removeprefix("rounds/")))
        assert report.data == {name: str(v) if name == "confidence" else v for name, v in data.items()}


@pytest.mark.parametrize("kind", WRITTEN)
def test_an_event_with_a_field_too_many_is_refused_by_its_name(kind: str) -> None:
    for name in ("net", "payout", "revision", "state", "gaming_day", "recorded_at", "table"):
        assert refused(kind, WRITTEN[kind][0] | {name: 1}) == ("unknown_field", f"data.{name}")


@pytest.mark.parametrize("kind", WRITTEN)
def test_an_event_with_a_field_too_few_is_refused_by_its_name(kind: str) -> None:
    needed = [name for name, (_, must) in event_payloads.KINDS[kind].items() if must]
    for name in needed:
        data = {key: value for key, value in WRITTEN[kind][0].items() if key != name}
        assert refused(kind, data) == ("missing_field", f"data.{name}")


@pytest.mark.parametrize("kind", WRITTEN)
@pytest.mark.parametrize("data", [None, [], "p1", 7, True])
def test_data_that_is_no_object_is_malformed(kind: str, data: Any) -> None:
    assert refused(kind, data) == ("malformed", "data")


BAD_FIELDS: list[tuple[str, dict[str, Any], str, str]] = [
    ("bet_placed", {"stake": 500}, "malformed", "data.stake"),
    ("bet_placed", {"stake": Decimal("500.0")}, "malformed", "data.stake"),
    ("bet_placed", {"stake": {"amount": 500}}, "missing_field", "data.stake.currency"),
    ("bet_placed", {"stake": {"currency": "THB"}}, "missing_field", "data.stake.amount"),
    ("bet_placed", {"stake": THB | {"currency": "thb"}}, "invalid_value", "data.stake.currency"),
    ("bet_placed", {"stake": THB | {"currency": "THB\n"}}, "invalid_value", "data.stake.currency"),
    ("bet_placed", {"stake": THB | {"amount": -1}}, "invalid_value", "data.stake.amount"),
    ("bet_placed", {"stake": THB | {"amount": 0}}, "invalid_value", "data.stake.amount"),
    ("bet_placed", {"stake": THB | {"amount": 10**12 + 1}}, "invalid_value", "data.stake.amount"),
    ("bet_placed", {"stake": THB | {"amount": 2**63}}, "invalid_value", "data.stake.amount"),
    ("bet_placed", {"stake": THB | {"amount": "500"}}, "malformed", "data.stake.amount"),
    ("bet_placed", {"stake": THB | {"amount": True}}, "malformed", "data.stake.amount"),
    ("bet_placed", {"stake": THB | {"amount": None}}, "malformed", "data.stake.amount"),
    ("bet_placed", {"stake": THB | {"amount": Decimal("1E+400")}}, "malformed", "data.stake.amount"),
    ("bet_placed", {"stake": THB | {"cents": 1}}, "unknown_field", "data.stake.cents"),
    ("bet_placed", {"owner": {"seat": 17}}, "invalid_value", "data.owner.seat"),
    ("bet_placed", {"owner": {"seat": 1, "account": "player:A17"}}, "malformed", "data.owner"),
    ("bet_placed", {"owner": {}}, "malformed", "data.owner"),
    ("bet_placed", {"owner": {"table": "PD02"}}, "unknown_field", "data.owner.table"),
    ("bet_placed", {"owner": {"account": "player:A 17"}}, "invalid_value", "data.owner.account"),
    ("bet_placed", {"owner": {"account": "table:PD01:bank"}}, "invalid_value", "data.owner.account"),
    ("bet_placed", {"owner": {"person": "me"}}, "malformed", "data.owner.person"),
    ("bet_placed", {"wager": "w0"}, "invalid_value", "data.wager"),
    ("bet_placed", {"wager": 1}, "malformed", "data.wager"),
    ("bet_placed", {"hand": "p17"}, "invalid_value", "data.hand"),
    ("bet_placed", {"hand": "p1\n"}, "invalid_value", "data.hand"),
    ("bet_placed", {"hand": "P1"}, "invalid_value", "data.hand"),
    ("card_dealt", {"card": "1S"}, "invalid_value", "data.card"),
    ("card_dealt", {"card": "ts"}, "invalid_value", "data.card"),
    ("card_dealt", {"card": 7}, "malformed", "data.card"),
    ("card_dealt", {"position": 0}, "invalid_value", "data.position"),
    ("card_dealt", {"position": 7}, "invalid_value", "data.position"),
    ("card_dealt", {"position": Decimal("1.0")}, "malformed", "data.position"),
    ("card_dealt", {"confidence": Decimal("1.01")}, "invalid_value", "data.confidence"),
    ("card_dealt", {"confidence": "0.9"}, "malformed", "data.confidence"),
    ("round_opened", {"number": 0}, "invalid_value", "data.number"),
    ("round_opened", {"number": 2**31}, "invalid_value", "data.number"),
    ("round_opened", {"direction": "left"}, "invalid_value", "data.direction"),
    ("round_opened", {"sheet_shown": "AB" * 32}, "invalid_value", "data.sheet_shown"),
    ("bets_locked", {"order": []}, "invalid_value", "data.order"),
    ("bets_locked", {"order": ["p1", "p17"]}, "invalid_value", "data.order.1"),
    ("bets_locked", {"order": "p1"}, "malformed", "data.order"),
    ("result_declared", {"multiples": {"w1": 11}}, "invalid_value", "data.multiples.w1"),
    ("result_declared", {"multiples": {"x": 1}}, "invalid_value", "data.multiples.x"),
    ("result_declared", {"multiples": [1]}, "malformed", "data.multiples"),
    ("hold_waived", {"reason_code": "pok_drew"}, "invalid_value", "data.reason_code"),
    ("round_voided", {"reason": ""}, "invalid_value", "data.reason"),
    ("round_voided", {"reason": "x" * 501}, "invalid_value", "data.reason"),
    ("mispay_put_right", {"paid": THB | {"amount": -1}}, "invalid_value", "data.paid.amount"),
    ("mispay_found", {"due": THB | {"amount": -1}}, "invalid_value", "data.due.amount"),
    ("bet_ruled", {"stake": THB | {"amount": -1}}, "invalid_value", "data.stake.amount"),
    ("bet_ruled", {"stake": THB | {"amount": 10**12 + 1}}, "invalid_value", "data.stake.amount"),
    ("bet_ruled", {"wager": "bank"}, "invalid_value", "data.wager"),
    ("note", {"text": "x" * 2001}, "invalid_value", "data.text"),
]


@pytest.mark.parametrize(("kind", "change", "code", "field"), BAD_FIELDS)
def test_a_badly_written_field_is_refused_by_its_path(
    kind: str, change: dict[str, Any], code: str, field: str
) -> None:
    report = read(kind, WRITTEN[kind][0] | change)

    assert report.refusal is not None
    assert (report.refusal.code, list(report.refusal.fields)) == (code, [field])
    assert (report.seq, len(report.sha256)) == (7, 32)  # what is kept of it


@pytest.mark.parametrize(
    ("change", "code", "field"),
    [
        ({"specversion": "0.3"}, "malformed", "specversion"),
        ({"id": 7}, "malformed", "id"),
        ({"id": ""}, "invalid_value", "id"),
        ({"id": "x" * 65}, "invalid_value", "id"),
        ({"type": "pokdeng.chips_stolen.v1"}, "invalid_value", "type"),
        ({"type": "pokdeng.note.v2"}, "invalid_value", "type"),
        ({"type": None}, "invalid_value", "type"),
        ({"time": "2026-03-01T14:00:00"}, "malformed", "time"),
        ({"time": "2026-03-01"}, "malformed", "time"),
        ({"time": 1_772_000_000}, "malformed", "time"),
        ({"time": "0000-01-01T00:00:00Z"}, "malformed", "time"),
        ({"time": "10000-01-01T00:00:00Z"}, "malformed", "time"),
        ({"subject": "rounds/7"}, "malformed", "subject"),
        ({"subject": ROUND.upper().replace("ROUNDS", "rounds").replace("F", "F")}, "malformed", "subject"),
        ({"subject": ROUND + "\n"}, "malformed", "subject"),
        ({"person": "D01"}, "malformed", "person"),
        ({"signature": 5}, "malformed", "signature"),
    ],
)
def test_a_bad_envelope_is_refused_by_its_attribute_and_keeps_its_number(
    change: dict[str, Any], code: str, field: str
) -> None:
    assert refused("note", {"text": "so"}, **change) == (code, field)
    assert read("note", {"text": "so"}, **change).seq == 7


@pytest.mark.parametrize("sequence", ["0", "07", "-1", "1.0", "１", " 1", "9" * 41, "", 7, None, True])
def test_an_event_without_a_number_has_nothing_to_be_kept_under(sequence: Any) -> None:
    report = read("note", {"text": "so"}, sequence=sequence)
    assert report.refusal is not None
    assert (report.seq, list(report.refusal.fields)) == (0, ["sequence"])


@pytest.mark.parametrize("source", ["/devices/PD02-tablet", "PD01-tablet", None, "/devices/PD01-tablet/"])
def test_a_device_cannot_use_up_anothers_number(source: Any) -> None:
    report = read("note", {"text": "so"}, source=source)
    assert report.refusal is not None
    assert (report.seq, list(report.refusal.fields)) == (0, ["source"])


@pytest.mark.parametrize("not_an_event", [None, 7, "note", [], [{}]])
def test_what_is_no_object_is_no_event(not_an_event: Any) -> None:
    report = event_payloads.report_of(not_an_event, device=TABLET)
    assert report.refusal is not None
    assert (report.refusal.code, report.seq) == ("malformed", 0)


def test_attributes_that_nobody_here_knows_are_ignored() -> None:
    report = read("note", {"text": "so"}, traceparent="00-1", datacontenttype="application/json")
    assert report.refusal is None


def test_the_hash_is_of_everything_but_the_id_in_whatever_order_it_was_written() -> None:
    event = envelope("note", {"text": "so", "kind": "table"})
    backwards = json.loads(json.dumps(dict(reversed(event.items()))))

    first = event_payloads.report_of(event, device=TABLET).sha256
    assert event_payloads.report_of(backwards | {"id": "another"}, device=TABLET).sha256 == first
    changed = [
        event | {"time": "2026-03-01T14:00:00.124Z"}, event | {"sequence": "8"}, event | {"extra": 1},
        event | {"data": {"text": "so"}}, event | {"person": str(uuid4())},
    ]  # fmt: skip
    assert first not in [event_payloads.report_of(other, device=TABLET).sha256 for other in changed]


def test_a_signature_binds_type_subject_and_data_and_nothing_else() -> None:
    ruling = envelope("card_ruled", WRITTEN["card_ruled"][0])
    bound = event_payloads.report_of(ruling, device=TABLET).content_sha256

    assert bound == event_payloads.content_sha256(ruling["type"], ruling["subject"], ruling["data"])
    assert bound == event_payloads.report_of(ruling | {"sequence": "8"}, device=TABLET).content_sha256
    other = ruling | {"data": WRITTEN["card_ruled"][0] | {"card": "3D"}}
    assert bound != event_payloads.report_of(other, device=TABLET).content_sha256


# -- reading a body -----------------------------------------------------------------------------------------

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=10,
)


def read_or_refused(body: bytes) -> tuple[Any, str]:
    """The value, or the code it was refused by."""
    try:
        return strict_json.read(body), ""
    except Refusal as refusal:
        return None, refusal.code


@given(value=JSON, ascii_only=st.booleans())
def test_a_body_is_read_as_any_reader_would(value: Any, ascii_only: bool) -> None:
    body = json.dumps(value, ensure_ascii=ascii_only).encode()
    assert read_or_refused(body) == (json.loads(body), "")


@given(body=st.binary(max_size=200))
def test_whatever_bytes_are_sent_they_are_read_or_refused(body: bytes) -> None:
    value, code = read_or_refused(body)
    assert code in ("", "malformed")
    event_payloads.report_of(value, device=TABLET)


@given(
    event=st.dictionaries(st.sampled_from([*envelope("note", {}), "person", "signature"]), JSON), data=JSON
)
def test_whatever_an_event_says_it_is_read_or_refused_by_a_known_code(event: Any, data: Any) -> None:
    for written in (
        event,
        envelope("bet_placed", data),
        envelope("card_dealt", data),
        envelope("note", {}) | event,
    ):
        report = event_payloads.report_of(written, device=TABLET)
        assert report.refusal is None or report.refusal.code in (
            "malformed", "missing_field", "unknown_field", "invalid_value",
        )  # fmt: skip


BAD_BODIES = {
    "nothing": b"",
    "no JSON": b"{",
    "two values": b"{} {}",
    "a key twice": b'{"stake":1,"stake":2}',
    "a key twice, far inside": b'[{"a":{"b":[{"c":1,"c":1}]}}]',
    "NaN": b'{"amount":NaN}',
    "infinity": b'{"amount":-Infinity}',
    "bytes that are no UTF-8": b'{"a":"\xff\xfe"}',
    "half a surrogate pair": b'{"a":"\\ud800"}',
    "half a surrogate pair as a key": b'{"\\udc00":1}',
    "a surrogate written as bytes": b'{"a":"\xed\xa0\x80"}',
    "an escaped NUL": b'{"a":"x\\u0000"}',
    "an escaped NUL as a key": b'{"\\u0000":1}',
    "a bare NUL": b'{"a":"\0"}',
    "UTF-16": '{"a":1}'.encode("utf-16"),
    "a NUL hidden by UTF-16": '{"a":"\\u0000"}'.encode("utf-16-le"),
    "UTF-32": '{"a":1}'.encode("utf-32"),
    "a byte order mark": b'\xef\xbb\xbf{"a":1}',
    "seventeen levels": b"[" * 18 + b"]" * 18,
    "ten thousand levels": b"[" * 10_000 + b"]" * 10_000,
    "ten thousand objects": b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    "ten thousand levels without an end": b"[" * 10_000,
    "a number of 41 digits": b"1" * 41,
    "a number of 200,000 digits": b"1" * 200_000,
    "a fraction of 200,000 digits": b"0." + b"1" * 200_000,
    "an exponent without end": b"1e999999999999999999999",
    "an exponent of ten thousand": b"1e10000",
    "a leading zero": b"01",
    "a comma at the end": b"[1,]",
    "a comment": b"[1] // so",
}


@pytest.mark.parametrize("name", BAD_BODIES)
def test_a_body_that_could_mean_two_things_or_hurt_is_malformed_at_once(name: str) -> None:
    def read() -> None:
        with pytest.raises(Refusal, match="malformed"):
            strict_json.read(BAD_BODIES[name])

    assert least_seconds(read) < 0.2


def test_a_body_may_be_sixteen_levels_deep_and_256_kilobytes_long() -> None:
    assert strict_json.read(b"[" * 17 + b"]" * 17) is not None
    assert strict_json.read(b'"' + b"x" * (256 * 1024 - 2) + b'"') is not None
    with pytest.raises(Refusal, match="body_too_large"):
        strict_json.read(b'"' + b"x" * (256 * 1024 - 1) + b'"')


def test_fractions_are_read_exactly() -> None:
    assert strict_json.read(b"[0.1, 1e2, 1E-3]") == [Decimal("0.1"), Decimal("1E+2"), Decimal("0.001")]


def test_text_that_spells_an_escape_is_just_text() -> None:
    assert strict_json.read(rb'"a \\u0000 b"') == r"a \u0000 b"
