"""A dossier's page for people: the JSON's content set in Thai and English. Nothing is worked out here but dates.

Everything reaches the page as data, never as markup, so no note can change how it is set.
"""

from __future__ import annotations

import functools
import importlib.util
import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import typst

from audit.dossier.terms import EVENTS, ROLES, STANDING, WITHHELD
from audit.verify import derivation, signed_notes
from settlement import explanations
from settlement.explanations.terms import MINUS

TEMPLATE = Path(__file__).with_name("page.typ")
MONTHS = ("ม.ค.", "ก.พ.", "มี.ค.", "เม.ย.", "พ.ค.", "มิ.ย.", "ก.ค.", "ส.ค.", "ก.ย.", "ต.ค.", "พ.ย.", "ธ.ค.")
BUDDHIST_ERA = 543


def pdf(content: Mapping[str, Any], *, made_at: datetime) -> bytes:
    """Return the page as PDF; the same content made at the same instant gives the same bytes."""
    written: bytes = typst.compile(
        str(TEMPLATE),
        font_paths=[fonts()],
        ignore_system_fonts=True,
        timestamp=int(made_at.timestamp()),
        sys_inputs={"dossier": json.dumps(_Page(content).shown(), ensure_ascii=False)},
    )
    return written


@functools.cache
def fonts() -> str:
    """Return the folder of the Thai letters that are shipped with the service."""
    found = importlib.util.find_spec("fontpkg_sarabun")
    assert found is not None
    assert found.origin is not None
    return str(Path(found.origin).parent / "files")


