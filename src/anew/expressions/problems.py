"""How an expression says that it cannot be understood or computed.

`OperationError` is raised where only the reason is known; the compiled node that called adds the
place and makes it an `ExpressionError`, the only exception that leaves this package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

# More of a name that nobody knows is not quoted.
_NAME_CHARS_MAX = 60


class ExpressionError(Exception):
    """An expression is malformed or failed; `offset` counts characters of `source` from 0."""

    def __init__(self, message: str, *, source: str, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.source = source
        # The end of the source is a place too: that of what is missing there.
        self.offset = min(max(offset, 0), len(source))


class OperationError(Exception):
    """An operation will not be done; the text says why."""


# What Python itself may raise while a node computes with JSON values. The node turns each into
# an ExpressionError at its own place.
COMPUTING_ERRORS = (
    OperationError,
    TypeError,
    ValueError,
    ArithmeticError,
    LookupError,
    AttributeError,
    MemoryError,
    RecursionError,
)


# Makes what went wrong while computing the error of one place in a source.
Placed: TypeAlias = Callable[[BaseException], ExpressionError]


def reason(error: BaseException) -> str:
    """The sentence an author reads for an exception of `COMPUTING_ERRORS`."""
    if isinstance(error, RecursionError):
        return "a value is nested too deeply"
    if isinstance(error, MemoryError):
        return "a value is too large"
    if isinstance(error, ZeroDivisionError):
        return "division by zero"
    if isinstance(error, OverflowError):
        return "a number is too large"
    return str(error) or type(error).__name__


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """`unknown filter 'lenght'. Did you mean 'length'?`, or the whole list when nothing is near."""
    # Imported on use: only authors' mistakes need it.
    from difflib import get_close_matches  # noqa: PLC0415

    names = sorted(known)
    if len(name) > _NAME_CHARS_MAX:
        name = f"{name[:_NAME_CHARS_MAX]}…"
    near = get_close_matches(name, names, n=1)
    hint = f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(names)}."
    return f"unknown {what} {name!r}. {hint}"
