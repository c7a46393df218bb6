"""Put an engine together: a database of its own, the tools, and a door for other terminals."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from anew.runtime.embedded import GRACE_SECONDS, SLOTS, Embedded
from anew.runtime.interviewers import Interviewer
from anew.runtime.orders import Doorkeeper
from anew.runtime.toolbox import Toolbox
from anew.runtime.wiring import database_file, open_database
from anew.tool import Tool

if TYPE_CHECKING:
    from anew.languages.dot.extensions import Extensions


@asynccontextmanager
async def open_engine(
    url: str | None = None,
    *,
    slots: int = SLOTS,
    works_on_all: bool = False,
    grace_seconds: float = GRACE_SECONDS,
    tools: Mapping[str, Tool] | None = None,
    extensions: Extensions | None = None,
    interviewer: Interviewer | None = None,
) -> AsyncIterator[Embedded]:
    """An engine that owns the database, takes orders beside it, and stops cleanly.

    `tools` by kind take the place of those that are built in or installed.
    """
    path = database_file(url)
    async with open_database(url) as database:
        engine = Embedded(
            database,
            Path(f"{path.resolve()}.scratch"),
            slots=slots,
            works_on_all=works_on_all,
            toolbox=Toolbox(tools),
            extensions=extensions,
            interviewer=interviewer,
        )
        door = Doorkeeper(engine, path)
        await door.open()
        engine.before_stop = door.close
        try:
            yield engine
        finally:
            await engine.stop(grace_seconds)
