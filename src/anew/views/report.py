"""A run in one object: what `anew run --json`, `anew show --json` and the API print."""

from __future__ import annotations

from collections.abc import Sequence

from anew.engine.events import Event
from anew.engine.outcome import error_of
from anew.engine.state import RunState, RunStatus
from anew.program.program import Program
from anew.values import Object
from anew.views.context import context_of
from anew.views.progress import Progress, progress_of


def report(program: Program | None, log: Sequence[Event], state: RunState, *, now: int) -> Object:
    """Status, error, result, ctx, time and every step that was reached, from one look at the log.

    `state` is what the log folds to. The run's id is text: it does not fit every reader's numbers.
    """
    return report_of(progress_of(log, program), state, now=now)


def report_of(progress: Progress, state: RunState, *, now: int) -> Object:
    """The same, for whoever has followed the log already."""
    return {
        "run": progress.run,
        "program": progress.name,
        "status": state.status.value,
        "error": _error(progress, state),
        "result": progress.result,
        "ctx": context_of(progress.program, progress.passage, state.ctx),
        "seconds": round(progress.seconds(now), 6),
        "events": progress.events,
        "steps": step_rows(progress, state),
        **_of_some(progress),
        **({} if state.cause is None else {"cause": state.cause.row()}),
    }


def _of_some(progress: Progress) -> Object:
    """What only some runs have: the gates they missed, what became of their compensations, the run
    that goes on in their place, and the errors that rules passed over.
    """
    more: Object = {}
    if progress.unsatisfied:
        more["unsatisfied"] = progress.unsatisfied
    if progress.compensation is not None:
        more["compensation"] = progress.compensation
    if progress.continued_as is not None:
        more["continued_as"] = progress.continued_as
    if progress.ignored.total:
        more["ignored_errors"] = progress.ignored.rows()
    return more


def step_rows(progress: Progress, state: RunState) -> dict[str, Object]:
    """By step: its status, visits, executions, and the result of its latest visit that was done."""
    rows = {}
    for name, step in progress.steps.items():
        kept = state.results.get(name)
        rows[name] = {
            "status": step.status.value,
            "visits": step.visits,
            "attempts": step.attempts,
            "result": kept.result if kept else None,
        }
        if step.verdict is not None:
            rows[name]["verdict"] = step.verdict
    return rows


def _error(progress: Progress, state: RunState) -> Object | None:
    if state.status is RunStatus.CANCELLED:
        return error_of("cancelled", progress.reason or "the run was cancelled")
    return state.failure
