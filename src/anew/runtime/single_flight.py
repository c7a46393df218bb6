"""Asks a question once for all who wait for its answer, and never answers with what may be old.

Knows who asks what. Does not know what is asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

Asked = TypeVar("Asked", bound=Hashable)
Answer = TypeVar("Answer")


class SingleFlight(Generic[Asked, Answer]):
    """An answer is never older than its question.

    What is being looked up may miss a change that whoever asks now has made, so nobody joins them.
    All who come meanwhile share the next one: of a question, one is under way and one waits.
    """

    def __init__(self, look: Callable[[Asked], Awaitable[Answer]]) -> None:
        self._look = look
        self._begun: dict[Asked, asyncio.Task[Answer]] = {}
        self._next: dict[Asked, asyncio.Task[Answer]] = {}

    async def ask(self, asked: Asked) -> Answer:
        """What is found from now on; the error, where it cannot be looked up."""
        task = self._next.get(asked)
        if task is None:
            task = self._next[asked] = asyncio.create_task(self._in_turn(asked))
        return await asyncio.shield(task)  # others may wait for it too

    async def _in_turn(self, asked: Asked) -> Answer:
        if asked in self._begun:
            await asyncio.wait({self._begun[asked]})
        self._begun[asked] = self._next.pop(asked)
        try:
            return await self._look(asked)
        finally:
            del self._begun[asked]
