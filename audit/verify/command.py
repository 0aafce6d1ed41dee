"""The command: what a person types, and what they read."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from audit.verify import export, signed_notes, steps
from audit.verify.export import Failure
from audit.verify.log_proofs import Growth
from audit.verify.signed_notes import BadNote, Key

VERIFIED, FAILED, NOT_BY_YOU = 0, 1, 2

ABOUT = """\
Checks a dossier of the Pok Deng back office, offline: that its entries are those that were sealed (V1, V2), that the
log only grew (V3), that a key you already have signed it (V4), and that judging and adding up again gives the same
lines and the same money (V5). The page for people, dossier.pdf, is not checked.

Exit 0: verified. 1: a check failed; the first bad row is named. 2: in itself consistent, but you gave no key, so
nothing shows that the house signed it.
"""


def main(arguments: Sequence[str]) -> int:
    """Check what ``arguments`` name; print the steps; return the exit code."""
    asked = _parser().parse_args(arguments)
    try:
        outcome = steps.check(
            export.read(asked.export),
            keys=[_key(written) for written in asked.key],
            kept=[(str(path), _text(path)) for path in asked.checkpoint],
            growth=[_growth(path) for path in asked.consistency],
        )
    except Failure as failure:
        _say(f"FAILED {failure.step}: {failure.row}: {failure.why}")
        return FAILED
    for step in outcome.steps:
        _say(f"{step.id} {step.title}: {step.found}")
    _say(
        f"This copy's own entry: {outcome.receipt} (its place in the log is proved by the house, if you ask)"
    )
    if outcome.by_reader:
        _say("VERIFIED, as far as this reader was shown it" if outcome.withheld else "VERIFIED")
        return VERIFIED
    _say("CONSISTENT, but not verified by you: give the house's key with --key")
    return NOT_BY_YOU


def _say(text: str) -> None:
    encoding = sys.stdout.encoding or "ascii"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding) + "\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="verify.pyz", description=ABOUT, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "export", type=Path, help="the dossier: its ZIP, its unpacked folder, or dossier.json"
    )
    parser.add_argument(
        "--key", action="append", default=[], metavar="FILE|KEY", help="the house's key, name+hash+key"
    )
    parser.add_argument(
        "--checkpoint", action="append", default=[], type=Path, metavar="FILE",
        help="a checkpoint you kept; the log must only have grown from it, or to it",
    )  # fmt: skip
    parser.add_argument(
        "--consistency", action="append", default=[], type=Path, metavar="FILE",
        help="the house's answer of /audit/consistency for a checkpoint you kept",
    )  # fmt: skip
    return parser


def _key(written: str) -> Key:
    path = Path(written)
    try:
        if "+" not in written or path.is_file():
            written = _text(path)
        return signed_notes.key_of(written)
    except BadNote as fault:
        raise Failure("V4", "--key", str(fault)) from None


def _growth(path: Path) -> Growth:
    try:
        told = json.loads(_text(path))
        proof = tuple(bytes.fromhex(node) for node in told["proof"])
        return Growth(str(told["origin"]), int(told["from"]), int(told["to"]), proof)
    except (ValueError, KeyError, TypeError, RecursionError) as fault:
        raise Failure("V3", str(path), f"is no answer about consistency: {fault}") from None


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except (OSError, ValueError) as fault:
        raise Failure("form", str(path), f"cannot be read: {fault}") from None
