"""What a run that shares another's log will do: told before it is begun.

A view over a log, where it is cut and the programs: what is kept, what is done again for certain,
what the old run did after the cut and which effects on the world that had. Nothing is decided here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import assert_never

from msgspec import Struct, field, to_builtins
from msgspec.structs import replace

from anew.engine import events as e
from anew.engine.fitting import Misfit
from anew.engine.shared_logs import sharers_of
from anew.engine.state import FOR_OTHERS, RunState, StepRun, StepRunStatus
from anew.program.kind import OutcomeSource
from anew.program.kinds import kind_named
from anew.program.policy import DirectiveKind
from anew.program.program import Program
from anew.values import Object
from anew.views.effects import CallKey, effect_of
from anew.views.wording import one_line

# A loop may have called as many addresses as it has items: these are told, the others counted.
EFFECTS_TOLD_MAX = 50
AGAIN_TOLD_MAX = 50
NOTES_TOLD_MAX = 50
_AT_WORK = frozenset({StepRunStatus.EXECUTING, StepRunStatus.READY})


class ReusedRow(Struct, frozen=True):
    """What is kept of a step: visits that ended, and executions whose outcomes are in the log."""

    step: str
    visits: int
    executions: int


class AgainRow(Struct, frozen=True):
    """A step-run, or a token, that is live where the log is cut, and what it does next."""

    step: str
    visit: int | None
    iteration: int | None
    task: str | None
    does: str


class UndoneRow(Struct, frozen=True):
    """What the old run executed after the cut: the new one probably does so too."""

    step: str
    task: str
    executions: int


class Effect(Struct, frozen=True):
    """An effect on the world that is had again: for certain, or if the new run goes the same way.

    `key` says whether the call has an idempotency key, and whether it is another one then.
    """

    step: str
    task: str
    kind: str
    what: str
    times: int
    key: CallKey
    is_certain: bool


class Preview(Struct, frozen=True):
    """What is shared and what follows. `at` is the last shared event, `asked` the one named."""

    run: str
    at: int
    asked: int
    reused: list[ReusedRow]
    again: list[AgainRow]
    undone: list[UndoneRow]
    effects: list[Effect]
    more_effects: int
    notes: list[str]
    misfits: list[Object]
    differs_at: int | None = None


class Cut(Struct, frozen=True):
    """Where a log is cut, and how the run stands there. For `asked` see Preview.

    `own` is the program of the run, `old` the one that decided the events up to `old_until`.
    `is_latest`: the run stands there now.
    """

    log: Sequence[e.Event]
    at: int
    asked: int
    state: RunState
    own: Program
    old: Program
    old_until: int
    new: Program
    is_latest: bool = False
    misfits: Sequence[Misfit] = ()
    workload: Object = field(default_factory=dict)
    differs_at: int | None = None

    @property
    def shared(self) -> Sequence[e.Event]:
        return self.log[: self.at]

    @property
    def later(self) -> Sequence[e.Event]:
        return self.log[self.at :]


def preview_of(cut: Cut) -> Preview:
    """The preview of a fork or a retry."""
    effects = _effects(cut)
    return Preview(
        run=cut.state.run,
        at=cut.at,
        asked=cut.asked,
        reused=_reused(cut.shared),
        again=_again(cut),
        undone=_undone(cut.later),
        effects=effects[:EFFECTS_TOLD_MAX],
        more_effects=max(0, len(effects) - EFFECTS_TOLD_MAX),
        notes=[*islice(_notes(cut), NOTES_TOLD_MAX)],
        misfits=[misfit_row(found) for found in cut.misfits],
        differs_at=cut.differs_at,
    )


def preview_row(preview: Preview) -> Object:
    """The JSON of a preview."""
    row: Object = to_builtins(preview)
    return row


def misfit_row(found: Misfit) -> Object:
    """The JSON of a reason why a state does not fit a program, with its place in the document."""
    span = found.span
    return {
        "message": found.message,
        "step": found.step,
        "task": found.task,
        "file": span.file,
        "line": span.line,
        "column": span.column,
    }


def _reused(shared: Iterable[e.Event]) -> list[ReusedRow]:
    visits: Counter[str] = Counter()
    executions: Counter[str] = Counter()
    for event in shared:
        if isinstance(event, (e.StepDone, e.StepFailed)):
            visits[event.step or ""] += 1
        elif isinstance(event, e.TaskProcessed):
            executions[event.step or ""] += 1
    return [ReusedRow(step, visits[step], executions[step]) for step in {**executions, **visits}]


def _again(cut: Cut) -> list[AgainRow]:
    found = [
        AgainRow(run.key.step, run.key.visit, run.key.iteration, run.task, _next_of(run))
        for run in cut.state.live_step_runs()
    ]
    found += [
        AgainRow(token.step, None, None, None, "starts") for token in cut.state.tokens.values()
    ]
    return found[:AGAIN_TOLD_MAX]


def _next_of(run: StepRun) -> str:
    match run.status:
        case StepRunStatus.SCHEDULED:
            return "starts"
        case StepRunStatus.ASKING:
            return f"asks again: {one_line(run.question.text if run.question else '')}"
        case StepRunStatus.AWAITING:
            return f"waits again for signal {run.awaited.signal if run.awaited else ''}"
        case StepRunStatus.ANSWERED:
            return f"continues with what task {run.task} got"
        case StepRunStatus.HELD:
            return "asks again whether its call may start"
        case StepRunStatus.DELAYED:
            return f"retries task {run.task}: attempt {run.attempt + 1}"
        case StepRunStatus.DECIDED:
            return _decided(run)
        case StepRunStatus.READY | StepRunStatus.EXECUTING | StepRunStatus.ENDED:
            return f"executes task {run.task} again: attempt {run.attempt}"
        case other:
            assert_never(other)


def _decided(run: StepRun) -> str:
    if run.directive is None:
        return f"continues after task {run.task}"
    match run.directive:
        case DirectiveKind.JUMP:
            return f"continues with task {run.to}"
        case DirectiveKind.FAIL:
            return f"fails, as was decided on what task {run.task} gave"
        case DirectiveKind.CONTINUE | DirectiveKind.BREAK | DirectiveKind.RETRY:
            return f"continues after task {run.task}"
        case other:
            assert_never(other)


def _undone(later: Iterable[e.Event]) -> list[UndoneRow]:
    started = Counter(
        (event.step or "", event.task or "") for event in later if isinstance(event, e.TaskStarted)
    )
    return [UndoneRow(step, task, times) for (step, task), times in started.items()]


def _effects(cut: Cut) -> list[Effect]:
    """Of what is executed from the cut on for certain, of what else came later probably."""
    due = [run for run in cut.state.live_step_runs() if _is_executed_next(run)]
    nexts = {_execution(cut.log[run.started_seq - 1], run.status) for run in due}
    later = [event for event in cut.later if _execution(event) not in nexts]
    certain = Counter(
        _effects_of(cut, [cut.log[run.started_seq - 1] for run in due], is_certain=True)
    )
    probable = Counter(_effects_of(cut, later, is_certain=False))
    counted = [*certain.items(), *probable.items()]
    return [replace(effect, times=times) for effect, times in counted]


def _is_executed_next(run: StepRun) -> bool:
    """Whether a task that has been started before is: in the same attempt, or as a retry."""
    is_retried = run.status is StepRunStatus.DELAYED and run.redirect is None
    return (run.status in _AT_WORK or is_retried) and run.started_seq > 0


def _execution(event: e.Event, status: StepRunStatus | None = None) -> tuple[object, ...]:
    """Names the execution that began with an event, or the retry of it that is due."""
    attempt = (event.attempt or 1) + (status is StepRunStatus.DELAYED)
    return (event.name, event.step, event.visit, event.iteration, event.task, attempt)


def _effects_of(cut: Cut, events: Iterable[e.Event], *, is_certain: bool) -> Iterator[Effect]:
    runs = sharers_of(cut.log)
    for event in events:
        kind = _kind(cut, event) if isinstance(event, e.TaskStarted) else None
        if kind is None or not isinstance(event, e.TaskStarted) or event.inputs is None:
            continue
        effect = effect_of(kind, event.inputs, runs)
        if effect is not None:
            step, task = event.step or "", event.task or ""
            yield Effect(step, task, kind, effect.what, 1, effect.key, is_certain=is_certain)


def _kind(cut: Cut, event: e.TaskStarted) -> str | None:
    """The kind of the tool that was called; None for a task that the program does not have."""
    program = cut.old if event.seq <= cut.old_until else cut.own
    if event.workbook is not None:
        task = program.workbook.get(event.workbook)
    else:
        task = program.task_of(event.step, event.task)
    return None if task is None else task.kind


def _notes(cut: Cut) -> Iterator[str]:
    if cut.asked != cut.at:
        yield (
            f"event {cut.asked} is in the middle of a decision, "
            f"so the events up to {cut.at} are shared"
        )
    if cut.differs_at is not None:
        yield (
            f"the new program would have decided event {cut.differs_at} otherwise; "
            "what is shared stays as it was decided"
        )
    if cut.workload:
        yield _workload_note(cut)
    if any(_is_timed(cut, run) for run in cut.state.live_step_runs()):
        yield _time_note(cut)
    if cut.state.failure is not None:
        yield "a step has failed already: the new run ends failed, whatever else it does"
    yield from _file_notes(cut)
    yield from _missed(cut.later)


def _is_timed(cut: Cut, run: StepRun) -> bool:
    """Whether something ends it at a moment that counts from before the cut."""
    if run.status in FOR_OTHERS and run.resume_at is not None:
        return True
    step = cut.new.steps.get(run.key.step)
    has_begun = run.status is not StepRunStatus.SCHEDULED or run.key.iteration is not None
    if step is not None and step.deadline_seconds is not None and has_begun:
        return True
    if run.status not in _AT_WORK or not run.started_seq:
        return False
    event = cut.log[run.started_seq - 1]
    kind = _kind(cut, event) if isinstance(event, e.TaskStarted) else None
    return kind is not None and kind_named(kind).outcome_from is OutcomeSource.CLOCK


def _time_note(cut: Cut) -> str:
    if cut.is_latest:
        return "deadlines and sleeps end when they were to end"
    return f"deadlines and sleeps have the time left that they had at event {cut.at}"


def _workload_note(cut: Cut) -> str:
    keys = ", ".join(sorted(cut.workload))
    also = " and ctx, where no step has written them" if cut.new.workload_is_ctx else ""
    return f"{keys}: changed in the input{also}, for what is decided from now on"


def _file_notes(cut: Cut) -> Iterator[str]:
    """Databases without a name are files of the run, and the new run has its own."""
    steps = {
        event.step: None
        for event in cut.shared
        if isinstance(event, e.TaskStarted) and _is_own_file(cut, event)
    }
    for step in steps:
        yield f"step {step} kept tables in a file of the old run, which the new run does not have"


def _is_own_file(cut: Cut, event: e.TaskStarted) -> bool:
    inputs = event.inputs
    kind = _kind(cut, event)
    is_nameless = isinstance(inputs, dict) and inputs.get("database") is None
    return is_nameless and kind is not None and kind_named(kind).has_own_file


def _missed(later: Iterable[e.Event]) -> Iterator[str]:
    """What people and others said after the cut, which nobody will say again by itself."""
    for event in later:
        if isinstance(event, e.SignalReceived) and event.kept is None:
            yield f"signal {event.signal} (event {event.seq}) is not received again: send it again"
        elif isinstance(event, e.HumanAnswered):
            yield (
                f"the answer {one_line(event.answer)!r} to step {event.step} "
                f"(event {event.seq}) is not kept: the question is asked again"
            )
