"""A run as fixed-width lines, one for each thing a person wants to see.

    0.000  fetch   task fetch started           attempt 1
    0.400  fetch   task fetch error             http 503 · rule 1 · retry in 2.0 s

A task's outcome and what was decided about it share a line. Scheduling, which always goes with a
start, is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

from msgspec import Struct

from anew.engine import events as e
from anew.engine.moments import NANOSECONDS
from anew.engine.outcome import Outcome
from anew.values import Object, json_text
from anew.views.wording import error_text, exact_seconds, joined, one_line

_TIME_WIDTH = 9
_WHAT_WIDTH = 28


class Line(Struct, frozen=True):
    at: int
    place: str
    what: str
    detail: str


def timeline_lines(log: Sequence[e.Event]) -> Iterator[str]:
    """The lines of a log, times in seconds since its first event."""
    if not log:
        return
    lines = list(_lines(log))
    place = max((len(line.place) for line in lines), default=0)
    what = max((len(line.what) for line in lines), default=0)
    what = max(what, _WHAT_WIDTH)
    for line in lines:
        seconds = (line.at - log[0].at) / NANOSECONDS
        text = f"{seconds:{_TIME_WIDTH}.3f}  {line.place:{place}}  {line.what:{what}}"
        yield f"{text} {line.detail}".rstrip()


def _lines(log: Sequence[e.Event]) -> Iterator[Line]:
    following: Iterable[e.Event | None] = [*log[1:], None]
    for event, after in zip(log, following, strict=True):
        told = _told(event, after)
        if told is not None:
            yield Line(event.at, _place(event), *told)


def _place(event: e.Event) -> str:
    if event.step is None:
        return "run"
    return event.step if event.iteration is None else f"{event.step}[{event.iteration}]"


def _told(event: e.Event, after: e.Event | None) -> tuple[str, str] | None:
    match event:
        case e.TaskStarted():
            return f"task {event.task} started", f"attempt {event.attempt}"
        case e.TaskProcessed():
            return _processed(event, after)
        case e.TaskRetryExhausted():
            made = f"{event.attempt} attempt{'' if event.attempt == 1 else 's'} made"
            is_count = event.reason == "attempts"
            bound = f"the rule allows {event.attempts}" if is_count else "its time is over"
            detail = joined(f"{made}, {bound}", _directive(event), _patches(event.patches))
            return f"task {event.task} exhausted", detail
        case e.StepFailed():
            return "step failed", joined(error_text(event.error), _mode(event))
        case e.NextEvaluated():
            return _routed(event)
        case e.LoopStarted():
            width = f" · {event.max_in_flight} at a time" if event.mode == "parallel" else ""
            count = f"{len(event.items)} item{'' if len(event.items) == 1 else 's'}"
            return "loop started", f"{count} · {event.mode}{width}"
        case e.LoopDone():
            return "loop done", f"{event.done} of {event.total} done · {event.failed} failed"
        case e.LoopIterationFailed():
            return "iteration failed", error_text(event.error)
        case e.GateChecked():
            return "gate asked", _gate(event)
        case e.RunFailed():
            return "failed", error_text(event.error)
        case e.StepSkipped():
            return "step skipped", event.reason
        case e.StepRefused():
            return "step refused", "the gate never let the token in"
        case e.BranchJoined():
            return "branches joined", f"{len(event.tokens)} tokens"
        case e.RunPaused() | e.RunCancelled():
            return event.name.removeprefix("run."), event.reason or ""
        case e.RunStarted() | e.RunDone() | e.RunResumed():
            return event.name.removeprefix("run."), ""
        case e.HumanWaiting():
            return "waits for a person", one_line(event.question)
        case e.HumanAnswered():
            return "answered", joined(event.answer, event.by or "")
        case e.SignalWaiting() | e.SignalReceived() | e.SignalTimedOut():
            return event.name.replace(".", " ").replace("_", " "), event.signal
        case e.HumanTimedOut():
            return "nobody answered", event.action
        case e.StepDone() | e.StepRedelivered():
            return event.name.replace(".", " "), ""
        case e.RunRequested() | e.StepScheduled() | e.StepStarted() | e.LoopIterationDone():
            return None
        case e.TaskRetryScheduled() | e.BranchForked():
            return None
        case _:
            assert_never(event)


def _processed(event: e.TaskProcessed, after: e.Event | None) -> tuple[str, str]:
    word = "error" if event.outcome.is_error else "ok"
    rule = event.rule_name or (f"rule {event.rule}" if event.rule is not None else "")
    if isinstance(after, e.TaskRetryScheduled):
        then = f"retry in {exact_seconds(after.delay_seconds)}"
    elif event.error is not None and event.error["kind"] == "expression":
        then = error_text(event.error)
    else:
        then = "" if event.directive in ("continue", "retry") else _directive(event)
    detail = joined(_evidence(event.outcome), rule, then, _patches(event.patches))
    return f"task {event.task} {word}", detail


def _directive(event: e.TaskProcessed | e.TaskRetryExhausted) -> str:
    target = f" to {event.to}" if event.to else ""
    wait = f" in {exact_seconds(event.delay_seconds)}" if event.delay_seconds is not None else ""
    return f"{event.directive}{target}{wait}"


def _evidence(outcome: Outcome) -> str:
    """The shortest telling fact: the tool's own code, else the error."""
    http, pg = outcome.helpers.get("http"), outcome.helpers.get("pg")
    if isinstance(http, dict) and "status" in http and outcome.is_error:
        return f"http {http['status']}"
    if isinstance(pg, dict) and pg.get("code"):
        return f"sqlstate {pg['code']}"
    return error_text(outcome.error) if outcome.error else ""


def _patches(patches: Object) -> str:
    written = [
        f"{place}.{key} = {one_line(json_text(value))}"
        for place, values in patches.items()
        for key, value in values.items()
    ]
    return ", ".join(written)


def _routed(event: e.NextEvaluated) -> tuple[str, str] | None:
    if event.error is not None:
        return "next failed", error_text(event.error)
    if not event.tokens and not event.arcs:
        return None
    targets = ", ".join(token["to"] for token in event.tokens) or "nothing"
    dropped = [arc["to"] for arc in event.arcs if arc.get("dropped")]
    why = f"{', '.join(dropped)} dropped: no `when` reads event.failed" if dropped else ""
    return f"next on {event.event}", joined(f"-> {targets}", why)


def _gate(event: e.GateChecked) -> str:
    if event.error is not None:
        return error_text(event.error)
    rule = f" · rule {event.rule}" if event.rule is not None else ""
    return f"{'let in' if event.allow else 'refused'}{rule}"


def _mode(event: e.StepFailed) -> str:
    return "handled" if event.handled else "unhandled"
