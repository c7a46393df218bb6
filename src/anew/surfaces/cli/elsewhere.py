"""Have an order carried out elsewhere: by the owner of a database file, or by a server."""

from __future__ import annotations

import msgspec

from anew.runtime.databases import database_file, open_server, place_of
from anew.runtime.orders import Request, ask_owner
from anew.surfaces.cli.place import is_server
from anew.values import Object


async def ask(place: str | None, request: Request) -> Object:
    """What it answers; StoreError when nobody does, ConfigError when it is refused."""
    if not is_server(place):
        return await ask_owner(database_file(place), request)
    server = await open_server(place_of(place))
    try:
        return await server.order(msgspec.to_builtins(request))
    finally:
        await server.close()
