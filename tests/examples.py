"""The examples of the API's description: of each operation one exchange of a test, as it was.

``python3 manage.py test --write-examples`` makes ``deploy/openapi/examples.json`` anew; ``tests/deploy/test_examples``
holds that each operation has one, and that each is what the description says.
"""

from __future__ import annotations

import fcntl
import json
import re
from typing import Any

from deploy.local import paths
from tests.answers import Exchange, Found, description

STORED = paths.CLONE / "deploy" / "openapi" / "examples.json"
KEPT = paths.CLONE / ".local" / "examples.json"
MOST_BYTES = 6_000
"""An example is to be read: a longer exchange is no example, as long as there is another."""

_SECRET = re.compile(r"(pd[dk]_[A-Za-z0-9]{4})[A-Za-z0-9_-]+|(whsec_|whpk_)[A-Za-z0-9+/=]+")
_best: dict[str, tuple[tuple[int, ...], dict[str, Any]]] = {}


def consider(exchange: Exchange, found: Found) -> None:
    """Keep an exchange where it shows more than the one that is kept of its operation, in no more words."""
    if exchange.body is None or _is_refused(exchange, found):
        return
    example = {
        "path": exchange.path,
        "query": exchange.query,
        "media_type": exchange.asked_type.partition(";")[0].strip().lower(),
        "request": _read(exchange.asked),
        "status": exchange.status,
        "answer_type": exchange.media_type,
        "answer": _read(exchange.body) if exchange.media_type.endswith("json") else None,
    }
    text = json.dumps(example, ensure_ascii=False)
    rank = (len(text) > MOST_BYTES, _empty(example["answer"]), len(text))
    name = found.operation["operationId"]
    if name not in _best or (rank, text) < (_best[name][0], json.dumps(_best[name][1], ensure_ascii=False)):
        _best[name] = (rank, json.loads(_SECRET.sub(lambda m: f"{m[1] or m[2]}…", text)))


def _is_refused(exchange: Exchange, found: Found) -> bool:
    """Whether the body is none that the description lets in: a batch is answered event by event, the bad ones too."""
    content = found.operation.get("requestBody", {}).get("content", {})
    asked = content.get(exchange.asked_type.partition(";")[0].strip().lower())
    if asked is None or not exchange.asked_type.endswith("json"):
        return False
    return description().wrong(asked["schema"], _read(exchange.asked)) is not None


def begin() -> None:
    """Forget what an earlier run kept."""
    KEPT.unlink(missing_ok=True)


def keep() -> None:
    """Write down what this process kept, where it is better than what others of this run did."""
    KEPT.parent.mkdir(exist_ok=True)
    with KEPT.with_suffix(".lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
        for name, (rank, example) in _best.items():
            if name not in kept or list(rank) < kept[name][0]:
                kept[name] = [rank, example]
        KEPT.write_text(json.dumps(kept))
        examples = {name: example for name, (_, example) in sorted(kept.items())}
        STORED.write_text(json.dumps(examples, ensure_ascii=False, indent=1) + "\n")


def _empty(answer: Any) -> int:
    """How much of an answer says nothing: lists without a member, values that are null."""
    if isinstance(answer, dict):
        return sum(_empty(value) for value in answer.values())
    if isinstance(answer, list):
        return 5 if not answer else min(_empty(value) for value in answer)
    return 1 if answer is None else 0


def _read(body: bytes) -> Any:
    try:
        return json.loads(body) if body else None
    except ValueError:
        return None
