"""Calls of the agent tool, and a server that speaks both wire formats."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from anew.engine.outcome import Outcome
from anew.tool import AttemptRef, Call, Timeout
from anew.tools.agent import AgentTool
from anew.values import Object, Value
from tests.tools.code_calls import PATIENCE_SECONDS

T = TypeVar("T")
HERE = Path()


def a_call(
    folder: Path = HERE,
    *,
    place: AttemptRef | None = None,
    timeout: Timeout | None = None,
    **inputs: Value,
) -> Call:
    where = place or AttemptRef("71", "plan", 3, None, "plan", 2)
    given = {"prompt": "Say hello.", **inputs}
    scratch = folder / "scratch"
    return Call("agent", given, where, "key-1", 0, timeout or Timeout(), folder, scratch)


def bounded(work: Coroutine[Any, Any, T]) -> T:
    async def session() -> T:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await work

    return asyncio.run(session())


async def answer_of(call: Call, tool: AgentTool | None = None) -> Outcome:
    asked = tool or AgentTool()
    try:
        return await asked.call(call)
    finally:
        await asked.close()


def agent(folder: Path = HERE, *, tool: AgentTool | None = None, **inputs: Value) -> Outcome:
    return bounded(answer_of(a_call(folder, **inputs), tool))


def error_of(outcome: Outcome) -> Object:
    assert outcome.error is not None, outcome
    return outcome.error


class Heard:
    """One request as it arrived."""

    def __init__(self, head: str, body: bytes) -> None:
        first, *lines = head.split("\r\n")
        self.method, self.path, _ = first.split(" ", 2)
        pairs = (line.split(":", 1) for line in lines if line)
        self.headers = {name.strip().lower(): value.strip() for name, value in pairs}
        self.body = json.loads(body) if body else None


class ModelServer:
    """Answers every request with what `says` makes of it: a status, headers and a body."""

    def __init__(self, says: Callable[[Heard], tuple[int, dict[str, str], bytes] | None]) -> None:
        self.heard: list[Heard] = []
        self.was_asked = asyncio.Event()
        self.was_left = asyncio.Event()
        self.url = ""
        self._says = says

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                length = next(
                    (
                        int(line.split(":")[1])
                        for line in head.lower().split("\r\n")
                        if line.startswith("content-length:")
                    ),
                    0,
                )
                heard = Heard(head, await reader.readexactly(length))
                self.heard.append(heard)
                self.was_asked.set()
                said = self._says(heard)
                if said is not None:
                    await send(writer, *said)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            self.was_left.set()
        finally:
            writer.transport.abort()


async def send(
    writer: asyncio.StreamWriter, status: int, headers: dict[str, str], body: bytes
) -> None:
    lines = [f"HTTP/1.1 {status} Said", f"Content-Length: {len(body)}"]
    lines += [
        f"{name}: {value}"
        for name, value in {"Content-Type": "application/json", **headers}.items()
    ]
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
    await writer.drain()


@asynccontextmanager
async def a_model_server(
    says: Callable[[Heard], tuple[int, dict[str, str], bytes] | None],
) -> AsyncIterator[ModelServer]:
    tasks: set[asyncio.Task[None]] = set()
    server = ModelServer(says)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        await server.serve(reader, writer)

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    server.url = f"http://127.0.0.1:{port}"
    try:
        yield server
    finally:
        listening.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
