"""The `shell` tool: commands of the author, each run by a shell in a process group of its own."""

from __future__ import annotations

import shutil
from collections.abc import Mapping

from anew.engine.outcome import Outcome, error_of, outcome_of
from anew.tool import Call
from anew.tools.captured import Captured, output_bytes_max
from anew.tools.commands import (
    TaskCommand,
    exit_message,
    exit_status,
    finished,
    printed_on,
    working_folder,
)
from anew.tools.inputs import BadInput
from anew.tools.processes import Process
from anew.tools.sandbox import NO_SANDBOX, Sandbox, room_in
from anew.tools.task_process import command_environment
from anew.values import Object, Value, as_text

# How long a command may take to clean up when its task is cancelled.
GRACE_SECONDS_MAX = 2
_SH = "/bin/sh"


class ShellTool:
    """Runs commands one after the other and stops at the first that fails."""

    def __init__(self, sandbox: Sandbox = NO_SANDBOX) -> None:
        self._output_bytes_max = output_bytes_max()
        self._sandbox = sandbox

    async def call(self, call: Call) -> Outcome:
        try:
            return await self._run(self._commands(call), call.printed)
        except BadInput as problem:
            return outcome_of(error=error_of("config", str(problem)))

    async def close(self) -> None:
        """Nothing to give back: every process ends with its call."""

    async def _run(self, commands: list[TaskCommand], printed: Object) -> Outcome:
        earlier = (Captured(self._output_bytes_max), Captured(self._output_bytes_max))
        total = len(commands)
        for number, command in enumerate(commands, 1):
            process = await finished(command, printed, grace_seconds=GRACE_SECONDS_MAX)
            if process.exited.result() != 0 or number == total:
                break
            for all_of, one in zip(earlier, (process.stdout, process.stderr), strict=True):
                all_of.add(one.text().encode())
        which = "the command" if total == 1 else f"command {number} of {total}"
        return _outcome(process, which, logs=printed_on(*earlier))

    def _commands(self, call: Call) -> list[TaskCommand]:
        given = call.inputs
        room = room_in(self._sandbox, call.folder, call.scratch)
        texts = _commands(given.get("command"))
        env = _environment(given.get("env"), call.idempotency_key)
        cwd, stdin = working_folder(given.get("cwd"), call.folder), _input(given.get("stdin"))
        shell = _shell(given.get("shell"))
        return [
            TaskCommand([shell, "-c", text], env, cwd, stdin, room, self._output_bytes_max)
            for text in texts
        ]


def _outcome(process: Process, which: str, *, logs: Object) -> Outcome:
    status = exit_status(process)
    result = {
        "exit_code": status,
        "stdout": process.stdout.text(),
        "stderr": process.stderr.text(),
    }
    error = None
    if status != 0:
        # Test runners say on standard output what went wrong.
        message = exit_message(process, which, process.stderr, process.stdout)
        error = error_of("exit_code", message, code=status)
    return outcome_of(result, error=error, helpers={"shell": {"exit_code": status}}, logs=logs)


def _commands(given: Value) -> list[str]:
    commands = [given] if isinstance(given, str) else given
    if not isinstance(commands, list) or not commands:
        raise BadInput("command must be one text or a list of texts")
    for number, command in enumerate(commands, 1):
        if not isinstance(command, str) or not command.strip():
            raise BadInput(f"command {number} is not a text, or is empty")
        if "\0" in command:
            raise BadInput(f"command {number} has a NUL character, which no command can have")
    return commands


def _shell(given: Value) -> str:
    if given in (None, "sh"):
        return _SH
    if given != "bash":
        raise BadInput(f"shell must be sh or bash; found {given!r}")
    found = shutil.which(given)
    if found is None:
        raise BadInput("this machine has no bash. Install it, or write the command for `sh`")
    return found


def _environment(given: Value, key: str) -> dict[str, str]:
    if given is not None and not isinstance(given, Mapping):
        raise BadInput("env must be a mapping of names to values")
    return command_environment({"ANEW_IDEMPOTENCY_KEY": key}, given or {})


def _input(given: Value) -> bytes | None:
    if given is None:
        return None
    return as_text(given).encode()
