"""`anew worker`: work on the runs of a server, or of a database that many share, until stopped."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import uniform
from typing import TextIO

from msgspec import Struct

from anew.errors import AnewError, ConfigError
from anew.runtime.bootstrap import open_worker_engine
from anew.runtime.databases import kind_of, place_of
from anew.runtime.engine import GRACE_SECONDS, SLOTS, Engine
from anew.store import DEFAULT_POOL, Database, RunId, StoreError
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import add_tools_option, count, parser_for
from anew.surfaces.cli.excerpts import visible
from anew.surfaces.cli.location import add_place_options, shown_place
from anew.surfaces.cli.process_log import PROCESS, add_log_option, log_events, start_log
from anew.surfaces.cli.request_guard import guard_requests
from anew.surfaces.cli.stopping import Stopping, add_drain_option
from anew.surfaces.cli.tokens import token_file

# Each is a Python of its own: about 60 MB.
FLEET_PROCESSES_MAX = 256
# How often a worker that hears nothing looks whether the other end is still there, and how long an
# answer may take before that is doubted.
LOOK_SECONDS = 5.0
DOUBT_SECONDS = 3.0
# Between two tries of an engine that failed as a whole.
REOPEN_PAUSE_SECONDS_FIRST = 1.0
REOPEN_PAUSE_SECONDS_MAX = 30.0
# A run that no database has: asked for to see whether anyone answers.
_NO_RUN = RunId(0)
_STANDARD_INPUT = 0
_READ_BYTES = 65536


class Duty(Struct, frozen=True):
    """What a worker works on, and how much at once."""

    place: str
    pools: tuple[str, ...] = (DEFAULT_POOL,)
    slots: int = SLOTS
    is_quiet: bool = False
    tools: tuple[str, ...] = ()
    token_file: Path | None = None
    drain_seconds: float = GRACE_SECONDS
    log_format: str | None = None

    @property
    def shown(self) -> str:
        pools = "" if self.pools == (DEFAULT_POOL,) else f", pools {', '.join(self.pools)}"
        return f"{shown_place(self.place)} ({self.slots} slots{pools})"

    def say(self, text: str, *, file: TextIO | None = None) -> None:
        if self.is_quiet:
            return
        if self.log_format is not None:
            PROCESS.info("%s", text)
        if self.log_format is None or file is sys.stdout:
            print(f"anew: {visible(text)}", file=file or sys.stderr, flush=True)


def run(words: list[str]) -> int:
    asked = _parser().parse_args(words)
    duty = Duty(
        place_of(asked.place),
        tuple(asked.pool) or (DEFAULT_POOL,),
        asked.slots,
        asked.quiet,
        tuple(asked.tools),
        token_file(asked),
        asked.drain,
        asked.log_format,
    )
    if kind_of(duty.place).is_file:
        raise ConfigError(
            f"no worker can share the database file {duty.place}: one process owns it. "
            "Start `anew serve` on the file and workers with `--server URL`, or use PostgreSQL."
        )
    guard_requests(is_quiet=duty.is_quiet)
    if asked.processes > 1:
        from anew.surfaces.cli.fleet import keep_fleet

        return keep_fleet(duty, asked.processes)
    with _log_shown(duty):
        return _run(duty, asked)


def _parser() -> ArgumentParser:
    parser = parser_for(
        "worker",
        purpose="Work on the runs of a server or of a PostgreSQL database, together with any\n"
        "number of other workers, until SIGTERM or Ctrl-C. Running calls then have a moment\n"
        "(--drain) to end; what has not ended goes back to the queue. A second signal stops at\n"
        "once.",
        example="anew worker --server http://10.0.0.5:8700\n"
        "anew worker --db postgresql://anew@10.0.0.9/anew --pool default --pool gpu\n"
        "anew worker --server http://10.0.0.5:8700 --processes 4",
    )
    add_place_options(parser)
    parser.add_argument(
        "--pool",
        action="append",
        default=[],
        metavar="P",
        help="take jobs of this pool; may be repeated (default: the pool `default`)",
    )
    parser.add_argument(
        "--slots",
        type=count,
        default=SLOTS,
        metavar="N",
        help=f"how many calls may be running at once in each process (default {SLOTS})",
    )
    parser.add_argument(
        "--processes",
        type=_processes,
        default=1,
        metavar="N",
        help="how many processes to use, at best one for each core (default 1)",
    )
    add_tools_option(parser)
    add_drain_option(parser)
    add_log_option(parser)
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    parser.add_argument(
        "--until-eof",
        action="store_true",
        help="stop when standard input ends, that is, when the parent process is gone",
    )
    return parser


def _processes(text: str) -> int:
    number = count(text)
    if number > FLEET_PROCESSES_MAX:
        raise ArgumentTypeError(f"{text!r} is more than {FLEET_PROCESSES_MAX}")
    return number


def _run(duty: Duty, asked: Namespace) -> int:
    import uvloop

    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_work(duty, until_eof=asked.until_eof))
    except (KeyboardInterrupt, asyncio.CancelledError):
        duty.say("worker stopped")
    return status.DONE


async def _work(duty: Duty, *, until_eof: bool) -> None:
    """Work until cancelled. At the start the other end must be there; later it is waited for."""
    stopping, has_worked = Stopping(is_quiet=duty.is_quiet, drain_seconds=duty.drain_seconds), False
    pause = REOPEN_PAUSE_SECONDS_FIRST
    if until_eof:
        _stop_at_eof(stopping)
    while not stopping.is_asked:
        try:
            async with open_worker_engine(
                duty.place,
                slots=duty.slots,
                pools=duty.pools,
                grace_seconds=duty.drain_seconds,
                hidden=[duty.token_file] if duty.token_file else (),
            ) as engine:
                has_worked, pause = True, REOPEN_PAUSE_SECONDS_FIRST
                if duty.log_format is not None:
                    engine.listen(log_events)
                with stopping.of(engine):
                    duty.say(f"worker ready: {duty.shown}", file=sys.stdout)
                    await _until_failed(engine, duty)
        except StoreError as error:
            if not has_worked:
                raise
            duty.say(f"{error} Trying again.")
        stopping.rest()
        await asyncio.sleep(uniform(pause / 2, pause))
        pause = min(REOPEN_PAUSE_SECONDS_MAX, pause * 2)


async def _until_failed(engine: Engine, duty: Duty) -> None:
    """Until the engine fails as a whole; that the other end went or came back is told meanwhile."""
    looking = asyncio.create_task(_tell_losses(engine.database, duty))
    try:
        await engine.worker.failure
    finally:
        looking.cancel()


async def _tell_losses(database: Database, duty: Duty) -> None:
    where, is_there = shown_place(duty.place), True
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        look = asyncio.ensure_future(database.archive.run(_NO_RUN))
        await asyncio.wait({look}, timeout=DOUBT_SECONDS if is_there else None)
        if is_there and not (look.done() and look.exception() is None):
            is_there = False
            duty.say(f"lost {where}; trying again")
        try:
            await look
        except AnewError:
            continue
        if not is_there:
            is_there = True
            duty.say(f"{where} is there again")


def _stop_at_eof(stopping: Stopping) -> None:
    """For a fleet it is a pipe, whose other end dies with the process that keeps the fleet."""
    loop = asyncio.get_running_loop()

    def read_on() -> None:
        with suppress(OSError):
            while os.read(_STANDARD_INPUT, _READ_BYTES):
                pass  # only the end means something
        with suppress(RuntimeError):  # the loop may have ended before
            loop.call_soon_threadsafe(stopping.ask)

    # A thread, because not every kind of input can be waited for otherwise.
    threading.Thread(target=read_on, daemon=True).start()


@contextmanager
def _log_shown(duty: Duty) -> Iterator[None]:
    """What the runtime warns of is told like everything else."""
    if duty.log_format is not None:
        start_log(duty.log_format, is_quiet=duty.is_quiet)
        yield
        return
    handler, logger = _PrintedLog(duty), logging.getLogger("anew")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


class _PrintedLog(logging.Handler):
    def __init__(self, duty: Duty) -> None:
        super().__init__(logging.WARNING)
        self._duty = duty

    def emit(self, record: logging.LogRecord) -> None:
        self._duty.say(record.getMessage())
