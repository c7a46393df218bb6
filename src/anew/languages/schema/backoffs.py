"""The schema of delays: of a retry rule, and of a task's `backoff` by kind of error."""

from __future__ import annotations

from anew.engine.outcome import RETRYABLE
from anew.languages.playbook.keys import BACKOFF_ROW_KEYS
from anew.languages.schema.forms import Schema, about, by_type, ref, table, word
from anew.languages.schema.scalars import DELAY, FACTOR, JITTER
from anew.program.retry import ANY_ERROR, BackoffKind

_KINDS = "; ".join(f"{kind}: {kind.meaning}" for kind in BackoffKind)
BACKOFF_KIND = about(f"How long the wait is after k executions: {_KINDS}.", word(BackoffKind))


def backoff_definitions() -> dict[str, Schema]:
    delays = {"type": "array", "items": DELAY, "minItems": 1}
    row = {
        "kind": BACKOFF_KIND,
        "delay": ref("delay-or-list"),
        "multiplier": about("The factor of an exponential backoff. Default 2.", FACTOR),
        "jitter": about("As on a rule, which it wins over.", JITTER),
        "max_delay": about("As on a rule, which it wins over.", DELAY),
    }
    one = {
        "if": {"type": "object"},
        "then": table(BACKOFF_ROW_KEYS, row),
        "else": ref("delay-or-list"),
    }
    row_of = ref("backoff-row")
    rows: dict[str, Schema] = dict.fromkeys(RETRYABLE, row_of)
    rows[ANY_ERROR] = about("After every other outcome.", row_of)
    return {
        "delay-or-list": {"if": {"type": "array"}, "then": delays, "else": DELAY},
        "backoff-row": one,
        "backoff": {
            "type": "object",
            "properties": rows,
            "minProperties": 1,
        },
    }


def task_backoff_shape() -> Schema:
    text = "The delay of the task's retry rules that name none, by kind of error."
    return about(text, ref("backoff"))


def rule_backoff_shape() -> Schema:
    text = f"{BACKOFF_KIND['description']} Default fixed where `delay` is given, else none. "
    kinds = {"enum": [*map(str, BackoffKind)]}
    return about(
        f"{text}A mapping has delays by kind of error.",
        by_type(object=ref("backoff"), string=kinds),
    )
