"""The log in action names: actions, retries and how the execution ended.

A view, in the order of the log. Events without such a name are left out.
"""

from __future__ import annotations

from collections.abc import Iterable

from anew.engine import events as e
from anew.values import Object


def actions(log: Iterable[e.Event]) -> list[Object]:
    """One row per event that has an action name, in the shape of `events.to_row`."""
    rows = []
    for event in log:
        named = _named(event)
        if named is not None:
            name, data = named
            rows.append(e.row_of(event, name, data))
    return rows


def _named(event: e.Event) -> tuple[str, Object] | None:
    match event:
        case e.TaskStarted():
            is_retry = (event.attempt or 1) > 1
            return "action_started", {"attempt": event.attempt, "is_retry": is_retry}
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
