"""Checks a dossier on a machine that has only Python: ``python3 verify.pyz DOSSIER --key KEY``.

Read in order: ``reading`` (the form), ``sealed`` (V1 to V4, with ``signing`` and ``ed25519``), ``judged`` (V5, with
``events``, ``revisions`` and ``told``), ``checking`` (all of it), ``command`` (what a person types and reads),
``building`` (this package and the product's own pure modules as one file).
"""

from audit.verify.building import build
from audit.verify.checking import Outcome, check
from audit.verify.reading import MEMBERS, Failure, manifest
from audit.verify.told import fill

__all__ = ["MEMBERS", "Failure", "Outcome", "build", "check", "fill", "manifest"]
