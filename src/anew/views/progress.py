"""Where every step of a run stands, kept up to date one event at a time.

Feeding an event costs the same however long the run is, so that a live view of a loop with many
iterations stays cheap. The live view, the report and the verdict all read this. Knows no clock and
decides nothing; without the program it still works, but cannot tell a sleep from other work.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from anew.engine import events as e
from anew.engine.moments import NANOSECONDS
from anew.engine.state import FINAL, RunStatus
from anew.engine.statuses import ActivityKind, StepStatus
from anew.engine.waits import sleep_end
from anew.program.kind import OutcomeSource
from anew.program.kinds import kind_named
from anew.program.policy import TimeoutAction
from anew.program.program import Program
from anew.values import Object, Value
from anew.views.context import GRAPHS, NodePassage
from anew.views.ignored import IgnoredErrors
from anew.views.relays import Relays
from anew.views.replies import reply_of
from anew.views.routing_words import failed_branches, silence_text
from anew.views.step_progress import Activity, LoopProgress, StepProgress
from anew.views.wording import failure_text, held_text, lesser_verdict, skipped_text

_RUN_STATUS: dict[type[e.Fact], RunStatus] = {
    e.RunRequested: RunStatus.QUEUED,
    e.RunStarted: RunStatus.RUNNING,
    e.RunPaused: RunStatus.PAUSED,
    e.RunResumed: RunStatus.RUNNING,
    e.RunCompensating: RunStatus.RUNNING,
    e.RunDone: RunStatus.DONE,
    e.RunFailed: RunStatus.FAILED,
    e.RunCancelled: RunStatus.CANCELLED,
}


_ASKING = frozenset({ActivityKind.PERSON, ActivityKind.SIGNAL})


class _Branch(Struct, frozen=True):
    """One way of a fork; `parent` is the branch the fork stands in."""

    fork: int
    parent: int | None
    depth: int


class Progress:
    """A whole run. `steps` has those that were reached, in the order they were."""

    def __init__(self, program: Program | None = None) -> None:
        self.program = program
        self.run = ""
        self.name = program.name if program else ""
        self._status = RunStatus.NEW
        self.reason: str | None = None  # of a pause or a cancellation
        self.failed_step: str | None = None
        self.error: Object | None = None
        self.compensation: Object | None = None  # how many visits were undone, and how many not
        self.unsatisfied: list[str] = []  # the gates that were not met when last asked
        self.continued_as: str | None = None  # the run that takes this one's place
        self.result: Value = None
        self.first_at = 0
        self.last_at = 0
        self.events = 0
        self.retries = 0
        self.failed_branches = 0
        self.steps: dict[str, StepProgress] = {}
        self.passage = NodePassage()
        self._branches: dict[int, _Branch] = {}
        self.ignored = IgnoredErrors()
        self._relays = Relays(program)

    @property
    def status(self) -> RunStatus:
        """A run in which only people, signals or gates can move anything is waiting."""
        if self._status is not RunStatus.RUNNING:
            return self._status
        live = [step for step in self.steps.values() if step.is_live]
        is_waiting = live and all(_only_asks(step) for step in live)
        return RunStatus.WAITING if is_waiting else RunStatus.RUNNING

    @property
    def is_final(self) -> bool:
        return self._status in FINAL

    def activities(self) -> list[Activity]:
        """Everything that is live, in the order the steps were reached."""
        return [doing for step in self.steps.values() for doing in step.open.values()]

    def seconds(self, now: int) -> float:
        """From the first event to the end, or to now."""
        if not self.events:
            return 0.0
        until = self.last_at if self.is_final else max(now, self.last_at)
        return (until - self.first_at) / NANOSECONDS

    def feed(self, event: e.Event) -> None:
        """Take one more event of the log, in order."""
        if not self.events:
            self.first_at = event.at
        self.events += 1
        self.last_at = event.at
        self._relays.feed(event)
        self.ignored.feed(event)
        if self.program is not None and self.program.language == GRAPHS:
            self.passage.feed(self.program, event)
        if event.step is None:
            self._feed_run(event)
            return
        step = self.steps.get(event.step)
        if step is None:
            step = self.steps[event.step] = StepProgress(event.step, event.at)
        self._feed_step(step, event)

    def _feed_run(self, event: e.Event) -> None:
        self._status = _RUN_STATUS.get(type(event), self._status)
        match event:
            case e.RunRequested():
                self.run, self.name = event.run, event.program
            case e.RunPaused():
                self.reason = event.reason
                if event.shared_with is not None:
                    self.first_at = event.at  # what is before belongs to another run
                    self._resume_later(event.later_by or 0)
            case e.RunDone():
                self.result = event.result
            case e.RunFailed():
                self.error, self.unsatisfied = event.error, event.unsatisfied
                self.compensation = event.compensation
            case e.RunCancelled():
                self.reason, self.compensation = event.reason, event.compensation
                self._stop_all(event.at)
            case e.RunCompensating() if event.is_cancelled:
                self._stop_all(event.at)
            case _:
                pass

    def _stop_all(self, at: int) -> None:
        for step in self.steps.values():
            if step.is_live:
                _end_all(step, StepStatus.CANCELLED, at)

    def _resume_later(self, later_by: int) -> None:
        """As `engine.shared_logs`: a wait for others is moved, one for a moment is not."""
        for activity in self.activities():
            activity.asked_at += later_by
            if activity.doing in _ASKING:
                activity.since += later_by
                activity.until = None if activity.until is None else activity.until + later_by

    def _feed_step(self, step: StepProgress, event: e.Event) -> None:
        visit = event.visit or 0
        match event:
            case e.TaskStarted():
                self._task_started(step, event)
            case e.TaskProcessed():
                self._note_successor(event)
                _task_processed(step, event)
                step.reply = reply_of(event, self.program) or step.reply
                self._delayed(_activity(step, event), event)
            case e.TaskRetryScheduled():
                self.retries += 1
                _retry_scheduled(step, event)
            case e.TaskRetryExhausted():
                self._delayed(_activity(step, event), event)
            case e.StepScheduled():
                self._scheduled(step, event)
            case e.StepStarted():
                _activity(step, event).doing = ActivityKind.WORKING
            case e.LoopStarted():
                step.open.pop((visit, None), None)
                step.loop = step.loops[visit] = LoopProgress(len(event.items))
            case e.LoopIterationDone() | e.LoopIterationFailed():
                _iteration_ended(step, event)
            case e.StepDone():
                step.verdict, step.passed_on = lesser_verdict(event), None
                _end(step, visit, StepStatus.DONE, event.at)
            case e.StepFailed():
                self._step_failed(step, event)
            case e.StepSkipped() if event.visit is not None:
                _end(step, visit, _stopped(step, visit), event.at)
            case e.StepSkipped() | e.StepRefused():
                # Only a token was dropped: how earlier visits ended is still what counts.
                step.ended = step.ended or StepStatus.SKIPPED
            case e.StepRedelivered():
                again = _activity(step, event)
                again.doing, again.is_again, again.since = ActivityKind.QUEUED, True, event.at
            case e.GateChecked() if event.visit is not None:
                self.unsatisfied = event.unsatisfied
            case e.BranchForked():
                self._forked(event)
            case e.BranchJoined():
                self._joined(event)
            case _:
                _feed_wait(step, event)

    def _scheduled(self, step: StepProgress, event: e.StepScheduled) -> None:
        self.failed_branches += len(failed_branches(event))
        if event.branch is not None:
            step.branch_of[event.visit or 0] = event.branch
            if not step.visits:
                step.depth = self._depth_of(event.branch)
        step.visits = max(step.visits, event.visit or 0)
        _activity(step, event)

    def _forked(self, event: e.BranchForked) -> None:
        if event.fork is None:
            return
        made = _Branch(event.fork, event.parent, self._depth_of(event.parent) + 1)
        self._branches.update({branch["id"]: made for branch in event.branches})

    def _depth_of(self, branch: int | None) -> int:
        known = self._branches.get(branch) if branch is not None else None
        return known.depth if known else 0

    def within(self, fork: int) -> list[tuple[StepProgress, int]]:
        """The live visits in the branches of a fork, and in the forks inside them."""
        return [
            (step, visit)
            for step in self.steps.values()
            for visit, branch in step.branch_of.items()
            if self._is_within(branch, fork)
        ]

    def _is_within(self, branch: int | None, fork: int) -> bool:
        known = self._branches.get(branch) if branch is not None else None
        return known is not None and (known.fork == fork or self._is_within(known.parent, fork))

    def _joined(self, event: e.BranchJoined) -> None:
        """Whatever is still live in the branches that met is stopped."""
        if event.fork is None:
            return
        for step, visit in self.within(event.fork):
            _end(step, visit, _stopped(step, visit), event.at)
        for branch in [b for b in self._branches if self._is_within(b, event.fork)]:
            del self._branches[branch]

    def _note_successor(self, event: e.TaskProcessed) -> None:
        result = event.outcome.result
        if self._source_of(event) is OutcomeSource.RESTART and isinstance(result, dict):
            self.continued_as = str(result.get("run_id"))

    def _delayed(self, activity: Activity, event: e.TaskProcessed | e.TaskRetryExhausted) -> None:
        if event.not_before is not None:
            activity.doing = ActivityKind.POLL if self._is_back(event) else ActivityKind.JUMP
            activity.since, activity.until = event.at, event.not_before
            activity.task, activity.attempt, activity.attempts = event.to, 1, None

    def _is_back(self, event: e.TaskProcessed | e.TaskRetryExhausted) -> bool:
        """Whether a jump leads to its own task or one before it; only the program can tell that."""
        step = self.program.steps.get(event.step or "") if self.program else None
        if step is None or event.to is None or event.to not in step.index_of:
            return event.to == event.task
        return step.index_of[event.to] <= step.index_of.get(event.task or "", -1)

    def _task_started(self, step: StepProgress, event: e.TaskStarted) -> None:
        activity = _activity(step, event)
        if activity.is_again:
            activity.is_again = False
        else:
            step.attempts += 1
            activity.asked_at = event.at
        activity.doing, activity.since, activity.until = ActivityKind.WORKING, event.at, None
        activity.has_outcome, activity.skipped = False, ""
        activity.task, activity.attempt = event.task, event.attempt or 1
        if activity.attempt == 1:
            activity.attempts, activity.rule = None, None
        source = self._source_of(event)
        if source is OutcomeSource.CHILD:
            activity.doing = ActivityKind.CHILD
        elif source is OutcomeSource.CLOCK:
            activity.doing, activity.until = (
                ActivityKind.SLEEP,
                _sleep_end(event, activity.asked_at),
            )

    def _source_of(self, event: e.Event) -> OutcomeSource | None:
        kind = self.kind_of(event)
        return None if kind is None else kind_named(kind).outcome_from

    def kind_of(self, event: e.Event) -> str | None:
        """Of the event's task; None when the program is not known."""
        task = self.program.task_of(event.step, event.task) if self.program else None
        return None if task is None else task.kind

    def _step_failed(self, step: StepProgress, event: e.StepFailed) -> None:
        step.error, step.is_handled, step.verdict = event.error, event.handled, None
        step.passed_on = self._relays.passed_on(event)
        if event.fails_run and self.failed_step is None:
            self.failed_step = step.name
        _end(step, event.visit or 0, StepStatus.FAILED, event.at)


