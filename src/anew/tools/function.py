"""A tool made of a Python function of the program that brings the engine.

The function returns a task's result, or an outcome. What it raises becomes an error as that of a
`python` task does. Unlike such a task it runs in this process.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterator
from copy import deepcopy
from functools import partial
from inspect import Parameter, getsourcefile, isawaitable, iscoroutinefunction, signature
from pathlib import Path
from typing import Any, TypeAlias, get_type_hints

from anew.engine.outcome import Outcome, outcome_of
from anew.errors import ConfigError
from anew.tool import KIND_ATTRIBUTE, Call, ToolKind
from anew.tools.python.failures import failure_of
from anew.tools.python_values import as_json, as_type
from anew.values import Object, Value

Function = Callable[[Object], "Value | Outcome | Awaitable[Value | Outcome]"]
# What a call amounts to: the function with its arguments.
Bound: TypeAlias = Callable[[], Any]


class FunctionTool:
    """Use `function_tool` or `kind_of_function` to make one."""

    def __init__(
        self,
        function: Callable[..., Any],
        bind: Callable[[Call], Bound],
        *,
        result: Callable[[Any], Value] = lambda answer: answer,
    ) -> None:
        self._function, self._bind, self._result = function, bind, result

    async def call(self, call: Call) -> Outcome:
        bound = self._bind(call)
        try:
            answer = await self._answer(bound)
        except Exception as problem:
            return self._failed(problem)
        return answer if isinstance(answer, Outcome) else outcome_of(self._result(answer))

    async def _answer(self, bound: Bound) -> object:
        if iscoroutinefunction(self._function):
            return await bound()
        answer = await asyncio.to_thread(self._called, bound)
        return await answer if isawaitable(answer) else answer

    def _called(self, bound: Bound) -> object:
        """The answer of an ordinary function. A future cannot carry whatever it may raise."""
        try:
            return bound()
        except Exception as problem:
            return self._failed(problem)

    def _failed(self, problem: Exception) -> Outcome:
        try:
            file = getsourcefile(self._function) or ""
        except TypeError:  # an object that can be called, or a built-in function
            file = ""
        told = failure_of(problem, filename=file, folder=str(Path(file).parent))
        return outcome_of(error=told["error"], helpers={"py": told["py"]})

    async def close(self) -> None:
        """Nothing was opened."""


def function_tool(function: Function) -> FunctionTool:
    """A tool that calls `function(inputs)`, which may be a coroutine function.

    Another function runs in a thread. A thread cannot be stopped: when the call's time is over or
    its run is cancelled, it goes on, and its answer is dropped. Write a coroutine function for what
    takes long.
    """
    # The inputs belong to the log, and a function may do with its own what it likes.
    return FunctionTool(function, lambda call: partial(function, deepcopy(dict(call.inputs))))


def kind_of_function(function: Callable[..., Any], name: str | None = None) -> ToolKind:
    """The kind whose tasks call `function(**inputs)`, each input as its annotation wants it.

    An argument of type `Call` is given the call itself; the kind takes any input if the function
    has `**rest`. ConfigError when the function has arguments that no task can give.
    """
    name = name or getattr(function, KIND_ATTRIBUTE, None) or function.__name__
    taken = list(_parameters(function, name))
    types = _types(function, name)
    calls = {one.name for one in taken if types.get(one.name) is Call}
    inputs = [one for one in taken if one.name not in calls and one.kind is not _REST]

    def bind(call: Call) -> Bound:
        given = deepcopy(dict(call.inputs))
        if not takes_any and _KEY not in types:
            given.pop(_KEY, None)  # it has done its work: the call has it
        _check(given, name, inputs, takes_any=takes_any)
        typed = {key: _typed(value, types.get(key), name, key) for key, value in given.items()}
        return partial(function, **typed, **dict.fromkeys(calls, call))

    takes_any = len(taken) > len(inputs) + len(calls)
    return ToolKind(
        name,
        lambda: FunctionTool(
            function, bind, result=lambda answer: as_json(answer, f"what {name} returned")
        ),
        title=(inspect.getdoc(function) or "").partition("\n")[0],
        inputs=None if takes_any else dict.fromkeys((one.name for one in inputs), ""),
        required=[one.name for one in inputs if one.default is Parameter.empty],
        place=_place(function),
    )


_KEY = "idempotency_key"
_REST = Parameter.VAR_KEYWORD
_BY_NAME = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY, _REST)


def _place(function: Callable[..., Any]) -> str | None:
    """Where others can import it from; None for a function of a script, or of another function."""
    module, name = getattr(function, "__module__", ""), getattr(function, "__qualname__", "")
    return f"{module}:{name}" if module not in ("", "__main__") and name.isidentifier() else None


def _parameters(function: Callable[..., Any], name: str) -> Iterator[Parameter]:
    for one in signature(function).parameters.values():
        if one.kind not in _BY_NAME:
            raise ConfigError(
                f"the tool {name!r} has the argument {one}, which has no name for a task to give "
                "it by. Let every argument be one that can be given by name."
            )
        yield one


def _types(function: Callable[..., Any], name: str) -> dict[str, Any]:
    try:
        return get_type_hints(function)
    except Exception as error:  # whatever stands in an annotation
        raise ConfigError(
            f"the annotations of the tool {name!r} cannot be read: {error}"
        ) from error


def _check(given: Object, name: str, inputs: list[Parameter], *, takes_any: bool) -> None:
    """ConfigError for what a check of the document would have found where it knew the function."""
    known = [one.name for one in inputs]
    missing = [
        one.name for one in inputs if one.default is Parameter.empty and one.name not in given
    ]
    unknown = [] if takes_any else [key for key in given if key not in known]
    if missing:
        raise ConfigError(f"{name} needs the input {missing[0]!r}, which the task does not give")
    if unknown:
        takes = f"it takes {', '.join(known)}" if known else "it takes none"
        raise ConfigError(f"{name} has no input {unknown[0]!r}; {takes}")


def _typed(value: Value, wanted: Any, name: str, key: str) -> Any:
    if wanted is None or wanted is Any or wanted is inspect.Signature.empty:
        return value
    return as_type(value, wanted, f"the input {key!r} of {name}")
