"""What people made of a played night: flags raised and answered, disputes decided or still open, the log sealed.

All of it by the acts of the service, each under the person who does it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from django.test import override_settings
from django.utils import timezone

from audit import analytics, disputes, flags
from audit.checkpoints import Store
from audit.models import Decision, Dispute, Flag
from casino import events, people
from casino.events import Fact
from casino.models import Person, Round
from settlement import days
from settlement.models import Settlement
from tests.audit import dayend
from tests.audit.sealing import a_store, sealed


@dataclass
class Evidence:
    """``folder`` is what lies outside of the database; ``checkpoints`` what was exported on the way, oldest first."""

    folder: Path
    staff: dict[str, Person]
    other_card: Callable[[UUID], dict[str, Any]]
    send_chips: Callable[[], UUID]
    checkpoints: list[str] = field(default_factory=list)

    @property
    def store(self) -> Store:
        return a_store(self.folder)

    def gather(self) -> dict[str, UUID]:
        """Seal, flag, answer, dispute and decide; return the rounds and disputes with a story."""
        self.seal()
        self._read_flags()
        rounds = list(
            Round.objects.filter(standing="settled", table__code="PD01", in_dispute=False).order_by("number")
        )
        untouched = [
            round for round in rounds if Settlement.objects.filter(round=round).count() == 1
        ]  # fmt: skip
        by_two = self._decide_by_two(untouched[1])
        alone = self._decide_alone(untouched[2])
        waiting = self._propose(untouched[3], by="A02").id
        self.seal()
        self._answer_flags()
        self._be_read()
        with self.acting("V01"):
            disputes.raise_dispute(
                round=untouched[4], by=self.staff["V01"], reason_code="procedure", reason="", subject="p1"
            )
        self._read_flags()
        self._look_at_yesterday()
        with override_settings(
            CHECKPOINT_FOLDER=str(self.store.folder), SEAL_KEY_FILE=str(self.store.key_file)
        ):
            ended = dayend.write(
                manager=self.staff["M01"],
                supervisor=self.staff["S01"],
                auditors=(self.staff["A11"], self.staff["A12"]),
            )
        ended["in_transit"] = self.send_chips()
        self.seal()
        return ended | {
            "disputed": untouched[1].id, "by_two": by_two.dispute_id, "decision": by_two.id,
            "alone": alone.dispute_id, "waiting": waiting,
        }  # fmt: skip

    def acting(self, badge: str) -> Any:
        return events.act(
            actor=people.principal_of(self.staff[badge]), request_id="answered", now=timezone.now()
        )

    def seal(self) -> None:
        self.checkpoints.append(sealed(self.store))

    def _be_read(self) -> None:
        """A long evening of reading: more leaves than one kept subtree has."""
        with self.acting("A02"):
            told: dict[str, Any] = {
                "filters": {},
                "before": None,
                "entries": 0,
                "newest": None,
                "oldest": None,
            }
            events.announce([Fact("log.read", "log", told | {"before": page}) for page in range(1, 300)])

    def _look_at_yesterday(self) -> None:
        """Every screen looks at the day that is over."""
        now = timezone.now()
        yesterday = days.of(now) - timedelta(days=1)
        with self.acting("A01"):
            analytics.ask(day=yesterday)
        analytics.work_on(day=yesterday, now=now, request_id="analytics")

    def _read_flags(self) -> None:
        with events.act(actor=events.SERVICE, request_id="flags", now=timezone.now()):
            while flags.read_on():
                pass

    def _answer_flags(self) -> None:
        closed, disputed = Flag.objects.filter(state="open", round__in_dispute=False).order_by("id")[:2]
        with self.acting("A01"):
            flags.close(flag=closed.id, by=self.staff["A01"], code="explained", reason="the deck was new")
        assert disputed.round is not None
        with self.acting("V01"):
            disputes.raise_dispute(
                round=disputed.round, by=self.staff["V01"], reason_code="flag", reason="", flag=disputed.id
            )

    def _propose(self, round: Round, *, by: str) -> Dispute:
        with self.acting("V01"):
            raised = disputes.raise_dispute(
                round=round, by=self.staff["V01"], reason_code="card", reason="the guest saw another card"
            )
        with self.acting(by):
            token = disputes.claim(dispute=raised.id, by=self.staff[by]).claim_token
        assert token is not None
        fact = {"kind": "card_ruled", **self.other_card(round.id), "reason": "dispute"}
        with self.acting(by):
            disputes.propose(
                dispute=raised.id, by=self.staff[by], token=token, facts=[fact], reason_code="card_misread",
                note="seen twice",
            )  # fmt: skip
        return raised

    def _decide_by_two(self, round: Round) -> Decision:
        raised = self._propose(round, by="A01")
        standing = Dispute.objects.get(pk=raised.pk).proposals.get(withdrawn_at=None)
        with self.acting("A02"):
            return disputes.decide(dispute=raised.id, by=self.staff["A02"], sha256=standing.sha256)

    def _decide_alone(self, round: Round) -> Decision:
        with self.acting("V01"):
            raised = disputes.raise_dispute(
                round=round, by=self.staff["V01"], reason_code="count", reason="", subject="p1"
            )
        assert not raised.needs_two
        with self.acting("A01"):
            token = disputes.claim(dispute=raised.id, by=self.staff["A01"]).claim_token
        assert token is not None
        with self.acting("A01"):
            return disputes.propose_and_decide(
                dispute=raised.id, by=self.staff["A01"], token=token, facts=[{"kind": "stands"}],
                reason_code="as_recorded", note="",
            )  # fmt: skip


def copied(folder: Path, into: Path) -> Store:
    """Return a copy of what lies outside of a house, for a copy of the house."""
    shutil.copytree(folder, into, dirs_exist_ok=True)
    return a_store(into)
