"""Lets a process say now and then that it is there, and what it is at.

For people who ask who works on a database. Nothing depends on it: what goes wrong here is not
worth a word, and the work goes on.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from anew import __version__
from anew.engine.moments import LAST_MOMENT, NANOSECONDS
from anew.runtime.leases import HEARTBEAT_SECONDS
from anew.store import HeldJob, Presence

if TYPE_CHECKING:
    from anew.runtime.engine import Engine

_LOG = logging.getLogger(__name__)

# Two heartbeats may be missed.
ALIVE_SECONDS_MAX = 3 * HEARTBEAT_SECONDS
# Most commands are over by then. Those cost their database no write of this kind.
COMMAND_QUIET_SECONDS = 1.0
# Who stops does not wait long to say so.
LEAVE_SECONDS = 2.0
HOST_CHARACTERS_MAX = 255
POOLS_TOLD_MAX = 100
JOBS_TOLD_MAX = 200
# A job that is held for so long is worth a beat of its own.
NEWS_SECONDS = 1.0


@asynccontextmanager
async def beating(engine: Engine) -> AsyncIterator[None]:
    """Be known as a worker of the engine's database meanwhile."""
    heart = _Heart(engine)
    task = asyncio.create_task(heart.beat_on())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await heart.leave()


class _Heart:
    """Says the same process each time, by an id of its own."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._worker = os.urandom(8).hex()
        self._host = socket.gethostname()[:HOST_CHARACTERS_MAX]
        self._started_at = engine.database.clock.now()
        self._has_spoken = False
        self._is_heard = True
        self._told: frozenset[HeldJob] = frozenset()

    async def beat_on(self) -> None:
        if self._engine.role.kind == "command":
            await asyncio.sleep(COMMAND_QUIET_SECONDS)
        while True:
            await self._try(self._beat(), HEARTBEAT_SECONDS)
            await self._pause()

    async def _pause(self) -> None:
        """Until it is time again; sooner once a job takes a while that nobody knows to be here."""
        loop, before = asyncio.get_running_loop(), set[HeldJob]()
        end = loop.time() + HEARTBEAT_SECONDS
        while (left := end - loop.time()) > 0:
            await asyncio.sleep(min(left, NEWS_SECONDS))
            held = set(self._held())
            if (held & before) - self._told:
                return
            before = held

    def _held(self) -> list[HeldJob]:
        """What others would wait for if this process died: leases without end die with it."""
        leases = [one for one in self._engine.worker.leases() if one.until < LAST_MOMENT]
        return [HeldJob(lease.job, lease.token) for lease in leases[:JOBS_TOLD_MAX]]

    async def leave(self) -> None:
        # Where nobody heard the last word, nobody would hear this one.
        if self._has_spoken and self._is_heard:
            await self._try(self._engine.database.roster.leave(self._worker), LEAVE_SECONDS)

    async def _beat(self) -> None:
        self._has_spoken = True  # it may be heard even if no answer comes
        said = self._presence()
        self._told = frozenset(said.jobs)
        await self._engine.database.roster.beat(said)

    def _presence(self) -> Presence:
        engine = self._engine
        return Presence(
            worker=self._worker,
            host=self._host,
            process=os.getpid(),
            kind=engine.role.kind,
            pools=list(engine.role.pools or ())[:POOLS_TOLD_MAX],
            slots=engine.slots.total,
            busy=engine.slots.taken,
            leases=len(engine.worker.leases()),
            version=__version__,
            started_at=self._started_at,
            seen_at=engine.database.clock.now(),
            jobs=self._held(),
        )

    async def _try(self, telling: Coroutine[Any, Any, None], seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await telling
            self._is_heard = True
        except Exception as error:  # whatever it is, it must not disturb the work
            self._is_heard = False
            _LOG.debug("cannot report that this process is alive: %s", error)


def is_alive(presence: Presence, now: int) -> bool:
    """Whether it was seen lately enough."""
    return now - presence.seen_at <= ALIVE_SECONDS_MAX * NANOSECONDS
