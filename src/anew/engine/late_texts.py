"""Render a text that is known only when its task is called: a script of SQL that lies in a file.

It reads what the inputs of the task read, as the run stands then. Nothing of it enters the log, so
nothing is ever rendered again. Knows no files.
"""

from __future__ import annotations

from anew.engine.pipeline import Invoke
from anew.engine.record import Moment, Recorder
from anew.engine.render import Rejected, value_of
from anew.engine.scope import RunScope, task_names
from anew.engine.secrets import MissingSecret
from anew.engine.state import RunState, StepRun
from anew.expressions import ExpressionError, compile_template, holds_template
from anew.program.program import Program
from anew.values import Object, Value


def late_text(program: Program, state: RunState, ask: Invoke, text: str, moment: Moment) -> Value:
    """The text with its templates rendered, and its secrets sealed.

    Rejected when it cannot be; MissingSecret when it reads credentials that `moment` lacks.
    """
    run = state.step_run(ask.key)
    if run is None or not holds_template(text):
        return text
    what = f"the script of {ask.task.label}"
    try:
        template = compile_template(text)
    except ExpressionError as error:
        raise Rejected(what, error.message) from None
    recorder = Recorder(program, state, moment)
    names = _names(recorder, run, ask)
    scope = RunScope(recorder, ask.tool.dialect, run=run, extra=names)
    value = value_of(template, scope, what)
    if recorder.missing:
        raise MissingSecret(recorder.missing)
    return value


def _names(recorder: Recorder, run: StepRun, ask: Invoke) -> Object:
    names = task_names(run, ask.task.label, ask.attempt)
    names["_key"] = ask.idempotency_key
    if ask.tool is ask.task:
        return names
    # A task of the workbook reads the arguments of its caller.
    scope = RunScope(recorder, ask.task.dialect, run=run, extra=names)
    given = value_of(ask.task.inputs, scope, f"inputs of {ask.task.label}")
    args = given.get("args") or {}
    return {**names, "args": args, "input": args}
