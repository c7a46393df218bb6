"""`anew serve`: the HTTP API on a database, and workers of its own unless others do the work."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import socket
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from msgspec import Struct

from anew.environment import TOKEN_VARIABLE, environment
from anew.errors import ConfigError
from anew.posix import INTERRUPT, TERMINATE, on_signals
from anew.runtime.engine import SLOTS
from anew.store import DEFAULT_POOL
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import add_tools_option, count, parser_for
from anew.surfaces.cli.documents import read_document
from anew.surfaces.cli.history import add_db_option
from anew.surfaces.cli.process_log import (
    PROCESS,
    REQUESTS,
    add_log_option,
    log_events,
    start_log,
)
from anew.surfaces.cli.request_guard import guard_requests
from anew.surfaces.cli.stopping import add_drain_option, stopping_text
from anew.surfaces.cli.tokens import (
    TOKEN_FILE_OPTION,
    add_token_options,
    own_token,
    own_token_file,
    token_file,
)
from anew.values import Object

if TYPE_CHECKING:
    from anew.runtime.engine import Engine
    from anew.surfaces.api.settings import ApiSettings

HOST = "127.0.0.1"
PORT = 8700
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_OPEN_TO_ALL = (
    "anew: --no-auth: every user of this machine can run code as you through this server. "
    "Without it, the server makes a token."
)


def run(words: list[str]) -> int:
    # Only those who serve pay for the web server.
    import uvloop

    asked = _parser().parse_args(words)
    _start_log(asked.log_format)
    guard_requests()
    settings = _settings(asked)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_serve(asked, settings))


def _start_log(log_format: str | None) -> None:
    if log_format is not None:
        start_log(log_format)
        return
    logging.basicConfig(format="anew: %(message)s", level=logging.WARNING)
    lines = logging.StreamHandler(sys.stderr)  # of requests, as they are
    REQUESTS.addHandler(lines)
    REQUESTS.setLevel(logging.INFO)
    REQUESTS.propagate = False


def _parser() -> ArgumentParser:
    parser = parser_for(
        "serve",
        purpose="Serve the HTTP API on a database, and work on its runs. Everything but /healthz\n"
        f"and /readyz asks for the token: --token-file, else ${TOKEN_VARIABLE}, else one that the\n"
        "server generates, shows once with its address, and keeps in a file.",
        example="anew serve\n"
        "anew serve --token-file /etc/anew/token --db postgresql://db.example/anew",
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
        help=f"work on jobs of this pool; may be repeated (default {DEFAULT_POOL})",
    )
    add_tools_option(parser)
    parser.add_argument(
        "--dependencies",
        metavar="FILE",
        help="guards of dependencies, for all runs",
    )
    parser.add_argument("--no-workers", action="store_true", help="leave the work to `anew worker`")
    add_drain_option(parser)
    add_log_option(parser)
    access = parser.add_mutually_exclusive_group()
    access.add_argument("--no-auth", action="store_true", help="ask for no token; loopback only")
    add_token_options(access, what="the token that clients and workers must send")
    parser.add_argument("--log", action="store_true", help="a line on standard error per request")
    add_db_option(parser)
    return parser


def _dependencies(file: str | None) -> Object:
    """The rules of the file; none without one. ConfigError for what is none."""
    if file is None:
        return {}
    from anew.languages.document import read_yaml
    from anew.languages.nodes import plain
    from anew.runtime.guard_operator import file_rules

    root, findings = read_yaml(read_document(file), file)
    if root is None or findings:
        why = findings[0].message if findings else "it is empty"
        raise ConfigError(f"{file} cannot be read as rules of dependencies: {why}")
    return file_rules(plain(root), file)


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) < 65536):
        raise ArgumentTypeError(f"{text!r} is not a port from 0 to 65535")
    return int(text)


def _settings(asked: Namespace) -> ApiSettings | None:
    """Who is let in; None where the server is to make a token of its own.

    ConfigError when that would be everyone on the network, or whoever can guess.
    """
    from anew.surfaces.api.settings import ApiSettings, check_token

    if asked.no_auth:
        if not is_loopback(asked.host):
            raise ConfigError(
                f"--no-auth is for this machine only, and {asked.host} can be reached by others. "
                "Leave out --no-auth, or --host."
            )
        print(_OPEN_TO_ALL, file=sys.stderr, flush=True)
        return ApiSettings(hosts=LOOPBACK_NAMES | {asked.host.strip("[]").lower()}, logs=asked.log)
    token = environment().get(TOKEN_VARIABLE)
    if token is None:
        return None
    check_token(token, file=token_file(asked))
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


async def _serve(asked: Namespace, settings: ApiSettings | None) -> int:
    from anew.http_server.listening import bind
    from anew.runtime.bootstrap import open_server_engine

    stopping = _Stopping(asyncio.Event(), [])
    file = token_file(asked)
    prepare = (lambda: None) if settings else partial(own_token, own_token_file(asked.db))
    on_signals((TERMINATE, INTERRUPT), stopping.hear)
    listener = bind(asked.host, asked.port)
    try:
        async with open_server_engine(
            asked.db,
            slots=asked.slots,
            pools=asked.pool or (DEFAULT_POOL,),
            works=not asked.no_workers,
            grace_seconds=asked.drain,
            hidden=[file] if file else (),
            # A task that began before the file is there would see it.
            before_work=prepare,
        ) as engine:
            stopping.hurry.append(engine.hurry)
            await engine.guard_operator.use_file(_dependencies(asked.dependencies))
            if asked.log_format is not None:
                engine.listen(log_events)
            await _serve_until(stopping, engine, listener, asked, settings)
    finally:
        listener.close()
    return status.DONE


async def _serve_until(
    stopping: _Stopping,
    engine: Engine,
    listener: socket.socket,
    asked: Namespace,
    settings: ApiSettings | None,
) -> None:
    from anew.http_server.listening import address_of
    from anew.surfaces.api.app import create_app
    from anew.surfaces.api.serving import serving
    from anew.surfaces.api.settings import ApiSettings

    url, invitation = address_of(listener), ""
    if settings is None:
        file = own_token_file(asked.db)
        token = own_token(file)
        settings = ApiSettings(token=token, logs=asked.log)
        invitation = _invitation(url, token, file)
    async with serving(create_app(engine, settings), listener) as server:
        stopping.hurry.append(server.hurry)
        # In one piece: whoever waits for the first line has the others too.
        print(f"anew: serving {url} {_manner(asked)}{invitation}", flush=True)
        if asked.log_format is not None:
            PROCESS.info("serving %s %s", url, _manner(asked))
        await _until_stopped(stopping.asked, engine)
        told = stopping_text(asked.drain) if engine.is_at_work else "stopping"
        if asked.log_format is not None:
            PROCESS.info("%s", told)
        else:
            print(f"anew: {told}", file=sys.stderr, flush=True)


def _invitation(url: str, token: str, file: Path) -> str:
    """How to get in. A person is shown the token; what is not a terminal may be a log, which keeps
    what it is told and shows it to others."""
    kept = f"\nanew: its token is in {file}; commands and workers take it with {TOKEN_FILE_OPTION}"
    if not sys.stdout.isatty():
        return kept
    return f"\nanew: open {url}/#token={quote(token, safe='')}{kept}"


def _manner(asked: Namespace) -> str:
    if asked.no_workers:
        return "without workers"
    pools = ", ".join(asked.pool or (DEFAULT_POOL,))
    return f"with {asked.slots} slots for pool {pools}"


async def _until_stopped(asked: asyncio.Event, engine: Engine) -> None:
    """Return when a signal came; a store that fails for good is raised."""
    waiting, failure = asyncio.ensure_future(asked.wait()), engine.worker.failure
    either: set[asyncio.Future[Any]] = {waiting, failure}
    try:
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if failure.done():
            await failure
    finally:
        waiting.cancel()
