from __future__ import annotations

from audit import books
from tests.audit.conftest import Played


def found(*ids: str, full: bool = True) -> list[tuple[str, str]]:
    with books.opened(scope=books.Scope(None)) as opened:
        return [
            (id, f"{finding.subject}: {finding.found} / {finding.expected}")
            for id, finding in books.check(opened, ids=ids or books.built())
        ]


def test_an_untouched_house_is_clean(played: Played) -> None:
    assert found() == []
