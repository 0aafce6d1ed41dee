"""A dossier made and packed: one ZIP that a stranger can check with nothing but Python.

Every byte of its JSON is fixed twice. What was sealed fixes what matters (events, record, lines, journals, sheet,
duties), and the check works all of that out again. And the handing out is an act itself: its entry, which stands in
the JSON beside the content, holds the content's SHA-256, so that no byte of it, a name or a note among them, can
change alone; whether the house ever wrote that entry it proves by its hash on request.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from audit import verify
from audit.dossier import content as gathering
from audit.dossier import pdf, readme
from audit.models import Dispute, LogEntry
from audit.verify import export, pyz
from casino import events
from casino.events import Fact
from casino.models import Round
from casino.platform.refusals import Refusal


@dataclass(frozen=True, slots=True)
class Dossier:
    """A dossier as it was made: its content, and the entry of its making."""

    content: dict[str, Any]
    entry: dict[str, str]

    @property
    def json(self) -> bytes:
        return events.canonical({"content": self.content, "entry": self.entry})

    @property
    def made_at(self) -> datetime:
        return datetime.fromisoformat(json.loads(self.entry["bytes"])["at"])

    @property
    def name(self) -> str:
        """The ZIP's file name."""
        round = self.content["round"]
        return f"dossier-{round['table']}-{round['number'] or round['id'][:8]}.zip"


def of_round(round_id: UUID, *, kept: Sequence[int] = ()) -> Dossier:
    """Make the dossier of a round for the act's principal.

    ``kept`` are sizes of checkpoints that the reader keeps. Refuses ``not_found`` out of scope and ``not_sealed_yet``.
    Must run in an act: reading evidence is one.
    """
    return _made(gathering.round_of(round_id), dispute=None, kept=kept)


def of_dispute(dispute_id: UUID, *, kept: Sequence[int] = ()) -> Dossier:
    """Make the dossier of a dispute: that of its round, with what was asked, proposed and decided. As ``of_round``."""
    dispute = Dispute.objects.filter(pk=dispute_id).first()
    if dispute is None:
        raise Refusal("not_found")
    return _made(gathering.round_of(dispute.round_id), dispute=dispute, kept=kept)


def _made(round: Round, *, dispute: Dispute | None, kept: Sequence[int]) -> Dossier:
    act = events.current()
    is_house = act.actor == events.SERVICE
    reader = gathering.WHOLE if is_house else gathering.reader_of(act.actor, round)
    content = gathering.content_of(round, reader=reader, dispute=dispute, kept=kept)
    try:
        verify.fill(content)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        # Rows that were spoilt lead to no sentence. They are handed out as they are, and the check names them.
        gathering.unfill(content)
    told = {
        "what": "dossier",
        "dispute": str(dispute.id) if dispute else None,
        "sha256": export.sha256(events.canonical(content)),
        "withheld": reader.withheld,
    }
    (leaf,) = events.announce(
        [Fact("evidence.read", f"rounds/{round.id}", told, table=round.table.code, round=round.id)]
    )
    entry = LogEntry.objects.filter(leaf_hash=leaf).latest("id")
    return Dossier(content, {"bytes": bytes(entry.bytes).decode(), "hash": leaf.hex()})


def pack(dossier: Dossier) -> bytes:
    """Return the ZIP; the same dossier gives the same bytes."""
    members = {
        export.JSON: dossier.json,
        export.README: readme.TEXT.encode(),
        export.PDF: pdf.pdf(dossier.content, made_at=dossier.made_at),
        export.PROGRAM: pyz.build(),
    }
    members[export.MANIFEST] = export.manifest(members)
    found = io.BytesIO()
    with zipfile.ZipFile(found, "w") as archive:
        for name in export.MEMBERS:
            pyz.add(archive, name, members[name], packed=True)
    return found.getvalue()
