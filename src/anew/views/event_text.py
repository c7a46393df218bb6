"""Each event as text: what happened, and the details worth a line.

The one rendering of an event. The timeline lays it out in columns; log lines, explanations and the
page's list of events put it in one line. Knows one event, and the one after it where that
completes a decision.
"""

from __future__ import annotations

from typing import NamedTuple, assert_never

from anew.engine import events as e
from anew.engine.events.runs import RunEvent
from anew.engine.events.words import FailureEffect, RouteReason
from anew.engine.outcome import Outcome
from anew.program.policy import DirectiveKind, GraphRule
from anew.program.program import LoopMode, Program
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
    counted,
    error_text,
    exact_seconds,
    held_text,
    joined,
    lesser_verdict,
    one_line,
    seconds_early,
    spent_text,
    tool_code,
    writes_of,
)


class EventText(NamedTuple):
    what: str
    detail: str

    @property
    def line(self) -> str:
        return joined(self.what, self.detail)


def event_text(
    event: e.Event, *, after: e.Event | None = None, program: Program | None = None
) -> EventText:
    """What an event tells; `after`, the event that follows it, may complete it."""
    return EventText(*_parts(event, after, program))


def event_sentence(event: e.Event, *, program: Program | None = None) -> str:
    """The same in one line of a log or a story: `signal came: paid · ann`."""
    what, detail = event_text(event, program=program)
    return f"{what}: {detail}" if detail else what


def _parts(event: e.Event, after: e.Event | None, program: Program | None) -> tuple[str, str]:
    match event:
        case e.TaskStarted():
            odd = joined(*(f"warning: {one_line(warning)}" for warning in event.warnings))
            return f"task {event.task} started", joined(f"attempt {event.attempt}", odd)
        case e.TaskProcessed():
            return _processed(event, after)
        case e.TaskRetryExhausted():
            return f"task {event.task} exhausted", _exhausted(event)
        case e.StepFailed():
            return "step failed", joined(error_text(event.error), _mode(event))
        case e.NextEvaluated():
            return _routed(event, program)
        case e.LoopStarted():
            return "loop started", _loop(event)
        case e.LoopDone():
            return "loop done", f"{event.done} of {event.total} done · {event.failed} failed"
        case e.LoopIterationFailed():
            return "iteration failed", error_text(event.error)
        case e.GateChecked():
            return _gate(event)
        case e.RunRequested() | e.RunStarted() | e.RunPaused() | e.RunResumed():
            return _of_run(event)
        case e.RunCompensating() | e.RunDone() | e.RunFailed() | e.RunCancelled():
            return _of_run(event)
        case e.StepSkipped():
            return "step skipped", event.reason
        case e.StepRefused():
            return "step refused", "the gate never let the token in"
        case e.BranchForked():
            tokens = f"{len(event.tokens)} tokens"
            return "split into branches", tokens if event.fork is None else forked_text(event)
        case e.BranchJoined():
            tokens = f"{len(event.tokens)} tokens"
            return "branches joined", tokens if event.fork is None else joined_text(event, after)
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
        case e.TaskHeld():
            return f"task {event.task} held", held_text(event)
        case e.WaitSkipped():
            return "wait skipped", _skipped(event)
        case e.HumanTimedOut():
            return "nobody answered", silence_text(event.action, event.label)
        case e.StepDone():
            return "step done", lesser_verdict(event) or ""
        case e.StepRedelivered() | e.StepStarted():
            return event.name.replace(".", " "), ""
        case e.StepScheduled():
            return "step scheduled", _scheduled(event)
        case e.LoopIterationDone():
            return "iteration done", ""
        case e.TaskRetryScheduled():
            return f"task {event.task} retry", _retry(event)
        case _:
            assert_never(event)


def _start(event: e.RunStarted) -> str:
    why = error_text(event.error) if event.error is not None else ""
    return joined(why, ", ".join(writes_of({"ctx": event.ctx})))


def _exhausted(event: e.TaskRetryExhausted) -> str:
    made = f"{event.attempt} attempt{'' if event.attempt == 1 else 's'} made"
    bound = spent_text(event)
    then = joined(_directive(event), _counted_as(event.verdict))
    return joined(f"{made}, {bound}", then, _written(event))


def _loop(event: e.LoopStarted) -> str:
    width = f" · {event.max_in_flight} at a time" if event.mode is LoopMode.PARALLEL else ""
    count = f"{len(event.items)} item{'' if len(event.items) == 1 else 's'}"
    return f"{count} · {event.mode}{width}"


def _scheduled(event: e.StepScheduled) -> str:
    many = counted(len(event.tokens), "token")
    merged = f"{many} merged" if len(event.tokens) > 1 else ""
    args = f"args {listed(list(event.args))}" if event.args else ""
    return joined(merged, args)


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
    if isinstance(after, e.TaskRetryScheduled):
        way = f"by way of {after.to} " if after.to else ""
        then = f"retry {way}in {exact_seconds(after.delay_seconds)}"
    elif event.error is not None and event.error["kind"] == "expression":
        then = error_text(event.error)
    else:
        is_plain = event.directive in (DirectiveKind.CONTINUE, DirectiveKind.RETRY)
        then = joined("" if is_plain else _directive(event), _counted_as(event.verdict))
    said = joined(_evidence(outcome), _advice(outcome))
    return f"task {event.task} {word}", joined(said, _decided(event, then), _written(event))


