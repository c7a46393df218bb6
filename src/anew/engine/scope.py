"""What a template may read, and where each name leads (playbook.md#names-a-template-reads).

Order: reserved words, labels of this pipeline, what its tasks set, the loop's names, steps, ctx,
workload. Everything read is data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from anew.engine.moments import moment_text
from anew.engine.outcome import Outcome
from anew.engine.record import Recorder
from anew.engine.results import Compensable, StepResult
from anew.engine.secrets import MissingSecret, Secrets
from anew.engine.state import LoopVisit, RunState, StepRun
from anew.expressions import UNDEFINED, Meter
from anew.program.names import RESERVED
from anew.program.policy import Verdict
from anew.program.program import Dialect
from anew.values import Object, Value, patched

_NOTHING: Object = {}
_SUCCEEDED: Object = {"verdict": Verdict.SUCCESS.value}
_FAILED: Object = {"verdict": Verdict.FAILURE.value}


class RunScope:
    """The names of one evaluation. `extra` holds those that exist only here and now.

    Gives values as the log holds them; `UnsealedScope` puts the secrets in.
    """

    __slots__ = (
        "_args", "_beside", "_ctx", "_dialect", "_extra", "_fresh", "_iter", "_labels", "_local",
        "_lowest", "_recorder", "_run", "secrets",
    )  # fmt: skip

    def __init__(
        self,
        recorder: Recorder,
        dialect: Dialect,
        *,
        run: StepRun | None = None,
        visit: StepRun | LoopVisit | None = None,
        branch: int | None = None,
        args: Object = _NOTHING,
        extra: Mapping[str, Value] = _NOTHING,
        fresh: Mapping[str, StepResult] = _NOTHING,
        beside: Mapping[str, Value] = _NOTHING,
        lowest: Mapping[str, Value] = _NOTHING,
    ) -> None:
        """`fresh` holds the result of a step that is just ending, before the log says so.

        `beside` is what `output.key` reads where `output` has no such key; `lowest` are names that
        any other of the same spelling hides.

        `run` is the step-run whose tasks and scratch are read; `visit` the one that is ending;
        `branch` is where it is, when there is no visit yet.
        """
        state = recorder.state
        self._recorder = recorder
        self.secrets = recorder.moment.secrets
        self._dialect = dialect
        self._extra = extra
        self._fresh = fresh
        self._beside = beside
        self._lowest = lowest
        self._local = (run.local or _NOTHING) if run else _NOTHING
        self._labels = run.labels if run else _NOTHING
        self._iter = run.scratch if run else _NOTHING
        self._args = run.args if run else args
        self._run = run or visit
        branch = self._run.branch if self._run else branch
        ctx = state.ctx if branch is None else state.ctx_owner(branch).ctx
        self._ctx = patched(ctx, run.own_ctx) if run and run.own_ctx else ctx

    @property
    def meter(self) -> Meter:
        """What pays for long evaluations."""
        return self._recorder.meter

    def get(self, name: str) -> Value:
        """The value of a bare name, or UNDEFINED."""
        if name in self._extra:
            return self._extra[name]
        read = _RESERVED_READERS.get(name)
        if read is not None:
            return read(self)
        if name in RESERVED:
            return UNDEFINED  # exists elsewhere: an outcome in rules, an event in arcs
        if name in self._labels:
            return self._labels[name]
        if name in self._local:
            return self._local[name]
        if self._run is not None and self._run.key.iteration is not None:
            of_loop = self._loop_names()
            if name in of_loop:
                return of_loop[name]
        undone = self._undone
        if undone is not None and name in undone.names:
            return undone.names[name]
        step = self._step(name)
        if step is not None:
            return step.result
        if name in self._ctx:
            return self._ctx[name]
        found = self._recorder.state.workload.get(name, UNDEFINED)
        return self._lowest.get(name, UNDEFINED) if found is UNDEFINED else found

    def alias(self, name: str, key: str) -> Value:
        """What `name.key` reads when the value of `name` has no such key."""
        if name == "ctx" and self._dialect is Dialect.OUTPUT:
            return self._recorder.state.workload.get(key, UNDEFINED)
        if name == "output":
            return self._beside.get(key, UNDEFINED)
        if name in RESERVED:
            return UNDEFINED
        if name in self._labels or name == self._extra.get("_task"):
            return self.get(name) if key == "data" else UNDEFINED
        step = self._step(name)
        if step is None or name in self._extra or name in self._local or name in self._loop_names():
            return UNDEFINED
        return _of_step(step, key)

    def patched(self, patches: Mapping[str, Object]) -> RunScope:
        """The same names after these patches."""
        scope = RunScope.__new__(RunScope)
        for name in RunScope.__slots__:
            setattr(scope, name, getattr(self, name))
        scope._ctx = patched(self._ctx, patches.get("ctx", _NOTHING))
        scope._iter = patched(self._iter, patches.get("iter", _NOTHING))
        scope._local = patched(self._local, patches.get("local", _NOTHING))
        return scope

    def _loop_names(self) -> Object:
        """What the tasks of a loop read by bare names, in an iteration."""
        run = self._run
        if not isinstance(run, StepRun) or run.key.iteration is None:
            return _NOTHING
        return loop_names(self._recorder.state, run, self._iter)

    @property
    def _undone(self) -> Compensable | None:
        """What the step-run undoes: its step's name reads that very visit."""
        return self._run.compensates if isinstance(self._run, StepRun) else None

    def _step(self, name: str) -> StepResult | None:
        undone = self._undone
        if undone is not None and undone.step == name:
            return undone.result
        return self._fresh.get(name) or self._recorder.state.results.get(name)

    def rand(self) -> float:
        return self._recorder.draw()

    def now(self) -> str:
        return _plain_moment(self._recorder.moment.now)

    def warn(self, text: str) -> None:
        """Something is odd about what is rendered, and does not stop it."""
        self._recorder.warnings[text] = None

    def about_visit(self, name: str) -> Value:
        """What is known of the visit this is evaluated for: `_origin`, `_retries` and so on."""
        run = self._run
        if run is None:
            return UNDEFINED
        state = self._recorder.state
        owner = state.ctx_owner(run.branch)
        match name:
            case "_origin":
                came = run.origin
                outcome = came.outcome or (_SUCCEEDED if came.step else None)
                return {"step": came.step, "via": came.via, "outcome": outcome}
            case "_step":
                return run.key.step
            case "_visit":
                return run.key.visit
            case "_retries":
                return owner.retries.get(run.key.step, 0)
            case "_verdicts":
                return state.verdicts_in(run.branch)
            case "_branch":
                return getattr(owner, "name", None)
            case _:
                began = {"run": state.began_at, "step": run.began_at or self._recorder.moment.now}
                return {what: _plain_moment(at) for what, at in began.items()}

    def miss(self, names: Iterable[str]) -> None:
        """These credentials were read and are not known here."""
        self._recorder.missing.update(names)


