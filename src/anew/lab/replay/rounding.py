"""Compare events whose moments were cut to microseconds, as the rows of `anew events` have them.

What the engine derives from such a moment is off by less than that. Knows events and numbers only.
"""

from __future__ import annotations

from datetime import datetime

from msgspec import to_builtins

from anew.engine import events as e
from anew.engine.boundaries import Boundary, Due
from anew.engine.state import RunState
from anew.values import Value

# One cut in the moment a wait began, another in the moment it ended.
CUT_NANOSECONDS = 2_000
# `duration_ms` is the coarsest unit in which a cut moment turns up in a value.
_VALUE_TOLERANCE = CUT_NANOSECONDS / 1e6
_MOMENTS = frozenset({"at", "not_before", "deadline"})
_MOMENT_CHARS = range(len("2000-01-01T00:00:00Z"), len("2000-01-01T00:00:00.000000Z") + 1)


def not_early(state: RunState, boundary: Boundary, at: int) -> int:
    """The moment something happened: a wait never ends before its time."""
    run = state.step_run(boundary.key) if isinstance(boundary, Due) else None
    if run is None or run.resume_at is None or not 0 < run.resume_at - at <= CUT_NANOSECONDS:
        return at
    return run.resume_at


def is_near(recorded: e.Event, derived: e.Event) -> bool:
    """Whether two events differ by no more than what was cut off."""
    if type(recorded) is not type(derived):
        return False
    ours, theirs = to_builtins(recorded), to_builtins(derived)
    return ours.keys() == theirs.keys() and all(
        _is_near_moment(value, theirs[key]) if key in _MOMENTS else _is_near(value, theirs[key])
        for key, value in ours.items()
    )


def _is_near_moment(one: Value, other: Value) -> bool:
    if one is None or other is None:
        return one is other
    return bool(abs(one - other) <= CUT_NANOSECONDS)


def _is_near(one: Value, other: Value) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_is_near(v, other[k]) for k, v in one.items())
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(_is_near, one, other))
    if isinstance(one, float):
        return bool(one == other or abs(one - other) <= _VALUE_TOLERANCE)
    return bool(one == other) or is_same_moment(one, other)


def is_same_moment(one: Value, other: Value) -> bool:
    """Whether both are texts of one moment, but for what is cut off."""
    if not (isinstance(one, str) and isinstance(other, str)) or len(one) not in _MOMENT_CHARS:
        return False
    try:
        apart = datetime.fromisoformat(one) - datetime.fromisoformat(other)
    except (ValueError, TypeError):
        return False
    return bool(abs(apart.total_seconds()) * 1e9 <= CUT_NANOSECONDS)
