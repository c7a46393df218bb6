"""Give one order about a run: to whoever takes orders there, or to an engine made for it here."""

from __future__ import annotations

import asyncio

from anew.runtime.bootstrap import open_engine
from anew.runtime.databases import open_database
from anew.runtime.orders import NoAnswer, Request, obey
from anew.runtime.ownership import Owned
from anew.store import RunId
from anew.surfaces.cli.elsewhere import ask
from anew.surfaces.cli.history import find_any_run, find_run
from anew.surfaces.cli.place import is_server
from anew.surfaces.cli.working import HANDOVER_POLL_SECONDS, HANDOVER_SECONDS_MAX
from anew.values import Object


def order(place: str | None, request: Request) -> Object:
    """Have it done and give back the answer; AnewError when it cannot be."""
    return asyncio.run(_order(place, request))


async def named_run(place: str | None, said: str, *, is_dropped: bool = False) -> RunId:
    """The run someone means, by its id, some of its digits, or `last`."""
    find = find_any_run if is_dropped else find_run
    async with open_database(place, read_only=True) as database:
        return (await find(database.archive, said)).run


async def _order(place: str | None, request: Request) -> Object:
    if request.run is not None:
        is_dropped = request.do == "drop"
        request.run = str(await named_run(place, request.run, is_dropped=is_dropped))
    if is_server(place):
        return await ask(place, request)
    loop = asyncio.get_running_loop()
    patience = loop.time() + HANDOVER_SECONDS_MAX
    while True:
        try:
            async with open_engine(place) as engine:
                return await obey(engine, request)
        except Owned:
            pass
        try:
            return await ask(place, request)
        except NoAnswer:
            if loop.time() > patience:
                raise
            await asyncio.sleep(HANDOVER_POLL_SECONDS)
