"""How long to wait before the next attempt, as data.

A `Backoff` is what the author wrote; `engine.retry` turns it into one delay per attempt.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from msgspec import Struct

from anew.expressions import Template
from anew.program.span import NOWHERE, Span

ATTEMPTS_DEFAULT = 3
DELAY_SECONDS_DEFAULT = 1.0


class BackoffKind(StrEnum):
    """How the delay grows; `meaning`, for people, is the delay after k executions.

    The schema and the reference show it. One that `has_factor` reads the multiplier.
    """

    _value_: str
    meaning: str
    has_factor: bool

    def __new__(cls, word: str, meaning: str, has_factor: bool) -> Self:
        made = str.__new__(cls, word)
        made._value_, made.meaning, made.has_factor = word, meaning, has_factor
        return made

    NONE = "none", "0", False
    FIXED = "fixed", "`delay`", False
    LINEAR = "linear", "`delay` · k", False
    EXPONENTIAL = "exponential", "`delay` · `multiplier`^(k-1)", True
    TABLE = "table", "the k-th of the list `delay`, whose last one repeats", False


class JitterKind(StrEnum):
    """How chance spreads a delay d. Each draws one U(0, 1)."""

    NONE = "none"
    PLUS_MINUS_HALF = "true"  # d · U(0.5, 1.5)
    ADDED = "added"  # d · (1 + U(0, fraction))
    FULL = "full"  # U(0, d)
    EQUAL = "equal"  # d/2 + U(0, d/2)
    DECORRELATED = "decorrelated"  # U(first, 3 · previous), instead of the backoff


class Jitter(Struct, frozen=True):
    kind: JitterKind = JitterKind.NONE
    fraction: float = 0.0


# Seconds, or a template that yields seconds when the rule matches.
Delay = float | Template


# The row of a task's backoff for errors that it does not name.
ANY_ERROR = "default"


class Backoff(Struct, frozen=True):
    """`table` holds the delays of that kind, which has no `first`."""

    kind: BackoffKind = BackoffKind.NONE
    first: Delay = DELAY_SECONDS_DEFAULT
    factor: float = 2.0  # the multiplier, where the kind has one
    cap: Delay | None = None
    jitter: Jitter = Jitter()
    honor_retry_after: bool = False
    table: tuple[Delay, ...] = ()
    span: Span = NOWHERE

    def first_after(self, executions: int) -> Delay:
        """The author's delay that this many executions lead to; `kind` says how it grows."""
        if not self.table:
            return self.first
        return self.table[min(executions, len(self.table)) - 1]

    @property
    def delays(self) -> tuple[Delay, ...]:
        """Every delay it is made of."""
        return self.table or (self.first,)
