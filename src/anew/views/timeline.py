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
from anew.engine.router import Reason
from anew.engine.state import BRANCH_FAILS
from anew.program.program import Program
from anew.values import Object, json_text
from anew.views.routing_words import (
    awaited_text,
    forked_text,
    gates_text,
    is_exit_check,
    is_past_limit,
    joined_text,
    listed,
    question_text,
    reason_text,
    silence_text,
)
from anew.views.wording import (
    error_text,
    exact_seconds,
    joined,
    lesser_verdict,
    one_line,
    seconds_early,
)

_TIME_WIDTH = 9
_WHAT_WIDTH = 28
# The name of a rule for what went well.
_PLAIN_RULE = "done"
# How a path writes a dot that belongs to a key.
_DOT_IN_KEY = "\\."


class Line(Struct, frozen=True):
    at: int
    place: str
    what: str
    detail: str


def timeline_lines(log: Sequence[e.Event], program: Program | None = None) -> Iterator[str]:
    """The lines of a log, times in seconds since its first event.

    With its program they say where the weight of an arc decided.
    """
    if not log:
        return
    lines = list(_lines(log, program))
    place = max((len(line.place) for line in lines), default=0)
    what = max((len(line.what) for line in lines), default=0)
    what = max(what, _WHAT_WIDTH)
    for line in lines:
        seconds = (line.at - log[0].at) / NANOSECONDS
        text = f"{seconds:{_TIME_WIDTH}.3f}  {line.place:{place}}  {line.what:{what}}"
        yield f"{text} {line.detail}".rstrip()


def _lines(log: Sequence[e.Event], program: Program | None) -> Iterator[Line]:
    following: Iterable[e.Event | None] = [*log[1:], None]
    for event, after in zip(log, following, strict=True):
        told = _told(event, after, program)
        if told is not None:
            yield Line(event.at, _place(event), *told)


def _place(event: e.Event) -> str:
    if event.step is None:
        return "run"
    return event.step if event.iteration is None else f"{event.step}[{event.iteration}]"


def _told(event: e.Event, after: e.Event | None, program: Program | None) -> tuple[str, str] | None:
    match event:
        case e.TaskStarted():
            odd = joined(*(f"warning: {one_line(warning)}" for warning in event.warnings))
            return f"task {event.task} started", joined(f"attempt {event.attempt}", odd)
        case e.TaskProcessed():
            return _processed(event, after)
        case e.TaskRetryExhausted():
            made = f"{event.attempt} attempt{'' if event.attempt == 1 else 's'} made"
            is_count = event.reason == "attempts"
            bound = f"the rule allows {event.attempts}" if is_count else "its time is over"
            then = joined(_directive(event), _counted_as(event.verdict))
            detail = joined(f"{made}, {bound}", then, _patches(event.patches))
            return f"task {event.task} exhausted", detail
        case e.StepFailed():
            return "step failed", joined(error_text(event.error), _mode(event))
        case e.NextEvaluated():
            return _routed(event, program)
        case e.LoopStarted():
            width = f" · {event.max_in_flight} at a time" if event.mode == "parallel" else ""
            count = f"{len(event.items)} item{'' if len(event.items) == 1 else 's'}"
            return "loop started", f"{count} · {event.mode}{width}"
        case e.LoopDone():
            return "loop done", f"{event.done} of {event.total} done · {event.failed} failed"
        case e.LoopIterationFailed():
            return "iteration failed", error_text(event.error)
        case e.GateChecked():
            return _gate(event)
        case e.RunFailed():
            return "failed", joined(error_text(event.error), _unsatisfied(event))
        case e.StepSkipped():
            return "step skipped", event.reason
        case e.StepRefused():
            return "step refused", "the gate never let the token in"
        case e.BranchForked():
            return ("branches forked", forked_text(event)) if event.fork is not None else None
        case e.BranchJoined():
            tokens = f"{len(event.tokens)} tokens"
            return "branches joined", tokens if event.fork is None else joined_text(event, after)
        case e.RunPaused() | e.RunCancelled():
            return event.name.removeprefix("run."), event.reason or ""
        case e.RunStarted() | e.RunDone() | e.RunResumed():
            return event.name.removeprefix("run."), ""
        case e.HumanWaiting():
            return "waits for a person", question_text(event)
        case e.HumanAnswered():
            chosen = event.label if event.label not in (None, event.answer) else ""
            return "answered", joined(one_line(event.answer), chosen or "", event.by or "")
        case e.SignalWaiting():
            return "waits for a signal", awaited_text(event)
        case e.SignalReceived():
            return _signal_word(event), joined(event.signal, event.by or "")
        case e.SignalTimedOut():
            return "no signal came", event.signal
        case e.WaitSkipped():
            return "wait skipped", _skipped(event)
        case e.HumanTimedOut():
            return "nobody answered", silence_text(event.action, event.label)
        case e.StepDone():
            return "step done", lesser_verdict(event) or ""
        case e.StepRedelivered():
            return "step redelivered", ""
        case e.RunRequested():
            return _continued(event)
        case e.StepScheduled() | e.StepStarted() | e.LoopIterationDone() | e.TaskRetryScheduled():
            return None
        case _:
            assert_never(event)


