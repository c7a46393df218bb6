"""The values a condition read, where the log has them: of the outcome, the event, ctx, workload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from anew.engine.outcome import Outcome
from anew.expressions import Condition
from anew.values import Object, Value, json_text
from anew.views.wording import one_line

VALUES_SHOWN = 3
WRITES_SHOWN = 3
VALUE_CHARACTERS_MAX = 60
_MISSING = object()


def outcome_values(outcome: Outcome, attempt: int | None) -> Object:
    """What rules read of an outcome, under the words of all dialects."""
    told: Object = {
        "status": outcome.status.value,
        "result": outcome.result,
        "data": outcome.result,
        "error": outcome.error,
        **outcome.helpers,
    }
    http = outcome.helpers.get("http")
    error = outcome.error or {}
    return {
        "outcome": told,
        "output": told,
        "success": not outcome.is_error,
        "status_code": http.get("status") if isinstance(http, dict) else None,
        "error": error.get("message"),
        "result": outcome.result,
        "attempt": attempt,
        "_attempt": attempt,
    }


def values_text(condition: Condition | None, known: Mapping[str, Value]) -> str:
    """` (outcome.http.status is 503)`: what the condition read, as far as it is known."""
    if condition is None:
        return ""
    told: list[str] = []
    for path in sorted(condition.paths):
        value = _read(known, path)
        # That a text is the one the condition names, the condition says itself.
        is_named = isinstance(value, str) and (path, value) in condition.compares
        if value is _MISSING or isinstance(value, dict | list) or is_named:
            continue
        text = one_line(json_text(value), characters_max=VALUE_CHARACTERS_MAX)
        told.append(f"{'.'.join(path)} is {text}")
    shown = ", ".join(told[:VALUES_SHOWN])
    more = ", …" if len(told) > VALUES_SHOWN else ""
    return f" ({shown}{more})" if shown else ""


def _read(known: Mapping[str, Value], path: tuple[str, ...]) -> Value:
    found: Value = known
    for key in path:
        if not isinstance(found, Mapping) or key not in found:
            return _MISSING
        found = found[key]
    return found


def writes_sentence(who: str, told: Sequence[str]) -> str:
    """`It writes ctx.page = 2.`; of many writes the first few."""
    more = ", …" if len(told) > WRITES_SHOWN else ""
    return f"{who} writes {', '.join(told[:WRITES_SHOWN])}{more}." if told else ""
