"""Evaluate what the author wrote, and turn what goes wrong into an error of kind `expression`.

Nothing an author can write raises past this module but `Rejected`, which carries that error.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from anew.engine.outcome import error_of, wait_seconds
from anew.engine.scope import RunScope, UnsealedScope
from anew.engine.secrets import Secrets, Unavailable
from anew.expressions import DEFAULT_LIMITS, UNDEFINED, Condition, ExpressionError, Template
from anew.expressions.limits import PARTS_PER_OPERATION
from anew.expressions.problems import OperationError
from anew.program.policy import Patch
from anew.program.retry import Delay
from anew.values import Object, Value, as_text, json_text, path_text
from anew.weight import problem_of

EXCERPT_CHARS_MAX = 200
_WHOLE_BOUND = 1_000_000_000


class Rejected(Exception):
    """`error` says which expression could not be used, and why."""

    def __init__(
        self, what: str, why: str, source: object = None, *, kind: str = "expression"
    ) -> None:
        super().__init__(what)
        # A whole mapping would hide the reason; `what` names it.
        where = f" in {excerpt(source)}" if isinstance(source, str) else ""
        self.error = error_of(kind, f"{what}: {why}{where}")


def value_of(template: Template, scope: RunScope, what: str) -> Value:
    """The native value; undefined is null."""
    try:
        value = template.value(_opened(scope))
    except ExpressionError as error:
        raise _rejected(error, template.source, scope, what) from None
    if is_settled(template, scope.secrets):
        return value
    return _kept(value, template, scope, what)


def is_settled(template: Template, secrets: Secrets | None) -> bool:
    """Whether the value was known, and fit for the log, when the program was compiled."""
    return template.is_constant and secrets is None


def text_of(template: Template, scope: RunScope, what: str) -> str:
    """The value as a text for people, with no secret in it."""
    value = value_of(template, scope, what)
    if scope.secrets is not None:
        value = scope.secrets.texts.masked(scope.secrets.open(value))
    return as_text(value)


def holds(condition: Condition | None, scope: RunScope, what: str) -> bool:
    """Whether a condition is true; no condition is."""
    if condition is None:
        return True
    try:
        return condition.holds(_opened(scope))
    except ExpressionError as error:
        raise _rejected(error, condition.source, scope, what) from None


def defined_value(template: Template, scope: RunScope, what: str) -> Value:
    """The native value, for places where undefined is a mistake."""
    try:
        value = template.evaluate(_opened(scope))
    except ExpressionError as error:
        raise _rejected(error, template.source, scope, what) from None
    if value is UNDEFINED:
        raise Rejected(what, "the value is undefined", template.source)
    return _kept(value, template, scope, what)


def _opened(scope: RunScope) -> RunScope | UnsealedScope:
    return scope if scope.secrets is None else UnsealedScope(scope, scope.secrets)


def _kept(value: Value, template: Template, scope: RunScope, what: str) -> Value:
    """The value as the log holds it, if it can."""
    try:
        problem = problem_of(value, pay=lambda parts: _pay(scope, parts))
    except OperationError as error:
        raise Rejected(what, str(error), template.source) from None
    if problem is not None:
        raise Rejected(what, f"the value {problem}", template.source)
    return value if scope.secrets is None else scope.secrets.seal(value)


def _pay(scope: RunScope, parts: int) -> None:
    """Weighing what is large is work of the decision too."""
    scope.meter.spend(parts // PARTS_PER_OPERATION, DEFAULT_LIMITS)


def _rejected(error: ExpressionError, source: object, scope: RunScope, what: str) -> Rejected:
    """What went wrong, in words that quote no secret."""
    kind = "reference" if isinstance(error, Unavailable) else "expression"
    why = error.message if scope.secrets is None else scope.secrets.texts.masked(error.message)
    return Rejected(what, why, source, kind=kind)


def excerpt(text: str) -> str:
    """The beginning of a text, for messages."""
    return text if len(text) <= EXCERPT_CHARS_MAX else f"{text[: EXCERPT_CHARS_MAX - 1]}…"


def seconds_of(delay: Delay, scope: RunScope, what: str, *, now: int) -> float:
    """A wait in seconds: never negative, never endless."""
    if isinstance(delay, (int, float)):
        return float(delay)
    value = defined_value(delay, scope, what)
    seconds = wait_seconds(value, now)
    if seconds is None or not math.isfinite(seconds) or seconds < 0:
        shown = excerpt(json_text(value))
        raise Rejected(what, f"{shown} is not a delay (a number, 500ms, 2s, 1m)", delay.source)
    return seconds


def count_of(number: int | Template, scope: RunScope, what: str) -> int:
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


def patches_of(patches: Iterable[Patch], scope: RunScope, *before: Object) -> Object:
    """What is written, rendered: `{"ctx": {path: value}, "iter": {…}}`, no empty parts.

    `before` have that form already, and are written first.
    """
    written: Object = {}
    for done in before:
        for place, writes in done.items():
            for path, value in writes.items():
                _write(written, place, path, value)
    for patch in patches:
        place, path = patch.target.value, path_text(patch.path)
        _write(written, place, path, value_of(patch.value, scope, f"set {place}.{path}"))
    return written


def _write(written: Object, place: str, path: str, value: Value) -> None:
    """Written again means written last, so that a whole and its parts stay in order."""
    writes = written.setdefault(place, {})
    writes.pop(path, None)
    writes[path] = value
