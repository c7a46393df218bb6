"""Questions that many ask at once: few are asked, and nobody gets an old answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from anew.runtime.single_flight import SingleFlight
from anew.store import StoreError


class Shelf:
    """Answers with what lay there when the question came, and only once it may."""

    def __init__(self) -> None:
        self.lies = "old"
        self.asked: list[str] = []
        self.came = asyncio.Event()
        self.may_answer = asyncio.Event()

    async def look(self, name: str) -> str:
        self.asked.append(name)
        self.came.set()
        found = self.lies
        await self.may_answer.wait()
        if found == "broken":
            raise StoreError("the shelf is broken")
        return found


def play(act: Callable[[Shelf, SingleFlight[str, str]], Awaitable[None]]) -> None:
    async def whole() -> None:
        shelf = Shelf()
        async with asyncio.timeout(10):
            await act(shelf, SingleFlight(shelf.look))

    asyncio.run(whole())


async def begun(shelf: Shelf, lookups: SingleFlight[str, str], name: str) -> asyncio.Task[str]:
    """Someone whose question has reached the shelf."""
    shelf.came.clear()
    task = asyncio.create_task(lookups.ask(name))
    await shelf.came.wait()
    return task


async def waiting(
    lookups: SingleFlight[str, str], name: str, count: int
) -> list[asyncio.Task[str]]:
    """Some who have asked meanwhile."""
    tasks = [asyncio.create_task(lookups.ask(name)) for _ in range(count)]
    await asyncio.sleep(0)
    return tasks


def test_who_asks_after_a_change_is_not_told_what_lay_there_before() -> None:
    async def act(shelf: Shelf, lookups: SingleFlight[str, str]) -> None:
        early = await begun(shelf, lookups, "book")
        shelf.lies = "new"
        [late] = await waiting(lookups, "book", 1)
        shelf.may_answer.set()
        assert (await early, await late) == ("old", "new")

    play(act)


def test_all_who_come_while_one_is_under_way_share_the_next() -> None:
    async def act(shelf: Shelf, lookups: SingleFlight[str, str]) -> None:
        first = await begun(shelf, lookups, "book")
        many = await waiting(lookups, "book", 20)
        shelf.may_answer.set()
        assert await asyncio.gather(first, *many) == ["old"] * 21
        assert shelf.asked == ["book", "book"]

    play(act)


def test_another_question_does_not_wait() -> None:
    async def act(shelf: Shelf, lookups: SingleFlight[str, str]) -> None:
        one, other = await begun(shelf, lookups, "book"), await begun(shelf, lookups, "map")
        assert shelf.asked == ["book", "map"]
        shelf.may_answer.set()
        await asyncio.gather(one, other)

    play(act)


def test_who_gives_up_takes_the_answer_from_nobody() -> None:
    async def act(shelf: Shelf, lookups: SingleFlight[str, str]) -> None:
        first = await begun(shelf, lookups, "book")
        gone, stays = await waiting(lookups, "book", 2)
        first.cancel()
        gone.cancel()
        shelf.may_answer.set()
        assert await stays == "old"

    play(act)


def test_an_error_is_told_to_those_who_share_it_and_to_nobody_after_them() -> None:
    async def act(shelf: Shelf, lookups: SingleFlight[str, str]) -> None:
        shelf.lies = "broken"
        early = await begun(shelf, lookups, "book")
        late = await waiting(lookups, "book", 2)
        shelf.may_answer.set()
        for task in (early, *late):
            with pytest.raises(StoreError):
                await task
        shelf.lies = "new"
        assert await lookups.ask("book") == "new"

    play(act)
