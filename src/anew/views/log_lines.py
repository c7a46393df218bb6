"""The log as lines of a log file: one sentence per event worth telling.

    fetch: attempt 1 failed: HTTP 503; will retry after 2.34 s (attempt 2/5)
    fetch: succeeded on attempt 2

An execution and what was decided about it are one line, so a small memory bridges the two events.
It holds what is live and nothing else. Times are the reader's business.
"""

from __future__ import annotations

from msgspec import Struct

from anew.engine import events as e
from anew.engine.moments import NANOSECONDS
from anew.views.wording import (
    counted,
    duration,
    error_text,
    exact_seconds,
    failure_text,
    one_line,
    place_text,
)

# A loop tells how far it is this often.
LOOP_MARKS = 10
LOOP_ITEMS_WORTH_MARKS = 100


class _Loop(Struct):
    total: int
    ended: int = 0
    failed: int = 0


class LogLines:
    """Turns events, in their order, into lines. Keeps what a later line has to know."""

    def __init__(self) -> None:
        self._trouble: dict[tuple[str | None, int | None, int | None], str] = {}
        self._since: dict[tuple[str | None, int | None], int] = {}
        self._loops: dict[tuple[str | None, int | None], _Loop] = {}
        self._began = 0

    def line(self, event: e.Event) -> str | None:
        """What to say about an event; None when it is no news."""
        said = self._said(event)
        return None if said is None else f"{place_text(event)}: {said}"

    def _said(self, event: e.Event) -> str | None:
        match event:
            case e.TaskProcessed():
                return self._processed(event)
            case e.TaskRetryScheduled():
                return self._retry(event)
            case e.TaskRetryExhausted():
                return self._exhausted(event)
            case e.StepStarted():
                self._since[event.step, event.visit] = event.at
                return "started" if event.visit == 1 else f"started, visit {event.visit}"
            case e.StepDone():
                return f"done{self._after(event)}"
            case e.StepFailed():
                how = ", handled by an arc" if event.handled else ""
                return f"failed{self._after(event)}{how}: {error_text(event.error)}"
            case e.StepSkipped():
                return f"skipped: {event.reason}"
            case e.StepRefused():
                return "skipped: its gate never opened"
            case e.StepRedelivered():
                why = "handed back" if event.delivery == 1 else "its worker was lost"
                return f"{why}; it is handed out again, which costs no attempt"
            case e.TaskStarted() | e.StepScheduled() | e.NextEvaluated() | e.GateChecked():
                return None
            case e.BranchForked() | e.BranchJoined():
                return None
            case _:
                return self._said_of_others(event)

    def _said_of_others(self, event: e.Event) -> str | None:
        match event:
            case e.LoopStarted():
                return self._loop_started(event)
            case e.LoopIterationDone() | e.LoopIterationFailed():
                return self._iteration_ended(event)
            case e.LoopDone():
                self._loops.pop((event.step, event.visit), None)
                failed = f", {event.failed:,} failed" if event.failed else ""
                return f"loop done: {event.done:,} of {counted(event.total, 'item')} done{failed}"
            case e.HumanWaiting():
                return f"waits for a person: {one_line(event.question)}"
            case e.HumanAnswered():
                return f"answered: {one_line(event.answer)}"
            case e.HumanTimedOut():
                return f"nobody answered; {event.action}"
            case e.SignalWaiting():
                return f"waits for the signal {event.signal}"
            case e.SignalReceived():
                return f"the signal {event.signal} came"
            case e.SignalTimedOut():
                return f"the signal {event.signal} did not come in time"
            case _:
                return self._said_of_run(event)

    def _said_of_run(self, event: e.Event) -> str | None:
        match event:
            case e.RunRequested():
                self._began = event.at
                return f"{event.run} of program {event.program}"
            case e.RunStarted():
                return None
            case e.RunPaused() if event.shared_with is not None:
                self._began = event.at
                return f"{event.reason}; what came before is that of run {event.shared_with}"
            case e.RunPaused() | e.RunCancelled():
                why = f": {event.reason}" if event.reason else ""
                return f"{event.name.removeprefix('run.')}{why}"
            case e.RunResumed():
                return "resumed"
            case e.RunDone():
                return f"done in {duration((event.at - self._began) / NANOSECONDS)}"
            case e.RunFailed():
                return f"failed: {error_text(event.error)}"
            case _:
                return None

    def _processed(self, event: e.TaskProcessed) -> str | None:
        """Silent when the decision has its own event, which then tells both."""
        failed = f"attempt {event.attempt} failed: {failure_text(event.outcome)}"
        if event.directive == "retry":
            key = (event.step, event.visit, event.iteration)
            asked = f"attempt {event.attempt} gave no final result"
            self._trouble[key] = failed if event.outcome.is_error else asked
            return None
        if event.error is not None and event.error.get("kind") == "expression":
            return f"attempt {event.attempt}: {error_text(event.error)}"
        then = _then(event)
        if event.outcome.is_error:
            return f"{failed}; {then}"
        if (event.attempt or 1) > 1:
            return f"succeeded on attempt {event.attempt}"
        return then if event.delay_seconds is not None else None

    def _retry(self, event: e.TaskRetryScheduled) -> str:
        trouble = self._told_trouble(event)
        wish = event.retry_after_seconds
        is_wish = wish and event.delay_seconds > event.spread_seconds
        asked = f", Retry-After {exact_seconds(wish)}" if wish and is_wish else ""
        after = f"{event.delay_seconds:.2f} s"
        following = f"attempt {(event.attempt or 1) + 1}/{event.attempts}"
        return f"{trouble}{asked}; will retry after {after} ({following})"

    def _exhausted(self, event: e.TaskRetryExhausted) -> str:
        is_count = event.reason == "attempts"
        spent = f"{event.attempt} of {event.attempts} attempts made" if is_count else "out of time"
        return f"{self._told_trouble(event)}; {spent}, {_then(event)}"

    def _told_trouble(self, event: e.Event) -> str:
        key = (event.step, event.visit, event.iteration)
        return self._trouble.pop(key, f"attempt {event.attempt} ended")

    def _after(self, event: e.StepDone | e.StepFailed) -> str:
        since = self._since.pop((event.step, event.visit), None)
        return "" if since is None else f" after {duration((event.at - since) / NANOSECONDS)}"

    def _loop_started(self, event: e.LoopStarted) -> str:
        self._loops[event.step, event.visit] = _Loop(len(event.items))
        width = f", {event.max_in_flight} at a time" if event.mode == "parallel" else ""
        return f"loop over {counted(len(event.items), 'item')}{width}"

    def _iteration_ended(self, event: e.LoopIterationDone | e.LoopIterationFailed) -> str | None:
        loop = self._loops.get((event.step, event.visit))
        if loop is not None:
            loop.ended += 1
        if isinstance(event, e.LoopIterationFailed):
            return f"failed: {error_text(event.error)}"
        if loop is None or loop.total < LOOP_ITEMS_WORTH_MARKS:
            return None
        is_mark = loop.ended % (loop.total // LOOP_MARKS) == 0 and loop.ended < loop.total
        return f"{loop.ended:,} of {loop.total:,} iterations ended" if is_mark else None


def _then(event: e.TaskProcessed | e.TaskRetryExhausted) -> str:
    """What the rule says happens now."""
    wait = "" if event.delay_seconds is None else f" after {exact_seconds(event.delay_seconds)}"
    match event.directive:
        case "continue":
            return "goes on"
        case "break":
            return "ends the step"
        case "jump":
            return f"goes to {event.to}{wait}"
        case _:
            return "gives up"
