"""Have a command executed elsewhere: by the owner of a database file, or by a server."""

from __future__ import annotations

import msgspec

from anew.runtime.commands import Command
from anew.runtime.control_socket import send_command
from anew.runtime.databases import database_file, open_server, place_of
from anew.surfaces.cli.location import is_server
from anew.values import Object


async def ask(place: str | None, command: Command) -> Object:
    """What it answers; StoreError when nobody does, ConfigError when it is refused."""
    if not is_server(place):
        return await send_command(database_file(place), command)
    server = await open_server(place_of(place))
    try:
        return await server.order(msgspec.to_builtins(command))
    finally:
        await server.close()
