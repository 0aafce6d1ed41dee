"""Who may do what: one matrix of roles, narrowed by where a person is on duty and what a key names.

Deny by default: what is not in RIGHTS is refused, and an address that declares no right does not start.
Rights are read when they are asked for, so a change counts at once.
"""

from __future__ import annotations

from enum import Enum
from uuid import UUID

from django.db.models import QuerySet

from casino.events import Principal
from casino.models import ApiKey, Duty, Person, Role, Table
from casino.platform.refusals import Refusal


class Scope(Enum):
    """Where a right holds: everywhere, at the tables where the person is on duty, at the device's own table, or where
    the other system's key names the right, and then at the key's tables and cages."""

    ALL = "all"
    DUTY = "duty"
    OWN = "own"
    KEY = "key"


ALL, DUTY, OWN, KEY = Scope.ALL, Scope.DUTY, Scope.OWN, Scope.KEY

RIGHTS: dict[str, dict[str, Scope]] = {
    "public": {},
    "record_events": {"terminal": OWN, "camera": OWN},
    "state_device": {"terminal": OWN, "camera": OWN},
    "take_signature": {"terminal": OWN},
    "waive_gap": {"terminal": OWN, "supervisor": DUTY, "manager": ALL},
    "read_devices": {"auditor": ALL, "administrator": ALL},
    "change_duty": {"terminal": OWN, "supervisor": ALL, "manager": ALL},
    "read_duty": {
        "terminal": OWN,
        "camera": OWN,
        "dealer": DUTY,
        "supervisor": DUTY,
        "manager": ALL,
        "surveillance": ALL,
        "auditor": ALL,
    },
    "stop_table": {"supervisor": DUTY, "manager": ALL},
    "read_tables": {
        "terminal": OWN,
        "camera": OWN,
        "dealer": DUTY,
        "supervisor": DUTY,
        "manager": ALL,
        "surveillance": ALL,
        "auditor": ALL,
    },
    "read_rounds": {
        "terminal": OWN,
        "dealer": DUTY,
        "supervisor": DUTY,
        "manager": ALL,
        "surveillance": ALL,
        "auditor": ALL,
    },
    "read_settlements": {
        "terminal": OWN,
        "dealer": DUTY,
        "supervisor": DUTY,
        "manager": ALL,
        "surveillance": ALL,
        "auditor": ALL,
        "cashier_system": KEY,
    },
    "move_wallets": {"cashier": ALL, "cashier_system": KEY},
    "read_wallets": {"cashier": ALL, "auditor": ALL, "cashier_system": KEY},
    "exchange_chips": {"cashier": ALL, "cashier_system": KEY},
    "buy_in": {"terminal": OWN, "dealer": DUTY, "supervisor": DUTY},
    "read_cash": {"manager": ALL, "surveillance": ALL, "cashier": ALL, "auditor": ALL},
    "settle": {"terminal": OWN, "dealer": DUTY, "supervisor": DUTY, "manager": ALL},
    "correct": {"supervisor": DUTY, "manager": ALL},
    "float": {"dealer": DUTY, "supervisor": DUTY, "manager": ALL},
    "withdraw_count": {"supervisor": DUTY, "manager": ALL},
    "count": {"terminal": OWN, "dealer": DUTY, "supervisor": DUTY, "manager": ALL, "cashier": ALL},
    "read_rundown": {"manager": ALL, "surveillance": ALL, "auditor": ALL},
    "read_ledger": {"manager": ALL, "cashier": ALL, "auditor": ALL},
    "read_sheets": {
        "terminal": OWN,
        "camera": OWN,
        "dealer": DUTY,
        "supervisor": DUTY,
        "manager": ALL,
        "surveillance": ALL,
        "auditor": ALL,
    },
    "propose_sheet": {"manager": ALL},
    "approve_sheet": {"manager": ALL},
    "read_dossier": {
        "dealer": DUTY,
        "supervisor": DUTY,
        "manager": ALL,
        "surveillance": ALL,
        "auditor": ALL,
    },
    "read_log": {
        "supervisor": DUTY,
        "manager": ALL,
        "surveillance": ALL,
        "auditor": ALL,
        "administrator": ALL,
    },
    "read_flags": {"supervisor": DUTY, "manager": ALL, "surveillance": ALL, "auditor": ALL},
    "answer_flag": {"surveillance": ALL, "auditor": ALL},
    "read_analytics": {"manager": ALL, "surveillance": ALL, "auditor": ALL},
    "run_analytics": {"manager": ALL, "surveillance": ALL, "auditor": ALL},
    "raise_dispute": {
        "dealer": DUTY,
        "supervisor": DUTY,
        "manager": ALL,
        "surveillance": ALL,
        "cashier": ALL,
        "auditor": ALL,
    },
    "read_disputes": {"supervisor": DUTY, "manager": ALL, "surveillance": ALL, "auditor": ALL},
    "work_dispute": {"auditor": ALL},
    "decide_dispute": {"auditor": ALL, "manager": ALL},
    "read_keys": {"auditor": ALL, "administrator": ALL},
    "make_keys": {"administrator": ALL},
    "request_slip": {"supervisor": DUTY, "manager": ALL},
    "issue_slip": {"cashier": ALL},
    "carry_slip": {"dealer": ALL, "supervisor": ALL, "cashier": ALL},
    "receive_slip": {"dealer": DUTY, "supervisor": DUTY, "cashier": ALL},
    "deposit_slip": {"dealer": DUTY, "supervisor": DUTY},
    "compare_slip": {"manager": ALL},
    "read_slips": {
        "dealer": DUTY,
        "supervisor": DUTY,
        "manager": ALL,
        "surveillance": ALL,
        "cashier": ALL,
        "auditor": ALL,
    },
    "issue_pay_slip": {"supervisor": DUTY, "manager": ALL},
    "pay_pay_slip": {"cashier": ALL, "cashier_system": KEY},
    "void_pay_slip": {"supervisor": DUTY, "manager": ALL},
    "read_pay_slips": {
        "supervisor": DUTY,
        "manager": ALL,
        "surveillance": ALL,
        "cashier": ALL,
        "auditor": ALL,
        "cashier_system": KEY,
    },
    "set_webhooks": {"administrator": ALL},
    "set_cashier_systems": {"administrator": ALL},
    "read_cashier_systems": {"auditor": ALL, "administrator": ALL},
    "replay_calls": {"manager": ALL, "administrator": ALL},
    "read_webhooks": {"auditor": ALL, "administrator": ALL},
    "read_deliveries": {"manager": ALL, "auditor": ALL, "administrator": ALL, "cashier_system": KEY},
    "replay_webhooks": {"manager": ALL, "administrator": ALL},
    "read_breaks": {"manager": ALL, "surveillance": ALL, "auditor": ALL},
    "work_break": {"manager": ALL},
    "approve_break": {"auditor": ALL},
    "run_reconciliation": {"manager": ALL, "auditor": ALL},
    "read_reconciliation": {"manager": ALL, "surveillance": ALL, "auditor": ALL},
    "read_days": {"manager": ALL, "surveillance": ALL, "auditor": ALL},
    "propose_start_hour": {"manager": ALL},
    "approve_start_hour": {"manager": ALL},
    "open_day": {"manager": ALL},
    "close_day": {"manager": ALL},
    "seal_day": {"auditor": ALL},
    "read_shifts": {"supervisor": ALL, "manager": ALL, "surveillance": ALL, "auditor": ALL},
    "work_shift": {"supervisor": ALL, "manager": ALL},
    "read_statements": {
        "manager": ALL,
        "surveillance": ALL,
        "cashier": ALL,
        "auditor": ALL,
        "cashier_system": KEY,
    },
    "take_statements": {"cashier": ALL, "cashier_system": KEY},
    "read_outside_files": {"cashier": ALL, "auditor": ALL, "cashier_system": KEY},
    "set_matching_rule": {"manager": ALL},
    # Who works here, with what, and where; each of them takes the second person that its act names.
    "read_people": {"auditor": ALL, "administrator": ALL},
    "manage_people": {"administrator": ALL},
    "manage_devices": {"administrator": ALL},
    "manage_tables": {"manager": ALL},
    "set_settings": {"manager": ALL},
    "read_health": {"manager": ALL, "auditor": ALL, "administrator": ALL},
    "read_settings": {"manager": ALL, "surveillance": ALL, "auditor": ALL},
    "unlock": {"supervisor": DUTY, "manager": ALL, "administrator": ALL},
    "new_origin": {"administrator": ALL},
    "waive_rounds": {"supervisor": DUTY, "manager": ALL},
    "rule_round": {"supervisor": DUTY, "manager": ALL},
    "mispay_found": {"supervisor": DUTY, "manager": ALL},
    "count_cage": {"cashier": ALL, "cashier_system": KEY},
    "own_session": dict.fromkeys(Role.values, ALL),
}
"""Every right of the service: who holds it, and where. People by their roles; ``terminal`` and ``camera`` are
devices, ``cashier_system`` is another system with a key, whose scopes are names of these rights."""


