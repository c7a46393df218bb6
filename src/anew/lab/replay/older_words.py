"""Compare events whose texts an earlier version worded otherwise.

A log keeps the words it was written with. Knows which texts have changed, not which events hold
them: a template may have put one anywhere.
"""

from __future__ import annotations

import re

from msgspec import convert, to_builtins

from anew.engine import events as e
from anew.values import Value

# What the texts of all versions have in common where one of these was reworded.
_REWORDED = (
    (re.compile(r"(?:timeout: )?(the signal '|nobody answered within )"), r"\1"),
    (re.compile(r"\b(?:rule \d+|retry_when|stop_when|retry|asked|done) of "), "a rule of "),
)


def in_common_words(event: e.Event) -> e.Event:
    """The event with texts in which those of all versions are alike."""
    return convert(_common(to_builtins(event)), type(event))


def _common(value: Value) -> Value:
    if isinstance(value, str):
        for form, common in _REWORDED:
            value = form.sub(common, value)
        return value
    if isinstance(value, dict):
        return {key: _common(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_common(inner) for inner in value]
    return value
