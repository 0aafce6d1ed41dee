"""Everything known of a round, as its reader may see it, with the entries that seal it.

Rows are given as they are stored, right or wrong: whether they agree is for the check to find, not for this to mend.
Instants are written as entries write them (UTC, to the microsecond), amounts are minor units.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import F, Q

from audit import log, proofs, seal, signed_notes
from audit.checkpoints import Store
from audit.dossier import events as reported
from audit.dossier import settlements as money
from audit.models import Checkpoint, Decision, Dispute, Flag, LogEntry, Proposal
from audit.proofs import Sealed
from audit.verify.export import FORMAT
from casino import devices, people
from casino.events import Principal
from casino.models import Duty, Person, Role, Round
from casino.platform.refusals import Refusal
from settlement import days, rule_sheets
from settlement.models import RuleSheet, Settlement

READINGS = ("evidence.read", "log.read")
"""Who looked is the log's business, not the round's."""


@dataclass(frozen=True, slots=True)
class Reader:
    """Whom a dossier is for: ``log`` the bytes of entries, ``balances`` what wallets and banks held, ``names`` who is
    behind an id."""

    role: str
    log: bool
    balances: bool
    names: bool

    @property
    def withheld(self) -> list[str]:
        return [name for name in ("balances", "log", "names") if not getattr(self, name)]


WHOLE = Reader(role="service", log=True, balances=True, names=True)
"""The house's own copy, made on its machine."""


def reader_of(principal: Principal, round: Round) -> Reader:
    """Return what of a round a principal may see; refuse ``forbidden``, ``not_found`` out of scope.

    A dealer sees the rounds of the session in which he is on duty, and of these no entry of the log.
    """
    people.require_at(principal, "read_dossier", round.table_id)
    if principal.role == Role.DEALER and round.session.closed_at is not None:
        raise Refusal("not_found")
    reads_log = people.scope_of(principal, "read_log") is not None
    return Reader(
        role=principal.role,
        log=reads_log,
        balances=people.scope_of(principal, "read_ledger") is not None,
        names=reads_log,
    )


def round_of(round_id: UUID) -> Round:
    """Return a round, or the one it is an alias of; refuse ``not_found``."""
    found = Round.objects.select_related("alias_of").filter(pk=round_id).first()
    if found is None:
        raise Refusal("not_found")
    return Round.objects.select_related("table", "session").get(pk=found.alias_of_id or found.pk)


def content_of(
    round: Round, *, reader: Reader, dispute: Dispute | None, kept: Sequence[int] = ()
) -> dict[str, Any]:
    """Return a dossier's content but for its sentences. Statements are constant in the size of the round.

    ``kept`` are sizes of checkpoints that the reader has: that the log only grew from them is proved too. Refuses
    ``not_sealed_yet`` while an entry of the round waits for a checkpoint, ``invalid_value`` for a size never signed.
    """
    aliases = list(Round.objects.filter(alias_of=round).order_by("id").values_list("id", flat=True))
    settlements = list(Settlement.objects.filter(round=round).order_by("revision").select_related("sheet"))
    events = reported.events_of([round.id, *aliases])
    duties = _duties(round)
    sheet = _sheet(round, settlements)
    checkpoint = proofs.newest()
    sealed = proofs.under(checkpoint, _entries(round, aliases, events, duties, sheet))
    content: dict[str, Any] = {
        "format": FORMAT,
        "round": _round(round, aliases),
        "house": _house(round),
        "reader": {"role": reader.role, "withheld": reader.withheld},
        "log": _log(checkpoint, sealed, kept),
        "entries": [_entry(one, shown=reader.log) for one in sealed],
        "events": events,
        "gaps": _gaps(round),
        "sheet": sheet,
        "held": [],
        "findings": [],
        "revisions": money.revisions_of(settlements, balances=reader.balances),
        "flags": _flags(round),
        "duties": duties,
        "people": [],
        "dispute": None if dispute is None else _dispute(dispute),
    }
    content["people"] = _people(content, names=reader.names)
    return content


def unfill(content: dict[str, Any]) -> None:
    """Leave out every sentence, of which some may have been put in before one could not be."""
    content["held"], content["findings"] = [], []
    if content["sheet"] is not None:
        content["sheet"]["said"] = []
    for revision in content["revisions"]:
        revision["said"] = []
    for flag in content["flags"]:
        flag["th"] = flag["en"] = ""


def stamp(at: datetime | None) -> str | None:
    return None if at is None else log.stamp(at)


def text(key: UUID | None) -> str | None:
    return None if key is None else str(key)


