"""A server with the control routes alone, on a free port, in the loop of the test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import uvicorn
from msgspec import Struct
from starlette.applications import Starlette
from starlette.types import ASGIApp

from anew.runtime.engine import Engine
from anew.runtime.lease_dispatcher import LeaseDispatcher
from anew.stores.remote import RemoteDatabase
from anew.surfaces.api import commit_checks, operations
from anew.surfaces.api.control import control_routes


class Server(Struct):
    """`engine.database` is what lies behind it."""

    url: str
    engine: Engine
    dispatcher: LeaseDispatcher
    uvicorn: uvicorn.Server

    async def open(self, **more: Any) -> RemoteDatabase:
        return await RemoteDatabase.open(self.url, **more)


@asynccontextmanager
async def listening(app: ASGIApp, port: int = 0) -> AsyncIterator[tuple[str, uvicorn.Server]]:
    """The address of an application that is being served."""
    config = uvicorn.Config(
        app, port=port, log_config=None, lifespan="off", timeout_graceful_shutdown=5
    )
    server = uvicorn.Server(config)
    # Signals are the business of the tests' own process.
    serving = asyncio.create_task(server._serve())
    while not server.started:
        assert not serving.done()
        await asyncio.sleep(0.005)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}", server
    finally:
        server.should_exit = True
        await serving


@contextmanager
def unchecked() -> Iterator[None]:
    """Servers of this process look at nothing that they are sent."""
    with (
        patch.object(operations, "check_commit", lambda _: None),
        patch.object(operations, "checked_program", lambda program: program),
        patch.object(operations, "checked_presence", lambda presence, _: presence),
    ):
        yield


@contextmanager
def unfolded() -> Iterator[None]:
    """Servers of this process let runs begin that make no sense, as those of the contract do."""
    with patch.object(commit_checks, "check_new_run", lambda *_: None):
        yield


@asynccontextmanager
async def served(
    database: Any,
    scratch: Path,
    *,
    around: Callable[[ASGIApp], ASGIApp] = lambda app: app,
    port: int = 0,
    checks: bool = True,
) -> AsyncIterator[Server]:
    """A database, served; `around` may stand between the network and the routes.

    Without `checks` it takes events that make no sense, as stores do: the contract has no others.
    """
    engine = Engine(database, scratch)
    dispatcher = LeaseDispatcher(database)
    app = Starlette(routes=control_routes(engine, dispatcher))
    try:
        async with listening(around(app), port) as (url, server):
            with unfolded() if checks else unchecked():
                yield Server(url, engine, dispatcher, server)
                await dispatcher.close()
    finally:
        await dispatcher.close()
        await engine.stop()
        await database.close()