class _Page:
    """What the template shows, as strings."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        self.content = content
        self.round = content["round"]
        self.zone = ZoneInfo(content["house"]["zone"])
        self.people = {person["id"]: person for person in content["people"]}

    def shown(self) -> dict[str, Any]:
        content, round = self.content, self.round
        return {
            "title": [f"โต๊ะ {round['table']}", f"Table {round['table']}"],
            "number": str(round["number"] or "?"),
            "round": round["id"],
            "standing": list(STANDING[round["standing"]]),
            "in_dispute": round["in_dispute"],
            "facts": self._facts(),
            "withheld": [list(WITHHELD[name]) for name in content["reader"]["withheld"]],
            "reader": list(ROLES.get(content["reader"]["role"], (content["reader"]["role"],) * 2)),
            "dispute": self._dispute(),
            "held": [[item["th"], item["en"]] for item in content["held"]],
            "revisions": [self._revision(revision) for revision in content["revisions"]],
            "findings": [[item["th"], item["en"]] for item in content["findings"]],
            "cards": self._cards(),
            "events": [self._event(row) for row in content["events"]],
            "people": self._on_duty(),
            "sheet": self._sheet(),
            "log": self._log(),
        }

    def _facts(self) -> list[list[str]]:
        round = self.round
        facts = [
            ["เปิดรอบ", "Opened", self._when(round["opened_at"])],
            ["ปิดรอบ", "Closed", self._when(round["closed_at"])],
            ["วันบัญชี", "Gaming day", self._day(round["gaming_day"])],
            ["บ่อน", "House", self.content["house"]["code"]],
        ]
        return [fact for fact in facts if fact[2]]

    # -- who and when

    def _when(self, written: str | None) -> str:
        """``29 พ.ย. 2569 22:14:03 (2026-11-29)`` in the house's zone."""
        if written is None:
            return ""
        at = datetime.fromisoformat(written).astimezone(self.zone)
        return f"{at.day} {MONTHS[at.month - 1]} {at.year + BUDDHIST_ERA} {at:%H:%M:%S} ({at:%Y-%m-%d})"

    def _day(self, written: str | None) -> str:
        if written is None:
            return ""
        day = datetime.fromisoformat(written)
        return f"{day.day} {MONTHS[day.month - 1]} {day.year + BUDDHIST_ERA} ({written})"

    def _clock(self, written: str) -> str:
        at = datetime.fromisoformat(written).astimezone(self.zone)
        return f"{at:%H:%M:%S}.{at.microsecond // 1000:03d}"

    def _who(self, key: str | None) -> str:
        person = self.people.get(key or "")
        if person is None:
            return ""
        role = ROLES.get(person["role"], (person["role"],) * 2)[0]
        if person["name"] is None:
            return f"{role} {person['id'][:8]}"
        return f"{person['name']} ({person['badge']})"

    def _briefly(self, key: str | None) -> str:
        person = self.people.get(key or "", {"badge": None, "id": key or ""})
        return str(person["badge"] or person["id"][:8])

    def _on_duty(self) -> list[list[str]]:
        return [
            [
                *ROLES[duty["role"]],
                self._who(duty["person"]),
                self._when(duty["on_at"]),
                self._when(duty["off_at"]),
            ]
            for duty in self.content["duties"]
        ]

    # -- money

    def _money(self, amount: int) -> str:
        return explanations.money(amount, self.round["currency"])

    def _signed(self, amount: int) -> str:
        return f"+{self._money(amount)}" if amount > 0 else self._money(amount)

    def _revision(self, revision: Mapping[str, Any]) -> dict[str, Any]:
        said = {item["wager"]: item for item in revision["said"]}
        lines = [dict(zip(derivation.LINE_FIELDS, line, strict=True)) for line in revision["lines"]]
        return {
            "number": str(revision["revision"]),
            "outcome": list(STANDING[revision["outcome"]]),
            "at": self._when(revision["settled_at"]),
            "why": self._why(revision),
            "net": self._signed(revision["house_net"]),
            "lines": [self._line(line, said.get(line["wager"])) for line in lines],
            "journals": [self._journal(journal) for journal in revision["journals"]],
        }

    def _why(self, revision: Mapping[str, Any]) -> list[str]:
        if revision["because"]:
            return [f"ตามคำตัดสิน {revision['because']}", f"by the decision {revision['because']}"]
        if revision["acted_by"]:
            two = f"{self._who(revision['acted_by'])}, {self._who(revision['approved_by'])}"
            return [f"แก้ไขโดย {two}", f"corrected by {two}"]
        return ["", ""]

    def _line(self, line: Mapping[str, Any], said: Mapping[str, str] | None) -> dict[str, Any]:
        return {
            "wager": line["wager"],
            "hand": list(explanations.hand(line["hand"]))
            if line["wager"] != derivation.BANK
            else ["เจ้ามือ", "bank"],
            "owner": line["owner_ref"].removeprefix("player:"),
            "cards": line["cards"],
            "dealer": line["dealer_cards"],
            "stake": self._money(line["stake"]),
            "net": self._signed(line["net"]),
            "won": (line["net"] > 0) - (line["net"] < 0),
            "said": [said["th"], said["en"]] if said else ["", ""],
        }

    def _journal(self, journal: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "kind": journal["kind"],
            "id": journal["id"],
            "day": journal["gaming_day"],
            "entries": [
                [
                    entry["account"],
                    entry["wager"],
                    self._signed(entry["amount"]),
                    "" if entry["after"] is None else self._money(entry["after"]),
                ]
                for entry in journal["entries"]
            ],
        }

    # -- cards and events

    def _cards(self) -> list[dict[str, Any]]:
        """Every hand, and of each of its slots what each feed read there, what was ruled, and what counts."""
        hands: dict[str, list[dict[str, Any]]] = {}
        for slot in (self.round["record"] or {}).get("slots", []):
            hands.setdefault(slot["slot"].partition(".")[0], []).append(_slot(slot))
        return [{"hand": list(explanations.hand(name)), "slots": slots} for name, slots in hands.items()]

    def _event(self, row: Mapping[str, Any]) -> list[Any]:
        who = self._briefly(row["person"])
        signed = f" ✓ {self._briefly(row['signer'])}" if row["signed"] else ""
        source = row["source"].rpartition("/")[2] if row["device_seq"] is not None else row["source"]
        number = "" if row["device_seq"] is None else f" #{row['device_seq']}"
        return [
            str(row["seq"]),
            self._clock(row["instant"]),
            f"{source}{number}",
            *EVENTS.get(row["kind"], (row["kind"],) * 2),
            _plainly(row["data"]),
            f"{who}{signed}",
            row["late"],
        ]

    # -- dispute, sheet, log

    def _dispute(self) -> dict[str, Any] | None:
        dispute = self.content["dispute"]
        if dispute is None:
            return None
        return {
            "about": list(explanations.place(dispute["subject"])),
            "reason": f"{dispute['reason']['code']}: {dispute['reason']['text']}",
            "raised": f"{self._who(dispute['raised_by'])}, {self._when(dispute['raised_at'])}",
            "deadline": self._when(dispute["deadline_at"]),
            "risk": self._money(dispute["money_at_risk"]),
            "decided": (
                f"{self._who(dispute['decided_by'])}, {self._when(dispute['decided_at'])}: {dispute['outcome']}"
                if dispute["decided_at"]
                else ""
            ),
            "proposals": [
                [
                    str(one["ordinal"]),
                    self._who(one["proposed_by"]),
                    " · ".join(
                        f"{fact.get('kind', '')} {_plainly(_without_kind(fact))}" for fact in one["facts"]
                    ),
                    one["reason_code"],
                    one["note"],
                    one["withdrawn_at"] is not None,
                ]
                for one in dispute["proposals"]
            ],
        }

    def _sheet(self) -> dict[str, Any] | None:
        sheet = self.content["sheet"]
        if sheet is None:
            return None
        return {
            "name": sheet["name"],
            "sha256": sheet["sha256"],
            "said": [[item["th"], item["en"]] for item in sheet["said"]],
        }

    def _log(self) -> dict[str, Any]:
        log = self.content["log"]
        try:
            head = signed_notes.read(log["checkpoint"])
            size, origin = f"{head.size:,}", head.origin
        except signed_notes.BadNote:
            size, origin = "?", "?"
        return {
            "origin": origin,
            "size": size,
            "note": log["checkpoint"],
            "key": log["key"] or "",
            "entries": [
                [str(entry["index"]), _action(entry["bytes"]), entry["hash"]]
                for entry in self.content["entries"]
            ],
        }


