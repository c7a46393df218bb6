"""The `python` tool: hands code to warm processes, a few at a time, and replaces the spent ones."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping

from anew.engine.outcome import Outcome, error_of, outcome_of
from anew.tool import Call
from anew.tools.captured import output_bytes_max
from anew.tools.python.interpreter import Answer, Interpreter
from anew.tools.settings import whole_setting
from anew.values import Object, Value

# A process is replaced after so many calls, whatever they may have left in it.
PROCESS_CALLS_MAX = 1000


class PythonTool:
    """At most `ANEW_PYTHON_PROCESSES` calls run at a time; the others wait for a process."""

    queues = True

    def __init__(self) -> None:
        processes = whole_setting("PYTHON_PROCESSES", max(2, os.cpu_count() or 1))
        self._free = asyncio.Semaphore(processes)
        self._idle: list[Interpreter] = []
        self._output_bytes_max = output_bytes_max()
        has_limit = "ANEW_PYTHON_MEMORY_BYTES_MAX" in os.environ
        self._memory_bytes_max = whole_setting("PYTHON_MEMORY_BYTES_MAX", 1) if has_limit else 0

    async def call(self, call: Call) -> Outcome:
        problem = _problem_of(call)
        if problem is not None:
            return outcome_of(error=error_of("config", problem))
        async with self._free:
            call.begins()
            python = self._idle_one() or self._new_one()
            try:
                answer = await python.ask(_request(call))
            except BaseException:
                await python.stop()
                call.printed.update(python.logs())
                raise
            logs = python.logs()
            await self._give_back(python, is_spent=answer.is_spent)
        return _outcome(answer, logs, now=call.asked_at)

    async def close(self) -> None:
        idle, self._idle = self._idle, []
        await asyncio.gather(*(python.stop() for python in idle))

    def _idle_one(self) -> Interpreter | None:
        """The one used last: its caches are the warmest."""
        while self._idle:
            python = self._idle.pop()
            if python.is_alive:
                return python
        return None

    def _new_one(self) -> Interpreter:
        return Interpreter(
            output_bytes_max=self._output_bytes_max, memory_bytes_max=self._memory_bytes_max
        )

    async def _give_back(self, python: Interpreter, *, is_spent: bool) -> None:
        if is_spent or python.calls >= PROCESS_CALLS_MAX or not python.is_alive:
            await python.stop()
        else:
            self._idle.append(python)


def _problem_of(call: Call) -> str | None:
    code, script = call.inputs.get("code"), call.inputs.get("script")
    args = call.inputs.get("args")
    if (code is None) == (script is None):
        return "python needs one of code and script"
    if not isinstance(script if code is None else code, str):
        return f"{'script' if code is None else 'code'} must be text"
    if args is not None and not isinstance(args, Mapping):
        return "args must be a mapping of names to values"
    if not call.folder.is_dir():
        return f"the folder {str(call.folder)!r} of the document does not exist"
    return None


def _request(call: Call) -> Object:
    given: Mapping[str, Value] = {
        "_key": call.idempotency_key,
        "_task": call.place.task,
        "_attempt": call.place.attempt,
        "run_id": call.place.run,
        "execution_id": call.place.run,
    }
    return {
        "code": call.inputs.get("code"),
        "script": call.inputs.get("script"),
        "args": call.inputs.get("args") or {},
        "given": given,
        "folder": str(call.folder.resolve()),
    }


def _outcome(answer: Answer, logs: Object, *, now: int) -> Outcome:
    helpers = {"py": answer.py} if answer.py else {}
    return outcome_of(answer.result, error=answer.error, helpers=helpers, logs=logs, now=now)
