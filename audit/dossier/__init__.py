"""One round, or one dispute about it, as a file that anybody can check offline.

Read in order: ``content`` (what is in it and for whom, with ``events`` and ``settlements``), ``packing`` (the act, the
ZIP), ``pdf`` (the page for people), ``readme``. The check itself is ``audit.verify``.
"""

from audit.dossier.packing import Dossier, of_dispute, of_round, pack

__all__ = ["Dossier", "of_dispute", "of_round", "pack"]
