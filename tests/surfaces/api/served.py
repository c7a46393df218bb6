"""A real server for the tests: uvicorn on a free port, in the loop of the test, on a SQLite file."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import httpx2
from msgspec import Struct
from starlette.applications import Starlette

from anew.http_server.listening import address_of, bind
from anew.runtime.bootstrap import open_server_engine
from anew.runtime.engine import Engine
from anew.surfaces.api.app import create_app
from anew.surfaces.api.service import Service
from anew.surfaces.api.serving import serving
from anew.surfaces.api.settings import ApiSettings

TOKEN = "a-token-for-the-tests"
PATIENCE_SECONDS = 60.0

NOOP = """\
metadata: {name: quick}
workflow:
  - step: only
    tool: {kind: noop, result: {said: "{{ workload.word }}"}}
"""
CHAIN = """\
metadata: {name: chain}
workflow:
  - step: first
    tool: {kind: noop}
    next: [{step: second}]
  - step: second
    tool: {kind: noop, result: {x: 1}}
"""
SLEEPS = """\
metadata: {name: sleeper}
workflow:
  - step: only
    tool: {kind: sleep, seconds: 3600}
"""
ASKS = """\
metadata: {name: ask}
workflow:
  - step: gate
    tool: {kind: human, question: "Ship it?", choices: ["[Y] Yes", "[N] No"]}
    next: [{step: last}]
  - step: last
    tool: {kind: noop, result: "{{ gate.label }} by {{ gate.by }}"}
"""
FAILS = """\
metadata: {name: failing}
workflow:
  - step: only
    tool: {kind: shell, command: "exit 3"}
"""
WAITS = """\
metadata: {name: waiter}
workflow:
  - step: pay
    tool: {kind: wait, signal: paid}
"""
GRAPH = """\
digraph tiny {
  start [shape=Mdiamond]
  work [shape=box, prompt="do it"]
  done [shape=Msquare]
  start -> work -> done
}
"""


class Site(Struct):
    """One server, and a client that has its token."""

    url: str
    engine: Engine
    app: Starlette
    client: httpx2.AsyncClient

    @property
    def service(self) -> Service:
        service: Service = self.app.state.service
        return service

    async def get(self, path: str, status: int = 200, **more: Any) -> Any:
        return answered(await self.client.get(path, **more), status)

    async def post(self, path: str, body: Any = None, status: int = 200, **more: Any) -> Any:
        return answered(await self.client.post(path, json=body, **more), status)

    async def started(self, document: str, **more: Any) -> str:
        """The id of a new run of a document."""
        body = {"document": document, **more}
        return str((await self.post("/api/v1/runs", body, 201))["run"])

    async def ended(self, run: str) -> dict[str, Any]:
        """The run once it has ended, told by its stream."""
        async for _ in self.stream(run):
            pass
        return dict(await self.get(f"/api/v1/runs/{run}"))

    async def reached(self, run: str, status: str) -> dict[str, Any]:
        """The run once it has this status, told by its stream."""
        async for _ in self.stream(run):
            shown = await self.get(f"/api/v1/runs/{run}")
            if shown["status"] == status:
                return dict(shown)
        raise AssertionError(f"run {run} never was {status}")

    async def stream(
        self, run: str, *, path: str = "/api/v1/runs/{run}/events/stream", **headers: str
    ) -> AsyncIterator[dict[str, Any]]:
        async with self.client.stream("GET", path.format(run=run), headers=headers) as answer:
            assert answer.status_code == 200, await answer.aread()
            async for block in blocks(answer):
                yield block


async def blocks(answer: httpx2.Response) -> AsyncIterator[dict[str, Any]]:
    """The events of a stream: what `data` says, with the `id` it came under."""
    id = ""
    async for line in answer.aiter_lines():
        name, _, value = line.partition(": ")
        if name == "id":
            id = value
        elif name == "data":
            yield {"id": id, **json.loads(value)}


def answered(answer: httpx2.Response, status: int) -> Any:
    """The JSON of an answer with this status; a problem where it is one."""
    assert answer.status_code == status, (answer.status_code, answer.text)
    if status >= 400:
        assert answer.headers["content-type"] == "application/problem+json"
        problem = answer.json()
        assert problem["status"] == status
        assert problem["type"].startswith("urn:anew:problem:")
        assert "Traceback" not in answer.text
    return answer.json() if answer.content else None


@asynccontextmanager
async def served_app(
    engine: Engine, settings: ApiSettings, listener: socket.socket, **more: Any
) -> AsyncIterator[Starlette]:
    app = create_app(engine, settings)
    async with serving(app, listener, **more):
        yield app


@asynccontextmanager
async def served(
    folder: Path,
    *,
    settings: ApiSettings | None = None,
    url: str | None = None,
    works: bool = True,
    **more: Any,
) -> AsyncIterator[Site]:
    """A server on a file in the folder, or on another database; `more` is how it serves."""
    settings = settings or ApiSettings(token=TOKEN)
    database = url or str(folder / "anew.db")
    with closing(bind("127.0.0.1", 0)) as listener:
        address = address_of(listener)
        headers = {"Authorization": f"Bearer {settings.token}"} if settings.token else {}
        async with (
            open_server_engine(database, slots=8, works=works) as engine,
            served_app(engine, settings, listener, **more) as app,
            httpx2.AsyncClient(
                base_url=address, headers=headers, timeout=PATIENCE_SECONDS
            ) as client,
        ):
            yield Site(address, engine, app, client)


def play(folder: Path, act: Callable[[Site], Awaitable[None]], **more: Any) -> None:
    """Do something with a server, within a time that only a hanging one takes."""

    async def whole() -> None:
        async with asyncio.timeout(PATIENCE_SECONDS), served(folder, **more) as site:
            await act(site)

    asyncio.run(whole())