def _round(round: Round, aliases: Collection[UUID]) -> dict[str, Any]:
    return {
        "id": str(round.id),
        "aliases": [str(key) for key in aliases],
        "table": round.table.code,
        "currency": round.table.currency,
        "session": str(round.session_id),
        "number": round.number,
        "standing": str(round.standing),
        "reasons": list(round.reasons),
        "in_dispute": round.in_dispute,
        "opened_at": stamp(round.opened_at),
        "closed_at": stamp(round.closed_at),
        "gaming_day": round.gaming_day.isoformat() if round.gaming_day else None,
        "record": round.record,
    }


# -- the log ---------------------------------------------------------------------------------------------------


def _house(round: Round) -> dict[str, Any]:
    """The house by the zone and start hour of the round's gaming day, or of the day in which its first event came."""
    start = days.start_hour_of(round.gaming_day or days.of(round.created_at))
    return {"code": settings.PROPERTY["code"], "zone": start.zone, "day_start_hour": start.hour}


def _entries(
    round: Round,
    aliases: Sequence[UUID],
    events: Sequence[Mapping[str, Any]],
    duties: Sequence[Mapping[str, Any]],
    sheet: Mapping[str, Any] | None,
) -> list[LogEntry]:
    """The entries of the round, of its sheet, of the sign-offs it cites, and of who came on duty for it."""
    table, signatures = f"tables/{round.table.code}", {event["signature"] for event in events} - {None}
    sources = {event["source"].removeprefix("/") for event in events if event["device_seq"] is not None}
    wanted = (
        Q(round__in=[round.id, *aliases]) & ~Q(action__in=READINGS)
        | Q(subject__in=[f"signatures/{key}" for key in signatures], action="signature.given")
        | Q(
            subject=table,
            action__in=["table.opened", "duty.changed"],
            recorded_at__gte=round.session.opened_at,
        )
        | Q(subject__in=sources, action="gap.waived", recorded_at__gte=round.created_at)
    )
    if sheet is not None:
        wanted |= Q(subject=f"rule-sheets/{sheet['id']}", action__in=["sheet.proposed", "sheet.approved"])
        wanted |= Q(subject=table, action="sheet.put_in_force")
    found = LogEntry.objects.filter(wanted, origin=log.log_name()).order_by("id")
    came_on = {duty["on_at"] for duty in duties}
    last = max((str(event["recorded_at"]) for event in events), default="")
    kept = [entry for entry in found if _belongs(entry, round, came_on=came_on, last=last)]
    in_force = [entry for entry in kept if entry.action == "sheet.put_in_force"]
    # Of the sheets that came into force at the table, the one in force at the opening and the one before it.
    older = sorted(in_force, key=lambda entry: str(_data(entry).get("in_force_from", "")))[:-2]
    return [entry for entry in kept if entry not in older]


def _belongs(entry: LogEntry, round: Round, *, came_on: Collection[str], last: str) -> bool:
    if entry.action in ("table.opened", "duty.changed"):
        return log.stamp(entry.recorded_at) in came_on
    if entry.action == "gap.waived":
        return log.stamp(entry.recorded_at) <= max(last, stamp(round.closed_at) or "")
    if entry.action == "sheet.put_in_force" and round.opened_at is not None:
        from_ = _data(entry).get("in_force_from", "")
        return not from_ or datetime.fromisoformat(from_) <= round.opened_at
    return True


def _data(entry: LogEntry) -> dict[str, Any]:
    """What an entry says; nothing where its bytes were spoilt."""
    try:
        return dict(json.loads(bytes(entry.bytes))["data"])
    except (ValueError, KeyError, TypeError):
        return {}


def _entry(sealed: Sealed, *, shown: bool) -> dict[str, Any]:
    return {
        "index": sealed.index,
        "hash": sealed.leaf.hex(),
        "proof": [node.hex() for node in sealed.proof],
        "bytes": bytes(sealed.entry.bytes).decode(errors="replace") if shown else None,
    }


def _log(checkpoint: Checkpoint, sealed: Sequence[Sealed], kept: Sequence[int]) -> dict[str, Any]:
    """The newest note, and proofs that the log only grew from the first that covered the round, and from those kept."""
    last = max((one.index for one in sealed), default=0)
    notes_of = Checkpoint.objects.filter(origin=checkpoint.origin, size__lt=checkpoint.size)
    first = notes_of.filter(size__gt=last).order_by("size").first()
    sizes = {*kept, *([first.size] if first else [])} - {checkpoint.size}
    older = list(notes_of.filter(size__in=sizes).order_by("size"))
    if {one.size for one in older} != sizes:
        raise Refusal("invalid_value", fields={"kept": "no checkpoint of that size was signed"})
    store = Store(folder=Path(settings.CHECKPOINT_FOLDER), key_file=Path(settings.SEAL_KEY_FILE))
    return {
        "checkpoint": checkpoint.note,
        "key": _key(store, checkpoint.origin),
        "growth": [
            {
                "checkpoint": one.note,
                "proof": [
                    node.hex()
                    for node in seal.consistency(one.size, size=checkpoint.size, origin=checkpoint.origin)
                ],
            }
            for one in older
        ],
    }