def _skipped(event: e.WaitSkipped) -> str:
    seconds = seconds_early(event)
    early = "" if seconds is None else f"{exact_seconds(seconds)} early"
    return joined(event.waited_for, early, one_line(event.by or ""))


def _signal_word(event: e.SignalReceived) -> str:
    if event.kept is not None:
        return "signal taken up"
    return "signal kept" if event.step is None else "signal came"


def _processed(event: e.TaskProcessed, after: e.Event | None) -> tuple[str, str]:
    outcome = event.outcome
    word = "error" if outcome.is_error else outcome.verdict or "ok"
    rule = _rule(event)
    if isinstance(after, e.TaskRetryScheduled):
        way = f"by way of {after.to} " if after.to else ""
        then = f"retry {way}in {exact_seconds(after.delay_seconds)}"
    elif event.error is not None and event.error["kind"] == "expression":
        then = error_text(event.error)
    else:
        is_plain = event.directive in ("continue", "retry")
        then = joined("" if is_plain else _directive(event), _counted_as(event.verdict))
    said = joined(_evidence(outcome), _advice(outcome))
    return f"task {event.task} {word}", joined(said, rule, then, _patches(event.patches))


def _rule(event: e.TaskProcessed) -> str:
    """Which rule said so; one whose name only repeats what it does need not be told."""
    if event.rule_name in (_PLAIN_RULE, event.directive):
        return ""
    return event.rule_name or (f"rule {event.rule}" if event.rule is not None else "")


def _advice(outcome: Outcome) -> str:
    """What the tool said beside ok or error."""
    word = f"says {one_line(outcome.word)}" if outcome.word else ""
    label = f"label {one_line(outcome.label)}" if outcome.label else ""
    return joined(
        word, label, f"suggests {listed(list(outcome.suggested))}" if outcome.suggested else ""
    )


def _counted_as(verdict: str | None) -> str:
    return f"counts as {verdict}" if verdict else ""


def _unsatisfied(event: e.RunFailed) -> str:
    return f"gates not satisfied: {listed(event.unsatisfied)}" if event.unsatisfied else ""


def _continued(event: e.RunRequested) -> tuple[str, str] | None:
    if event.continues is None:
        return None
    begins = f"begins at {event.entry}" if event.entry else ""
    return "takes over", joined(f"from run {event.continues}", begins)


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
        f"{place}.{key.replace(_DOT_IN_KEY, '.')} = {one_line(json_text(value))}"
        for place, values in patches.items()
        for key, value in values.items()
    ]
    return ", ".join(written)


def _routed(event: e.NextEvaluated, program: Program | None) -> tuple[str, str] | None:
    if event.fails_run:
        return "ends the run", "the failure it came from is still one"
    if event.error is not None:
        return "next failed", error_text(event.error)
    if event.reason == Reason.REPEATED:
        return "goes nowhere", reason_text(event)
    if not event.tokens and not event.arcs:
        return None
    targets = ", ".join(token["to"] for token in event.tokens) or "nothing"
    dropped = [arc["to"] for arc in event.arcs if arc.get("dropped")]
    why = f"{', '.join(dropped)} dropped: no `when` reads event.failed" if dropped else ""
    return f"next on {event.event}", joined(f"-> {targets}", reason_text(event, program), why)


def _gate(event: e.GateChecked) -> tuple[str, str] | None:
    if is_exit_check(event):
        return ("gates asked", gates_text(event)) if event.goals else None
    if event.error is not None and is_past_limit(event):
        return "not begun", error_text(event.error)
    if event.error is not None:
        return "gate asked", error_text(event.error)
    rule = f" · rule {event.rule}" if event.rule is not None else ""
    return "gate asked", f"{'let in' if event.allow else 'refused'}{rule}"


def _mode(event: e.StepFailed) -> str:
    if event.failure_mode == BRANCH_FAILS:
        return "ends its branch"
    return "handled" if event.handled else "unhandled"
