"""Take a device's reports into the record.

``append`` runs the same statements for one event and for five hundred. It judges nothing: a card that should not
have been dealt is recorded like any other. What it refuses is what is no report of this device at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings

from casino import devices, events
from casino.models import Device, RoundEvent, Standing
from casino.platform.refusals import Refusal
from casino.rounds import event_rows
from casino.rounds.device_reports import NEEDS_SIGNATURE, NEVER_LATE, Answer, Report
from casino.rounds.event_rows import Refused, Taken
from casino.rounds.locked_batch import Ground, Row, Seen

NUMBERS_AHEAD = 1_000
"""How far above the table's last round number the next may lie before somebody is asked."""


def append(*, device: Device, reports: Sequence[Report], sent_at: datetime | None) -> list[Answer]:
    """Record a device's reports, in the order given; answer each one.

    ``sent_at`` is when the request was sent by the device's clock (UTC); without it an event's own time counts only
    within a minute of ours. Must run in an act. Nine statements, ten where something is refused, whatever the number
    of events and rounds.
    """
    ground = Ground(device=device, now=events.current().now, sent_at=sent_at)
    ground.lock(reports)
    batch = _Batch(ground=ground)
    answers = [batch.take(report) for report in reports]
    batch.write()
    return answers


class _Batch:
    """One call of ``append``: one report after the other, in memory."""

    def __init__(self, *, ground: Ground) -> None:
        self.ground = ground
        self.device = ground.device
        self.now = ground.now
        self.taken: list[Taken] = []
        self.refused: list[Refused] = []
        self.turned_away: list[Refused] = []
        self.highest = self.ground.last_seq
        self.jumps: dict[int, int] = {}

    def take(self, report: Report) -> Answer:
        if report.seq < 1 and report.refusal is not None:
            # It has no number of this device, so there is nothing to keep it under.
            return self._turn_away(report, report.refusal)
        seen = self.ground.seen.get(report.seq)
        if seen is not None:
            return self._again(report, seen)
        if devices.too_far(number=report.seq, highest=self.highest):
            return self._turn_away(report, Refusal("sequence_too_far", highest=self.highest))
        row = self.ground.rows.get(report.round) if report.round else None
        refusal = self.ground.refusal_of(report, row) or self._refusal_of(report, row)
        if refusal is not None and refusal.code == "table_closed":
            # The number stays free: sent again once the table is open, the event is recorded.
            return self._turn_away(report, refusal)
        if refusal is not None:
            return self._refuse(report, refusal, claims=True)
        self._record(report)
        return Answer(report.seq, "recorded")

    def _again(self, report: Report, seen: Seen) -> Answer:
        if seen.sha256 != report.sha256:
            return self._refuse(report, Refusal("sequence_reused"), claims=False)
        if seen.code:
            return Answer(report.seq, "refused", seen.code, seen.fields, seen.extra)
        return Answer(report.seq, "duplicate")

    def _turn_away(self, report: Report, refusal: Refusal) -> Answer:
        answer = Answer(report.seq, "refused", refusal.code, refusal.fields, refusal.extra)
        self.turned_away.append(Refused(report, False, answer, is_kept=False))
        return answer

    def _refuse(self, report: Report, refusal: Refusal, *, claims: bool) -> Answer:
        answer = Answer(report.seq, "refused", refusal.code, refusal.fields, refusal.extra)
        if claims:
            self.ground.seen[report.seq] = Seen(report.sha256, refusal.code, refusal.fields, refusal.extra)
            self.highest = max(self.highest, report.seq)
        elif (report.seq, report.sha256) in self.ground.kept:
            return answer
        self.ground.kept.add((report.seq, report.sha256))
        self.refused.append(Refused(report, claims, answer))
        return answer

    def _refusal_of(self, report: Report, row: Row | None) -> Refusal | None:
        if row is None:
            return Refusal("table_closed")
        if row.table != self.device.table_id:
            return Refusal(
                "other_tables_round", fields={"subject": "this round is not of the device's table"}
            )
        if report.kind == "round_opened":
            return self._open(report, row)
        return None

    def _open(self, report: Report, row: Row) -> Refusal | None:
        """Give the round its number. The same number opened as another round becomes that round's alias."""
        if row.number is not None or row.alias_of is not None or row.session != self.ground.session:
            return None
        number = report.data["number"]
        winner = self.ground.openings.get(number)
        if winner is not None:
            # An alias never stands for itself; its cards, those that came before included, are the winner's to weigh.
            row.alias_of, row.changed = winner.id, True
            row.standing, row.reasons, row.due_at = Standing.PLAYING, [], None
            if winner.standing == Standing.HELD:
                self._make_due(winner, self.now)
            return Refusal(
                "round_exists", fields={"data.number": "taken"}, round=str(winner.id), number=number
            )
        row.number, row.recorder, row.changed = number, self.device.id, True
        row.opened_at = self.ground.instant(report, row.session_opened_at)[0]
        if number > self.ground.last_number + NUMBERS_AHEAD:
            self.jumps[report.seq] = self.ground.last_number
        self.ground.last_number = max(self.ground.last_number, number)
        self.ground.openings[number] = row
        return None

    def _record(self, report: Report) -> None:
        row = self.ground.rows[report.round]  # type: ignore[index]
        stands = self.ground.rows[row.alias_of] if row.alias_of else row
        finished = stands.standing in (Standing.SETTLED, Standing.VOIDED)
        late = finished and report.kind not in NEVER_LATE
        instant, clock_off = self.ground.instant(report, row.session_opened_at)
        acted = report.person or self.ground.dealer_of(row, instant)
        signed, signer = self._sign_off(report, acted)
        row.event_count += 1
        row.changed = True
        self.ground.seen[report.seq] = Seen(report.sha256, "", {}, {})
        self.highest = max(self.highest, report.seq)
        self.taken.append(
            Taken(
                report=report,
                row=row,
                place=row.event_count,
                late=late,
                instant=instant,
                clock_off=clock_off,
                signed=signed,
                signer=signer,
                person=acted,
                jumped_from=self.jumps.get(report.seq),
            )
        )
        if not finished:
            tells = stands is row and self.device.kind == Device.Kind.TERMINAL
            self._advance(stands, report.kind if tells else "", instant)

    def _advance(self, row: Row, kind: str, instant: datetime) -> None:
        """Make the round due where it was closed, or was held and may stand differently now.

        ``kind`` is empty for a camera and for another terminal's round of the same number: they tell no close.
        """
        if kind in ("round_closed", "round_voided"):
            grace = timedelta(
                milliseconds=self.device.table.camera_grace_ms if self.device.table.camera else 0
            )
            row.closed_at = row.closed_at or instant
            self._make_due(row, self.now + (grace if kind == "round_closed" else timedelta(0)))
        elif row.standing == Standing.HELD:
            self._make_due_again(row)

    def _make_due_again(self, row: Row) -> None:
        """A held round may stand differently now; what is left of the camera's grace still runs."""
        self._make_due(row, max(row.due_at or self.now, self.now))

    def _make_due(self, row: Row, due_at: datetime) -> None:
        row.standing, row.reasons, row.due_at, row.changed = Standing.DUE, [], due_at, True

    def _sign_off(self, report: Report, acted: UUID | None) -> tuple[str, UUID | None]:
        """Return how the report was signed, and by whom; ("", None) where no sign-off counts. Nobody signs for what
        they did themselves, whatever the setting."""
        if report.kind not in NEEDS_SIGNATURE:
            return RoundEvent.Signed.NOT, None
        given = self.ground.signatures.get(report.signature) if report.signature else None
        if given is not None:
            if given.may_rule and given.sha256 == report.content_sha256 and given.person != acted:
                return RoundEvent.Signed.SIGNATURE, given.person
        elif settings.SIGNATURES == "on_duty" and self.ground.supervisor not in (None, acted):
            return RoundEvent.Signed.ON_DUTY, self.ground.supervisor
        return RoundEvent.Signed.NOT, None

    def write(self) -> None:
        ground = self.ground
        used = [item.report.seq for item in self.taken]
        used += [item.report.seq for item in self.refused if item.claims]
        last_seq, holes = devices.claim(last_seq=ground.last_seq, holes=ground.holes, numbers=used)
        if ground.holes and holes != ground.holes:
            for row in ground.rows.values():
                if row.standing == Standing.HELD and "sequence_gap" in row.reasons:
                    self._make_due_again(row)
        ground.last_seq, ground.holes = last_seq, holes
        event_rows.write(
            ground=ground,
            offset=None if ground.sent_at is None else self.now - ground.sent_at,
            taken=self.taken,
            refused=self.refused,
            turned_away=self.turned_away,
        )
