"""Those who are told of the played night: one takes what is sent, one is gone, one was closed again."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.utils import timezone

from casino import events, people
from casino.models import Person
from settlement.models import Delivery, MessageType
from settlement.webhooks import addresses, delivering, endpoints, sending, targets
from settlement.webhooks.sending import Answer, Letter


class Listeners:
    """Endpoints of the house; whoever listens is opened before the night, and told after it."""

    def __init__(self, *, manager: Person) -> None:
        self.manager = manager
        with self._acting():
            self.administrator = people.hire(
                badge="AD9", display_name="AD9 of the house", role="administrator", password="long enough AD9",
                pin="123456",
            )  # fmt: skip
            for host in ("hooks.example", "gone.example"):
                targets.approve(
                    host=host, port=443, ranges=[], by=self.administrator, approved_by=self.manager
                )
        self.told = {
            "listener": self._opened("listener", "https://hooks.example/house", list(MessageType.values)),
            "gone": self._opened("gone", "https://gone.example/house", ["round.settled"]),
        }

    def tell(self) -> dict[str, UUID]:
        """Send what is due at this moment: taken by one, answered 410 by the other. Return both endpoints."""
        closed = self._opened("closed", "https://hooks.example/closed", ["round.settled"])
        with self._acting():
            endpoints.disable(endpoint=closed, reason="opened by mistake", by=self.administrator)
        now = timezone.now()
        for letter in delivering.claim(owner="built", now=now, room=4):
            with self._acting():
                delivering.finish([(letter, _answered(letter, now=now))])
        assert set(Delivery.objects.values_list("state", flat=True)) == {"due", "delivered", "given_up"}
        return self.told

    def _opened(self, name: str, url: str, types: list[str]) -> UUID:
        wanted = endpoints.Wanted(
            name=name, url=url, target=addresses.parse(url, demonstration=False), types=types
        )
        with self._acting():
            return endpoints.open_new(wanted, by=self.administrator, approved_by=self.manager)[0].id

    def _acting(self) -> Any:
        return events.act(actor=events.SERVICE, request_id="built", now=timezone.now())


def _answered(letter: Letter, *, now: Any) -> Answer:
    if letter.host == "gone.example":
        return Answer("http_410", now, status=sending.GONE)
    return Answer(sending.DELIVERED, now, status=204)