def progress_of(log: Iterable[e.Event], program: Program | None = None) -> Progress:
    """The progress a whole log amounts to."""
    progress = Progress(program)
    for event in log:
        progress.feed(event)
    return progress


def _activity(step: StepProgress, event: e.Event) -> Activity:
    """That of the event's step-run, made when it is the first to be heard of it."""
    key = (event.visit or 0, event.iteration)
    found = step.open.get(key)
    if found is None:
        found = Activity(step.name, *key, ActivityKind.QUEUED, event.at)
        step.open[key] = found
    return found


def _task_processed(step: StepProgress, event: e.TaskProcessed) -> None:
    activity = _activity(step, event)
    activity.doing, activity.until = ActivityKind.WORKING, None
    activity.rule, activity.rule_task, activity.has_outcome = event.rule, event.task, True
    if event.outcome.is_error:
        step.trouble = activity.reason = failure_text(event.outcome)
    else:
        activity.reason = "its result asks for another look"
    activity.is_poll = not event.outcome.is_error


def _retry_scheduled(step: StepProgress, event: e.TaskRetryScheduled) -> None:
    activity = _activity(step, event)
    retry_after = event.retry_after_seconds
    is_asked = retry_after is not None and event.delay_seconds > event.spread_seconds
    if activity.is_poll:
        activity.doing = ActivityKind.POLL
    else:
        activity.doing = ActivityKind.RETRY_AFTER if is_asked else ActivityKind.RETRY
    activity.since, activity.until = event.at, event.not_before
    activity.attempt, activity.attempts = (event.attempt or 1) + 1, event.attempts
    activity.rule, activity.retry_after_seconds = event.rule, retry_after or None
    activity.via = event.to
    step.retries += 1


