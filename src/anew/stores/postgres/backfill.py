"""Writes what runs are found by that failed, or were retried, before it was written with them.

Other processes may be of an older version and write such runs at any time: what was missed is
caught up with whenever failures are grouped, and by `maintain`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec

from anew.store import Failure, StoreError
from anew.stores.packing import failure_of
from anew.stores.postgres.connection import Connection
from anew.stores.postgres.pool import ConnectionPool
from anew.stores.postgres.ranges import PATIENCE
from anew.stores.postgres.values import integer_array, text_array

# Runs in one statement: others do not wait for longer than it takes.
MARKED_AT_ONCE = 500
_UNMARKED = """
SELECT run, error FROM anew.runs WHERE status = 'failed' AND fingerprint IS NULL
ORDER BY run DESC LIMIT %s
"""
_MARK = """
UPDATE anew.runs SET error_kind = kind, error_message = message, fingerprint = print
FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::text[]) AS given (id, kind, message, print)
WHERE run = id AND status = 'failed' AND runs.fingerprint IS NULL
"""
_MARK_RETRIES = "SELECT anew.mark_retries_v1()"
_LOG = logging.getLogger(__name__)


class FailureBackfill:
    """Of one database, by a process that may write to it."""

    def __init__(self, links: ConnectionPool) -> None:
        self._links = links
        self._task: asyncio.Task[None] | None = None

    async def some(self) -> bool:
        """Those of the newest runs; whether there may be more."""
        found = await self._links.run(_unmarked)
        if found:
            # Thousands of texts are a while: others wait for the event loop.
            failures = await asyncio.to_thread(_failures, found)
            runs = [run for run, _ in found]
            await self._links.run(partial(_mark, runs=runs, failures=failures), PATIENCE)
        return len(found) == MARKED_AT_ONCE

    async def all(self) -> None:
        await self._links.run(_mark_retries, PATIENCE)
        while await self.some():
            pass

    def begin(self) -> None:
        """All of them, while others go on."""
        _LOG.warning(
            "PostgreSQL at %s: runs that failed before this version are being prepared to be found "
            "by their errors. Until that is done, lists of failures are not whole.",
            self._links.place.text,
        )
        self._task = asyncio.create_task(self._go_on())

    async def _go_on(self) -> None:
        try:
            await self.all()
        except StoreError as error:
            _LOG.warning("%s The rest of the failed runs is prepared later.", error)

    async def close(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])


async def _unmarked(connection: Connection) -> list[Any]:
    cursor = await connection.execute(_UNMARKED, (MARKED_AT_ONCE,), binary=True)
    return await cursor.fetchall()


def _failures(found: Sequence[tuple[int, str | None]]) -> list[Failure]:
    return [failure_of(msgspec.json.decode(error) if error else None) for _, error in found]


async def _mark(
    connection: Connection, *, runs: Sequence[int], failures: Sequence[Failure]
) -> None:
    values = (
        integer_array(runs),
        text_array([one.kind for one in failures]),
        text_array([one.message for one in failures]),
        text_array([one.fingerprint for one in failures]),
    )
    await connection.execute(_MARK, values)


async def _mark_retries(connection: Connection) -> None:
    await connection.execute(_MARK_RETRIES)
