"""Evaluate what the author wrote, and turn what goes wrong into an error of kind `expression`.

Nothing an author can write raises past this module but `Rejected`, which carries that error.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from anew.engine.outcome import error_of, wait_seconds
from anew.engine.scope import Scope
from anew.expressions import UNDEFINED, Condition, ExpressionError, Template
from anew.program.policy import Patch
from anew.program.retry import Delay
from anew.values import Object, Value, json_text, path_text
from anew.weight import problem_of

EXCERPT_CHARS_MAX = 200
_WHOLE_BOUND = 1_000_000_000


class Rejected(Exception):
    """`error` says which expression could not be used, and why."""

    def __init__(self, what: str, why: str, source: object = None) -> None:
        shown = source if isinstance(source, str) else repr(source)
        super().__init__(what)
        self.error = error_of("expression", f"{what}: {why} in {excerpt(shown)}")


def value_of(template: Template, scope: Scope, what: str) -> Value:
    """The native value; undefined is null."""
    try:
        value = template.value(scope)
    except ExpressionError as error:
        raise Rejected(what, error.message, template.source) from None
    return value if template.is_constant else _kept(value, template, what)


def holds(condition: Condition | None, scope: Scope, what: str) -> bool:
    """Whether a condition is true; no condition is."""
    if condition is None:
        return True
    try:
        return condition.holds(scope)
    except ExpressionError as error:
        raise Rejected(what, error.message, condition.source) from None


def defined_value(template: Template, scope: Scope, what: str) -> Value:
    """The native value, for places where undefined is a mistake."""
    try:
        value = template.evaluate(scope)
    except ExpressionError as error:
        raise Rejected(what, error.message, template.source) from None
    if value is UNDEFINED:
        raise Rejected(what, "the value is undefined", template.source)
    return _kept(value, template, what)


def _kept(value: Value, template: Template, what: str) -> Value:
    """The value, if a log can hold it."""
    problem = problem_of(value)
    if problem is not None:
        raise Rejected(what, f"the value {problem}", template.source)
    return value


def excerpt(text: str) -> str:
    """The beginning of a text, for messages."""
    return text if len(text) <= EXCERPT_CHARS_MAX else f"{text[: EXCERPT_CHARS_MAX - 1]}…"


def seconds_of(delay: Delay, scope: Scope, what: str, *, now: int) -> float:
    """A wait in seconds: never negative, never endless."""
    if isinstance(delay, (int, float)):
        return float(delay)
    value = defined_value(delay, scope, what)
    seconds = wait_seconds(value, now)
    if seconds is None or not math.isfinite(seconds) or seconds < 0:
        shown = excerpt(json_text(value))
        raise Rejected(what, f"{shown} is not a delay (a number, 500ms, 2s, 1m)", delay.source)
    return seconds


def count_of(number: int | Template, scope: Scope, what: str) -> int:
    """A whole number of at least 1."""
    if isinstance(number, int):
        return number
    value = defined_value(number, scope, what)
    count = _whole(value)
    if count is None or count < 1:
        shown = excerpt(json_text(value))
        raise Rejected(what, f"{shown} is not a whole number of at least 1", number.source)
    return count


def _whole(value: Value) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        text = value.strip()
        return int(text) if text.isdecimal() and len(text) < len(str(_WHOLE_BOUND)) else None
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < _WHOLE_BOUND else None
    return value if isinstance(value, int) else None


def patches_of(patches: Iterable[Patch], scope: Scope) -> Object:
    """What a rule writes, rendered: `{"ctx": {path: value}, "iter": {…}}`, no empty parts."""
    written: Object = {}
    for patch in patches:
        place, path = patch.target.value, path_text(patch.path)
        value = value_of(patch.value, scope, f"set {place}.{path}")
        writes = written.setdefault(place, {})
        # Written again means written last, so that a whole and its parts stay in order.
        writes.pop(path, None)
        writes[path] = value
    return written
