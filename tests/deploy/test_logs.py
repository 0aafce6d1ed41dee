"""One record is one line of JSON, whatever came in."""

from __future__ import annotations

import json
import logging
import sys

from deploy import logs


def _line(message: str, **extra: object) -> str:
    record = logging.makeLogRecord({"name": "pokdeng", "levelname": "INFO", "msg": message, **extra})
    return logs.Lines().format(record)


def test_a_message_with_a_line_break_forges_no_line() -> None:
    line = _line('GET /\n{"level": "INFO", "message": "all is well"}')
    assert "\n" not in line
    assert json.loads(line)["message"] == 'GET /\n{"level": "INFO", "message": "all is well"}'


def test_escape_codes_do_not_reach_a_terminal() -> None:
    line = _line("red \x1b[31m", agent="\x1b]0;title\x07")
    assert all(" " <= character <= "~" for character in line)


def test_a_field_ends_after_two_kilobytes() -> None:
    line = json.loads(_line("a" * 65_536, agent="ก" * 65_536))
    assert len(line["message"]) == logs.FIELD_BYTES + 1
    assert len(line["agent"].encode()) <= logs.FIELD_BYTES + 3


def test_a_traceback_keeps_its_end_where_the_fault_is_named() -> None:
    try:
        raise ValueError("the till is short " + "x" * 10)
    except ValueError:
        line = json.loads(_line("it failed", exc_info=sys.exc_info()))
    assert line["exception"].endswith("ValueError: the till is short xxxxxxxxxx")


def test_a_line_carries_the_request_it_belongs_to() -> None:
    token = logs.request_id.set("4f1c")
    try:
        assert json.loads(_line("settled"))["request_id"] == "4f1c"
    finally:
        logs.request_id.reset(token)
    assert "request_id" not in json.loads(_line("settled"))
