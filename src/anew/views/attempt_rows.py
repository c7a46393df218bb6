"""Every attempt of a run, each with the whole decision about it: what a table of them shows.

Pairs the start of an execution with its outcome and with what was decided about it, one event at a
time. What tasks are given and give back is not kept here: an attempt names the events that have it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from msgspec import Struct

from anew.engine import events as e
from anew.engine.moments import NANOSECONDS, moment_text
from anew.engine.next_actions import idempotency_key
from anew.engine.outcome import Outcome
from anew.engine.state import StepRunKey, key_of
from anew.engine.statuses import GIVEN_UP_KIND, AttemptStatus
from anew.program.program import Program
from anew.program.retry import BackoffKind, JitterKind
from anew.values import Object
from anew.views.context import is_made_up
from anew.views.picture.leaving_out import bounded_object
from anew.views.picture.rules import rule_of
from anew.views.picture.shown import RuleShown
from anew.views.picture.steps import attempts_allowed
from anew.views.progress import Progress
from anew.views.wording import exact_seconds, joined, seconds_early

# Of one error in a table; the event of the outcome has all of it.
ATTEMPT_ERROR_BYTES_MAX = 4 * 1024

_Delayed: TypeAlias = e.TaskProcessed | e.TaskRetryExhausted


class DelayShown(Struct, frozen=True, kw_only=True, gc=False):
    """The numbers of one delay, in the order they were applied. Of a jump there is only one.

    `text` tells how it came about.
    """

    backoff: str
    base_seconds: float
    jitter: str | float
    draw: float | None
    spread_seconds: float
    cap_seconds: float | None
    retry_after_seconds: float | None
    delay_seconds: float
    not_before: str
    text: str


class SkipShown(Struct, frozen=True, kw_only=True, gc=False):
    """Someone ended the wait behind an attempt, or the sleep that it is, before its time."""

    at: str
    by: str | None
    early_seconds: float | None


class AttemptShown(Struct, frozen=True, kw_only=True):
    """One execution of a task. `seq` is that of its `task.started`, and names it.

    `exhausted` says why there is no further attempt although a retry rule matched, and `skipped`
    who did not wait for what was delayed. `unmet` has the conditions of a retry block of which none
    held, so that no rule decided.
    """

    seq: int
    ended_seq: int | None
    decided_seq: int | None
    step: str
    visit: int
    iteration: int | None
    task: str
    kind: str | None
    attempt: int
    attempts_max: int | None
    started_at: str
    ended_at: str | None
    seconds: float | None
    status: AttemptStatus
    error: Object | None
    http_status: int | None
    directive: str | None
    to: str | None
    rule: RuleShown | None
    unmet: str | None
    delay: DelayShown | None
    skipped: SkipShown | None
    exhausted: str | None
    idempotency_key: str | None
    has_logs: bool


class Attempt(Struct, gc=False):
    """One execution, as far as it has come; see `AttemptShown`."""

    seq: int
    step: str
    visit: int
    iteration: int | None
    task: str
    task_visit: int
    attempt: int
    started_at: int
    workbook: str | None = None
    attempts_max: int | None = None
    status: AttemptStatus = AttemptStatus.WORKING
    ended_seq: int | None = None
    ended_at: int | None = None
    decided_seq: int | None = None
    error: Object | None = None
    http_status: int | None = None
    directive: str | None = None
    to: str | None = None
    rule: int | None = None
    rule_name: str | None = None
    delay: DelayShown | None = None
    skipped: SkipShown | None = None
    exhausted: str | None = None
    has_logs: bool = False


class _Cut(Struct, frozen=True):
    """Up to here the log is that of another run; `is_foreign`: under another document, too."""

    seq: int
    run: str
    is_foreign: bool


class AttemptBook:
    """All attempts of a log so far. Feed it an event before the progress of the run is fed it."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._made_up = _made_up(progress.program)
        self.attempts: list[Attempt] = []
        self._open: dict[StepRunKey, Attempt] = {}
        self._last: dict[StepRunKey, Attempt] = {}
        self._cuts: list[_Cut] = []

    def feed(self, event: e.Event) -> None:
        """Take one more event of the log, in order."""
        match event:
            case e.TaskStarted():
                self._started(event)
            case e.TaskProcessed():
                self._processed(event)
            case e.TaskRetryScheduled() | e.TaskRetryExhausted():
                self._decided(event)
            case e.WaitSkipped():
                self._skipped(event)
            case e.StepRedelivered():
                self._close(self._open.pop(key_of(event), None), event, AttemptStatus.LOST)
            case e.StepFailed() | e.LoopIterationFailed():
                is_lost = event.error.get("kind") == GIVEN_UP_KIND
                self._leave(
                    event, AttemptStatus.LOST if is_lost else AttemptStatus.CANCELLED, event.error
                )
            case e.StepDone() | e.LoopIterationDone():
                self._leave(event, AttemptStatus.CANCELLED)
            case e.StepSkipped() if event.visit is not None:
                self._leave(event, AttemptStatus.CANCELLED)
            case e.BranchJoined() if event.fork is not None:
                self._stop_branches(event, event.fork)
            case e.RunPaused() if event.shared_with is not None:
                self._cut(event, event.shared_with)
            case e.RunCompensating() if not event.is_cancelled:
                pass
            case e.RunDone() | e.RunFailed() | e.RunCancelled() | e.RunCompensating():
                for place in list(self._open):
                    self._close(self._open.pop(place), event, AttemptStatus.CANCELLED)
            case _:
                pass

    def _started(self, event: e.TaskStarted) -> None:
        if event.step in self._made_up:
            return
        place = key_of(event)
        # One that was at work where a log was cut is made anew, and never heard of again.
        self._close(self._open.pop(place, None), event, AttemptStatus.CANCELLED)
        attempt = Attempt(
            seq=event.seq,
            step=event.step or "",
            visit=event.visit or 0,
            iteration=event.iteration,
            task=event.task or "",
            task_visit=event.task_visit,
            attempt=event.attempt or 1,
            started_at=event.at,
            workbook=event.workbook,
        )
        before = self._last.get(place)
        if before is not None and before.task == attempt.task and attempt.attempt > 1:
            attempt.attempts_max = before.attempts_max
        self.attempts.append(attempt)
        self._open[place] = self._last[place] = attempt

    def _processed(self, event: e.TaskProcessed) -> None:
        attempt = self._open.pop(key_of(event), None)
        if attempt is None:
            return
        outcome = event.outcome
        self._close(attempt, event, AttemptStatus.ERROR if outcome.is_error else AttemptStatus.OK)
        attempt.error = _bounded(event.error or outcome.error)
        attempt.http_status = _http_status(outcome)
        attempt.directive, attempt.to = event.directive, event.to
        attempt.rule, attempt.rule_name = event.rule, event.rule_name
        attempt.decided_seq, attempt.delay = event.seq, _jump_delay(event)
        attempt.has_logs = bool(outcome.logs)

    def _decided(self, event: e.TaskRetryScheduled | e.TaskRetryExhausted) -> None:
        attempt = self._last.get(key_of(event))
        if attempt is None:
            return
        attempt.decided_seq, attempt.rule = event.seq, event.rule
        attempt.attempts_max, attempt.to = event.attempts, event.to
        if isinstance(event, e.TaskRetryScheduled):
            attempt.delay = _retry_delay(event)
            return
        attempt.exhausted, attempt.directive = event.reason, event.directive
        attempt.delay = _jump_delay(event)

    def _skipped(self, event: e.WaitSkipped) -> None:
        attempt = self._last.get(key_of(event))
        if attempt is not None:
            early = seconds_early(event)
            attempt.skipped = SkipShown(at=moment_text(event.at), by=event.by, early_seconds=early)

    def _close(self, attempt: Attempt | None, event: e.Event, status: AttemptStatus) -> None:
        if attempt is not None:
            attempt.status, attempt.ended_seq, attempt.ended_at = status, event.seq, event.at

    def _leave(self, event: e.Event, status: AttemptStatus, error: Object | None = None) -> None:
        """A step-run is over: an execution without an outcome will not have one."""
        for place in self._places(event):
            attempt = self._open.pop(place, None)
            self._close(attempt, event, status)
            if attempt is not None:
                attempt.error = _bounded(error)
            self._last.pop(place, None)

    def _places(self, event: e.Event) -> list[StepRunKey]:
        """The step-run of an event; with a visit its iterations are over, too."""
        place = key_of(event)
        if event.iteration is not None or place in self._last:
            return [place]
        return [one for one in self._last if (one.step, one.visit) == (place.step, place.visit)]

    def _stop_branches(self, event: e.Event, fork: int) -> None:
        for step, visit in self._progress.within(fork):
            for place in [one for one in self._last if (one.step, one.visit) == (step.name, visit)]:
                self._close(self._open.pop(place, None), event, AttemptStatus.CANCELLED)
                del self._last[place]

    def _cut(self, event: e.RunPaused, run: str) -> None:
        program = self._progress.program
        own = (None, program.digest if program else None)
        self._cuts.append(_Cut(event.seq, run, is_foreign=event.decided_by not in own))

    # --- rows ------------------------------------------------------------------------------------

    def row(self, attempt: Attempt) -> AttemptShown:
        """What a table shows of an attempt."""
        program = self._program_of(attempt)
        ended = attempt.ended_at
        took = None if ended is None else (ended - attempt.started_at) / NANOSECONDS
        return AttemptShown(
            seq=attempt.seq,
            ended_seq=attempt.ended_seq,
            decided_seq=attempt.decided_seq,
            step=attempt.step,
            visit=attempt.visit,
            iteration=attempt.iteration,
            task=attempt.task,
            kind=_kind(program, attempt),
            attempt=attempt.attempt,
            attempts_max=attempt.attempts_max or _allowed(program, attempt),
            started_at=moment_text(attempt.started_at),
            ended_at=None if ended is None else moment_text(ended),
            seconds=took,
            status=attempt.status,
            error=attempt.error,
            http_status=attempt.http_status,
            directive=attempt.directive,
            to=attempt.to,
            rule=_rule(program, attempt),
            unmet=attempt.rule_name if attempt.rule is None else None,
            delay=attempt.delay,
            skipped=attempt.skipped,
            exhausted=attempt.exhausted,
            idempotency_key=self._key(attempt),
            has_logs=attempt.has_logs,
        )

    def _program_of(self, attempt: Attempt) -> Program | None:
        """The program that decided about it, as far as it is known."""
        is_foreign = any(cut.is_foreign and attempt.seq < cut.seq for cut in self._cuts)
        return None if is_foreign else self._progress.program

    def _key(self, attempt: Attempt) -> str:
        """An execution that another run made had the key of that run."""
        made_by = (cut.run for cut in self._cuts if attempt.seq < cut.seq)
        run = next(made_by, self._progress.run)
        key = StepRunKey(attempt.step, attempt.visit, attempt.iteration)
        return idempotency_key(run, key, attempt.task_visit)


