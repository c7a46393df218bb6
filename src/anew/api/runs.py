"""What a Python program holds of a run: a handle that is its id, and what became of the run.

Decides nothing. A result that is not there is an exception whose text says why.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, Protocol, TypeVar, overload

from msgspec import Struct, field

from anew.engine.state import RunStatus
from anew.errors import AnewError
from anew.runtime.questions import OpenQuestion
from anew.runtime.signals import OpenSignal
from anew.store import RunId
from anew.tools.python_values import as_type
from anew.values import Object, Value

T = TypeVar("T")


class Ending(Struct, frozen=True):
    """What became of a run. One that is not done, failed or cancelled has `questions` for people,
    or waits for `signals`.

    `run` is the last of its line: a graph may have a run begin anew as another.
    """

    run: RunId
    status: RunStatus
    result: Value = None
    error: Object | None = None
    questions: list[OpenQuestion] = field(default_factory=list)
    signals: list[OpenSignal] = field(default_factory=list)


class RunError(AnewError):
    """A run has no result; `ending` is what became of it."""

    def __init__(self, message: str, ending: Ending) -> None:
        super().__init__(message)
        self.ending = ending
        self.run = ending.run


class RunFailedError(RunError):
    """It failed; `error` is the error it failed with."""

    def __init__(self, ending: Ending) -> None:
        self.error = ending.error or {}
        kind, message = self.error.get("kind", "error"), self.error.get("message", "")
        super().__init__(
            f"run {ending.run} failed: {kind}: {message} "
            f"(`anew show {ending.run}` says more; engine.retry({ending.run}) tries again)",
            ending,
        )


class RunCancelledError(RunError):
    """Someone ended it."""


class RunWaitingError(RunError):
    """It waits for an answer or a signal, and nobody here gives one."""


def result_of(ending: Ending, wanted: type[T] | None) -> T | Value:
    """The result as the type that is wanted; RunError when there is none."""
    run = ending.run
    match ending.status:
        case RunStatus.DONE:
            where = f"the result of run {run}"
            return ending.result if wanted is None else as_type(ending.result, wanted, where)
        case RunStatus.FAILED:
            raise RunFailedError(ending)
        case RunStatus.CANCELLED:
            raise RunCancelledError(f"run {run} was cancelled", ending)
        case _:
            raise RunWaitingError(f"run {run} waits for {_awaited(ending)}", ending)


def _awaited(ending: Ending) -> str:
    if ending.questions:
        one = ending.questions[0]
        choices = f" ({', '.join(one.choices)})" if one.choices else ""
        return (
            f"an answer of step {one.key.step}: {one.question}{choices}. "
            f"engine.answer({ending.run}, …) gives it"
        )
    if ending.signals:
        name = ending.signals[0].signal
        return f"the signal {name!r}. engine.signal({ending.run}, {name!r}) sends it"
    return "someone to resume it"


class Waiter(Protocol):
    """Of an engine: what a handle needs of it."""

    async def wait(self, run: int, timeout: float | None = None) -> Ending: ...

    async def status(self, run: int) -> RunStatus: ...


class Run(int):
    """A run that was started: its id, which every method of the engine takes, and its result."""

    _engine: Waiter

    @classmethod
    def of(cls, engine: Waiter, run: int) -> Run:
        made = cls(run)
        made._engine = engine
        return made

    @property
    def id(self) -> RunId:
        return RunId(int(self))

    @overload
    async def result(self, type: None = None, *, timeout: float | None = None) -> Value: ...
    @overload
    async def result(self, type: type[T], *, timeout: float | None = None) -> T: ...
    async def result(self, type: Any = None, *, timeout: float | None = None) -> Any:
        """Wait, and give what the run gave, as this `type` if one is given.

        RunError when it has no result: RunFailedError, RunCancelledError or RunWaitingError.
        """
        return result_of(await self.wait(timeout), type)

    async def wait(self, timeout: float | None = None) -> Ending:
        """What became of it; see `Engine.wait`."""
        return await self._engine.wait(self, timeout)

    async def status(self) -> RunStatus:
        return await self._engine.status(self)


class Caller(Protocol):
    """Has a coroutine run to its end elsewhere."""

    def __call__(self, coroutine: Coroutine[Any, Any, T], /) -> T: ...


class SyncRun(int):
    """As `Run`, for programs without an event loop."""

    _run: Run
    _call: Caller

    @classmethod
    def of(cls, run: Run, call: Caller) -> SyncRun:
        made = cls(run)
        made._run, made._call = run, call
        return made

    @property
    def id(self) -> RunId:
        return RunId(int(self))

    @overload
    def result(self, type: None = None, *, timeout: float | None = None) -> Value: ...
    @overload
    def result(self, type: type[T], *, timeout: float | None = None) -> T: ...
    def result(self, type: Any = None, *, timeout: float | None = None) -> Any:
        """Wait, and give what the run gave, as this `type` if one is given; else RunError."""
        return self._call(self._run.result(type, timeout=timeout))

    def wait(self, timeout: float | None = None) -> Ending:
        """What became of it."""
        return self._call(self._run.wait(timeout))

    def status(self) -> RunStatus:
        return self._call(self._run.status())
