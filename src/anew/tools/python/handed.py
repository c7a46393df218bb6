"""What code is handed, so that it reads there what templates read: `body`, `command_0`, `stats`.

The other names of a result are found when they are asked for and are no items of it, so that code
which returns what it was handed returns what the log holds. Standard library only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from anew.result_aliases import (
    HTTP_MARK,
    LOOP_MARK,
    MISSING,
    SQL_MARK,
    alias_in,
    may_have_aliases,
)

_MARKS = tuple(f'"{mark}"'.encode() for mark in (HTTP_MARK, SQL_MARK, LOOP_MARK))


class ResultMapping(dict[str, Any]):
    """A result that is also read by its other names."""

    __slots__ = ()

    def other(self, key: object) -> Any:
        """What another name reads, or MISSING."""
        return alias_in(self, key) if isinstance(key, str) else MISSING

    def __missing__(self, key: str) -> Any:
        found = self.other(key)
        if found is MISSING:
            raise KeyError(key)
        return found

    def get(self, key: str, default: Any = None) -> Any:
        found = super().get(key, MISSING)
        if found is MISSING:
            found = self.other(key)
        return default if found is MISSING else found

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or self.other(key) is not MISSING


class StepMapping(ResultMapping):
    """A step's result in `context`: `data` is the whole, or the results of a loop."""

    __slots__ = ()

    def other(self, key: object) -> Any:
        found = super().other(key)
        if found is not MISSING or key != "data":
            return found
        return self["results"] if super().other("stats") is not MISSING else ResultMapping(self)


def parsed(message: bytes) -> Any:
    """The call that a message holds; one without results costs nothing more than its JSON."""
    has_results = any(mark in message for mark in _MARKS)
    return json.loads(message, object_hook=_with_aliases if has_results else None)


def _with_aliases(value: dict[str, Any]) -> dict[str, Any]:
    return ResultMapping(value) if may_have_aliases(value) else value


def context_of(parts: Mapping[str, Any]) -> dict[str, Any]:
    """The run's names as one mapping; as in templates, steps hide ctx, which hides workload."""
    workload, ctx, steps = parts["workload"], parts["ctx"], parts["steps"]
    results = {
        name: StepMapping(result) if isinstance(result, dict) else result
        for name, result in steps.items()
    }
    own = {"workload": workload, "ctx": ctx, "execution_id": parts["execution_id"]}
    return {**workload, **ctx, **results, **own}
