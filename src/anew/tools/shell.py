"""The `shell` tool: commands of the author, each run by `/bin/sh` in a process group of its own."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from anew.engine.outcome import Outcome, error_of, outcome_of
from anew.tool import Call
from anew.tools.captured import Captured, output_bytes_max
from anew.tools.processes import Process, signal_name
from anew.tools.sandbox import NO_SANDBOX, NotInSandbox, Room, Sandbox, room_in
from anew.tools.task_process import BadVariable, command_environment, start_task
from anew.values import Object, Value, json_text

# How long a command may take to clean up when its task is cancelled.
GRACE_SECONDS_MAX = 2
# Of the line of standard error that an error message quotes.
_QUOTE_CHARS = 500

_SHELL = "/bin/sh"
# Reasons not to start that lie in the inputs; others are the machine's.
_AUTHORS_TURN = {errno.E2BIG, errno.EACCES, errno.ENOENT, errno.ENOTDIR}


class _BadInput(Exception):
    """An input cannot be used; the text is fit for the author."""


class _Job(Struct, frozen=True):
    commands: list[str]
    env: dict[str, str]
    cwd: Path
    stdin: bytes | None
    room: Room | None


class ShellTool:
    """Runs commands one after the other and stops at the first that fails."""

    def __init__(self, sandbox: Sandbox = NO_SANDBOX) -> None:
        self._output_bytes_max = output_bytes_max()
        self._sandbox = sandbox

    async def call(self, call: Call) -> Outcome:
        try:
            job = _job(call, room_in(self._sandbox, call.folder, call.scratch))
            return await self._run(job, call.printed)
        except (_BadInput, NotInSandbox) as problem:
            return outcome_of(error=error_of("config", str(problem)))

    async def close(self) -> None:
        """Nothing to give back: every process ends with its call."""

    async def _run(self, job: _Job, printed: Object) -> Outcome:
        earlier = (Captured(self._output_bytes_max), Captured(self._output_bytes_max))
        for number, command in enumerate(job.commands, 1):
            process = await self._finished(command, job, printed)
            if process.exited.result() != 0 or number == len(job.commands):
                break
            for all_of, one in zip(earlier, (process.stdout, process.stderr), strict=True):
                all_of.add(one.text().encode())
        total = len(job.commands)
        which = "the command" if total == 1 else f"command {number} of {total}"
        return _outcome(process, which, logs=_printed(*earlier))

    async def _finished(self, command: str, job: _Job, printed: Object) -> Process:
        process = self._started(command, job)
        try:
            await asyncio.shield(process.exited)
        except asyncio.CancelledError:
            await process.stop(grace_seconds=GRACE_SECONDS_MAX)
            printed.update(_printed(process.stdout, process.stderr))
            raise
        return process

    def _started(self, command: str, job: _Job) -> Process:
        try:
            return start_task(
                [_SHELL, "-c", command],
                env=job.env,
                cwd=job.cwd,
                stdin=job.stdin,
                is_gated=True,
                output_bytes_max=self._output_bytes_max,
                room=job.room,
            )
        except OSError as problem:
            if problem.errno not in _AUTHORS_TURN:
                raise
            raise _BadInput(f"the command cannot be started: {problem.strerror}") from None


def _outcome(process: Process, which: str, *, logs: Object) -> Outcome:
    code = process.exited.result()
    status = 128 - code if code < 0 else code
    result = {
        "exit_code": status,
        "stdout": process.stdout.text(),
        "stderr": process.stderr.text(),
    }
    error = None
    if status != 0:
        ended = f"ended with exit status {code}"
        if code < 0:
            ended = f"was killed by {signal_name(-code)}"
        # Test runners say on standard output what went wrong.
        said = process.stderr.last_line(_QUOTE_CHARS) or process.stdout.last_line(_QUOTE_CHARS)
        message = f"{which} {ended}" + (f": {said}" if said else "")
        error = error_of("exit_code", message, code=status)
    return outcome_of(result, error=error, helpers={"shell": {"exit_code": status}}, logs=logs)


def _printed(stdout: Captured, stderr: Captured) -> Object:
    texts = {"stdout": stdout.text(), "stderr": stderr.text()}
    return {name: text for name, text in texts.items() if text}


def _job(call: Call, room: Room | None) -> _Job:
    given = call.inputs
    return _Job(
        commands=_commands(given.get("command")),
        env=_environment(given.get("env"), call.idempotency_key),
        cwd=_folder(given.get("cwd"), call.folder),
        stdin=_input(given.get("stdin")),
        room=room,
    )


def _commands(given: Value) -> list[str]:
    commands = [given] if isinstance(given, str) else given
    if not isinstance(commands, list) or not commands:
        raise _BadInput("command must be one text or a list of texts")
    for number, command in enumerate(commands, 1):
        if not isinstance(command, str) or not command.strip():
            raise _BadInput(f"command {number} is not a text, or is empty")
        if "\0" in command:
            raise _BadInput(f"command {number} has a NUL character, which no command can have")
    return commands


def _environment(given: Value, key: str) -> dict[str, str]:
    if given is not None and not isinstance(given, Mapping):
        raise _BadInput("env must be a mapping of names to values")
    try:
        return command_environment({"ANEW_IDEMPOTENCY_KEY": key}, given or {})
    except BadVariable as problem:
        raise _BadInput(str(problem)) from None


def _folder(given: Value, beside: Path) -> Path:
    if given is not None and (not isinstance(given, str) or "\0" in given):
        raise _BadInput("cwd must be the path of a folder")
    folder = beside / (given or "")
    if not folder.is_dir():
        raise _BadInput(f"cwd {str(given or folder)!r} is not a folder")
    return folder


def _input(given: Value) -> bytes | None:
    if given is None:
        return None
    return (given if isinstance(given, str) else json_text(given)).encode()
