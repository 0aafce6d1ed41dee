"""One round, or one dispute about it, as a file that anybody can check offline.

Read in order: ``gathering`` (what is in it and for whom, with ``reported`` and ``money``), ``making`` (the act, the
ZIP), ``page`` (the page for people), ``readme``. The check itself is ``audit.verify``.
"""

from audit.dossier.making import Dossier, of_dispute, of_round, pack

__all__ = ["Dossier", "of_dispute", "of_round", "pack"]
