"""What an attribute's text is worth: truth, number, duration.

A quoted value means what the same value means without quotes. The readers return a value or a
`Wrong` that says why not; whoever asked makes a finding of it.
"""

from __future__ import annotations

import math
import re

from msgspec import Struct

from anew.languages.dot.graph import Attribute, Scalar
from anew.values import is_whole, parse_seconds

# More digits than these are a name made of digits, not a count.
_DIGITS_MAX = 18
_WHOLE_MAX = 10**_DIGITS_MAX - 1
_COUNTABLE = f"a whole number of at most {_WHOLE_MAX:,}"
_WHOLE = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][+-]?[0-9]{1,4})?")
_WORDED = re.compile(
    r"([0-9]{1,9}(?:\.[0-9]{1,9})?)\s{0,9}"
    r"(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)",
    re.IGNORECASE,
)
_TRUTHS = {"true": True, "false": False}
_SHOWN_MAX = 40


class Wrong(Struct, frozen=True):
    """Why an attribute has no value of the type that was asked for."""

    message: str


def typed(raw: str) -> Scalar:
    """The value a text stands for; a duration and everything unknown stay text."""
    if raw in _TRUTHS:
        return _TRUTHS[raw]
    if _WHOLE.fullmatch(raw) and len(raw) <= _DIGITS_MAX:
        return int(raw)
    if _DECIMAL.fullmatch(raw) and math.isfinite(float(raw)):
        return float(raw)
    return raw


def truth_of(attribute: Attribute) -> bool | Wrong:
    """`true` or `false`, in any case."""
    found = _TRUTHS.get(attribute.raw.strip().lower())
    return _wrong(attribute, "`true` or `false`") if found is None else found


def whole_of(attribute: Attribute) -> int | Wrong:
    """A whole number that is not too large to count with; `3.0` is one."""
    value = typed(attribute.raw.strip())
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        return _wrong(attribute, _COUNTABLE)  # more digits than are read as a number
    if isinstance(value, float) and value.is_integer():
        return int(value) if abs(value) <= _WHOLE_MAX else _wrong(attribute, _COUNTABLE)
    return int(value) if is_whole(value) else _wrong(attribute, "a whole number")


def number_of(attribute: Attribute) -> float | Wrong:
    value = typed(attribute.raw.strip())
    if isinstance(value, str | bool):
        return _wrong(attribute, "a number")
    return float(value)


def duration_of(attribute: Attribute) -> float | Wrong:
    """Seconds of a duration that is not negative; a bare number is seconds."""
    seconds = seconds_of(attribute)
    if seconds is None:
        return _wrong(attribute, "seconds or a duration such as `90s` or `15m`")
    return seconds


def seconds_of(attribute: Attribute) -> float | None:
    """As `duration_of`, without the reason."""
    seconds = parse_seconds(attribute.raw)
    is_usable = seconds is not None and math.isfinite(seconds) and seconds >= 0
    return seconds if is_usable else None


def duration_meant(raw: str) -> str | None:
    """How a duration is written that has a space or the whole word of its unit: `5 minutes`."""
    found = _WORDED.fullmatch(raw.strip())
    if found is None:
        return None
    number, unit = found.groups()
    meant = f"{number}{'ms' if unit.lower().startswith(('ms', 'milli')) else unit[0].lower()}"
    return meant if parse_seconds(meant) is not None else None


def shown(text: str, *, most: int = _SHOWN_MAX) -> str:
    """A text as messages quote it: short, and on one line."""
    return repr(excerpt(text, most=most))


def excerpt(text: str, *, most: int) -> str:
    """The beginning of a text; all of it when it has at most so many characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def _wrong(attribute: Attribute, expected: str) -> Wrong:
    return Wrong(f"{attribute.key!r} is {shown(attribute.raw)}; it must be {expected}")
