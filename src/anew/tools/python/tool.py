"""The `python` tool: hands code to warm processes, a few at a time, and replaces the spent ones.

A process that ran code of one run never runs code of another.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from anew.engine.code_names import reads_context
from anew.engine.outcome import Outcome, error_of, outcome_of
from anew.tool import Call
from anew.tools.captured import output_bytes_max
from anew.tools.inputs import BadInput
from anew.tools.python.hosts import Hosts
from anew.tools.python.interpreter import CodeResult, Interpreter, NotStarted
from anew.tools.python.pool import Pool
from anew.tools.python.running import CodeFile
from anew.tools.python.spare import Spare
from anew.tools.sandbox import NO_SANDBOX, Room, Sandbox, room_in
from anew.tools.scripts import (
    SCRIPT_BYTES_MAX,
    ScriptFailure,
    ScriptFile,
    Scripts,
    missing_script,
)
from anew.tools.settings import whole_setting
from anew.values import Object, Value

# A process is replaced after so many calls, whatever they may have left in it.
PROCESS_CALLS_MAX = 1000
# Code of another task of the same user can kill the server that processes are forked from.
START_TRIES_MAX = 3
# What code may read of its run at once; a message to its process holds twice as much.
CODE_CONTEXT_BYTES_MAX = 1 << 26
_NOT_STARTED = "no Python process could be started: something kills them, or memory has run out"


class TooMuchContext(Exception):
    """What a run holds is too much to be handed to code."""


class PythonTool:
    """At most `ANEW_PYTHON_PROCESSES` calls run at a time; the others wait for a process."""

    queues = True

    def __init__(self, sandbox: Sandbox = NO_SANDBOX) -> None:
        self._sandbox = sandbox
        processes = whole_setting("PYTHON_PROCESSES", max(2, os.cpu_count() or 1))
        self._free = asyncio.Semaphore(processes)
        self._pool = Pool()
        has_limit = "ANEW_PYTHON_MEMORY_BYTES_MAX" in os.environ
        memory_bytes_max = whole_setting("PYTHON_MEMORY_BYTES_MAX", 1) if has_limit else 0
        self._hosts = Hosts(output_bytes_max=output_bytes_max(), memory_bytes_max=memory_bytes_max)
        self._spare = Spare(self._hosts)
        self._scripts = Scripts()

    async def call(self, call: Call) -> Outcome:
        try:
            _check(call)
            script = None if call.inputs.get("script") is None else await self._scripts.of(call)
            return await self._called(call, script)
        except BadInput as problem:
            return outcome_of(error=error_of("config", str(problem)))
        except ScriptFailure as failure:
            return failure.outcome
        except TooMuchContext as problem:
            return outcome_of(error=error_of("limit_exceeded", str(problem)))

    async def _called(self, call: Call, script: ScriptFile | str | None) -> Outcome:
        room = room_in(self._sandbox, call.folder, call.scratch)
        async with self._free:
            call.begins()
            run, request = call.place.run, await _request(call, script)
            for _ in range(START_TRIES_MAX):
                python = self._pool.take(run) or self._new(run, room)
                try:
                    answer = await python.ask(request)
                    break
                except NotStarted:
                    continue
                except BaseException:
                    await python.stop()
                    call.printed.update(python.logs())
                    raise
            else:
                return outcome_of(error=error_of("python_error", _NOT_STARTED, retryable=True))
            logs = python.logs()
            if answer.is_spent or python.calls >= PROCESS_CALLS_MAX or not python.is_alive:
                # What the code left behind is dead before its answer counts.
                await python.stop()
            else:
                self._pool.give(run, python)
        return _outcome(answer, logs, now=call.asked_at)

    def _new(self, run: str, room: Room | None) -> Interpreter:
        spare = None if room is not None else self._spare.take(run)
        return spare or Interpreter(self._hosts, room)

    def run_ended(self, run: str) -> None:
        """Nothing more of this run will be called."""
        self._pool.release(run)

    async def close(self) -> None:
        await self._pool.close()
        await self._spare.close()
        await self._hosts.close()
        await self._scripts.close()


def _check(call: Call) -> None:
    code, script = call.inputs.get("code"), call.inputs.get("script")
    args = call.inputs.get("args")
    if (code is None) == (script is None):
        raise BadInput("python needs one of code and script")
    if code is not None and not isinstance(code, str):
        raise BadInput("code must be text")
    if args is not None and not isinstance(args, Mapping):
        raise BadInput("args must be a mapping of names to values")
    if not isinstance(call.inputs.get("libs"), Mapping | list | None):
        raise BadInput("libs must be a mapping of names to modules")
    if not call.folder.is_dir():
        raise BadInput(f"the folder {str(call.folder)!r} of the document does not exist")


async def _request(call: Call, script: ScriptFile | str | None) -> Object:
    given: Mapping[str, Value] = {
        "_key": call.idempotency_key,
        "_task": call.place.task,
        "_attempt": call.place.attempt,
        "run_id": call.place.run,
        "execution_id": call.place.run,
    }
    libs = call.inputs.get("libs")
    request: Object = {
        "code": script if isinstance(script, str) else call.inputs.get("code"),
        "script": _file(script) if isinstance(script, ScriptFile) else None,
        "args": call.inputs.get("args") or {},
        "given": given,
        "folder": str(call.folder.resolve()),
    }
    # A list of packages has no effect: what a worker has installed is its operator's business.
    beside: Object = {"libs": libs if isinstance(libs, Mapping) else None, "names": call.names}
    beside["context"] = await _context(call, script)
    return request | {key: value for key, value in beside.items() if value}


async def _context(call: Call, script: ScriptFile | str | None) -> msgspec.Raw | None:
    context = await call.context() if _wants_context(script) else None
    if context is None:
        return None
    text = msgspec.json.encode(context)
    if len(text) > CODE_CONTEXT_BYTES_MAX:
        raise TooMuchContext(
            f"`context` has {len(text):,} bytes; at most {CODE_CONTEXT_BYTES_MAX:,}. "
            "Pass what the code needs with `input`."
        )
    return msgspec.Raw(text)


def _wants_context(script: ScriptFile | str | None) -> bool:
    """Of a script it is not known before its text is at hand."""
    if script is None or isinstance(script, str):
        return script is None or reads_context(script)
    found = next((place for place in map(Path, script.places) if place.is_file()), None)
    if found is None:
        return False
    try:
        with found.open("rb") as file:
            return reads_context(file.read(SCRIPT_BYTES_MAX).decode(errors="replace"))
    except OSError:
        return False  # it cannot be run either, and whoever tries says why


def _file(script: ScriptFile) -> CodeFile:
    """The code reads it itself: a sandbox shows it no other files than those of its document."""
    return {
        "name": script.name,
        "places": list(script.places),
        "bytes_max": SCRIPT_BYTES_MAX,
        "missing": missing_script(script.name, script.places),
    }


def _outcome(answer: CodeResult, logs: Object, *, now: int) -> Outcome:
    helpers = {"py": answer.py} if answer.py else {}
    return outcome_of(answer.result, error=answer.error, helpers=helpers, logs=logs, now=now)
