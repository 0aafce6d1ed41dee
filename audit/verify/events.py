"""V5, what was reported: each event of a dossier is the one that was sealed, and says what was sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from audit.verify.export import Failure, canonical, sha256
from audit.verify.log_proofs import Entry


def instant(written: str) -> datetime:
    return datetime.fromisoformat(written)


def are_as_sealed(content: Mapping[str, Any], entries: Sequence[Entry]) -> None:
    """Each event stands in one sealed entry of its round, with this number, place, kind and hash; and no other does."""
    sealed: dict[tuple[str, int], tuple[dict[str, Any], str]] = {}
    for entry in entries:
        if entry.action != "round.recorded":
            continue
        for event in entry.data["events"]:
            key = (str(entry.said["round"]), event["place"])
            if key in sealed:
                raise Failure("V5", f"entries/{entry.place}", f"event {event['place']} was sealed twice")
            sealed[key] = (event, str(entry.said["at"]))
    for row in content["events"]:
        name = f"events/{row['id']}"
        event, at = sealed.pop((row["round"], row["seq"]), ({}, ""))
        if not event:
            raise Failure("V5", name, "no sealed entry tells of it")
        for ours, theirs in (("device_seq", "seq"), ("kind", "kind"), ("sha256", "sha256")):
            if row[ours] != event[theirs]:
                raise Failure("V5", name, f"{ours} is {row[ours]}, sealed was {event[theirs]}")
        if stored_sha256(row) != event["stored_sha256"]:
            raise Failure("V5", name, "what it says, or who acted, signed and when, is not what was sealed")
        if row["recorded_at"] != at:
            raise Failure("V5", name, f"recorded at {row['recorded_at']}, sealed was {at}")
    for (round_id, place), _ in sorted(sealed.items()):
        raise Failure("V5", f"rounds/{round_id}", f"event {place} was sealed and is not here")


def have_their_hashes(content: Mapping[str, Any]) -> None:
    """Where the rest of an event's envelope is known, its bytes have the hash of what the device sent."""
    for row in content["events"]:
        if row["sent"] is None:
            continue
        written = envelope(row)
        if instant(written["time"]) != instant(row["happened_at"]):
            raise Failure("V5", f"events/{row['id']}", "happened at another time than was sent")
        if sha256(canonical(written)) != row["sha256"]:
            raise Failure("V5", f"events/{row['id']}", "what it says has another hash than what was sent")


def stored_sha256(row: Mapping[str, Any]) -> str:
    """Return the hash of an event as it is stored, which was sealed beside the hash of what was sent."""
    fields = ("kind", "data", "source", "person", "signature", "signer", "signed", "happened_at", "instant")
    said = {field: row[field] for field in fields}
    jumped = {"jumped_from": row["jumped_from"]} if "jumped_from" in row else {}
    return sha256(canonical({**said, "number": row["device_seq"], "late": int(row["late"]), **jumped}))


def envelope(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return an event as its device sent it, but for its id, which is not hashed."""
    return {
        **row["sent"],
        "source": row["source"],
        "type": f"pokdeng.{row['kind']}.v1",
        "subject": f"rounds/{row['round']}",
        "sequence": str(row["device_seq"]),
        "data": row["data"],
    }


def duties_are_as_sealed(content: Mapping[str, Any], entries: Sequence[Entry]) -> None:
    came_on = set()
    for entry in entries:
        if entry.data.get("session") != content["round"]["session"]:
            continue
        if entry.action == "table.opened":
            came_on |= {(role, entry.data[role], entry.said["at"]) for role in ("dealer", "supervisor")}
        elif entry.action == "duty.changed":
            came_on.add((entry.data["role"], entry.data["person"], entry.said["at"]))
    for duty in content["duties"]:
        if (duty["role"], duty["person"], duty["on_at"]) not in came_on:
            raise Failure("V5", f"duties/{duty['person']}", "no sealed entry tells of coming on duty then")
