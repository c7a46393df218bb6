"""Whether a call whose inputs are ready may begin: asks the guards of its dependency.

Writes `task.held` where the answer is new. A hold takes no attempt and no delay; it ends when the
guards let the call begin, at the task's own `hold_timeout`, or with the step's deadline.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from anew.engine.events import TaskHeld
from anew.engine.guarding import CallGuards, call_id
from anew.engine.moments import NANOSECONDS
from anew.engine.outcome import Outcome, error_of, outcome_of
from anew.engine.record import Recorder
from anew.engine.render import Rejected, text_of
from anew.engine.scope import RunScope
from anew.engine.state import StepRun, StepRunStatus
from anew.guards.keeper import CallRequest, CallStart, Held
from anew.program.kind import OutcomeSource, TargetForm
from anew.program.kinds import kind_named
from anew.program.program import Task
from anew.values import Value

# A name is a few words; a longer one is a mistake, and would be written with every call.
DEPENDENCY_CHARACTERS_MAX = 500
# Scheme, host, port and path; a name and a password before the host are no part of a name.
_URL = re.compile(
    r"([A-Za-z][A-Za-z0-9+.-]*)://(?:[^/@]*@)?(\[[^\]]+\]|[^/:?#]+)(?::(\d+))?(/[^?#]*)?"
)
_PORTS = {"http": 80, "https": 443, "postgres": 5432, "postgresql": 5432, "mysql": 3306}
# Nothing is called for these: the engine has the outcome, or waits for others.
_NO_CALL = (OutcomeSource.RELAY, OutcomeSource.PERSON, OutcomeSource.SIGNAL)


class Admitted(Struct, frozen=True):
    """The call begins; for `task.started`, what guards know of it."""

    dependency: str | None = None
    scopes: tuple[str, ...] = ()
    reason: str | None = None
    paid: float = 0.0


class LooksAgain(Struct, frozen=True):
    """The call is held, and asks again at this moment at the latest."""

    at: int


FREE = Admitted()


class NextCall(Struct, frozen=True):
    """One that may begin. `tool` is the task whose tool is called; `scope` reads the run."""

    task: Task
    tool: Task
    attempt: int
    inputs: Value
    scope: RunScope


def admitted(
    recorder: Recorder, guards: CallGuards, run: StepRun, call: NextCall
) -> Admitted | LooksAgain | Outcome:
    """What the guards say; an outcome when its wait is over, or its name cannot be rendered."""
    if call.task.outcome_from in _NO_CALL:
        return FREE
    try:
        dependency = dependency_of(call)
        if dependency is None:
            return FREE
        asked = _asked(recorder, guards, run, call, dependency)
    except Rejected as rejected:
        return outcome_of(error=rejected.error)
    now = recorder.moment.now
    answer = guards.ask(asked, now)
    if answer is None:
        return FREE
    if isinstance(answer, CallStart):
        return Admitted(dependency, answer.scopes, _reason(run, now), answer.paid)
    ends = _hold_end(run, call.task, now)
    if ends is not None and ends <= now:
        guards.left(dependency, (answer.scope,), asked.call, now)
        return _timed_out(call.task, answer)
    _note(recorder, run, call, dependency, answer)
    return LooksAgain(answer.look_at if ends is None else min(answer.look_at, ends))


def _asked(
    recorder: Recorder, guards: CallGuards, run: StepRun, call: NextCall, dependency: str
) -> CallRequest:
    program, state = recorder.program, recorder.state
    fair_by = guards.governing(dependency).fair_by
    return CallRequest(
        call_id(state, run.key),
        dependency,
        state.run if fair_by is None else text_of(fair_by, call.scope, "fair_by"),
        program.priority if call.task.priority is None else call.task.priority,
        run.owes if call.attempt > 1 else 0.0,
    )


def _note(recorder: Recorder, run: StepRun, call: NextCall, dependency: str, answer: Held) -> None:
    known = run.held
    is_known = known is not None and (known.guard, known.until) == (answer.guard, answer.until)
    if is_known and run.status is StepRunStatus.HELD:
        return
    recorder.emit(
        TaskHeld(
            step=run.key.step,
            visit=run.key.visit,
            iteration=run.key.iteration,
            task=call.task.label,
            attempt=call.attempt,
            guard=answer.guard,
            dependency=dependency,
            reason=answer.reason,
            scope=answer.scope,
            until=answer.until,
            behind=answer.behind,
            draws=recorder.taken_draws(),
        )
    )


def _reason(run: StepRun, now: int) -> str | None:
    """How long it was held, and by what at last."""
    held = run.held
    if held is None:
        return None
    seconds = (now - held.at) / NANOSECONDS
    return f"held {seconds:g} s by {held.guard.value} of {held.dependency}"


def _hold_end(run: StepRun, task: Task, now: int) -> int | None:
    if task.hold_timeout is None:
        return None
    since = now if run.held is None else run.held.at
    return since + round(task.hold_timeout * NANOSECONDS)


def _timed_out(task: Task, answer: Held) -> Outcome:
    message = (
        f"timeout: held longer than {task.hold_timeout:g} s (spec.hold_timeout) "
        f"by {answer.guard.value} of {answer.scope}: {answer.reason}"
    )
    return outcome_of(error=error_of("timeout", message))


# --- whom it calls --------------------------------------------------------------------------------


def dependency_of(call: NextCall) -> str | None:
    """The task's own word, else what its inputs say; None for a call to nobody in particular."""
    own = call.task.dependency or call.tool.dependency
    if own is None:
        return _default(call.tool, call.inputs)
    name = text_of(own, call.scope, "spec.dependency").strip("/ ")
    if len(name) > DEPENDENCY_CHARACTERS_MAX:
        raise Rejected("spec.dependency", f"{len(name)} characters are too many for a name")
    return name or None


def _default(tool: Task, inputs: Value) -> str | None:
    target = kind_named(tool.kind).target
    if target is None or not isinstance(inputs, Mapping):
        return None
    given = [inputs.get(name) for name in target.inputs]
    texts = [value for value in given if isinstance(value, str) and value]
    match target.form:
        case TargetForm.HOST:
            return _address(texts[0], with_scheme=True) if texts else None
        case TargetForm.DATABASE:
            return next(filter(None, (_address(text, with_scheme=False) for text in texts)), None)
        case TargetForm.WORDS if "model" in target.inputs:
            words = [inputs.get(name) for name in ("backend", "model")]
            named = [word for word in words if isinstance(word, str) and word]
            return "/".join(named) or None
        case _:
            return None


def _address(url: str, *, with_scheme: bool) -> str | None:
    """`scheme://host:port`, or `host:port/database`."""
    found = _URL.match(url.strip())
    if found is None:
        return None
    scheme, host, given, path = found.groups()
    port = given or _PORTS.get(scheme.lower())
    if port is None:
        return None
    place = f"{host.lower()}:{port}"
    if with_scheme:
        return f"{scheme.lower()}://{place}"
    name = (path or "").strip("/")
    return f"{place}/{name}" if name else place
