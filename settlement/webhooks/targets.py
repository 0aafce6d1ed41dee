"""Where webhooks may go: hosts and ports that two people approved, looked at again before each try."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.conf import settings

from casino import events, people
from casino.events import Fact
from casino.models import Person, Role
from casino.platform import refusals
from casino.platform.refusals import Refusal
from settlement.models import ApprovedTarget
from settlement.webhooks import addresses, sending
from settlement.webhooks.addresses import Resolve, Target, TargetRefused

refusals.register("target_refused", 422, "Webhooks may not be sent there.", "ส่งเว็บฮุกไปที่นั่นไม่ได้")
refusals.register("target_approved", 409, "This host and port are approved already.", "โฮสต์และพอร์ตนี้อนุมัติไว้แล้ว")


def approve(
    *, host: str, port: int, ranges: Sequence[str], by: Person, approved_by: Person
) -> ApprovedTarget:
    """Let webhooks go to a host and port; ``ranges`` are the private networks that its name may resolve to.

    ``by`` is an administrator, ``approved_by`` a manager. Refuses ``target_refused`` for a host that no URL may name
    and for a network that cannot be opened, ``target_approved``, ``forbidden``, ``sod_violation``.
    """
    act = events.current()
    require_two(by, approved_by)
    try:
        addresses.require_host(host)
        addresses.require_elsewhere(host, demonstration=settings.WEBHOOKS["demonstration"])
        opened = sorted({addresses.require_range(text) for text in ranges})
    except TargetRefused as refused:
        raise _refusal(refused) from refused
    target = ApprovedTarget(
        id=events.uuid7(act.now),
        host=host,
        port=port,
        ranges=opened,
        set_by=by,
        approved_by=approved_by,
        set_at=act.now,
    )
    ApprovedTarget.objects.bulk_create([target], ignore_conflicts=True)
    if not ApprovedTarget.objects.filter(pk=target.id).exists():
        raise Refusal("target_approved")
    events.announce([_fact("target.approved", target, {"approved_by": str(approved_by.id)})])
    return target


def look_at_host(host: str, *, resolve: Resolve = addresses.look_up) -> None:
    """Refuse ``target_refused`` where a host's name leads to this machine or its own link now; a name that nobody knows
    yet is let pass, as every name is looked at again before each try. Call it outside of any act."""
    try:
        addresses.require_host(host)
        found = addresses.found(host, seconds=sending.SECONDS, resolve=resolve)
    except (TargetRefused, TimeoutError):
        return  # what is wrong with the host itself is said where it is approved
    for address in found:
        try:
            addresses.require_elsewhere(str(address), demonstration=settings.WEBHOOKS["demonstration"])
        except TargetRefused as refused:
            raise _refusal(refused) from refused


def withdraw(*, target: UUID, by: Person) -> ApprovedTarget:
    """Let nothing be sent to a target any more; what is due to its endpoints fails from the next try on. Once is
    enough, and the first time stands."""
    act = events.current()
    found = ApprovedTarget.objects.select_for_update(no_key=True).filter(pk=target).first()
    if found is None:
        raise Refusal("not_found")
    if found.withdrawn_at is None:
        found.withdrawn_at, found.withdrawn_by = act.now, by
        found.save(update_fields=["withdrawn_at", "withdrawn_by"])
        events.announce([_fact("target.withdrawn", found, {"withdrawn_by": str(by.id)})])
    return found


def look_at(url: str, *, resolve: Resolve = addresses.look_up) -> Target:
    """Return the URL taken apart if webhooks may go there now; refuse ``target_refused`` with the reason.

    Asks the resolver, so call it outside of any act; it is asked again before each try.
    """
    demonstration = settings.WEBHOOKS["demonstration"]
    try:
        target = addresses.parse(url, demonstration=demonstration)
        approved = ApprovedTarget.objects.filter(
            host=target.host, port=target.port, withdrawn_at=None
        ).first()
        if approved is None:
            raise TargetRefused("host and port are not approved")
        addresses.checked(
            target.host,
            ranges=approved.ranges,
            demonstration=demonstration,
            seconds=sending.SECONDS,
            resolve=resolve,
        )
    except TimeoutError as fault:
        raise _refusal(TargetRefused(str(fault))) from fault
    except TargetRefused as refused:
        raise _refusal(refused) from refused
    return target


def require_two(by: Person, approved_by: Person) -> None:
    """Refuse unless an administrator acts and a manager approves: ``sod_violation``, ``forbidden``."""
    people.different(by.id, approved_by.id)
    if by.role != Role.ADMINISTRATOR:
        raise Refusal("forbidden")
    if approved_by.role != Role.MANAGER:
        raise Refusal("second_person_forbidden")


def _refusal(refused: TargetRefused) -> Refusal:
    return Refusal("target_refused", fields={"url": str(refused)})


def _fact(action: str, target: ApprovedTarget, data: dict[str, str]) -> Fact:
    place = {"host": target.host, "port": target.port, "ranges": target.ranges}
    return Fact(action, f"targets/{target.id}", place | {"set_by": str(target.set_by_id)} | data)
