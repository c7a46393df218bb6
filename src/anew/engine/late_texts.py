"""Render a text that is known only when its task is called: a script of SQL that lies in a file.

It reads what the inputs of the task read, as the run stood at `task.started`. Nothing of it enters
the log, so it must come out the same for whoever renders it: `now()` is the moment of that event,
and nothing is drawn. Knows no files.
"""

from __future__ import annotations

from anew.engine.next_actions import Invoke
from anew.engine.record import Moment, Recorder
from anew.engine.render import Rejected, value_of
from anew.engine.scope import RunScope, task_names
from anew.engine.secrets import MissingSecret, Secrets
from anew.engine.state import RunState, StepRun
from anew.errors import EngineBug
from anew.expressions import ExpressionError, compile_template
from anew.expressions.problems import OperationError
from anew.program.program import Program
from anew.values import Object, Value


def late_text(
    program: Program, state: RunState, ask: Invoke, text: str, secrets: Secrets | None
) -> Value:
    """The text with its templates rendered, and its secrets sealed.

    Rejected when it cannot be; MissingSecret when it reads credentials that `secrets` lacks.
    """
    run = state.step_run(ask.key)
    if run is None:
        raise EngineBug(f"{ask.key} is not in the state of its script")
    what = f"the script of {ask.task.label}"
    try:
        template = compile_template(text)
    except ExpressionError as error:
        raise Rejected(what, error.message) from None
    recorder = Recorder(program, state, Moment(ask.asked_at, _no_draw, secrets))
    names = _names(recorder, run, ask, text)
    scope = RunScope(recorder, ask.tool.dialect, run=run, extra=names)
    value = value_of(template, scope, what)
    if recorder.missing:
        raise MissingSecret(recorder.missing)
    return value


def _no_draw() -> float:
    raise OperationError(
        "rand() cannot be used in a script: the log would not have the number. "
        "Draw it in `params` of the task"
    )


def _names(recorder: Recorder, run: StepRun, ask: Invoke, text: str) -> Object:
    names = task_names(run, ask.task.label, ask.attempt)
    names["_key"] = ask.idempotency_key
    if ask.tool is ask.task or ("args" not in text and "input" not in text):
        return names
    # A task of the workbook reads the arguments of its caller.
    scope = RunScope(recorder, ask.task.dialect, run=run, extra=names)
    given = value_of(ask.task.inputs, scope, f"inputs of {ask.task.label}")
    args = given.get("args") or {}
    return {**names, "args": args, "input": args}