def _iteration_ended(
    step: StepProgress, event: e.LoopIterationDone | e.LoopIterationFailed
) -> None:
    step.open.pop((event.visit or 0, event.iteration), None)
    loop = step.loops.get(event.visit or 0)
    if loop is None:
        return
    if isinstance(event, e.LoopIterationDone):
        loop.done += 1
    else:
        loop.failed += 1
        step.trouble = str(event.error.get("message", ""))


def _feed_wait(step: StepProgress, event: e.Event) -> None:
    match event:
        case e.HumanWaiting():
            activity = _activity(step, event)
            activity.doing, activity.reason = ActivityKind.PERSON, event.question
            activity.choices = tuple(event.choices)
            activity.silence = silence_text(event.action or TimeoutAction.FAIL, event.default)
            activity.since, activity.until = event.at, event.deadline
        case e.HumanAnswered() | e.HumanTimedOut() | e.SignalReceived() | e.SignalTimedOut():
            activity = _activity(step, event)
            activity.doing = (
                ActivityKind.QUEUED if _is_for_a_worker(event) else ActivityKind.WORKING
            )
            activity.since, activity.until = event.at, None
        case e.TaskHeld():
            activity = _activity(step, event)
            activity.doing, activity.reason = ActivityKind.GUARD, held_text(event)
            activity.since, activity.until = event.at, event.until
            activity.task, activity.attempt = event.task, event.attempt or 1
        case e.WaitSkipped():
            activity = _activity(step, event)
            activity.doing, activity.skipped = ActivityKind.QUEUED, skipped_text(event)
            activity.since, activity.until = event.at, None
        case e.SignalWaiting():
            activity = _activity(step, event)
            activity.doing, activity.reason = ActivityKind.SIGNAL, event.signal
            activity.choices, activity.silence = (), "times out"
            activity.since, activity.until = event.at, event.deadline
        case _:
            pass


