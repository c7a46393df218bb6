"""Questions that are asked together: groups, failures, and nobody who is left waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from anew.stores.batching import Batcher


def test_what_comes_while_a_question_is_under_way_shares_the_next() -> None:
    groups: list[list[int]] = []

    async def ask(numbers: Sequence[int]) -> list[int]:
        groups.append(list(numbers))
        await asyncio.sleep(0)
        return [-number for number in numbers]

    async def play() -> list[int]:
        gathering = Batcher(ask, most=3)
        return await asyncio.gather(*(gathering.ask(number) for number in range(1, 8)))

    assert asyncio.run(play()) == [-1, -2, -3, -4, -5, -6, -7]
    assert groups == [[1, 2, 3], [4, 5, 6], [7]]


def test_a_question_that_fails_does_not_fail_the_others() -> None:
    async def ask(numbers: Sequence[int]) -> list[int]:
        if 2 in numbers:
            raise ValueError("two")
        return list(numbers)

    async def play() -> list[int | BaseException]:
        gathering = Batcher(ask, most=9)
        asked = (gathering.ask(number) for number in (1, 2, 3))
        return await asyncio.gather(*asked, return_exceptions=True)

    one, two, three = asyncio.run(play())
    assert (one, three) == (1, 3)
    assert isinstance(two, ValueError)


def test_who_asks_at_the_moment_an_answer_comes_is_answered_too() -> None:
    async def ask(numbers: Sequence[int]) -> list[int]:
        return list(numbers)

    async def play() -> list[int]:
        gathering = Batcher(ask, most=9)
        async with asyncio.timeout(10):
            return [await gathering.ask(number) for number in range(100)]

    assert asyncio.run(play()) == list(range(100))


def test_whom_nobody_waits_for_is_not_asked() -> None:
    asked: list[int] = []

    async def play() -> None:
        first, may_end = asyncio.Event(), asyncio.Event()

        async def ask(numbers: Sequence[int]) -> list[int]:
            asked.extend(numbers)
            first.set()
            await may_end.wait()
            return list(numbers)

        gathering = Batcher(ask, most=9)
        one = asyncio.create_task(gathering.ask(1))
        await first.wait()
        two = asyncio.create_task(gathering.ask(2))
        three = asyncio.create_task(gathering.ask(3))
        await asyncio.sleep(0)
        two.cancel()
        with pytest.raises(asyncio.CancelledError):
            await two
        may_end.set()
        assert await asyncio.gather(one, three) == [1, 3]

    asyncio.run(play())
    assert asked == [1, 3]
