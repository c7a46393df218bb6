"""Listen on a socket and serve the application, in the event loop that the engine lives in."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import cast

import uvicorn
from starlette.applications import Starlette

from anew.errors import ConfigError
from anew.surfaces.api.connections import ConnectionLimits, connections, own_limits

# Requests that wait in the kernel while the loop is busy.
BACKLOG = 2048
# Longer than clients keep a connection they do not use, so that it is they who close it.
IDLE_CONNECTION_SECONDS = 75
# How often the Date header is made anew.
TICK_SECONDS = 1.0
# Requests at work when the server stops may go on so long.
DRAIN_SECONDS = 5
_CUT_OFF = "Cancel %s running task(s)"


class Serving(uvicorn.Server):
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
) -> AsyncIterator[Serving]:
    """Serve from here on; at the end what waits is told so, and what is at work answered."""
    # What uvicorn has to say besides errors is of no use to people; requests are logged by us.
    log = logging.getLogger("uvicorn.error")
    log.setLevel(logging.ERROR)
    log.addFilter(_is_news)
    config = uvicorn.Config(
        app,
        http=cast("type[asyncio.Protocol]", connections(limits or own_limits())),
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
    server = Serving(config)
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


def _is_news(record: logging.LogRecord) -> bool:
    """Requests that are cut off when a server stops are no error of anyone."""
    return not record.msg.startswith(_CUT_OFF)


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens there; ConfigError when that cannot be."""
    family, address = _resolved(host, port)
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise ConfigError(_why_not(error, host, port)) from error
    listener.setblocking(False)
    return listener


def _resolved(host: str, port: int) -> tuple[socket.AddressFamily, tuple[object, ...]]:
    try:
        found = socket.getaddrinfo(
            host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except (OSError, UnicodeError) as error:
        raise ConfigError(
            f"the host {host[:80]!r} is not known ({error}). "
            "Choose an address of this machine with --host."
        ) from error
    family, _, _, _, address = found[0]
    return family, address


def _why_not(error: OSError, host: str, port: int) -> str:
    where = f"{host}:{port}"
    match error.errno:
        case errno.EADDRINUSE:
            return f"{where} is in use by another process. Choose another with --port (0: any)."
        case errno.EADDRNOTAVAIL:
            return f"{host} is no address of this machine. Choose one that is with --host."
        case errno.EACCES:
            return f"this user may not listen on {where}. Choose a port from 1024 on."
        case _:
            return f"cannot listen on {where}: {(error.strerror or str(error)).lower()}"


def address_of(listener: socket.socket) -> str:
    """The URL of a socket that listens."""
    host, port, *_ = listener.getsockname()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
