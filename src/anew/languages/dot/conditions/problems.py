"""What is wrong or odd in a condition, with its place in the text and what to write instead."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from anew.expressions import DEFAULT_LIMITS
from anew.program.findings import Severity


class Topic(StrEnum):
    """What a problem is about; the caller chooses the rule of its finding by it."""

    SYNTAX = "syntax"
    NULL = "null"
    OTHER_DIALECT = "other_dialect"
    NOT_SCOPE = "not_scope"
    WORD = "word"


class ConditionProblem(Struct, frozen=True):
    """`at` counts characters of the condition from 0; `fix` is a whole condition to write."""

    severity: Severity
    topic: Topic
    message: str
    at: int = 0
    suggestion: str | None = None
    fix: str | None = None


class ConditionError(Exception):
    """A text is no condition of the dialect it was read in."""

    def __init__(
        self,
        message: str,
        at: int,
        *,
        suggestion: str | None = None,
        topic: Topic = Topic.SYNTAX,
    ) -> None:
        super().__init__(message)
        self.problem = ConditionProblem(Severity.ERROR, topic, message, at, suggestion)


def too_long(at: int) -> ConditionError:
    """The condition has more parts than are compiled; `at` is the first of them."""
    most = f"{DEFAULT_LIMITS.tokens_max:,}"
    return ConditionError(
        f"longer than {most} names, literals and signs", at, suggestion="Write several edges."
    )
