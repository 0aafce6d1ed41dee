"""What the starter cannot put right by itself, said in one sentence."""


class Trouble(Exception):
    """A foreseen obstacle: printed without a traceback, and the process ends with `status`."""

    def __init__(self, sentence: str, *, status: int = 1) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.status = status


def no_room(error: OSError, *, doing: str) -> Trouble:
    """The sentence for a failed write: a full disk is named as such, anything else by its own words."""
    import errno

    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Trouble(f"The disk is full: {doing} needs room. Free some and start again.")
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return Trouble(f"No permission for {doing}: {error.filename or error.strerror}.")
    return Trouble(f"{doing} failed: {error.strerror or error}.")
