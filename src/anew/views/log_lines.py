"""The log as lines of a log file: one sentence per event worth telling.

    fetch: attempt 1 failed: HTTP 503; will retry after 2.34 s (attempt 2/5)
    fetch: succeeded on attempt 2

An execution and what was decided about it are one line, so a small memory bridges the two events.
It holds what is live and nothing else. Times are the reader's business.
"""

from __future__ import annotations

from typing import assert_never

from msgspec import Struct

from anew.engine import events as e
from anew.engine.events.words import FailureEffect, RetryLimit, RouteReason
from anew.engine.moments import NANOSECONDS
from anew.engine.state import StepRunKey, key_of
from anew.program.policy import DirectiveKind
from anew.program.program import Program
from anew.views.event_text import event_sentence
from anew.views.relays import Relays
from anew.views.replies import reply_of
from anew.views.routing_words import (
    is_exit_check,
    is_past_limit,
    met_text,
)
from anew.views.wording import (
    duration,
    error_text,
    exact_seconds,
    failure_text,
    held_text,
    lesser_verdict,
    one_line,
    place_text,
    spent_text,
)

# A loop tells how far it is this often.
LOOP_MARKS = 10
LOOP_ITEMS_WORTH_MARKS = 100
# Reasons of a way that a reader of the document would not expect.
_NEWS = (RouteReason.FAIL_EDGE, RouteReason.RETRY_TARGET, RouteReason.FALLBACK)


class _Loop(Struct):
    total: int
    ended: int = 0
    failed: int = 0