def scope_of(principal: Principal, right: str) -> Scope | None:
    """Return where ``principal`` holds ``right``, None for nowhere. One statement for a key, none otherwise."""
    scope = RIGHTS[right].get(principal.role)
    if scope is KEY and not _key(principal).filter(scopes__contains=[right]).exists():
        return None
    return scope


def scopes_of_keys() -> frozenset[str]:
    """Return the rights that a key of another system may be made for."""
    return frozenset(right for right, held in RIGHTS.items() if KEY in held.values())


def _key(principal: Principal) -> QuerySet[ApiKey]:
    return ApiKey.objects.filter(pk__in=[principal.id], revoked_at=None)


def require(principal: Principal, right: str) -> Scope:
    """Return where the right holds; refuse ``not_signed_in`` (401) or ``forbidden`` (403)."""
    scope = scope_of(principal, right)
    if scope is None:
        raise Refusal("not_signed_in" if principal.kind == "public" else "forbidden")
    return scope


def require_second(person: Person, right: str) -> None:
    """Refuse ``second_person_forbidden`` where the one who signs beside whoever acts does not hold the right."""
    if not person.is_active or person.role not in RIGHTS[right]:
        raise Refusal("second_person_forbidden")


def may_at(principal: Principal, right: str, table: UUID) -> bool:
    """Say whether the right holds at this table. One statement for a person on duty, two for a key."""
    scope = scope_of(principal, right)
    if scope is ALL:
        return True
    if scope is OWN:
        return table == table_of_device(principal)
    if scope is DUTY:
        return Duty.objects.filter(
            session__table=table, session__closed_at=None, person=principal.id, off_at=None
        ).exists()
    if scope is KEY:
        return Table.objects.filter(pk=table, code__in=_key_names(principal, "tables")).exists()
    return False


