"""Run one command of an author and say how it ended: for `shell`, and for agents that are programs.

Knows processes and what is said of them. Does not know what a command is for.
"""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from anew.tools.captured import Captured
from anew.tools.inputs import BadInput
from anew.tools.processes import Process, signal_name
from anew.tools.sandbox import Room
from anew.tools.task_process import start_task
from anew.values import Object, Value

# Of the line of its output that an error message quotes.
_QUOTE_CHARS = 500
# Reasons not to start that lie in the inputs; others are the machine's.
_AUTHORS_TURN = {errno.E2BIG, errno.EACCES, errno.ENOENT, errno.ENOTDIR, errno.ENOEXEC}


class TaskCommand(Struct, frozen=True):
    """A program with its arguments, and all it is given. `room` is its place in a sandbox."""

    words: Sequence[str]
    env: Mapping[str, str]
    cwd: Path
    stdin: bytes | None
    room: Room | None
    output_bytes_max: int


async def finished(command: TaskCommand, printed: Object, *, grace_seconds: float) -> Process:
    """The process, once it has ended; BadInput when it cannot be started.

    When the call is cancelled it is asked to end, then killed, and `printed` has what it printed.
    """
    process = _started(command)
    try:
        await asyncio.shield(process.exited)
    except asyncio.CancelledError:
        await process.stop(grace_seconds=grace_seconds)
        printed.update(printed_on(process.stdout, process.stderr))
        raise
    return process


def _started(command: TaskCommand) -> Process:
    try:
        return start_task(
            command.words,
            env=command.env,
            cwd=command.cwd,
            stdin=command.stdin,
            is_gated=True,
            output_bytes_max=command.output_bytes_max,
            room=command.room,
        )
    except OSError as problem:
        if problem.errno not in _AUTHORS_TURN:
            raise
        raise BadInput(f"the command cannot be started: {problem.strerror}") from None


def working_folder(given: Value, beside: Path) -> Path:
    """Where a command runs: its `cwd`, beside the document when it is relative."""
    if given is not None and (not isinstance(given, str) or "\0" in given):
        raise BadInput("cwd must be the path of a folder")
    folder = beside / (given or "")
    if not folder.is_dir():
        raise BadInput(f"cwd {str(given or folder)!r} is not a folder")
    return folder


def printed_on(stdout: Captured, stderr: Captured) -> Object:
    """What was printed, by stream; nothing for a stream that stayed empty."""
    texts = {"stdout": stdout.text(), "stderr": stderr.text()}
    return {name: text for name, text in texts.items() if text}


def exit_status(process: Process) -> int:
    """As a shell counts: above 128 for a process that a signal ended."""
    code = process.exited.result()
    return 128 - code if code < 0 else code


def exit_message(process: Process, what: str, *streams: Captured) -> str:
    """How a command failed, with the last line of the first of `streams` that has one."""
    code = process.exited.result()
    ended = f"was killed by {signal_name(-code)}" if code < 0 else f"ended with exit status {code}"
    said = next((line for stream in streams if (line := stream.last_line(_QUOTE_CHARS))), "")
    return f"{what} {ended}" + (f": {said}" if said else "")
