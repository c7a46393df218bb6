"""The author's own invariants: conditions over the report of a run and the effects of its tasks.

attempts.charge <= 3
status != 'done' or ctx.paid
effects.charge <= 1
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from anew.errors import ConfigError
from anew.expressions import Condition, ExpressionError, MappingScope, compile_condition
from anew.lab.faults.audit import Violation
from anew.program.findings import did_you_mean, listed
from anew.program.program import Program
from anew.values import Object
from anew.views.summary import shown_labels

# What a condition may read; all but the last are keys of a simulation's report.
NAMES = (
    *("status", "visits", "attempts", "delays", "elapsed", "ctx", "error", "handled", "result"),
    *("unsatisfied", "effects"),
)
_BY_TASK = ("attempts", "effects")


class AuthorInvariant(Struct, frozen=True):
    """One condition, as its author wrote it and compiled."""

    text: str
    condition: Condition


def promises_of(conditions: Iterable[str], program: Program) -> tuple[AuthorInvariant, ...]:
    """The conditions, compiled; ConfigError names the one that cannot be meant."""
    return tuple(_promise(text, program) for text in conditions)


def broken_promises(promises: Sequence[AuthorInvariant], report: Object) -> list[Violation]:
    """Those that do not hold, and those that cannot be evaluated for this report."""
    scope = MappingScope({name: report.get(name) for name in NAMES})
    broken = []
    for promise in promises:
        try:
            if promise.condition.holds(scope):
                continue
            why = _values(promise.condition, report)
        except ExpressionError as failed:
            why = f"cannot be evaluated: {failed.message}"
        broken.append(Violation(promise.text, why))
    return broken


def _place(text: str) -> str:
    return f"the invariant {text!r} cannot be evaluated"


def _promise(text: str, program: Program) -> AuthorInvariant:
    try:
        condition = compile_condition(text)
    except ExpressionError as failed:
        raise ConfigError(f"{_place(text)}: {failed.message}") from None
    for name in sorted(condition.names - set(NAMES)):
        hint = did_you_mean(name, NAMES) or listed(list(NAMES))
        raise ConfigError(f"{_place(text)}: it reads {name!r}, which no report has. {hint}")
    tasks = set(shown_labels(program).values())
    for path in sorted(condition.paths):
        if path[0] in _BY_TASK and len(path) > 1 and not _is_task(path[1:], tasks):
            hint = did_you_mean(path[1], tasks) or listed(tasks)
            what = f"{path[0]}.{path[1]} names no task"
            raise ConfigError(f"{_place(text)}: {what}. {hint}")
    return AuthorInvariant(text, condition)


def _is_task(path: tuple[str, ...], tasks: set[str]) -> bool:
    """`attempts['step.task']` is how a label is read that several steps use."""
    return path[0] in tasks


def _values(condition: Condition, report: Object) -> str:
    """What the condition read, for whoever wonders why it does not hold."""
    found = []
    for path in sorted(condition.paths):
        value: object = report
        for part in path:
            value = value.get(part) if isinstance(value, dict) else None
        found.append(f"{'.'.join(path)} is {_short(value)}")
    return ", ".join(found)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
