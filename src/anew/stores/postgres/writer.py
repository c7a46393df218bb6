"""The place that writes: statements in transactions, as few as possible.

What arrives while a transaction is under way shares the next one: one statement, in one piece. What
is refused in it does not disturb the others; what fails is found by doing each of the group alone.
Knows transactions. Does not know what the statements do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from msgspec import Struct

from anew.store import RunId, StoreError
from anew.stores.postgres.connection import (
    Connection,
    ConnectionInfo,
    Recovery,
    recovery_of,
    store_error,
)
from anew.stores.postgres.pool import CLOSING_SECONDS_MAX, TROUBLE, Patience, ReconnectingConnection
from anew.stores.postgres.sending import value_of

# One transaction holds no more than this, so that the first in it does not wait for ever, nor do
# those who want the rows it has locked.
GROUP_MAX = 200
# All of it is in memory twice while it is sent. A larger statement is sent alone.
GROUP_BYTES_MAX = 4 * 1024 * 1024


class GroupStatement(Struct, frozen=True):
    """A statement that does up to `most` calls at once and is a transaction by itself.

    `bind` makes it and its values of what the calls ask, and `read` tells for each of them what
    its one value means.
    """

    bind: Callable[[Sequence[Any]], tuple[bytes, Sequence[bytes | None]]]
    read: Callable[[bytes | None, int], list[Any]]
    most: int = GROUP_MAX


def single(statement: bytes) -> GroupStatement:
    """Of a statement that does one call, which asks with its values, and tells nothing."""
    return GroupStatement(
        lambda asked: (statement, asked[0]), lambda _, count: [None] * count, most=1
    )


class WriteCall(Struct, frozen=True):
    """Something that changes a run, safe to do again. `size` is about how many bytes it has."""

    run: RunId
    kind: GroupStatement
    asked: Any
    size: int = 0


class _PendingWrite(Struct):
    call: WriteCall
    future: asyncio.Future[Any]


class PostgresWriter:
    """Owns one connection.

    The list of those who wait needs no bound of its own: every entry has a caller behind it.
    """

    def __init__(self, place: ConnectionInfo, patience: Patience) -> None:
        self._link = ReconnectingConnection(place, patience)
        self._place = place
        self._waiting: list[_PendingWrite] = []
        self._serving: asyncio.Task[None] | None = None
        self._is_closed = False
        self.transactions = 0

    async def do(self, call: WriteCall) -> Any:
        """What the statement answers, once everything it wrote is durable."""
        if self._is_closed:
            raise StoreError(f"the database at {self._place.text} is closed.")
        asked = _PendingWrite(call, asyncio.get_running_loop().create_future())
        self._waiting.append(asked)
        if self._serving is None:
            self._serving = asyncio.create_task(self._serve(), name="anew-postgres-writer")
        return await asked.future

    def end_by(self, moment: float) -> None:
        self._link.end_by(moment)

    async def close(self) -> None:
        """Do what was asked before, as far as that can be done in time; close the connection."""
        self._is_closed = True
        self.end_by(asyncio.get_running_loop().time() + CLOSING_SECONDS_MAX)
        if self._serving is not None:
            await self._serving
        await self._link.close()

    async def _serve(self) -> None:
        try:
            while self._waiting:
                group = self._next_group()
                # Everybody locks runs in the same order. Those of one run stay in theirs.
                group.sort(key=lambda asked: asked.call.run)
                results = await self._results(group)
                for asked, result in zip(group, results, strict=True):
                    _answer(asked.future, result)
        finally:
            self._serving = None

    def _next_group(self) -> list[_PendingWrite]:
        """Those who have waited longest, one at least, and who still wait; all of one kind."""
        count, size, kind = 0, 0, self._waiting[0].call.kind
        for asked in self._waiting[: kind.most]:
            size += asked.call.size
            if asked.call.kind is not kind or (count > 0 and size > GROUP_BYTES_MAX):
                break
            count += 1
        group = [asked for asked in self._waiting[:count] if not asked.future.cancelled()]
        del self._waiting[:count]
        return group

    async def _results(self, group: list[_PendingWrite]) -> list[Any]:
        """What each statement answers, or its error."""
        if len(group) > 1:
            try:
                results = await self._link.insist(
                    partial(_send_wanted, group=group), gives_way=True
                )
            except TROUBLE as error:
                if recovery_of(error) is Recovery.RECONNECT:
                    # Nobody of the group would fare better alone.
                    return [store_error(self._place, error) for _ in group]
            except Exception:
                # One of them has values that cannot be sent: it will tell when it is alone.
                pass
            else:
                self.transactions += 1
                return results
        return [await self._alone(asked) for asked in group]

    async def _alone(self, asked: _PendingWrite) -> Any:
        try:
            [result] = await self._link.run(partial(_send_wanted, group=[asked]))
        except Exception as error:
            return error
        self.transactions += 1
        return result


async def _send_wanted(connection: Connection, group: list[_PendingWrite]) -> list[Any]:
    """Each time it is tried, without those whom nobody waits for any more."""
    wanted = [asked for asked in group if not asked.future.cancelled()]
    if not wanted:
        return [None] * len(group)
    kind = wanted[0].call.kind
    statement, values = kind.bind([asked.call.asked for asked in wanted])
    answers = kind.read(await value_of(connection, statement, values), len(wanted))
    given = {id(asked): answer for asked, answer in zip(wanted, answers, strict=True)}
    return [given.get(id(asked)) for asked in group]


def _answer(future: asyncio.Future[Any], result: Any) -> None:
    if future.done():
        return
    if isinstance(result, Exception):
        future.set_exception(result)
    else:
        future.set_result(result)
