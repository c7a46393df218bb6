"""The whole of a run in one object: what `anew simulate --json` prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from anew.engine import events as e
from anew.engine.gates import PENDING
from anew.engine.moments import NANOSECONDS
from anew.engine.state import RunState
from anew.program.program import Program
from anew.values import Object
from anew.views.context import GRAPHS, NodePassage, context_of, is_made_up


def summary(program: Program, log: Sequence[e.Event], state: RunState) -> Object:
    """Status, visits, attempts, delays, time, ctx, error and every event."""
    return {
        "language": program.language,
        "dialect": program.dialect,
        "status": state.status.value,
        "visits": visits(program, log),
        "attempts": attempts(program, log),
        "delays": delays(program, log),
        "elapsed": elapsed_seconds(log),
        "ctx": shown_ctx(program, log, state),
        "error": state.failure,
        "unsatisfied": unsatisfied(log, state),
        "result": next((x.result for x in reversed(log) if isinstance(x, e.RunDone)), None),
        "handled": handled(program, log),
        **_compensation(log),
        "events": [e.to_row(event) for event in log],
    }


def elapsed_seconds(log: Sequence[e.Event]) -> float:
    """From the first event to the last."""
    return (log[-1].at - log[0].at) / NANOSECONDS if log else 0.0


def attempts(program: Program, log: Iterable[e.Event]) -> dict[str, int]:
    """Executions of each task in the whole run; 0 for one that never ran."""
    names = shown_labels(program)
    made_up = {step.name for step in program.steps.values() if is_made_up(step)}
    counts = {name: 0 for (step, _), name in names.items() if step not in made_up}
    for event in log:
        if isinstance(event, e.TaskStarted) and event.step not in made_up:
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


def visits(program: Program, log: Iterable[e.Event]) -> list[str]:
    """One entry per step that started; for a graph, one per node that was executed."""
    if program.language != GRAPHS:
        return [x.step for x in log if isinstance(x, e.StepStarted) and x.step]
    nodes = {name for name, step in program.steps.items() if not is_made_up(step)}
    return [x.step for x in log if isinstance(x, e.TaskStarted) and x.step in nodes]


def shown_ctx(program: Program, log: Iterable[e.Event], state: RunState) -> Object:
    """What was written, and for a graph the keys that are always there."""
    passage = NodePassage()
    for event in log:
        if isinstance(event, e.RunRequested):  # of the last run, where one took over from another
            passage = NodePassage()
        passage.feed(program, event)
    return context_of(program, passage, state.ctx)


def _compensation(log: Sequence[e.Event]) -> Object:
    """How many visits were undone, and how many could not be; nothing where there were none."""
    end = log[-1] if log else None
    found = end.compensation if isinstance(end, e.RunFailed | e.RunCancelled) else None
    return {} if found is None else {"compensation": found}


def unsatisfied(log: Sequence[e.Event], state: RunState) -> list[str]:
    """The gates that were not met when the run ended; until then, those an exit waits for."""
    for event in reversed(log):
        if isinstance(event, e.RunFailed):
            return event.unsatisfied
        if isinstance(event, e.GateChecked) and event.visit is not None:
            found = event.goals
            return [
                one for one in event.unsatisfied if state.verdicts.get(one, PENDING) == found[one]
            ]
        if isinstance(event, e.RunRequested):
            return []
    return []


def handled(program: Program, log: Iterable[e.Event]) -> list[str]:
    """The steps whose own failure was handled, in order.

    A step that only passes a failure on is not among them, nor one that is merely tried again by
    way of another.
    """
    found: list[str] = []
    again: set[tuple[str | None, int | None]] = set()
    for event in log:
        if isinstance(event, e.RunRequested):
            again.clear()
        if isinstance(event, e.TaskRetryScheduled) and event.to is not None:
            again.add((event.step, event.visit))
        if not isinstance(event, e.NextEvaluated) or not event.handled or event.step is None:
            continue
        if (event.step, event.visit) not in again and not passes_on(program, event.step):
            found.append(event.step)
    return found


def passes_on(program: Program | None, name: str) -> bool:
    """Whether a step does nothing of its own: what it says is what came before it."""
    step = program.steps.get(name) if program else None
    # Where branches meet, what they amount to is the step's own.
    return step is not None and step.is_relay and step.gather is None


def shown_labels(program: Program) -> dict[tuple[str, str], str]:
    """A task's label, or `step.label` where several steps use the label."""
    places = [(step.name, task.label) for step in program.steps.values() for task in step.tasks]
    uses = Counter(label for _, label in places)
    return {(s, label): label if uses[label] == 1 else f"{s}.{label}" for s, label in places}
