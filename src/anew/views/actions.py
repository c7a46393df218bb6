"""The log in action names: actions, retries and how the execution ended.

A view, in the order of the log. Events without such a name are left out.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field

from anew.engine import events as e
from anew.engine.state import StepRunKey, key_of
from anew.program.policy import Retry
from anew.program.program import Program
from anew.values import Object
from anew.views.picture.steps import attempts_allowed


def actions(log: Iterable[e.Event], program: Program | None = None) -> list[Object]:
    """One row per event that has an action name, in the shape of `events.to_row`."""
    return ActionWords(program).rows(log)


class ActionWords(Struct):
    """Turns events, in their order, into rows. Remembers what the last retry allowed."""

    program: Program | None = None
    _allowed: dict[StepRunKey, int] = field(default_factory=dict)

    def rows(self, log: Iterable[e.Event]) -> list[Object]:
        """The rows of the events that have an action name."""
        rows = []
        for event in log:
            named = self._started(event) if isinstance(event, e.TaskStarted) else _named(event)
            if isinstance(event, e.TaskRetryScheduled):
                self._allowed[key_of(event)] = event.attempts
            elif isinstance(event, e.TaskProcessed):
                # Not when the attempt starts: it starts again where its worker is lost.
                self._allowed.pop(key_of(event), None)
            if named is not None:
                rows.append(e.row_of(event, *named))
        return rows

    def _started(self, event: e.TaskStarted) -> tuple[str, Object]:
        data = {
            "attempt": event.attempt,
            "max_attempts": self._max_attempts(event),
            "is_retry": (event.attempt or 1) > 1,
        }
        return "action_started", data

    def _max_attempts(self, event: e.TaskStarted) -> int | None:
        """What the rule allows that retried; before, the most that any rule of the task does."""
        known = self._allowed.get(key_of(event))
        if known is not None and (event.attempt or 1) > 1:
            return known
        if self.program is None or event.step is None:
            return None
        return _at_most(self.program, event.step, event.task)


def _at_most(program: Program, step: str, task: str | None) -> int | None:
    """How many executions there can be; None where an expression will say it."""
    found = program.steps.get(step)
    index = found.index_of.get(task or "") if found else None
    if found is None or index is None:
        return None
    if not any(isinstance(rule.then, Retry) for rule in found.tasks[index].policy.rules):
        return 1
    return attempts_allowed(program, step, task)


def _named(event: e.Event) -> tuple[str, Object] | None:
    match event:
        case e.TaskProcessed() if event.outcome.error is not None:
            return "action_error", {
                "attempt": event.attempt,
                "error": event.outcome.error["message"],
            }
        case e.TaskProcessed():
            return "action_completed", {"attempt": event.attempt, "success": True}
        case e.TaskRetryScheduled():
            return "step_retry", {
                "attempt": event.attempt,
                "max_attempts": event.attempts,
                "delay_seconds": event.delay_seconds,
                "last_error": event.last_error,
            }
        case e.TaskRetryExhausted():
            return "step_retry_exhausted", {
                "attempts": event.attempt,
                "max_attempts": event.attempts,
                "final_error": (event.error or {}).get("message"),
            }
        case e.StepFailed():
            return "step_failed_terminal", {"error": event.error["message"]}
        case e.StepDone():
            return "step_completed", {}
        case e.RunFailed():
            return "execution_failed", {"error": event.error["message"]}
        case _:
            return None
