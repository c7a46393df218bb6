"""A server that is a program: one JSON message a line, on its standard input and output.

The process lives as long as the call. What it prints on standard error is quoted when it fails.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
from collections import deque
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path

from anew.tools.captured import output_bytes_max
from anew.tools.commands import exit_message, printed_on, working_folder
from anew.tools.inputs import BadInput
from anew.tools.mcp.servers import McpCommand
from anew.tools.mcp.session import MCP_GRACE_SECONDS_MAX, McpProblem, messages_in
from anew.tools.processes import Process
from anew.tools.sandbox import Room
from anew.tools.streams import pipe
from anew.tools.task_process import command_environment, start_task
from anew.values import Object

MCP_MESSAGE_BYTES_MAX = 32 << 20
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
        self._came: deque[Object] = deque()

    def agreed(self, protocol: str) -> None:
        """Nothing in the messages depends on it."""

    async def send(self, message: Object) -> None:
        self._writer.write(json.dumps(message).encode() + b"\n")

    async def receive(self) -> Object:
        while not self._came:
            self._came.extend(messages_in(await self._line()))
        return self._came.popleft()

    async def _line(self) -> bytes:
        try:
            return await self._reader.readuntil(b"\n")
        except asyncio.IncompleteReadError:
            await asyncio.wait({self._process.exited}, timeout=MCP_GRACE_SECONDS_MAX)
            raise self._ended() from None
        except asyncio.LimitOverrunError:
            limit = f"MCP_MESSAGE_BYTES_MAX ({MCP_MESSAGE_BYTES_MAX:,} bytes)"
            raise McpProblem("limit_exceeded", f"a message is longer than {limit}") from None

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
    try:
        async with _connected(ours_in, ours_out) as (reader, writer):
            yield StdioLink(process, reader, writer)
            writer.close()
            with suppress(TimeoutError):
                async with asyncio.timeout(MCP_GRACE_SECONDS_MAX):
                    await asyncio.shield(process.exited)
    finally:
        await process.stop(grace_seconds=0)
        printed.update(printed_on(process.stdout, process.stderr))


@asynccontextmanager
async def _connected(
    ours_in: int, ours_out: int
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.WriteTransport]]:
    """The ends of two pipes as streams; they are closed afterwards."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=MCP_MESSAGE_BYTES_MAX)
    with ExitStack() as undo:
        from_file = undo.enter_context(os.fdopen(ours_in, "rb", 0))
        to_file = undo.enter_context(os.fdopen(ours_out, "wb", 0))
        from_them, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), from_file
        )
        undo.callback(from_them.close)
        to_them, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, to_file)
        undo.pop_all()  # they close the files themselves
    try:
        yield reader, to_them
    finally:
        if not to_them.is_closing():
            to_them.abort()
        from_them.close()


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