def may_at_cage(principal: Principal, right: str, cage: str) -> bool:
    """Say whether the right holds at this cage: a key's at those it names, a cashier's at all."""
    scope = scope_of(principal, right)
    return scope is ALL or (scope is KEY and cage in _key_names(principal, "cages"))


def _key_names(principal: Principal, what: str) -> list[str]:
    named: list[str] | None = _key(principal).values_list(what, flat=True).first()
    return named or []


def wallets_of_key(principal: Principal) -> str:
    """Return which guests' wallets a system's key reaches: ``none``, ``own`` or ``all``. One statement."""
    found: str | None = _key(principal).values_list("wallets", flat=True).first()
    return found or ApiKey.Wallets.NONE


def require_at(principal: Principal, right: str, table: UUID) -> None:
    """Refuse ``not_found``: what is out of scope does not exist for the one who asks."""
    require(principal, right)
    if not may_at(principal, right, table):
        raise Refusal("not_found")


def require_at_cage(principal: Principal, right: str, cage: str) -> None:
    """Refuse ``not_found`` for a cage out of scope, as ``require_at`` does for a table."""
    require(principal, right)
    if not may_at_cage(principal, right, cage):
        raise Refusal("not_found")


def tables_in_scope(principal: Principal, right: str) -> list[UUID] | None:
    """Return the tables at which the right holds, None for all of them; lists start from this."""
    scope = require(principal, right)
    if scope is ALL:
        return None
    if scope is OWN:
        return [table_of_device(principal)]
    if scope is KEY:
        named = Table.objects.filter(code__in=_key_names(principal, "tables"))
        return list(named.values_list("id", flat=True))
    duties = Duty.objects.filter(person=principal.id, off_at=None, session__closed_at=None)
    return list(duties.values_list("session__table", flat=True))


def sees_open_session_alone(principal: Principal) -> bool:
    """Say whether of a table's rounds only those of its open session exist for who asks: a dealer, a device."""
    return principal.kind == "device" or principal.role == Role.DEALER


def table_of_device(principal: Principal) -> UUID:
    """Return the table a device is bound to, from its own row."""
    return Table.objects.values_list("id", flat=True).get(devices=principal.id)


def principal_of(person: Person) -> Principal:
    """Return the person as one who acts."""
    return Principal(kind="person", id=person.id, code=person.badge, role=person.role, person=person.id)
