"""Have one command executed: by whoever owns the database, or by an engine made for it here."""

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from anew.runtime.bootstrap import open_engine
from anew.runtime.command_executor import execute
from anew.runtime.commands import Command, DropRun, RunCommand
from anew.runtime.control_socket import NoAnswer
from anew.runtime.databases import open_database
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