def _made_up(program: Program | None) -> frozenset[str]:
    """The steps that no author wrote."""
    steps: Iterator[str] = (
        (step.name for step in program.steps.values() if is_made_up(step)) if program else iter(())
    )
    return frozenset(steps)


def _bounded(error: Object | None) -> Object | None:
    return None if error is None else bounded_object(error, ATTEMPT_ERROR_BYTES_MAX)


def _http_status(outcome: Outcome) -> int | None:
    http = outcome.helpers.get("http")
    status = http.get("status") if isinstance(http, dict) else None
    return status if isinstance(status, int) else None


def _retry_delay(event: e.TaskRetryScheduled) -> DelayShown:
    return DelayShown(
        backoff=event.backoff,
        base_seconds=event.base_seconds,
        jitter=event.jitter,
        draw=event.draw,
        spread_seconds=event.spread_seconds,
        cap_seconds=event.cap_seconds,
        retry_after_seconds=event.retry_after_seconds,
        delay_seconds=event.delay_seconds,
        not_before=moment_text(event.not_before),
        text=_delay_text(event),
    )


def _delay_text(event: e.TaskRetryScheduled) -> str:
    """How a delay came about, in the order it did."""
    cap, asked = event.cap_seconds, event.retry_after_seconds
    spread = f"jitter {event.jitter}: {exact_seconds(event.spread_seconds)}"
    number = "" if event.entry is None else f" {event.entry}"
    row = "" if event.backoff_row is None else f" for {event.backoff_row}"
    return joined(
        f"{event.backoff}{number} {exact_seconds(event.base_seconds)}{row}",
        "" if cap is None else f"at most {exact_seconds(cap)}",
        "" if event.draw is None else spread,
        "" if asked is None else f"Retry-After {exact_seconds(asked)}",
    )


