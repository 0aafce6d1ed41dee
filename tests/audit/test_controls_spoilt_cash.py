"""Each check of cash and of keys finds what it is there for, every trigger switched off."""

# ruff: noqa: E501 - a case is one line, so that the list can be read as a table
from __future__ import annotations

from uuid import UUID

import pytest

from tests.audit.spoiling import Case, Connection, see_it_found

CASES = [
    Case("how much was paid out", "UPDATE settlement_cashact SET amount = amount + 1 WHERE kind = 'withdrawal'", "I6 I17", "cash/"),
    Case("on which day", "UPDATE settlement_cashact SET gaming_day = gaming_day - 1 WHERE kind = 'deposit'", "I6 I17", "cash/"),
    Case("what it was for", "UPDATE settlement_cashact SET kind = 'chip_redemption' WHERE kind = 'withdrawal'", "I6 I17 I12", "journals/"),
    Case("how it was paid", "UPDATE settlement_cashact SET means = 'card' WHERE kind = 'deposit'", "I6 I17", "cash/"),
    Case("an act of cash gone", "DELETE FROM settlement_cashact WHERE kind = 'buy_in'", "I6 I17", "journals/"),
    Case("two acts for one journal", "UPDATE settlement_cashact SET journal_id = (SELECT journal_id FROM settlement_cashact WHERE kind = 'chip_sale') WHERE kind = 'chip_redemption'", "I6 I17", "journals/"),
    Case("pieces of a buy-in", "UPDATE settlement_cashact SET lines = '[{\"denomination\": 10000, \"pieces\": 19}]' WHERE kind = 'buy_in'", "I12 I17", "cash/"),
    Case("whose cash it was", "UPDATE settlement_cashact SET person = 'B08' WHERE kind = 'deposit'", "I17", "cash/"),
    Case("who took it", "UPDATE settlement_cashact SET acted_by_id = (SELECT id FROM casino_person WHERE badge = 'M02') WHERE kind = 'buy_in'", "I17", "cash/"),
    Case("when it is said to have happened", "UPDATE settlement_cashact SET happened_at = happened_at - interval '1 day' WHERE kind = 'deposit'", "I17", "cash/"),
    Case("one person for two", "UPDATE settlement_cashact SET approved_by_id = acted_by_id WHERE kind = 'withdrawal'", "I13 I17", "cash/"),
    Case("what a key may ask for", "UPDATE casino_apikey SET scopes = '{move_wallets,exchange_chips}'", "I17", "keys made/"),
    Case("a key's secret", "UPDATE casino_apikey SET secret_sha256 = sha256('x') WHERE revoked_at IS NULL", "I17", "keys made/"),
    Case("where a key comes from", "UPDATE casino_apikey SET addresses = '{0.0.0.0/0}'", "I17", "keys made/"),
    Case("a key that nobody made", "INSERT INTO casino_apikey (id, system, secret_sha256, scopes, tables, cages, addresses, expires_at, created_by_id, approved_by_id, created_at) SELECT gen_random_uuid(), system, sha256('y'), scopes, tables, cages, addresses, expires_at, created_by_id, approved_by_id, created_at FROM casino_apikey WHERE revoked_at IS NULL", "I17", "keys made/"),
    Case("a key made by one", "UPDATE casino_apikey SET approved_by_id = created_by_id", "I13 I17", "keys/"),
    Case("a revocation taken back", "UPDATE casino_apikey SET revoked_at = NULL, revoked_by_id = NULL WHERE revoked_at IS NOT NULL", "I17", "keys revoked/"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case.altered for case in CASES])
def test_what_was_altered_is_found(
    case: Case, spoilt: Connection, built_house: tuple[str, dict[str, UUID]]
) -> None:
    see_it_found(case, spoilt, built_house[1])
