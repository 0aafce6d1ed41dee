"""What sealed entries show of who tries to come in: five wrong secrets in a row, once a gaming day for each badge and
origin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from audit.flags.kinds import Raised, Seen
from settlement import days


def failed_sign_ins(seen: Sequence[Seen]) -> Iterator[Raised]:
    """Badges that somebody tried five times in a row; of a terminal, for the supervisor of its table too."""
    for one in seen:
        if one.action == "person.sign_in_stopped":
            told = one.data
            day = days.of(datetime.fromisoformat(told["at"]))
            yield Raised(
                "signin_failures",
                f"origins/{told['origin']}#{told['badge'][:12]}.{day.isoformat()}",
                {"origin": told["origin"], "failures": told["failures"], "badge": told["badge"]},
                one.entry,
                table=one.table,
            )
