"""A small house to try things in: people, tables with their rule sheets, devices, a few wallets.

Everything is made through the same acts as in any house, by the service itself, and only where it is missing: what
people changed since stays changed. Passwords, PINs and device tokens are random; the house keeps hashes, so they are
also kept in a file that only its owner can read.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings

from casino import devices, events, people, tables
from casino.models import Device, Person, Table
from casino.people import Newcomer, Rights
from deploy.local import paths
from deploy.local.start_errors import Trouble
from settlement import cashier, rule_sheets, table_floats
from settlement.models import CountKind, TableRules
from settlement.table_floats import BlindCount

SECRETS = paths.FOLDER / "demonstration.json"
CAGE = "C1"
FLOAT = {1_000_000: 10, 100_000: 100, 10_000: 400, 2_000: 500}
"""What a table opens with, pieces by denomination in satang: 250,000 baht."""
VAULT = 2_500_000_000


@dataclass(frozen=True, slots=True)
class Staff:
    badge: str
    name: str
    role: str
    permissions: tuple[str, ...] = ()


STAFF = (
    *(
        Staff(f"D{number:02}", name, "dealer")
        for number, name in enumerate(
            ("Arun", "Boonsri", "Chai", "Duangjai", "Ekachai", "Fah", "Gamon", "Hathai"), 1
        )
    ),
    Staff("S01", "Somsak", "supervisor"),
    Staff("S02", "Suda", "supervisor"),
    Staff("S03", "Siriporn", "supervisor"),
    Staff("M01", "Malee", "manager", ("rules_author",)),
    Staff("M02", "Manop", "manager", ("rules_approver",)),
    Staff("V01", "Wichai", "surveillance"),
    Staff("C01", "Kanya", "cashier"),
    Staff("C02", "Kitti", "cashier"),
    Staff("A01", "Anong", "auditor", ("see_expected",)),
    Staff("A02", "Prasert", "auditor"),
    Staff("X01", "Niran", "administrator"),
    # Whoever carries chips neither asks for them nor counts them in; who counts boxes; who keeps the accounts.
    Staff("R01", "Rung", "dealer", ("runner",)),
    Staff("R02", "Rattana", "supervisor", ("runner",)),
    Staff("C03", "Kamol", "cashier", ("counter",)),
    Staff("C04", "Kwan", "cashier", ("counter",)),
    Staff("M03", "Mongkol", "manager", ("accounting",)),
    Staff("A03", "Apinya", "auditor", ("accounting",)),
    Staff("A04", "Arthit", "auditor", ("compliance",)),
)
FOUNDERS = ("X01", "M01")
"""An administrator and a manager, whom the service itself takes on; they take on everybody else."""

TABLES: Mapping[str, dict[str, Any]] = {
    "PD01": {"sheet": {"preset": "seed_base", "options": {}}, "camera": True},
    "PD02": {"sheet": {"preset": "seed_base", "options": {"junk_draw": "forced"}}, "camera": True},
    "PD03": {"sheet": {"preset": "seed_sam_deng", "options": {}}, "camera": False},
    "PD04": {"sheet": {"preset": "seed_table", "options": {"shared_hand": "after_dealer"}}, "camera": False},
    "PD05": {
        "sheet": {"preset": "seed_table", "options": {"ace_in_run": "high", "junk_draw": "forced"}},
        "camera": True,
    },
    "PD06": {
        "sheet": {
            "preset": "thai_app",
            "options": {
                "commission": {
                    "rate_bp": 500,
                    "on": "net_win",
                    "rounding": "half_up",
                    "unit": 100,
                    "side": "guest",
                }
            },
        },
        "camera": False,
    },
}

WALLETS = {"A17": 5_000_000, "B08": 2_000_000, "K88": 20_000_000}
"""Guests with a wallet, and what they paid in, in satang."""


@dataclass(slots=True)
class Keys:
    """What the house keeps only as hashes: ``people`` by badge (password, pin), ``devices`` by code (token)."""

    path: Path
    people: dict[str, dict[str, str]] = field(default_factory=dict)
    devices: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Keys:
        """Return the keys of the file, none where there is no file."""
        try:
            kept = json.loads(path.read_text())
        except FileNotFoundError:
            return cls(path)
        return cls(path, kept["people"], kept["devices"])

    def save(self) -> None:
        """Replace the file in one step; its owner alone can read it."""
        handle, temporary = tempfile.mkstemp(dir=self.path.parent, prefix=".keys.")
        try:
            with os.fdopen(handle, "w") as file:
                json.dump({"people": self.people, "devices": self.devices}, file, indent=1)
            os.replace(temporary, self.path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise

    def token(self, code: str) -> str:
        """Return a device's token; Trouble where the house knows the device and this file does not."""
        if code not in self.devices:
            raise Trouble(f"The token of {code} is not in {self.path.name}: it was enrolled elsewhere.")
        return self.devices[code]


@contextmanager
def _act(now: datetime) -> Iterator[None]:
    with events.act(actor=events.SERVICE, request_id="house", now=now):
        yield