class UnsealedScope:
    """A scope as templates see it: `keychain` is there, and what was sealed is open."""

    __slots__ = ("_scope", "_secrets", "now", "rand", "warn")

    def __init__(self, scope: RunScope, secrets: Secrets) -> None:
        self._scope = scope
        self._secrets = secrets
        self.rand = scope.rand
        self.now = scope.now
        self.warn = scope.warn

    @property
    def meter(self) -> Meter:
        return self._scope.meter

    def get(self, name: str, /) -> Value:
        if name == "keychain":
            return self._secrets.ring
        return self._open(self._scope.get(name))

    def alias(self, name: str, key: str, /) -> Value:
        return self._open(self._scope.alias(name, key))

    def _open(self, value: Value) -> Value:
        try:
            return self._secrets.open(value)
        except MissingSecret as missing:
            # An expression turns what is raised into an error of its own, so it is noted here
            # and raised by whoever is about to write.
            self._scope.miss(missing.names)
            return UNDEFINED


def _of_step(step: StepResult, key: str) -> Value:
    """`<step>.data`, `<step>.results.<label>` and `<step>.<label>`."""
    if key == "results":
        return step.labels
    if key == "data":
        is_loop = isinstance(step.result, dict) and not step.labels and "results" in step.result
        return step.result["results"] if is_loop else step.result
    return step.labels.get(key, UNDEFINED)


