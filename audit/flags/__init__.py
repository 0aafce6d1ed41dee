"""Flags: questions about play, raised from what was sealed, answered by people. A flag moves no money.

``log_reader`` goes along the sealed log and finds what it shows, with ``device_flags`` for what concerns a device and
not one round; ``raising`` writes them, for integrity analytics too; ``answering`` closes a flag with a reason, or lets
it become a dispute.
"""

from audit.flags.answering import CLOSE_CODES, close, disputed, locked, said
from audit.flags.device_flags import BURST_EVENTS
from audit.flags.kinds import KINDS, OF_ANALYTICS, OF_CASH, OF_COUNTS, OF_THE_HOUSE, Raised
from audit.flags.log_reader import MOST, pass_over, read_again, read_on
from audit.flags.raising import raise_new
from audit.flags.upkeep import raise_uncomputable

__all__ = [
    "BURST_EVENTS",
    "CLOSE_CODES",
    "KINDS",
    "MOST",
    "OF_ANALYTICS",
    "OF_CASH",
    "OF_COUNTS",
    "OF_THE_HOUSE",
    "Raised",
    "close",
    "disputed",
    "locked",
    "pass_over",
    "raise_new",
    "raise_uncomputable",
    "read_again",
    "read_on",
    "said",
]
