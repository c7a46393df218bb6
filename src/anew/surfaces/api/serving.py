"""Listen on a socket and serve the application, in the event loop that the engine lives in."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import cast

import uvicorn
from starlette.applications import Starlette
from starlette.responses import Response

from anew.http_server.connections import (
    ConnectionLimits,
    ConnectionProblem,
    connections,
    own_limits,
)
from anew.http_server.listening import BACKLOG
from anew.surfaces.api.guards import HEADERS
from anew.surfaces.api.problems import ApiError, problem_response

# Longer than clients keep a connection they do not use, so that it is they who close it.
IDLE_CONNECTION_SECONDS = 75
# How often the Date header is made anew.
TICK_SECONDS = 1.0
# Requests at work when the server stops may go on so long.
DRAIN_SECONDS = 5
_CUT_OFF = "Cancel %s running task(s)"


class GuestServer(uvicorn.Server):
    """uvicorn as a guest: it takes no signals, and wakes up once a second instead of ten times."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._stop = asyncio.Event()

    def stop(self) -> None:
        """Accept nothing more, and end when the requests at work are answered."""
        self.should_exit = True
        self._stop.set()

    def hurry(self) -> None:
        """Wait for no request any longer."""
        self.force_exit = True
        self.stop()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def main_loop(self) -> None:
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                async with asyncio.timeout(TICK_SECONDS):
                    await self._stop.wait()


@asynccontextmanager
async def serving(
    app: Starlette,
    listener: socket.socket,
    *,
    drain_seconds: int = DRAIN_SECONDS,
    limits: ConnectionLimits | None = None,
) -> AsyncIterator[GuestServer]:
    """Serve from here on; at the end what waits is ended, and what is at work answered."""
    # What uvicorn has to say besides errors is of no use to people; requests are logged by us.
    log = logging.getLogger("uvicorn.error")
    log.setLevel(logging.ERROR)
    log.addFilter(_is_error)
    config = uvicorn.Config(
        app,
        http=cast("type[asyncio.Protocol]", connections(limits or own_limits(), _response)),
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_keep_alive=IDLE_CONNECTION_SECONDS,
        timeout_graceful_shutdown=drain_seconds,
    )
    server = GuestServer(config)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        while not server.started and not task.done():
            await asyncio.sleep(0)
        if task.done():
            await task
        yield server
    finally:
        await app.state.service.close()
        server.stop()
        await task


def _response(problem: ConnectionProblem) -> Response:
    response = problem_response(ApiError(problem.kind, problem.detail, headers=problem.headers))
    response.headers.update(HEADERS)
    return response


def _is_error(record: logging.LogRecord) -> bool:
    """Requests that are cut off when a server stops are no error of anyone."""
    return not record.msg.startswith(_CUT_OFF)
