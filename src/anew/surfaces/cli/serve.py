"""`anew serve`: the HTTP API on a database, and workers of its own unless others do the work."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import os
import signal
import socket
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from anew.errors import ConfigError
from anew.runtime.embedded import SLOTS
from anew.store import DEFAULT_POOL
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import count, parser_for
from anew.surfaces.cli.history import add_db_option
from anew.surfaces.cli.request_guard import guard_requests

if TYPE_CHECKING:
    from anew.runtime.embedded import Embedded
    from anew.surfaces.api.settings import ApiSettings

HOST = "127.0.0.1"
PORT = 8700
TOKEN_VARIABLE = "ANEW_TOKEN"
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


def run(words: list[str]) -> int:
    # Only those who serve pay for the web server.
    import uvloop

    parser = _parser()
    asked = parser.parse_args(words)
    logging.basicConfig(format="anew: %(message)s", level=logging.WARNING)
    guard_requests()
    settings = _settings(asked, parser)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_serve(asked, settings))


def _parser() -> ArgumentParser:
    parser = parser_for(
        "serve",
        purpose="Serve the HTTP API on a database, and work on its runs. Everything but /healthz\n"
        f"and /readyz asks for the token (--token, else ${TOKEN_VARIABLE}).",
        example="anew serve --no-auth\nanew serve --host 0.0.0.0 --db postgresql://db.example/anew",
    )
    parser.add_argument("--host", default=HOST, metavar="H", help="default %(default)s")
    parser.add_argument(
        "--port", type=_port, default=PORT, metavar="P", help="default %(default)s; 0: any"
    )
    parser.add_argument(
        "--slots",
        type=count,
        default=SLOTS,
        metavar="N",
        help="calls at once, default %(default)s",
    )
    parser.add_argument(
        "--pool",
        action="append",
        default=[],
        metavar="P",
        help=f"work on jobs of this pool; may be given repeatedly (default {DEFAULT_POOL})",
    )
    parser.add_argument("--no-workers", action="store_true", help="leave the work to `anew worker`")
    parser.add_argument("--no-auth", action="store_true", help="ask for no token; loopback only")
    parser.add_argument(
        "--token",
        metavar="T",
        help=f"what clients and workers must show (default ${TOKEN_VARIABLE})",
    )
    parser.add_argument("--log", action="store_true", help="a line on standard error per request")
    add_db_option(parser)
    return parser


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) < 65536):
        raise ArgumentTypeError(f"{text!r} is not a port from 0 to 65535")
    return int(text)


def _settings(asked: Namespace, parser: ArgumentParser) -> ApiSettings:
    """Who is let in; ConfigError when that would be everyone on the network."""
    from anew.surfaces.api.settings import ApiSettings

    if asked.no_auth:
        if asked.token is not None:
            parser.error("--token and --no-auth exclude each other")
        if not is_loopback(asked.host):
            raise ConfigError(
                f"--no-auth is for this machine only, and {asked.host} can be reached by others. "
                f"Set ${TOKEN_VARIABLE}, or leave out --host."
            )
        return ApiSettings(hosts=LOOPBACK_NAMES | {asked.host.strip("[]").lower()}, logs=asked.log)
    token = asked.token if asked.token is not None else os.environ.get(TOKEN_VARIABLE, "")
    if not token.strip() or not token.isprintable() or not token.isascii() or " " in token:
        raise ConfigError(
            f"a server needs a token, printable and without spaces: set ${TOKEN_VARIABLE}. "
            "On a machine of your own, --no-auth does without."
        )
    return ApiSettings(token=token, logs=asked.log)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach what listens there."""
    try:
        found = socket.getaddrinfo(host.strip("[]"), None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return False
    return all(ipaddress.ip_address(row[4][0]).is_loopback for row in found)


class _Stopping(Struct):
    """What signals do: the first asks everything to end, the next lets nothing wait."""

    asked: asyncio.Event
    hurry: list[Callable[[], None]] = []

    def hear(self) -> None:
        if self.asked.is_set():
            for one in self.hurry:
                one()
        self.asked.set()


async def _serve(asked: Namespace, settings: ApiSettings) -> int:
    from anew.runtime.opening import open_server_engine
    from anew.surfaces.api.serving import bind

    stopping = _Stopping(asyncio.Event(), [])
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.hear)
    listener = bind(asked.host, asked.port)
    try:
        async with open_server_engine(
            asked.db,
            slots=asked.slots,
            pools=asked.pool or (DEFAULT_POOL,),
            works=not asked.no_workers,
        ) as engine:
            stopping.hurry.append(engine.hurry)
            await _serve_until(stopping, engine, listener, asked, settings)
    finally:
        listener.close()
    return status.DONE


async def _serve_until(
    stopping: _Stopping,
    engine: Embedded,
    listener: socket.socket,
    asked: Namespace,
    settings: ApiSettings,
) -> None:
    from anew.surfaces.api.app import create_app
    from anew.surfaces.api.serving import address_of, serving

    async with serving(create_app(engine, settings), listener) as server:
        stopping.hurry.append(server.hurry)
        print(f"anew: serving {address_of(listener)} {_manner(asked)}", flush=True)
        await _until_stopped(stopping.asked, engine)
        print("anew: stopping", file=sys.stderr, flush=True)


def _manner(asked: Namespace) -> str:
    if asked.no_workers:
        return "without workers"
    pools = ", ".join(asked.pool or (DEFAULT_POOL,))
    return f"with {asked.slots} slots for pool {pools}"


async def _until_stopped(asked: asyncio.Event, engine: Embedded) -> None:
    """Return when a signal came; a store that fails for good is raised."""
    waiting, failure = asyncio.ensure_future(asked.wait()), engine.worker.failure
    either: set[asyncio.Future[Any]] = {waiting, failure}
    try:
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if failure.done():
            await failure
    finally:
        waiting.cancel()
