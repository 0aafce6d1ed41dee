"""People of the house: what they may do, how the house knows that it is they, and who is on duty.

Read in order: ``rights``, ``secrets``, ``duties``.
"""

from casino.people.duties import (
    RULERS,
    OnDuty,
    dealers_of,
    different,
    may_rule,
    on_duty,
    sign,
)
from casino.people.rights import (
    ALL,
    DUTY,
    KEY,
    OWN,
    RIGHTS,
    Scope,
    may_at,
    may_at_cage,
    principal_of,
    require,
    require_at,
    require_at_cage,
    scope_of,
    scopes_of_keys,
    table_of_device,
    tables_in_scope,
)
from casino.people.secrets import (
    TRIES,
    TRY_WINDOW,
    BadgeAndPassword,
    check_secret,
    hire,
    signed_in,
    signed_out,
)

__all__ = [
    "ALL",
    "DUTY",
    "KEY",
    "OWN",
    "RIGHTS",
    "RULERS",
    "TRIES",
    "TRY_WINDOW",
    "BadgeAndPassword",
    "OnDuty",
    "Scope",
    "check_secret",
    "dealers_of",
    "different",
    "hire",
    "may_at",
    "may_at_cage",
    "may_rule",
    "on_duty",
    "principal_of",
    "require",
    "require_at",
    "require_at_cage",
    "scope_of",
    "scopes_of_keys",
    "sign",
    "signed_in",
    "signed_out",
    "table_of_device",
    "tables_in_scope",
]