def _jump_delay(event: _Delayed) -> DelayShown | None:
    if event.delay_seconds is None or event.not_before is None:
        return None
    seconds = event.delay_seconds
    return DelayShown(
        backoff=BackoffKind.FIXED.value,
        base_seconds=seconds,
        jitter=JitterKind.NONE.value,
        draw=None,
        spread_seconds=seconds,
        cap_seconds=None,
        retry_after_seconds=None,
        delay_seconds=seconds,
        not_before=moment_text(event.not_before),
        text="as the jump says",
    )


def _kind(program: Program | None, attempt: Attempt) -> str | None:
    if program is None or attempt.step not in program.steps:
        return None
    if attempt.workbook is not None:
        task = program.workbook.get(attempt.workbook)
    else:
        task = program.task_of(attempt.step, attempt.task)
    return None if task is None else task.kind


def _allowed(program: Program | None, attempt: Attempt) -> int | None:
    return attempts_allowed(program, attempt.step, attempt.task) if program else None


def _rule(program: Program | None, attempt: Attempt) -> RuleShown | None:
    rule = rule_of(program, attempt.step, attempt.task, attempt.rule)
    if rule is None or rule.name is not None:
        return rule
    return RuleShown(rule.number, attempt.rule_name, rule.line, rule.column)