def _key(store: Store, origin: str) -> str | None:
    """The public key as it was exported; a reader should have it from elsewhere."""
    try:
        found = store.verifier_key(origin)
        return None if found is None or not signed_notes.public_key(found) else found
    except (OSError, signed_notes.BadNote):
        return None


# -- people, sheet, flags, dispute -----------------------------------------------------------------------------


def _duties(round: Round) -> list[dict[str, Any]]:
    found = Duty.objects.filter(session=round.session_id)
    if round.closed_at is not None:
        found = found.filter(on_at__lte=round.closed_at)
    if round.opened_at is not None:
        found = found.exclude(off_at__lt=round.opened_at)
    return [
        {
            "person": str(duty.person_id),
            "role": duty.role,
            "on_at": stamp(duty.on_at),
            "off_at": stamp(duty.off_at),
        }
        for duty in found.order_by("on_at", "role", "id")
    ]


def _people(content: Mapping[str, Any], *, names: bool) -> list[dict[str, Any]]:
    """Whoever acted; with badge and name for readers who may know them."""
    ids = {duty["person"] for duty in content["duties"]}
    ids |= {event[who] for event in content["events"] for who in ("person", "signer")}
    ids |= {revision[who] for revision in content["revisions"] for who in ("acted_by", "approved_by")}
    dispute = content["dispute"] or {"proposals": []}
    ids |= {dispute.get(who) for who in ("raised_by", "claimed_by", "decided_by")}
    ids |= {proposal["proposed_by"] for proposal in dispute["proposals"]}
    return [
        {
            "id": str(person.id),
            "role": str(person.role),
            "badge": person.badge if names else None,
            "name": person.display_name if names else None,
        }
        for person in Person.objects.filter(pk__in=ids - {None}).order_by("id")
    ]


def _sheet(round: Round, settlements: Sequence[Settlement]) -> dict[str, Any] | None:
    """The sheet that judged the round; before that, the one in force when it opened."""
    sheet = next((one.sheet for one in reversed(settlements) if one.sheet is not None), None)
    if sheet is None and round.opened_at is not None:
        (in_force,) = rule_sheets.in_force([(round.table_id, round.opened_at)])
        sheet = RuleSheet.objects.get(pk=in_force) if in_force is not None else None
    if sheet is None:
        return None
    return {
        "id": str(sheet.id),
        "name": sheet.name,
        "canonical": sheet.canonical,
        "sha256": sheet.sha256,
        "said": [],
    }


def _gaps(round: Round) -> list[dict[str, Any]]:
    touching = devices.gaps_touching([round]).get(round.id, [])
    return [gap._asdict() for gap in touching]


def _flags(round: Round) -> list[dict[str, Any]]:
    return [
        {
            "id": str(flag.id),
            "kind": flag.kind,
            "subject": flag.subject,
            "detail": flag.detail,
            "state": str(flag.state),
            "raised_at": stamp(flag.raised_at),
            "close_code": flag.close_code,
            "dispute": text(flag.dispute),
            "th": "",
            "en": "",
        }
        for flag in Flag.objects.filter(round=round).order_by("kind", "subject")
    ]


def _dispute(dispute: Dispute) -> dict[str, Any]:
    decision = Decision.objects.filter(dispute=dispute).annotate(chosen=F("proposal__ordinal")).first()
    return {
        "id": str(dispute.id),
        "subject": dispute.subject,
        "reason": {"code": dispute.reason_code, "text": dispute.reason},
        "raised_by": str(dispute.raised_by_id),
        "raised_at": stamp(dispute.raised_at),
        "deadline_at": stamp(dispute.deadline_at),
        "money_at_risk": dispute.money_at_risk,
        "currency": dispute.currency,
        "needs_two": dispute.needs_two,
        "state": str(dispute.state),
        "follows": text(dispute.follows_id),
        "claimed_by": text(dispute.claimed_by_id),
        "decided_by": text(decision.decided_by_id) if decision else None,
        "decided_at": stamp(decision.decided_at) if decision else None,
        "chosen": decision.chosen if decision else None,
        "outcome": decision.outcome if decision else None,
        "settlement": text(decision.settlement) if decision else None,
        "proposals": [
            {
                "ordinal": one.ordinal,
                "proposed_by": str(one.proposed_by_id),
                "proposed_at": stamp(one.proposed_at),
                "facts": one.facts,
                "consequences": one.consequences,
                "sha256": one.sha256,
                "reason_code": one.reason_code,
                "note": one.note,
                "withdrawn_at": stamp(one.withdrawn_at),
            }
            for one in Proposal.objects.filter(dispute=dispute).order_by("ordinal")
        ],
    }