FIRST = ("wager", "hand", "hands", "position", "card", "owner", "stake")
"""What is said first of an event's data, in this order."""


def _slot(slot: Mapping[str, Any]) -> dict[str, Any]:
    otherwise = {card for _, _, card in slot["reads"]} - {slot.get("card")}
    return {
        "position": int(slot["slot"].partition(".")[2]),
        "reads": [[source, card] for source, _, card in slot["reads"]],
        "ruled": slot.get("ruled", ""),
        "card": slot.get("card", ""),
        "removed": slot.get("removed", False),
        "doubt": bool(otherwise) or slot.get("contested", False) or slot.get("silent", False),
    }


def _plainly(data: Mapping[str, Any]) -> str:
    """Say an event's data on one line: its values, amounts as amounts and cards as people read them."""
    names = [name for name in FIRST if name in data]
    names += sorted(name for name in data if name not in FIRST)
    return " · ".join(_value(name, data[name]) for name in names if data[name] not in ("", None))


def _value(name: str, value: Any) -> str:
    if isinstance(value, Mapping) and set(value) == {"amount", "currency"}:
        return explanations.money(value["amount"], value["currency"])
    if name == "card" and isinstance(value, str):
        return explanations.card(value)
    if isinstance(value, Mapping):
        return " ".join(_value(key, item) for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(_value("", item) for item in value)
    if name in ("hand", "wager", "text", "reason", "card", "account") or not name:
        return str(value)
    return f"{name} {str(value).replace('-', MINUS) if isinstance(value, int) else value}"


def _without_kind(fact: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fact.items() if name != "kind"}


def _action(written: str | None) -> str:
    if written is None:
        return ""
    try:
        return str(json.loads(written)["action"])
    except (ValueError, KeyError, TypeError):
        return "?"
