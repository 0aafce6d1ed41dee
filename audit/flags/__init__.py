"""Flags: questions about play, raised from what was sealed, answered by people. A flag moves no money.

``reading`` goes along the sealed log and raises what it shows, with ``devices`` for what concerns a device and not one
round; ``answering`` closes a flag with a reason, or lets it become a dispute.
"""

from audit.flags.answering import CLOSE_CODES, close, disputed, locked, said
from audit.flags.devices import BURST_EVENTS
from audit.flags.kinds import KINDS
from audit.flags.reading import MOST, read_on

__all__ = ["BURST_EVENTS", "CLOSE_CODES", "KINDS", "MOST", "close", "disputed", "locked", "read_on", "said"]