_RESERVED_READERS: dict[str, Callable[[RunScope], Value]] = {
    "ctx": lambda scope: scope._ctx,
    "workload": lambda scope: scope._recorder.state.workload,
    "iter": lambda scope: scope._iter,
    "args": lambda scope: scope._args,
    "input": lambda scope: scope._args,
    "run_id": lambda scope: scope._recorder.state.run,
    "execution_id": lambda scope: scope._recorder.state.run,
    "job": lambda scope: job_of(scope._recorder.state.run),
    "_origin": lambda scope: scope.about_visit("_origin"),
    "_step": lambda scope: scope.about_visit("_step"),
    "_visit": lambda scope: scope.about_visit("_visit"),
    "_retries": lambda scope: scope.about_visit("_retries"),
    "_verdicts": lambda scope: scope.about_visit("_verdicts"),
    "_branch": lambda scope: scope.about_visit("_branch"),
    "_began": lambda scope: scope.about_visit("_began"),
}


def job_of(run: str) -> Object:
    """The `job` of playbooks written for NoETL."""
    return {"uuid": run, "id": run, "execution_id": run}


def loop_names(state: RunState, run: StepRun, scratch: Object) -> Object:
    """The names of an iteration; `scratch` is its `iter`, which holds the item."""
    loop = state.active[run.key.step, run.key.visit]
    assert isinstance(loop, LoopVisit)
    index = run.key.iteration
    names = {"_index": index, "loop_index": index, "_total": len(loop.items)}
    names[loop.iterator] = scratch.get(loop.iterator)
    return names


def task_names(run: StepRun, label: str, attempt: int) -> Object:
    """The names a task's inputs read beside the common ones."""
    return {"_task": label, "_prev": run.prev, "_attempt": attempt}


def outcome_names(
    recorder: Recorder, run: StepRun, outcome: Outcome, dialect: Dialect
) -> dict[str, Value]:
    """The names a rule reads: the outcome in the words of the task's dialect, and `output`."""
    assert run.task is not None
    seen = _envelope(recorder, run, outcome)
    has_result = outcome.result is not None or not outcome.is_error
    names = task_names(run, run.task, run.attempt)
    names["output"] = {**seen, "data": outcome.result} if has_result else seen
    if dialect is Dialect.EVAL and not outcome.is_error:
        seen = {**seen, "status": "success"}
    names["outcome"] = {**seen, "result": outcome.result} if has_result else seen
    if has_result and run.task not in RESERVED:
        names.setdefault(run.task, outcome.result)
    return names


def set_names(
    recorder: Recorder, run: StepRun, outcome: Outcome, names: Object
) -> tuple[Object, Object]:
    """The names a task's `set` reads: `output` is the result; and what that has beside its keys."""
    beside = {**_envelope(recorder, run, outcome), "data": outcome.result}
    return {**names, "output": outcome.result}, beside


def _envelope(recorder: Recorder, run: StepRun, outcome: Outcome) -> Object:
    now = recorder.moment.now
    meta = {
        "attempt": run.attempt,
        "duration_ms": (now - run.started_at) / 1e6,
        "started_at": _plain_moment(run.started_at),
        "ended_at": _plain_moment(now),
        "trace_id": recorder.state.run,
    }
    return {
        **outcome.helpers,
        "status": outcome.status.value,
        "error": outcome.error,
        "meta": meta,
        **_advice(outcome),
    }


def _advice(outcome: Outcome) -> Object:
    """What the tool said beside ok or error; most tools say nothing."""
    if outcome.verdict is None and outcome.word is None and outcome.label is None:
        return _FAILED if outcome.is_error else _SUCCEEDED
    return {
        "verdict": outcome.amounts_to.value,
        "word": outcome.word,
        "label": outcome.label,
        "suggested": list(outcome.suggested),
    }


def _plain_moment(at: int) -> str:
    """As authors write moments: no fraction where there is none."""
    return moment_text(at).replace(".000000", "")


def retry_words(run: StepRun, outcome: Outcome) -> Object:
    """What the conditions of a retry block read beside that."""
    result, http = outcome.result, outcome.helpers.get("http")
    has_data = isinstance(result, Mapping) and "data" in result
    return {
        "success": not outcome.is_error,
        "status_code": http.get("status", UNDEFINED) if isinstance(http, Mapping) else UNDEFINED,
        "error": outcome.error["message"] if outcome.error else None,
        "data": result["data"] if has_data else result,
        "result": result,
        "attempt": run.attempt,
        "node_id": run.key.step,
    }
