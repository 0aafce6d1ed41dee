"""Checks a dossier on a machine that has only Python: ``python3 verify.pyz DOSSIER --key KEY``.

Read in order: ``export`` (the form), ``log_proofs`` (V1 to V4, with ``signed_notes`` and ``ed25519``), ``judgement``
(V5, with ``events``, ``revisions`` and ``derivation``), ``steps`` (all of it), ``command`` (what a person types and
reads), ``pyz`` (this package and the product's own pure modules as one file).
"""

from audit.verify.derivation import fill
from audit.verify.export import MEMBERS, Failure, manifest
from audit.verify.pyz import build
from audit.verify.steps import Outcome, check

__all__ = ["MEMBERS", "Failure", "Outcome", "build", "check", "fill", "manifest"]
