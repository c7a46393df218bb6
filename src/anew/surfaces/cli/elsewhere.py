"""Have an order carried out elsewhere: by the owner of a database file, or by a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import msgspec

from anew.runtime.databases import database_file, open_database
from anew.runtime.orders import Request, ask_owner
from anew.surfaces.cli.place import is_server
from anew.values import Object

if TYPE_CHECKING:
    from anew.stores.remote import RemoteDatabase


async def ask(place: str | None, request: Request) -> Object:
    """What it answers; StoreError when nobody does, ConfigError when it is refused."""
    if not is_server(place):
        return await ask_owner(database_file(place), request)
    async with open_database(place, read_only=True) as database:
        return await cast("RemoteDatabase", database).order(msgspec.to_builtins(request))
