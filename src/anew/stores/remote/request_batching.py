"""Questions that share a request: what arrives while one is under way goes with the next.

A question that is refused does not disturb the others. Where a whole request is refused, or the
server cannot do one of them now, each is asked alone, which tells whose fault it is.
Knows how questions are grouped. Does not know what they are about.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Generic, TypeVar

from msgspec import Raw, Struct

from anew.store import RunId, StoreError
from anew.stores.remote.connection import ServerConnection
from anew.stores.remote.wire import TOGETHER_MAX, ErrorReply, error_of

# Proxies often take a request of a million bytes and none that is larger. A question that has more
# is asked alone.
TOGETHER_BYTES_MAX = 512 * 1024
# One request at a time makes the largest groups, and the least work. One that takes longer than
# this may have fallen silent: another goes beside it.
LATE_SECONDS = 0.1
UNDER_WAY_MAX = 8

T = TypeVar("T")


class _PendingRequest(Struct, eq=False):
    run: RunId
    question: Raw
    future: asyncio.Future[Any]


class RequestBatcher(Generic[T]):
    """Asks one operation, of which `answers` is the type of the answers; `most` in a request.

    Questions about one run are asked one after the other.
    The list of those who wait needs no bound of its own: every entry has a caller behind it.
    """

    def __init__(
        self, connection: ServerConnection, operation: str, answers: Any, *, most: int | None = None
    ) -> None:
        self._connection = connection
        self._operation = operation
        self._answers = answers
        self._most = most or TOGETHER_MAX
        self._waiting: list[_PendingRequest] = []
        self._asked_about: set[RunId] = set()
        self._under_way = 0
        self._late = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def ask(self, run: RunId, question: bytes) -> T | None:
        """What the server answers, or the error it refuses with."""
        asked = _PendingRequest(run, Raw(question), asyncio.get_running_loop().create_future())
        self._waiting.append(asked)
        self._serve_on()
        answer: T | None = await asked.future
        return answer

    async def close(self) -> None:
        """Wait until everyone is answered. The connection must be closed."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    def _serve_on(self) -> None:
        if self._under_way < min(1 + self._late, UNDER_WAY_MAX):
            self._under_way += 1
            self._begin(self._serve())

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self) -> None:
        try:
            while group := self._next_group():
                async with self._watched():
                    await self._settle(group)
        finally:
            self._under_way -= 1

    @asynccontextmanager
    async def _watched(self) -> AsyncIterator[None]:
        """Another may be asked beside it once it is late."""
        is_late = False

        def tell() -> None:
            nonlocal is_late
            is_late = True
            self._late += 1
            if self._waiting:
                self._serve_on()

        timer = asyncio.get_running_loop().call_later(LATE_SECONDS, tell)
        try:
            yield
        finally:
            timer.cancel()
            self._late -= is_late

    def _next_group(self) -> list[_PendingRequest]:
        """Those who have waited longest and still wait, one at least if one can be asked."""
        group: list[_PendingRequest] = []
        left: list[_PendingRequest] = []
        size = 0
        for asked in self._waiting:
            size += len(asked.question)
            is_full = len(group) == self._most or (group and size > TOGETHER_BYTES_MAX)
            if is_full or asked.run in self._asked_about:
                left.append(asked)
            elif not asked.future.cancelled():
                self._asked_about.add(asked.run)
                group.append(asked)
        self._waiting = left
        return group

    async def _settle(self, group: list[_PendingRequest]) -> None:
        answers = await self._answers_to(group)
        for asked, answer in zip(group, answers, strict=False):
            if len(group) > 1 and _fares_better_alone(answer):
                self._begin(self._settle_alone(asked))
            else:
                self._asked_about.discard(asked.run)
                _answer(asked.future, answer)
        # The server says no more than fits into one answer.
        left = group[len(answers) :]
        self._asked_about.difference_update([asked.run for asked in left])
        self._waiting[:0] = left

    async def _settle_alone(self, asked: _PendingRequest) -> None:
        await self._settle([asked])
        if self._waiting:
            self._serve_on()

    async def _answers_to(self, group: list[_PendingRequest]) -> list[Any]:
        """One for each of the first of them at least, or the error of all."""
        questions = [asked.question for asked in group]
        try:
            answers: list[Any] = await self._connection.ask(
                self._operation, questions, self._answers
            )
        except Exception as error:
            return [error for _ in group]
        return answers


def _fares_better_alone(answer: object) -> bool:
    """Who is meant by an error of all is told alone; so is how long to ask again in vain."""
    if isinstance(answer, ErrorReply):
        return answer.kind == StoreError.__name__
    # A server that has been away for as long as there is patience is so for everyone.
    return isinstance(answer, Exception) and type(answer) is not StoreError


def _answer(future: asyncio.Future[Any], answer: object) -> None:
    if future.done():
        return
    if isinstance(answer, ErrorReply):
        future.set_exception(error_of(answer))
    elif isinstance(answer, Exception):
        future.set_exception(answer)
    else:
        future.set_result(answer)
