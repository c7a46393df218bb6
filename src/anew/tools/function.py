"""A tool made of a Python function of the program that brings the engine.

The function is given a task's inputs and returns its result, or an outcome. What it raises becomes
an error as that of a `python` task does. Unlike such a task it runs in this process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from copy import deepcopy
from inspect import getsourcefile, isawaitable, iscoroutinefunction
from pathlib import Path

from anew.engine.outcome import Outcome, outcome_of
from anew.tool import Call
from anew.tools.python.failures import failure_of
from anew.values import Object, Value

Function = Callable[[Object], "Value | Outcome | Awaitable[Value | Outcome]"]


class FunctionTool:
    """Use `function_tool` to make one."""

    def __init__(self, function: Function) -> None:
        self._function = function

    async def call(self, call: Call) -> Outcome:
        # The inputs belong to the log, and a function may do with its own what it likes.
        inputs = deepcopy(dict(call.inputs))
        try:
            answer = await self._answer(inputs)
        except Exception as problem:
            return self._failed(problem)
        return answer if isinstance(answer, Outcome) else outcome_of(answer)

    async def _answer(self, inputs: Object) -> Value | Outcome:
        if iscoroutinefunction(self._function):
            return await self._function(inputs)
        answer = await asyncio.to_thread(self._called, inputs)
        return await answer if isawaitable(answer) else answer

    def _called(self, inputs: Object) -> Value | Outcome | Awaitable[Value | Outcome]:
        """The answer of an ordinary function. A future cannot carry whatever it may raise."""
        try:
            return self._function(inputs)
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
    return FunctionTool(function)
