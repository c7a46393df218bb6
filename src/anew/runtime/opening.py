"""Put an engine together: a database of its own, the tools, and a door for other terminals."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from anew.runtime.embedded import GRACE_SECONDS, SLOTS, Embedded
from anew.runtime.orders import Doorkeeper
from anew.runtime.wiring import database_file, open_database


@asynccontextmanager
async def open_engine(
    url: str | None = None,
    *,
    slots: int = SLOTS,
    works_on_all: bool = False,
    grace_seconds: float = GRACE_SECONDS,
) -> AsyncIterator[Embedded]:
    """An engine that owns the database, takes orders beside it, and stops cleanly."""
    path = database_file(url)
    async with open_database(url) as database:
        scratch = Path(f"{path.resolve()}.scratch")
        engine = Embedded(database, scratch, slots=slots, works_on_all=works_on_all)
        door = Doorkeeper(engine, path)
        await door.open()
        engine.before_stop = door.close
        try:
            yield engine
        finally:
            await engine.stop(grace_seconds)
