"""What the log keeps of a count: a hash of its pieces with a random text, so that nobody can guess the figures from
it, and nobody can change them either. Pure."""

import hashlib
import secrets
from collections.abc import Mapping, Sequence


def salt() -> str:
    """Return a new random text, kept with the count."""
    return secrets.token_hex(16)


def sha256_of(lines: Sequence[Mapping[str, int]], *, salt: str) -> str:
    """Return the hash of ``salt:denomination*pieces,…`` in the order of the lines."""
    written = ",".join(f"{line['denomination']}*{line['pieces']}" for line in lines)
    return hashlib.sha256(f"{salt}:{written}".encode()).hexdigest()
