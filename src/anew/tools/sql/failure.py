"""A SQL call that failed, on its way from where it was noticed to the outcome.

The table of kinds is in `engine/outcome.py`; which database error is which kind, each tool says.
"""

from __future__ import annotations

from collections.abc import Mapping

from anew.engine.outcome import Outcome, outcome_of
from anew.values import Value


class SqlFailure(Exception):
    """Stops the statements of one call. Never leaves the tool: it becomes an error outcome."""

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        code: str | None = None,
        helpers: Mapping[str, Value] | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.code = code
        self.helpers = helpers or {}

    def outcome(self) -> Outcome:
        error: dict[str, Value] = {"kind": self.kind, "message": self.message}
        if self.code is not None:
            error["code"] = self.code
        return outcome_of(error=error, helpers=self.helpers)


def wrong_input(message: str) -> SqlFailure:
    """The author's turn: an input that cannot be used."""
    return SqlFailure("config", message)


def passed_limit(message: str) -> SqlFailure:
    """More than a named limit allows."""
    return SqlFailure("limit_exceeded", message)


def at_statement(message: str, number: int, total: int | None = None) -> str:
    """`message` with the place of the statement, which only matters beside others."""
    if total == 1 or (total is None and number == 1):
        return message
    return f"{message} (statement {number}{'' if total is None else f' of {total}'})"