def furnish(
    *,
    keys: Keys,
    floor: Mapping[str, Mapping[str, Any]],
    wallets: Mapping[str, int],
    codes: Mapping[str, Sequence[str]],
    reopen: bool,
    now: datetime,
) -> None:
    """Make what is missing of a house: its people, the tables of ``floor`` (sheet and camera) open and with the
    devices of ``codes``, and ``wallets`` with what was paid in (satang). ``reopen``: tables that were closed too."""
    staff = _hire(keys=keys, now=now)
    currency: str = settings.PROPERTY["currency"]
    with _act(now):
        cashier.stock(cage=CAGE, amount=VAULT, document="demonstration")
        for ref, amount in wallets.items():
            cashier.deposit(ref=ref, amount=amount, cage=CAGE, document=f"demonstration-{ref}")
    for number, (code, wanted) in enumerate(sorted(floor.items())):
        with _act(now):
            known = Table.objects.filter(code=code).first()
            table = known or tables.add(
                code=code,
                currency=currency,
                camera=wanted["camera"],
                by=staff["M01"],
                approved_by=staff["M02"],
            )
            _enrol(table, codes.get(code, ()), keys=keys, by=staff["X01"])
            _rule(table, wanted["sheet"], managers=(staff["M01"], staff["M02"]), now=now)
            if known is None or (reopen and table.state == Table.State.CLOSED):
                _open(table, dealer=staff[f"D{number % 8 + 1:02}"], supervisor=staff[f"S{number % 3 + 1:02}"])


def _hire(*, keys: Keys, now: datetime) -> dict[str, Person]:
    known = {person.badge: person for person in Person.objects.filter(badge__in=[who.badge for who in STAFF])}
    missing = [who for who in STAFF if who.badge not in known]
    missing.sort(key=lambda who: who.badge not in FOUNDERS)
    if not missing:
        return known
    with _act(now):
        for who in missing:
            kept = {"role": who.role, "password": secrets.token_urlsafe(12), "pin": _pin()}
            keys.people[who.badge] = kept
            if who.badge in FOUNDERS:
                known[who.badge] = people.hire(
                    badge=who.badge,
                    display_name=who.name,
                    role=who.role,
                    password=kept["password"],
                    pin=kept["pin"],
                    permissions=who.permissions,
                )
                continue
            administrator, manager = (known[badge] for badge in FOUNDERS)
            _, _, code = people.take_on(
                Newcomer(who.badge, who.name, staff_no=f"demonstration-{who.badge}"),
                Rights(who.role, who.permissions),
                by=administrator,
                approved_by=manager,
            )
            known[who.badge] = people.take_over(code, password=kept["password"], pin=kept["pin"])
        keys.save()  # before the commit: a hash without its secret would be lost, a secret without its hash is not
    return known


def _pin() -> str:
    """Six digits, three of them different at least."""
    while len(set(pin := f"{secrets.randbelow(10**6):06}")) < 3:
        pass
    return pin


def _enrol(table: Table, codes: Sequence[str], *, keys: Keys, by: Person) -> None:
    known = {device.code: device for device in Device.objects.filter(code__in=codes)}
    for code in codes:
        device = known.get(code)
        if device is None:
            kind = "camera" if "-camera" in code else "terminal"
            _, enrolment_code = devices.admit(code=code, kind=kind, table=table, by=by)
            _, keys.devices[code] = devices.come_in(enrolment_code)
        elif hashlib.sha256(keys.token(code).encode()).digest() != bytes(device.token_sha256):
            raise Trouble(f"The token of {code} in {keys.path.name} is another house's.")
    if set(codes) - known.keys():
        keys.save()


def _rule(table: Table, wanted: Mapping[str, Any], *, managers: tuple[Person, Person], now: datetime) -> None:
    """Put the sheet in force at a table that has none: proposed and approved by two managers."""
    if TableRules.objects.filter(table=table).exists():
        return
    author, approver = managers
    rules = rule_sheets.read(preset=wanted["preset"], options=wanted["options"])
    sheet = rule_sheets.of_sha256(rules.sha256) or rule_sheets.propose(
        name=_name(wanted), rules=rules, by=author
    )
    if sheet.approved_at is None:
        rule_sheets.approve(sheet=sheet.id, sha256=rules.sha256, by=approver)
    rule_sheets.put_in_force(table=table, sheet=sheet.id, from_=now, by=author, approved_by=approver)


def _name(wanted: Mapping[str, Any]) -> str:
    return " ".join([wanted["preset"], *sorted(wanted["options"])])


def _open(table: Table, *, dealer: Person, supervisor: Person) -> None:
    for person in (dealer, supervisor):
        count = BlindCount(by=person, pieces=FLOAT)
        table_floats.count(table=table, kind=CountKind.OPENER, by=person, count=count)
    table_floats.open_table(table=table, dealer=dealer, supervisor=supervisor, cage=CAGE)


def device_codes(floor: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return the devices that each table has: a terminal, and a camera where it says so."""
    return {
        code: [f"{code}-terminal", *([f"{code}-camera"] if wanted["camera"] else [])]
        for code, wanted in floor.items()
    }