class LogLines:
    """Turns events, in their order, into lines. Keeps what a later line has to know.

    With the program, a step that only passes a failure on is not told as one that failed.
    """

    def __init__(self, program: Program | None = None) -> None:
        self._program = program
        self._relays = Relays(program)
        self._joined: e.BranchJoined | None = None  # told with the visit it begins
        self._trouble: dict[StepRunKey, str] = {}
        self._since: dict[tuple[str | None, int | None], int] = {}
        self._loops: dict[tuple[str | None, int | None], _Loop] = {}
        self._began = 0

    def line(self, event: e.Event) -> str | None:
        """What to say about an event; None when it is no news."""
        self._relays.feed(event)
        said = self._text(event)
        return None if said is None else f"{place_text(event)}: {said}"

    def _text(self, event: e.Event) -> str | None:
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
                verdict = lesser_verdict(event)
                how = f", {verdict}" if verdict else ""
                return f"done{self._after(event)}{how}"
            case e.StepFailed():
                return self._failed(event)
            case e.StepRedelivered():
                why = "released by its worker" if event.delivery == 1 else "its worker was lost"
                return f"{why}; it is queued again, which costs no attempt"
            case e.TaskHeld():
                return f"held: {held_text(event)}"
            case e.TaskStarted():
                odd = "; ".join(one_line(warning) for warning in event.warnings)
                return f"warning: {odd}" if odd else None
            case e.BranchJoined() if event.fork is not None and event.visit is not None:
                self._joined = event
                return None
            case e.StepScheduled():
                return self._met(event)
            case e.NextEvaluated() | e.GateChecked() | e.BranchForked() | e.BranchJoined():
                return event_sentence(event) if _is_shown(event) else None
            case _:
                return self._text_of_others(event)

    def _text_of_others(self, event: e.Event) -> str | None:
        match event:
            case e.LoopStarted():
                self._loops[event.step, event.visit] = _Loop(len(event.items))
            case e.LoopIterationDone():
                return self._mark(event)
            case e.LoopIterationFailed():
                self._mark(event)
            case e.LoopDone():
                self._loops.pop((event.step, event.visit), None)
            case e.RunStarted():
                return None
            case e.RunRequested():
                self._began = event.at
                after = f", taking over from run {event.continues}" if event.continues else ""
                return f"{event.run} of program {event.program}{after}"
            case e.RunPaused() if event.shared_with is not None:
                self._began = event.at
                return f"{event.reason}; what came before is that of run {event.shared_with}"
            case e.RunDone():
                return f"done in {duration((event.at - self._began) / NANOSECONDS)}"
            case _:
                pass
        return event_sentence(event)

    def _processed(self, event: e.TaskProcessed) -> str | None:
        """Silent when the decision has its own event, which then tells both."""
        passed_on = self._relays.passed_on(event)
        if passed_on is not None:
            return passed_on
        failed = f"attempt {event.attempt} failed: {failure_text(event.outcome)}"
        if event.directive is DirectiveKind.RETRY:
            asked = f"attempt {event.attempt} gave no final result"
            self._trouble[key_of(event)] = failed if event.outcome.is_error else asked
            return None
        if event.error is not None and event.error.get("kind") == "expression":
            return f"attempt {event.attempt}: {error_text(event.error)}"
        then = _then(event)
        if event.outcome.is_error:
            unmet = f" ({event.rule_name})" if event.rule is None and event.rule_name else ""
            return f"{failed}; {then}{unmet}"
        reply = reply_of(event, self._program)
        late = f"succeeded on attempt {event.attempt}" if (event.attempt or 1) > 1 else ""
        if late or reply:
            return ", ".join(part for part in (late, f"replied: {reply}" if reply else "") if part)
        return then if event.delay_seconds is not None else None

    def _failed(self, event: e.StepFailed) -> str | None:
        after = self._after(event)
        if self._relays.passed_on(event) is not None:
            return None  # its task has told
        how = ", handled" if event.handled else ""
        how = ", which ends its branch" if event.failure_mode is FailureEffect.BRANCH else how
        return f"failed{after}{how}: {error_text(event.error)}"

    def _met(self, event: e.StepScheduled) -> str | None:
        """How branches met, which the visit after them knows best."""
        met, self._joined = self._joined, None
        if met is None or (met.step, met.visit) != (event.step, event.visit):
            return None
        return f"branches joined: {met_text(met, event)}"

    def _retry(self, event: e.TaskRetryScheduled) -> str:
        trouble = self._take_trouble(event)
        retry_after = event.retry_after_seconds
        is_asked = retry_after and event.delay_seconds > event.spread_seconds
        asked = f", Retry-After {exact_seconds(retry_after)}" if retry_after and is_asked else ""
        after = f"{event.delay_seconds:.2f} s"
        following = f"attempt {(event.attempt or 1) + 1}/{event.attempts}"
        if event.to is not None:
            return f"{trouble}{asked}; will retry by way of {event.to} after {after}"
        return f"{trouble}{asked}; will retry after {after} ({following})"

    def _exhausted(self, event: e.TaskRetryExhausted) -> str:
        is_count = event.reason is RetryLimit.ATTEMPTS
        spent = f"{event.attempt} of {event.attempts} attempts made" if is_count else "out of time"
        if event.reason is RetryLimit.BUDGET:
            spent = spent_text(event)
        return f"{self._take_trouble(event)}; {spent}, {_then(event)}"

    def _take_trouble(self, event: e.Event) -> str:
        return self._trouble.pop(key_of(event), f"attempt {event.attempt} ended")

    def _after(self, event: e.StepDone | e.StepFailed) -> str:
        since = self._since.pop((event.step, event.visit), None)
        return "" if since is None else f" after {duration((event.at - since) / NANOSECONDS)}"

    def _mark(self, event: e.LoopIterationDone | e.LoopIterationFailed) -> str | None:
        """How far a long loop is, at each tenth of it."""
        loop = self._loops.get((event.step, event.visit))
        if loop is None:
            return None
        loop.ended += 1
        if loop.total < LOOP_ITEMS_WORTH_MARKS:
            return None
        is_mark = loop.ended % (loop.total // LOOP_MARKS) == 0 and loop.ended < loop.total
        return f"{loop.ended:,} of {loop.total:,} iterations ended" if is_mark else None


def _is_shown(
    event: e.NextEvaluated | e.GateChecked | e.BranchForked | e.BranchJoined,
) -> bool:
    """Branches, and ways that a reader of the document would not expect."""
    match event:
        case e.NextEvaluated():
            return event.reason is RouteReason.REPEATED or (
                event.reason in _NEWS and bool(event.tokens)
            )
        case e.GateChecked() if is_exit_check(event):
            return not event.allow
        case e.GateChecked():
            return event.error is not None and is_past_limit(event)
        case e.BranchForked() | e.BranchJoined():
            return event.fork is not None
        case _:
            assert_never(event)


def _then(event: e.TaskProcessed | e.TaskRetryExhausted) -> str:
    """What the rule says happens now."""
    wait = "" if event.delay_seconds is None else f" after {exact_seconds(event.delay_seconds)}"
    match event.directive:
        case DirectiveKind.CONTINUE:
            return f"counts as {event.verdict}, continues" if event.verdict else "continues"
        case DirectiveKind.BREAK:
            return "ends the step"
        case DirectiveKind.JUMP:
            return f"goes to {event.to}{wait}"
        case DirectiveKind.FAIL | DirectiveKind.RETRY:
            return "gives up"
        case other:
            assert_never(other)
