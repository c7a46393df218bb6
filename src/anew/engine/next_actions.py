"""What a step-run wants next: a call, a wait, or its end; and the call it has asked for.

`engine.pipeline` decides which. Never calls a tool.
"""

from __future__ import annotations

from typing import TypeAlias, final

from msgspec import Struct

from anew.engine.code_names import context_of, may_read_context, names_of
from anew.engine.script_states import renders_script, state_for_script
from anew.engine.state import RunState, StepRun, StepRunKey
from anew.engine.timeouts import deadline_of
from anew.program.kinds import kind_named
from anew.program.program import Program, Task
from anew.values import Object, Value


class Invoke(Struct, frozen=True, gc=False):
    """Call the tool once. Inputs belong to the log: a tool that changes them changes a copy.

    `tool` is the task whose tool is called: `task` itself, or the one of the workbook it names.
    `started` goes back with the report; `asked_at` is when this attempt was first started.
    `idempotency_key` is the same for all attempts of one visit of the task, however many workers it
    takes. An outcome past `deadline` is a timeout. `skipped_at` is when someone ended its wait.
    `names` are variables of code beside its inputs. `context_at` is the event at which code that
    reads `context` sees the run; `context` is that state, unless another worker was given it.
    `script_at` and `script_state` are the same for the templates of a script.
    """

    key: StepRunKey
    task: Task
    tool: Task
    inputs: Value
    attempt: int
    started: int
    asked_at: int
    idempotency_key: str
    deadline: int | None = None
    skipped_at: int | None = None
    names: Object = {}
    context_at: int | None = None
    context: Object | None = None
    script_at: int | None = None
    script_state: RunState | None = None


class Wait(Struct, frozen=True):
    """Come back at `until`, or when the person has answered or the signal has come.

    With `for_guard` a guard holds the call, and may let it begin before.
    """

    key: StepRunKey
    until: int
    for_person: bool = False
    for_signal: bool = False
    for_guard: bool = False

    @property
    def is_for_others(self) -> bool:
        """Whether someone outside may end it at any time."""
        return self.for_person or self.for_signal


@final
class Ended(Struct, frozen=True):
    """The step-run is over; `error` is None when it ended well.

    A failure that is retried by way of another step goes on there (`to`).
    """

    key: StepRunKey
    error: Object | None
    to: str | None = None


NextAction: TypeAlias = Invoke | Wait | Ended


def asked_of(program: Program, state: RunState, run: StepRun) -> Invoke:
    """The call a step-run at work has asked for: the same one however often it is made."""
    step = program.steps[run.key.step]
    assert run.task is not None
    task = step.tasks[step.index_of[run.task]]
    tool = task if run.workbook is None else program.workbook[run.workbook]
    kind = kind_named(tool.kind)
    is_first = run.asked_seq in (run.started_seq, 0)
    reads_context = may_read_context(kind, run.inputs)
    has_script = renders_script(kind, run.inputs)
    return Invoke(
        key=run.key,
        task=task,
        tool=tool,
        inputs=run.inputs,
        attempt=run.attempt,
        started=run.started_seq,
        asked_at=run.asked_at,
        idempotency_key=idempotency_key(state.run, run.key, run.task_visit),
        deadline=deadline_of(step, run),
        skipped_at=run.skipped_at,
        names=names_of(kind, state, run),
        context_at=run.asked_seq if reads_context else None,
        context=context_of(state, run) if reads_context and is_first else None,
        script_at=run.asked_seq if has_script else None,
        script_state=state_for_script(state, run) if has_script and is_first else None,
    )


def idempotency_key(run: str, key: StepRunKey, task_visit: int) -> str:
    """The same for all attempts of one visit of a task, and for nothing else."""
    return f"{run}:{key.step}:{key.visit}:{key.iteration or 0}:{task_visit}"
