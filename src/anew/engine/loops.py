"""Open a loop over its items, and close it when all iterations have ended."""

from __future__ import annotations

from collections.abc import Mapping

from anew.engine.events import LoopDone, LoopIterationDone, LoopIterationFailed, LoopStarted
from anew.engine.next_actions import Ended
from anew.engine.record import Recorder
from anew.engine.render import Rejected, count_of, defined_value, excerpt
from anew.engine.scope import RunScope
from anew.engine.state import LoopVisit, StepRun, StepRunKey
from anew.program.program import Loop, LoopMode
from anew.values import Object, Value, json_text
from anew.weight import RESERVED_KEY


def open_loop(recorder: Recorder, run: StepRun, loop: Loop) -> LoopVisit | Object:
    """Evaluate the source and open the first iterations; an error object when that fails."""
    step = recorder.program.steps[run.key.step]
    scope = RunScope(recorder, step.dialect, run=run)
    try:
        items = _items(recorder, loop, scope)
        width = _width(loop, scope)
    except Rejected as rejected:
        return rejected.error
    recorder.emit(
        LoopStarted(
            step=run.key.step,
            visit=run.key.visit,
            items=items,
            iterator=loop.iterator,
            mode=loop.mode,
            max_in_flight=width,
            draws=recorder.taken_draws(),
        )
    )
    visit = recorder.state.active[run.key.step, run.key.visit]
    assert isinstance(visit, LoopVisit)
    recorder.jobs.extend(opened.key for opened in visit.open.values())
    return visit


def end_iteration(recorder: Recorder, ended: Ended) -> LoopVisit:
    """Record how one iteration ended and hand out the one that opens in its place."""
    key = ended.key
    place = {"step": key.step, "visit": key.visit, "iteration": key.iteration}
    visit = recorder.state.active[key.step, key.visit]
    assert isinstance(visit, LoopVisit)
    before = visit.next_index
    if ended.error is None:
        is_compensable = recorder.program.steps[key.step].compensation is not None
        done = LoopIterationDone(**place, compensable=is_compensable)  # type: ignore[arg-type]
        recorder.emit(done)
    else:
        recorder.emit(LoopIterationFailed(**place, error=ended.error))  # type: ignore[arg-type]
    if visit.next_index > before:
        recorder.jobs.append(StepRunKey(key.step, key.visit, before))
    return visit


def close_loop(recorder: Recorder, visit: LoopVisit) -> Object:
    """Write `loop.done`; what arcs read about it."""
    counts = {"total": len(visit.items), "done": visit.done, "failed": visit.failed}
    recorder.emit(LoopDone(step=visit.key.step, visit=visit.key.visit, **counts))  # type: ignore[arg-type]
    return counts


def _width(loop: Loop, scope: RunScope) -> int:
    if loop.mode is LoopMode.SEQUENTIAL:
        return 1
    return count_of(loop.max_in_flight, scope, "max_in_flight")


def _items(recorder: Recorder, loop: Loop, scope: RunScope) -> list[Value]:
    value = defined_value(loop.source, scope, "loop.in")
    if isinstance(value, Mapping) and RESERVED_KEY not in value:
        value = [{"key": key, "value": item} for key, item in value.items()]
    if not isinstance(value, list):
        shown = excerpt(json_text(value))
        raise Rejected("loop.in", f"{shown} is not a list", loop.source.source)
    most = recorder.program.limits.loop_iterations
    if len(value) > most:
        raise Rejected(
            "loop.in", f"{len(value)} items pass the limit of {most}", loop.source.source
        )
    return value
