"""Where an expression finds its names. The engine supplies the real scopes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from anew.expressions.problems import OperationError
from anew.expressions.undefined import UNDEFINED
from anew.values import Value


class Scope(Protocol):
    """The names of one evaluation. Reading a name twice must give the same value."""

    def get(self, name: str, /) -> Value:
        """The value of a top-level name, or UNDEFINED."""
        ...

    def alias(self, name: str, key: str, /) -> Value:
        """A second chance for `name.key` when the value of `name` has no such key."""
        ...

    def rand(self) -> float:
        """The draw behind `rand()`, in [0, 1)."""
        ...

    def now(self) -> str:
        """The moment behind `now()`: ISO 8601 in UTC with `Z`."""
        ...


def _no_rand() -> float:
    raise OperationError("there is no rand() here")


def _no_now() -> str:
    raise OperationError("there is no now() here")


class MappingScope:
    """A scope over a plain mapping, without aliases; chance and time only where given."""

    __slots__ = ("_now", "_rand", "_values")

    def __init__(
        self,
        values: Mapping[str, Value] | None = None,
        *,
        rand: Callable[[], float] = _no_rand,
        now: Callable[[], str] = _no_now,
    ) -> None:
        self._values = {} if values is None else values
        self._rand = rand
        self._now = now

    def get(self, name: str, /) -> Value:
        return self._values.get(name, UNDEFINED)

    def alias(self, _name: str, _key: str, /) -> Value:
        return UNDEFINED

    def rand(self) -> float:
        return self._rand()

    def now(self) -> str:
        return self._now()


class ProbeScope:
    """A scope of what is known before a run; `is_unsure` once anything else was asked for."""

    def __init__(self, values: Mapping[str, Value]) -> None:
        self._values = values
        self.is_unsure = False

    def get(self, name: str, /) -> Value:
        if name not in self._values:
            self.is_unsure = True
        return self._values.get(name, UNDEFINED)

    def alias(self, _name: str, _key: str, /) -> Value:
        return UNDEFINED

    def rand(self) -> float:
        self.is_unsure = True
        return 0.5

    def now(self) -> str:
        self.is_unsure = True
        return "2000-01-01T00:00:00Z"
