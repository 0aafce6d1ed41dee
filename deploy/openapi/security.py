"""How callers say who they are, and which of them may use an operation, as the description names it."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from casino import people

DEVICES = frozenset({"terminal", "camera"})
SYSTEMS = frozenset({"cashier_system"})

_WHERE = {
    people.Scope.ALL: "",
    people.Scope.DUTY: " (where on duty)",
    people.Scope.OWN: " (own table)",
    people.Scope.KEY: " (where its key names it)",
}


def schemes() -> dict[str, Any]:
    """Return the ways of saying who asks."""
    return {
        "device": {
            "type": "http",
            "scheme": "bearer",
            "description": "The token that a terminal or camera got when it was enrolled (`pdd_…`).",
        },
        "key": {
            "type": "http",
            "scheme": "bearer",
            "description": "The key of a cashier system (`pdk_…`): good for the scopes, tables, cages and address "
            "ranges that it names, until it expires or is revoked.",
        },
        "session": {
            "type": "apiKey",
            "in": "cookie",
            "name": settings.SESSION_COOKIE_NAME,
            "description": "A person's session, begun by `POST /api/v1/session`.",
        },
        "csrf": {
            "type": "apiKey",
            "in": "header",
            "name": "X-CSRFToken",
            "description": "Every write with a session carries the `csrf_token` that signing in answered, beside the "
            f"cookie `{settings.CSRF_COOKIE_NAME}`.",
        },
    }


def requirements(right: str, *, writes: bool) -> list[dict[str, list[str]]]:
    """Return what an operation of this right asks for: one of these; nothing at all for a public one."""
    roles = people.RIGHTS[right]
    found: list[dict[str, list[str]]] = []
    if roles.keys() & DEVICES:
        found.append({"device": []})
    if roles.keys() & SYSTEMS:
        found.append({"key": []})
    if roles.keys() - DEVICES - SYSTEMS:
        found.append({"session": [], "csrf": []} if writes else {"session": []})
    return found


def who(right: str) -> str:
    """Return who may, in words."""
    if right == "public":
        return "Anybody may."
    held = [f"{role.replace('_', ' ')}{_WHERE[scope]}" for role, scope in people.RIGHTS[right].items()]
    scope = f" Scope of a key: `{right}`." if people.RIGHTS[right].keys() & SYSTEMS else ""
    return f"Right `{right}`: {', '.join(held)}.{scope}"
