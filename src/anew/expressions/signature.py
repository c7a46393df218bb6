"""Named operations an expression may call, and the check that it calls them rightly."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import TypeAlias

from msgspec import Struct

from anew.expressions.costs import Priced, charged, everything
from anew.expressions.problems import OperationError
from anew.values import Value

# Names authors use and the functions of this package behind them, with what calling one costs.
Calls: TypeAlias = dict[str, Callable[..., Value] | Priced]


class Callee(Struct, frozen=True):
    """A function of this package under the name authors use; values are never callees.

    `call` is charged: there is no way to it that is not.
    """

    what: str
    name: str
    call: Callable[..., Value]
    # The evaluation and, but for functions, the value: given by the compiler, not by authors.
    leading: int

    def check(self, positional: int, named: tuple[str, ...]) -> None:
        """Refuses arguments the operation does not take."""
        signature = _signature(self.call)
        given = [None] * (self.leading + positional)
        try:
            signature.bind(*given, **dict.fromkeys(named))
        except TypeError:
            raise OperationError(
                f"{self.what} {self.name!r} takes {self._usage(signature)}"
            ) from None

    def _usage(self, signature: inspect.Signature) -> str:
        parts = []
        for parameter in list(signature.parameters.values())[self.leading :]:
            star = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}.get(parameter.kind.name, "")
            optional = "" if parameter.default is inspect.Parameter.empty else "?"
            parts.append(f"{star}{parameter.name}{optional}")
        return f"({', '.join(parts)})" if parts else "no arguments"


@cache
def _signature(call: Callable[..., Value]) -> inspect.Signature:
    return inspect.signature(call)


def table_of(what: str, calls: Calls, *, leading: int) -> dict[str, Callee]:
    return {name: Callee(what, name, _paid(call), leading) for name, call in calls.items()}


def _paid(row: Callable[..., Value] | Priced) -> Callable[..., Value]:
    if isinstance(row, Priced):
        return charged(row.call, row.cost)
    return charged(row, everything)
