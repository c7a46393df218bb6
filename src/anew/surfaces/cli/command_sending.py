"""Have one command executed: by whoever owns the database, or by an engine made for it here."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import AsyncExitStack

from msgspec.structs import replace

from anew.errors import AnewError
from anew.runtime.bootstrap import open_engine
from anew.runtime.command_executor import execute
from anew.runtime.commands import Command, DropRun, RunCommand
from anew.runtime.control_socket import NoAnswer
from anew.runtime.databases import open_database
from anew.runtime.engine import Engine
from anew.runtime.ownership import Owned
from anew.store import RunId
from anew.surfaces.cli.history import find_any_run, find_run
from anew.surfaces.cli.location import is_server
from anew.surfaces.cli.remote_commands import ask
from anew.surfaces.cli.run_execution import HANDOVER_POLL_SECONDS, HANDOVER_SECONDS_MAX
from anew.values import Object


def send_command(place: str | None, command: Command) -> Object:
    """Have it done and give back the answer; AnewError when it cannot be."""
    return asyncio.run(_order(place, command))


def send_commands(place: str | None, commands: Iterable[Command]) -> Iterator[Object | AnewError]:
    """Have them done one after the other; what one of them fails with is its answer."""
    with asyncio.Runner() as runner:
        engines = AsyncExitStack()
        try:
            engine = runner.run(_own_engine(place, engines))
            for command in commands:
                yield runner.run(_answer(place, engine, command))
        finally:
            runner.run(engines.aclose())


async def _own_engine(place: str | None, engines: AsyncExitStack) -> Engine | None:
    """An engine for all commands; None where somebody else has the database."""
    if is_server(place):
        return None
    try:
        return await engines.enter_async_context(open_engine(place))
    except Owned:
        return None


async def _answer(place: str | None, engine: Engine | None, command: Command) -> Object | AnewError:
    try:
        return await (_order(place, command) if engine is None else execute(engine, command))
    except AnewError as error:
        return error


async def named_run(place: str | None, said: str, *, is_dropped: bool = False) -> RunId:
    """The run someone means, by its id, some of its digits, or `last`."""
    find = find_any_run if is_dropped else find_run
    async with open_database(place, read_only=True) as database:
        return (await find(database.archive, said)).run


async def _order(place: str | None, command: Command) -> Object:
    if isinstance(command, RunCommand):
        is_dropped = isinstance(command, DropRun)
        run = await named_run(place, command.run, is_dropped=is_dropped)
        command = replace(command, run=str(run))
    if is_server(place):
        return await ask(place, command)
    loop = asyncio.get_running_loop()
    patience = loop.time() + HANDOVER_SECONDS_MAX
    while True:
        try:
            async with open_engine(place) as engine:
                return await execute(engine, command)
        except Owned:
            pass
        try:
            return await ask(place, command)
        except NoAnswer:
            if loop.time() > patience:
                raise
            await asyncio.sleep(HANDOVER_POLL_SECONDS)