def _is_for_a_worker(event: e.Event) -> bool:
    """Whether someone has to take the step-run; after silence, or with a signal that came before,
    it goes on by itself.
    """
    return isinstance(event, e.HumanAnswered) or (
        isinstance(event, e.SignalReceived) and event.kept is None
    )


def _only_asks(step: StepProgress) -> bool:
    return not step.loops and all(x.doing in _ASKING for x in step.open.values())


def _stopped(step: StepProgress, visit: int) -> StepStatus:
    """A visit that nobody had taken was skipped; one at work was cancelled with its branch."""
    activity = step.open.get((visit, None))
    if visit in step.loops or activity is None:
        return StepStatus.CANCELLED if visit in step.loops else StepStatus.SKIPPED
    # One whose worker was lost had been at work before it was queued again.
    has_begun = activity.doing is not ActivityKind.QUEUED or activity.is_again
    return StepStatus.CANCELLED if has_begun else StepStatus.SKIPPED


def _end(step: StepProgress, visit: int, status: StepStatus, at: int) -> None:
    step.open.pop((visit, None), None)
    if step.loops.pop(visit, None) is not None:
        step.open = {key: doing for key, doing in step.open.items() if key[0] != visit}
    step.branch_of.pop(visit, None)
    step.ended, step.ended_at = status, at


def _end_all(step: StepProgress, status: StepStatus, at: int) -> None:
    step.open.clear()
    step.loops.clear()
    step.branch_of.clear()
    step.ended, step.ended_at = status, at


def _sleep_end(event: e.TaskStarted, asked_at: int) -> int | None:
    """It counts from its first start, however many workers it takes."""
    return sleep_end(event.inputs, asked_at) if isinstance(event.inputs, dict) else None
