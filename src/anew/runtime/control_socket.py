"""The socket beside a database file, on which its owner takes commands from other terminals.

One JSON object per line, one line back. Only the owner changes a file; everyone else asks here.
Does not know what commands mean.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

import msgspec

from anew.errors import AnewError, ConfigError
from anew.files import KeptFile
from anew.posix import connect_to, listen_at
from anew.runtime.command_executor import execute
from anew.runtime.commands import REQUEST_BYTES_MAX, Command, read_command
from anew.runtime.engine import Engine
from anew.runtime.ownership import check_socket, socket_path
from anew.store import StoreError
from anew.values import Object

# An owner answers at once, or it is not one.
ANSWER_SECONDS_MAX = 30.0


class NoAnswer(StoreError):
    """The owner is gone, or not there yet."""


class ControlSocket:
    """Listens beside the database for as long as this process owns it."""

    def __init__(self, engine: Engine, database: Path) -> None:
        self._engine = engine
        self._database = database
        self._path = socket_path(database)
        self._socket: KeptFile | None = None
        self._server: asyncio.Server | None = None
        self._unheard: set[asyncio.StreamWriter] = set()
        self._answering: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        check_socket(self._path, self._database)
        with suppress(FileNotFoundError):
            self._path.unlink()  # left by an owner that died; the lock says there is no other
        self._server = await listen_at(self._path, self._attend, limit=REQUEST_BYTES_MAX)
        self._socket = KeptFile(str(self._path))

    async def close(self) -> None:
        """Take no more commands, and finish those that came: what they began must be handed back.

        Whoever has come and is not heard yet gets no answer, and asks the next owner.
        """
        if self._server is None:
            return
        server, self._server = self._server, None
        if self._socket is not None and self._socket.is_kept():  # else it is that of another owner
            with suppress(FileNotFoundError):
                self._path.unlink()
        try:
            await _let_in(server)
        finally:
            server.close()
            for writer in self._unheard:
                writer.close()
        if self._answering:
            await asyncio.wait(set(self._answering), timeout=ANSWER_SECONDS_MAX)

    async def _attend(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            answer = None if self._server is None else await self._answer(reader, writer)
            if answer is not None:
                writer.write(msgspec.json.encode(answer) + b"\n")
                await writer.drain()
        writer.close()

    async def _answer(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> Object | None:
        """What comes of a command; None once the next owner is to be asked."""
        try:
            line = await self._hear(reader, writer)
            if line is None:
                return None
            return {"ok": await execute(self._engine, read_command(line))}
        except AnewError as error:
            is_store = isinstance(error, StoreError)
            # A stop in a hurry closes the database under a command. Whoever asks may still use it.
            is_left = is_store and self._server is None
            return None if is_left else {"error": str(error), "is_store": is_store}
        except Exception as error:  # a bug of ours must be an answer too, or it is asked again
            return {"error": f"the owner failed ({type(error).__name__}: {error})"}

    async def _hear(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bytes | None:
        """A command, which is answered before the engine stops; None when that is on its way."""
        self._unheard.add(writer)
        try:
            line = await reader.readline()
        finally:
            self._unheard.discard(writer)
        if self._server is None:
            return None
        task = asyncio.current_task()
        assert task is not None
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)
        return line


async def _let_in(server: asyncio.Server) -> None:
    """Make whoever has knocked known; asyncio forgets to hang up on who is on the threshold."""
    loop = asyncio.get_running_loop()
    for listening in server.sockets:
        loop.remove_reader(listening.fileno())
    await asyncio.sleep(0)


async def send_command(database: Path, command: Command) -> Object:
    """Have the owner of a file do something; StoreError when nobody answers."""
    path = socket_path(database)
    check_socket(path, database)
    try:
        reader, writer = await connect_to(path, limit=REQUEST_BYTES_MAX)
    except OSError as error:
        raise NoAnswer(f"the owner of {database} does not answer on its socket") from error
    try:
        writer.write(msgspec.json.encode(command) + b"\n")
        async with asyncio.timeout(ANSWER_SECONDS_MAX):
            line = await reader.readline()
    except (OSError, TimeoutError) as error:
        raise NoAnswer(f"the owner of {database} gave no answer") from error
    finally:
        writer.close()
    if not line.endswith(b"\n"):
        raise NoAnswer(f"the owner of {database} ended before it answered")
    answer: Object = msgspec.json.decode(line)
    if "error" in answer:
        kind = StoreError if answer.get("is_store") else ConfigError
        raise kind(answer["error"])
    found: Object = answer["ok"]
    return found
