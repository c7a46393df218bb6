"""What to do with a task's outcome: ordered rules that map it to a directive."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from anew.expressions import Condition, Template
from anew.program.retry import ATTEMPTS_DEFAULT, Backoff, Delay
from anew.program.span import NOWHERE, Span


class OutcomeStatus(StrEnum):
    OK = "ok"
    ERROR = "error"


class PatchTarget(StrEnum):
    CTX = "ctx"
    ITER = "iter"


@dataclass(frozen=True, slots=True)
class Patch:
    """`value` is rendered in the rule's scope and written to `path` below ctx or iter."""

    target: PatchTarget
    path: tuple[str, ...]
    value: Template
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Continue:
    """Go on with the next task; past the last one the step is done."""


@dataclass(frozen=True, slots=True)
class Break:
    """End the step-run at once, done."""


@dataclass(frozen=True, slots=True)
class Fail:
    """End the step-run, failed. The message is used on ok outcomes."""

    message: Template | None = None


@dataclass(frozen=True, slots=True)
class Jump:
    """Go to another label of the same step, after a durable wait if there is a delay."""

    to: str
    delay: Delay | None = None


@dataclass(frozen=True, slots=True)
class Exhausted:
    """What to do instead of failing when the attempts of a retry rule are spent."""

    then: Continue | Break | Fail | Jump
    patches: tuple[Patch, ...] = ()


@dataclass(frozen=True, slots=True)
class Retry:
    """Execute the task again. `attempts` is the total number of executions."""

    attempts: int | Template = ATTEMPTS_DEFAULT
    backoff: Backoff = Backoff()
    max_elapsed: Delay | None = None
    on_exhausted: Exhausted | None = None


Directive: TypeAlias = Continue | Retry | Jump | Break | Fail


@dataclass(frozen=True, slots=True)
class Rule:
    """Matches when the outcome has the status `on` (None: any) and `when` holds (None: else)."""

    then: Directive
    when: Condition | None = None
    on: OutcomeStatus | None = None
    patches: tuple[Patch, ...] = ()
    name: str = ""
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Policy:
    """Rules are tried in order. Unmatched ok outcomes continue; unmatched errors fail if asked.

    `patches` (the task's own `set`) are applied with every outcome, before those of the rule.
    """

    rules: tuple[Rule, ...] = ()
    fail_unmatched_errors: bool = True
    patches: tuple[Patch, ...] = ()


NO_POLICY = Policy()
