"""`anew lab-server`: an HTTP server that fails on purpose, to try workflows against."""

from __future__ import annotations

import asyncio
from argparse import ArgumentParser, ArgumentTypeError, Namespace

from anew.lab.server import LabServer
from anew.posix import INTERRUPT, TERMINATE, on_signals
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import parser_for

# Nobody needs a forgotten server; one that is needed longer says so.
FOR_SECONDS = 3600.0
FOR_SECONDS_BOUND = 30 * 24 * 3600.0
IDLE_CHECK_SECONDS = 0.5


def run(words: list[str]) -> int:
    asked = _parser().parse_args(words)
    asyncio.run(_serve(asked))
    return status.DONE


def _parser() -> ArgumentParser:
    parser = parser_for(
        "lab-server",
        purpose="Serve HTTP on this machine and fail on purpose: flaky, slow, paged and reset\n"
        "answers, chosen by the path. Prints its address; GET / lists the paths.",
        example="anew lab-server --port 8080\n"
        "curl 'http://127.0.0.1:8080/flaky/mine?fail=2&status=503'",
    )
    parser.add_argument("--host", default="127.0.0.1", metavar="H", help="default 127.0.0.1")
    parser.add_argument(
        "--port", type=_port, default=0, metavar="P", help="default 0: any that is free"
    )
    parser.add_argument(
        "--for",
        dest="seconds",
        type=_seconds,
        default=FOR_SECONDS,
        metavar="SECONDS",
        help=f"stop after this long (default {FOR_SECONDS:g})",
    )
    parser.add_argument(
        "--until-idle",
        type=_seconds,
        metavar="SECONDS",
        help="stop after this long without a request",
    )
    return parser


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) < 65536):
        raise ArgumentTypeError(f"{text!r} is not a port from 0 to 65535")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0.0 < seconds <= FOR_SECONDS_BOUND:
        raise ArgumentTypeError(f"{text!r} is not a number of seconds up to thirty days")
    return seconds


async def _serve(asked: Namespace) -> None:
    stop = asyncio.Event()
    _stop_on_signals(stop)
    async with LabServer(host=asked.host, port=asked.port) as server:
        print(server.url, flush=True)
        try:
            async with asyncio.timeout(asked.seconds):
                await _until_idle(server, stop, asked.until_idle)
        except TimeoutError:
            return


async def _until_idle(server: LabServer, stop: asyncio.Event, idle_seconds: float | None) -> None:
    while idle_seconds is None or server.idle_seconds < idle_seconds:
        try:
            async with asyncio.timeout(None if idle_seconds is None else IDLE_CHECK_SECONDS):
                await stop.wait()
        except TimeoutError:
            continue
        return


def _stop_on_signals(stop: asyncio.Event) -> None:
    """Both ways of asking end the server well."""
    on_signals((TERMINATE, INTERRUPT), stop.set)
