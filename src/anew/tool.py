"""What a tool is: one asynchronous call, from a task's inputs to its outcome.

A tool knows nothing of runs, rules or stores. It may be called again with the same inputs after a
crash, then with the same idempotency key.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol, TypeAlias, TypeVar, overload

from msgspec import Struct, field

from anew.engine.outcome import Outcome
from anew.values import Object, Value

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])
# The attribute of a function that is a tool: the kind that documents write.
KIND_ATTRIBUTE = "__anew_kind__"


class Timeout(Struct, frozen=True):
    """How long one call may take. The caller enforces `seconds`; a tool may use the parts."""

    seconds: float | None = None
    connect: float | None = None
    read: float | None = None


class AttemptRef(Struct, frozen=True):
    """Which execution this is: the names its events carry."""

    run: str
    step: str
    visit: int
    iteration: int | None
    task: str
    attempt: int


def _nothing() -> None:
    """The call's time began when it was made."""


def _hide_nothing(where: str, values: Mapping[str, Value]) -> None:
    """Nobody writes down what comes of the call."""


class RefusedText(Exception):
    """A text of a call cannot be rendered; `error` is what the call comes to."""

    def __init__(self, error: Object) -> None:
        super().__init__(str(error.get("message")))
        self.error = error


async def _as_it_is(text: str) -> str:
    return text


async def _no_context() -> Mapping[str, Value] | None:
    return None


class Call(Struct, frozen=True):
    """One execution of a task.

    `inputs` have canonical names (program/kinds.py), are rendered, and have their secrets put in;
    `auth` is the credential's data. They belong to the log: a tool never changes them.
    `asked_at` is when this attempt was first started, however often it was called since.
    `folder` is where the document's relative files are found, `scratch` a folder of this run.
    A call that is stopped puts what it printed so far into `printed`, by stream. A tool whose calls
    wait for one another says `begins()` when a call's own time begins. `skipped_at` is when someone
    ended the wait of a call that was parked until a moment: it is not to be parked again. `render`
    renders a text that was not known before the call; what it raises, a tool lets through.
    `exactly_once`: the tool records in the transaction of the call's changes that they were made.
    `names` are variables of code beside its inputs, and `context` gives what code may read of the
    run: `workload`, `ctx`, results of `steps` and the `execution_id`. `hide` keeps secrets, by
    name, out of all that is written down from then on: those a tool read from an operator's file.
    """

    kind: str
    inputs: Mapping[str, Value]
    place: AttemptRef
    idempotency_key: str
    asked_at: int
    timeout: Timeout
    folder: Path
    scratch: Path
    printed: Object = field(default_factory=dict)
    begins: Callable[[], None] = _nothing
    skipped_at: int | None = None
    render: Callable[[str], Awaitable[str]] = _as_it_is
    exactly_once: bool = False
    names: Mapping[str, Value] = {}
    context: Callable[[], Awaitable[Mapping[str, Value] | None]] = _no_context
    hide: Callable[[str, Mapping[str, Value]], None] = _hide_nothing

    @property
    def once(self) -> str | None:
        """The key under which its changes are recorded, where they are to be made once."""
        return self.idempotency_key if self.exactly_once else None


class Parked(Struct, frozen=True):
    """Nothing to do before `until` (or before someone wakes the job): call again then.

    The call holds no slot meanwhile, and survives any restart.
    """

    until: int | None
    reason: str


Answer: TypeAlias = Outcome | Parked


class Tool(Protocol):
    """One kind of call. A failure of the world is an outcome and never raised.

    When `call` is cancelled (a timeout, a cancelled run, a stop) it stops what it began, kills the
    processes it started, and lets the cancellation through. What it raises otherwise is reported
    as kind `tool_error`.

    A tool may have three things besides: the class attribute `queues = True` when its calls wait
    for one another, so that the attempt's timeout begins with `call.begins()`; when it answers
    `Parked`, a coroutine `give_up(call)` for a call whose time is over; and, when it keeps things
    for each run, a method `run_ended(run)`. It is not told of runs that ended elsewhere.
    """

    async def call(self, call: Call) -> Answer: ...

    async def close(self) -> None:
        """Give back connections and processes. Called once, when nothing is at work any more."""


class ToolKind(Struct, frozen=True):
    """A kind of task that code brings, as a variable of its module: `ToolKind("dice", DiceTool)`.

    `make` gives the tool. Without `inputs` (names with their meanings) it takes any; those that are
    `required` must be given. `place` is where it was found, as `module:name`.
    """

    name: str
    make: Callable[[], Tool]
    title: str = ""
    inputs: Mapping[str, str] | None = None
    required: Sequence[str] = ()
    place: str | None = None


@overload
def tool(function: FunctionT, /) -> FunctionT: ...
@overload
def tool(*, name: str) -> Callable[[FunctionT], FunctionT]: ...
def tool(
    function: FunctionT | None = None, /, *, name: str | None = None
) -> FunctionT | Callable[[FunctionT], FunctionT]:
    """Make a function a kind of task, called as the function is or by `name`.

    The inputs of a task are its arguments, by name. The function itself stays what it was.
    """

    def marked(function: FunctionT) -> FunctionT:
        setattr(function, KIND_ATTRIBUTE, name or function.__name__)
        return function

    return marked if function is None else marked(function)


class _Decorating(ModuleType):
    """`from anew import tool` gives this module, whose name is that of the decorator."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return tool(*args, **kwargs)


sys.modules[__name__].__class__ = _Decorating
