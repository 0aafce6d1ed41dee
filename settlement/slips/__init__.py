"""Papers between table and cage: slips that carry chips, and pay slips that are claims on the cage.

``numbers`` gives the next number of a series, ``carriage`` takes a slip from the request to the box, ``claims`` issues,
pays and voids pay slips, ``voiding`` takes them back. Each function is one act's work; asked for a step that was taken
already, it refuses.

    fill      vault → suspense:transit:{table} → bank      at in_transit, at received
    credit    bank → suspense:transit:{table} → vault
    pay slip  guests → suspense:slips:{table}              when issued
              suspense:slips:{table} → suspense:clearing:{table} and vault → external:cash:{cage}, when paid
              suspense:clearing:{table} → bank of all that were issued and not voided, when the table closes
"""

from settlement.slips.carriage import (
    Taken,
    compare,
    deposit,
    dispatch,
    issue,
    receive,
    request,
    void,
)
from settlement.slips.carriage import number_of as number_of_slip
from settlement.slips.claims import issue as issue_pay_slip
from settlement.slips.claims import pay as pay_pay_slip
from settlement.slips.claims import superseded
from settlement.slips.claims import void as void_pay_slip
from settlement.slips.numbers import read as read_number
from settlement.slips.voiding import Claim
from settlement.slips.voiding import number_of as number_of_pay_slip

__all__ = [
    "Claim",
    "Taken",
    "compare",
    "deposit",
    "dispatch",
    "issue",
    "issue_pay_slip",
    "number_of_pay_slip",
    "number_of_slip",
    "pay_pay_slip",
    "read_number",
    "receive",
    "request",
    "superseded",
    "void",
    "void_pay_slip",
]
