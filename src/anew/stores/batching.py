"""Asks together what is asked at the same time: while one question is under way, those that come
wait and share the next.

Nobody waits for others to come: who is alone is asked for at once.
Knows questions and answers. Does not know what they are about.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from msgspec import Struct

Question = TypeVar("Question")
Answer = TypeVar("Answer")


class _PendingQuestion(Struct, Generic[Question, Answer]):
    question: Question
    future: asyncio.Future[Answer]


class Batcher(Generic[Question, Answer]):
    """`ask` answers several questions in their order, or fails; then each is asked alone.

    At most `most` are asked together, and at most `at_once` such groups are under way. The list of
    those who wait needs no bound of its own: every entry has a caller behind it.
    """

    def __init__(
        self,
        ask: Callable[[Sequence[Question]], Awaitable[Sequence[Answer]]],
        *,
        most: int,
        at_once: int = 1,
    ) -> None:
        self._ask = ask
        self._most = most
        self._at_once = at_once
        self._waiting: list[_PendingQuestion[Question, Answer]] = []
        self._under_way = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def ask(self, question: Question) -> Answer:
        """The answer to one."""
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append(_PendingQuestion(question, future))
        if self._under_way < self._at_once:
            self._under_way += 1
            task = asyncio.create_task(self._serve())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return await future

    async def _serve(self) -> None:
        try:
            while self._waiting:
                group = [one for one in self._waiting[: self._most] if not one.future.cancelled()]
                del self._waiting[: self._most]
                if group:
                    await self._answer(group)
        finally:
            # Here, and not when the task is seen to be done: whoever asks in between would wait.
            self._under_way -= 1

    async def _answer(self, group: Sequence[_PendingQuestion[Question, Answer]]) -> None:
        try:
            answers = await self._ask([one.question for one in group])
        except Exception as error:
            if len(group) > 1:
                for one in group:
                    await self._answer([one])
            elif not group[0].future.done():
                group[0].future.set_exception(error)
            return
        for one, answer in zip(group, answers, strict=True):
            if not one.future.done():
                one.future.set_result(answer)
