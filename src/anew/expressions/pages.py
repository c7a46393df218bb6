"""What `paginate` keeps of the pages it has read: where it is, and whether one comes again.

Two functions of a state, which is a value like any other; tasks and rules know nothing of them.
"""

from __future__ import annotations

import hashlib

from anew.expressions.evaluation import Evaluation
from anew.expressions.rendering import to_json
from anew.expressions.undefined import UNDEFINED, plain
from anew.values import Value

# So many cursors are remembered, and the first: what comes round later is found at the first one.
CURSORS_KEPT_MAX = 32
_DIGEST_CHARS = 12
_SHOWN_CHARS_MAX = 60


def read_page(
    run: Evaluation,
    state: Value,
    *,
    next: Value = None,
    content: Value = UNDEFINED,
    items: Value = UNDEFINED,
    stop: Value = False,
    failed: Value = False,
) -> Value:
    """The state with what one page said. Read again, a page changes nothing that was before it."""
    known = state if isinstance(state, dict) else {}
    number, seen = known.get("number", 1), known.get("seen", [])
    cursor = None if next in (UNDEFINED, None, "", False) else plain(next)
    digest = _digest(run, content) if content not in (UNDEFINED, None, "", [], {}) else None
    found = {"number": number, "seen": seen, "before": known.get("before")}
    if "at" in known:
        found["at"] = known["at"]
    repeats = None
    if not failed and cursor is not None and _digest(run, cursor) in seen:
        again = to_json(cursor, run.limits)[:_SHOWN_CHARS_MAX]
        repeats = f"page {number} gives the cursor {again} again: the pages repeat themselves"
    elif not failed and digest is not None and digest == known.get("before"):
        repeats = f"page {number} is the same as page {number - 1}: the cursor has no effect"
    found |= {"next": cursor, "digest": digest, "repeats": repeats}
    found |= {"stop": plain(stop), "failed": bool(failed)}
    if isinstance(items, list):
        found["items"] = items
    return found


def turn_page(run: Evaluation, state: Value) -> Value:
    """The state with which the next page is read."""
    known = state if isinstance(state, dict) else {}
    cursor, seen = known.get("next"), known.get("seen", [])
    latest = [*seen, _digest(run, cursor)]
    return {
        "number": known.get("number", 1) + 1,
        "at": cursor,
        "seen": latest if len(latest) <= CURSORS_KEPT_MAX else [latest[0], *latest[2:]],
        "before": known.get("digest"),
    }


def _digest(run: Evaluation, value: Value) -> str:
    text = to_json(plain(value), run.limits)
    run.spend_bulk(len(text))
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_CHARS]