def _rule(event: e.TaskProcessed) -> str:
    """Which rule said so; one whose name only repeats what it does need not be told."""
    if event.rule_name in (GraphRule.DONE, event.directive):
        return ""
    return event.rule_name or (f"rule {event.rule}" if event.rule is not None else "")


def _decided(event: e.TaskProcessed, then: str) -> str:
    """What decided, and what follows; of conditions that do not hold, both in one."""
    rule = _rule(event)
    return f"{rule} → {then}" if rule and event.rule is None else joined(rule, then)


def _advice(outcome: Outcome) -> str:
    """What the tool said beside ok or error."""
    word = f"says {one_line(outcome.word)}" if outcome.word else ""
    label = f"label {one_line(outcome.label)}" if outcome.label else ""
    return joined(
        word, label, f"suggests {listed(list(outcome.suggested))}" if outcome.suggested else ""
    )


def _written(event: e.TaskProcessed | e.TaskRetryExhausted | e.NextEvaluated) -> str:
    return ", ".join(writes_of(event.patches))


def _counted_as(verdict: str | None) -> str:
    return f"counts as {verdict}" if verdict else ""


def _unsatisfied(event: e.RunFailed) -> str:
    return f"gates not satisfied: {listed(event.unsatisfied)}" if event.unsatisfied else ""


def _requested(event: e.RunRequested) -> tuple[str, str]:
    if event.continues is None:
        return "requested", f"program {one_line(event.program)}"
    begins = f"starts at {event.entry}" if event.entry else ""
    return "takes over", joined(f"from run {event.continues}", begins)


def _of_run(event: RunEvent) -> tuple[str, str]:
    match event:
        case e.RunRequested():
            return _requested(event)
        case e.RunStarted():
            return "started", _start(event)
        case e.RunPaused():
            return "paused", event.reason or ""
        case e.RunCompensating():
            why = "cancelled" if event.is_cancelled else error_text(event.error or {})
            return "compensating", joined(counted(event.count, "step-run"), why, event.reason or "")
        case e.RunFailed():
            undone = _undone(event)
            return "failed", joined(error_text(event.error), _unsatisfied(event), undone)
        case e.RunCancelled():
            return "cancelled", joined(event.reason or "", _undone(event))
        case e.RunDone() | e.RunResumed():
            return event.name.removeprefix("run."), ""
        case _:
            assert_never(event)


def _undone(event: e.RunFailed | e.RunCancelled) -> str:
    """`2 undone, 1 not`: what became of the compensations."""
    if event.compensation is None:
        return ""
    failed = event.compensation["failed"]
    return f"{event.compensation['done']} undone{f', {failed} not' if failed else ''}"


def _retry(event: e.TaskRetryScheduled) -> str:
    following = f"attempt {(event.attempt or 1) + 1} of {event.attempts}"
    asked = event.retry_after_seconds
    return joined(
        f"{following} in {exact_seconds(event.delay_seconds)}",
        f"Retry-After {exact_seconds(asked)}" if asked else "",
        f"by way of {event.to}" if event.to else "",
        one_line(event.last_error or ""),
    )


def _directive(event: e.TaskProcessed | e.TaskRetryExhausted) -> str:
    target = f" to {event.to}" if event.to else ""
    wait = f" in {exact_seconds(event.delay_seconds)}" if event.delay_seconds is not None else ""
    return f"{event.directive}{target}{wait}"


def _evidence(outcome: Outcome) -> str:
    """The shortest telling fact: the tool's own code, else the error."""
    code = tool_code(outcome) if outcome.is_error else None
    if code is not None:
        return f"{code.name.lower()} {code.value}"
    return error_text(outcome.error) if outcome.error else ""


def _routed(event: e.NextEvaluated, program: Program | None) -> tuple[str, str]:
    if event.fails_run:
        return "ends the run", "the failure it came from is still one"
    if event.error is not None:
        return "next failed", error_text(event.error)
    if event.reason is RouteReason.REPEATED:
        return "goes nowhere", reason_text(event)
    targets = ", ".join(token["to"] for token in event.tokens) or "nothing"
    dropped = [arc["to"] for arc in event.arcs if arc.get("dropped")]
    why = f"{', '.join(dropped)} dropped: no `when` reads event.failed" if dropped else ""
    went = joined(f"-> {targets}", reason_text(event, program), why, _written(event))
    return f"next on {event.event}", went


def _gate(event: e.GateChecked) -> tuple[str, str]:
    if is_exit_check(event):
        return "gates asked", gates_text(event)
    if event.error is not None and is_past_limit(event):
        return "not started", error_text(event.error)
    if event.error is not None:
        return "gate asked", error_text(event.error)
    rule = f" · rule {event.rule}" if event.rule is not None else ""
    return "gate asked", f"{'let in' if event.allow else 'refused'}{rule}"


def _mode(event: e.StepFailed) -> str:
    if event.failure_mode is FailureEffect.BRANCH:
        return "ends its branch"
    return "handled" if event.handled else "unhandled"
