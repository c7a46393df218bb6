"""A server that is a program: one JSON message a line, on its standard input and output.

The process lives as long as the call. What it prints on standard error is quoted when it fails.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path

from anew.tools.captured import output_bytes_max
from anew.tools.commands import exit_message, printed_on, working_folder
from anew.tools.inputs import BadInput
from anew.tools.mcp.servers import McpCommand
from anew.tools.mcp.session import McpProblem
from anew.tools.processes import Process
from anew.tools.sandbox import Room
from anew.tools.streams import pipe
from anew.tools.task_process import command_environment, start_task
from anew.values import Object

MCP_MESSAGE_BYTES_MAX = 32 << 20
# How long a server may take to end after its input has ended.
MCP_GRACE_SECONDS_MAX = 2.0
_QUOTE_CHARS = 200
# What a shell ends with that cannot start a program.
_NOT_STARTED = (126, 127)
_AUTHORS_TURN = {errno.E2BIG, errno.EACCES, errno.ENOENT, errno.ENOTDIR, errno.ENOEXEC}


class StdioLink:
    def __init__(
        self, process: Process, reader: asyncio.StreamReader, writer: asyncio.WriteTransport
    ) -> None:
        self._process = process
        self._reader = reader
        self._writer = writer

    def agreed(self, protocol: str) -> None:
        """Nothing in the messages depends on it."""

    async def send(self, message: Object) -> None:
        self._writer.write(json.dumps(message).encode() + b"\n")

    async def receive(self) -> Object:
        try:
            line = await self._reader.readuntil(b"\n")
        except asyncio.IncompleteReadError:
            await asyncio.wait({self._process.exited}, timeout=MCP_GRACE_SECONDS_MAX)
            raise self._ended() from None
        except asyncio.LimitOverrunError:
            limit = f"MCP_MESSAGE_BYTES_MAX ({MCP_MESSAGE_BYTES_MAX:,} bytes)"
            raise McpProblem("limit_exceeded", f"a message is longer than {limit}") from None
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            said = line.decode(errors="replace").strip()[:_QUOTE_CHARS]
            raise McpProblem(
                "tool_error", f"the MCP server wrote something that is not a message: {said!r}"
            )
        return message

    def _ended(self) -> McpProblem:
        if not self._process.exited.done():
            return McpProblem("connection", "connection lost: the MCP server closed its output")
        message = exit_message(self._process, "the MCP server", self._process.stderr)
        if self._process.exited.result() in _NOT_STARTED:
            return McpProblem("config", message)
        return McpProblem("connection", f"connection lost: {message}")


@asynccontextmanager
async def stdio_link(
    command: McpCommand, *, key: str, folder: Path, room: Room | None, printed: Object
) -> AsyncIterator[StdioLink]:
    """A server that has been started. No process of it is left afterwards."""
    env = command_environment({"ANEW_IDEMPOTENCY_KEY": key}, command.env)
    cwd = working_folder(command.cwd, folder)
    with ExitStack() as undo:
        (theirs_in, ours_out), (ours_in, theirs_out) = pipe(undo), pipe(undo)
        process = _started(command.words, env, cwd, room, (theirs_in, theirs_out))
        undo.pop_all()
        for end in (theirs_in, theirs_out):
            os.close(end)
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=MCP_MESSAGE_BYTES_MAX)
    from_them, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(ours_in, "rb", 0)
    )
    to_them, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, os.fdopen(ours_out, "wb", 0))
    try:
        yield StdioLink(process, reader, to_them)
        to_them.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(MCP_GRACE_SECONDS_MAX):
                await asyncio.shield(process.exited)
    finally:
        if not to_them.is_closing():
            to_them.abort()
        await process.stop(grace_seconds=0)
        from_them.close()
        printed.update(printed_on(process.stdout, process.stderr))


def _started(
    words: list[str], env: dict[str, str], cwd: Path, room: Room | None, stdio: tuple[int, int]
) -> Process:
    try:
        return start_task(
            words,
            env=env,
            cwd=cwd,
            stdio=stdio,
            is_gated=True,
            output_bytes_max=output_bytes_max(),
            room=room,
        )
    except OSError as problem:
        if problem.errno not in _AUTHORS_TURN:
            raise
        raise BadInput(f"the MCP server cannot be started: {problem.strerror}") from None
