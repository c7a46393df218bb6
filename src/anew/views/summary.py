"""The whole of a run in one object: what `anew simulate --json` prints (DESIGN section 6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from anew.engine import events as e
from anew.engine.moments import NANOSECONDS
from anew.engine.state import RunState
from anew.program.program import Program
from anew.values import Object


def summary(program: Program, log: Sequence[e.Event], state: RunState) -> Object:
    """Status, visits, attempts, delays, time, ctx, error and every event."""
    return {
        "language": program.language,
        "dialect": program.dialect,
        "status": state.status.value,
        "visits": [x.step for x in log if isinstance(x, e.StepStarted)],
        "attempts": attempts(program, log),
        "delays": delays(program, log),
        "elapsed": elapsed_seconds(log),
        "ctx": state.ctx,
        "error": state.failure,
        "result": next((x.result for x in reversed(log) if isinstance(x, e.RunDone)), None),
        "handled": handled(log),
        "events": [e.to_row(event) for event in log],
    }


def elapsed_seconds(log: Sequence[e.Event]) -> float:
    """From the first event to the last."""
    return (log[-1].at - log[0].at) / NANOSECONDS if log else 0.0


def attempts(program: Program, log: Iterable[e.Event]) -> dict[str, int]:
    """Executions of each task in the whole run; 0 for one that never ran."""
    names = shown_labels(program)
    counts = dict.fromkeys(names.values(), 0)
    for event in log:
        if isinstance(event, e.TaskStarted):
            counts[names[event.step or "", event.task or ""]] += 1
    return counts


def delays(program: Program, log: Iterable[e.Event]) -> list[Object]:
    """One entry per scheduled retry, zeros included."""
    names = shown_labels(program)
    return [
        {
            "task": names[event.step or "", event.task or ""],
            "attempt": event.attempt,
            "seconds": event.delay_seconds,
        }
        for event in log
        if isinstance(event, e.TaskRetryScheduled)
    ]


def handled(log: Iterable[e.Event]) -> list[str]:
    """The steps whose failure an arc handled, in order."""
    return [x.step for x in log if isinstance(x, e.NextEvaluated) and x.handled and x.step]


def shown_labels(program: Program) -> dict[tuple[str, str], str]:
    """A task's label, or `step.label` where several steps use the label."""
    places = [(step.name, task.label) for step in program.steps.values() for task in step.tasks]
    uses = Counter(label for _, label in places)
    return {(s, label): label if uses[label] == 1 else f"{s}.{label}" for s, label in places}
