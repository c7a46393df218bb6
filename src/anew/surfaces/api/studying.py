"""Long analyses of programs and logs beside the event loop: a few at a time, and not for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

# An analysis is Python all the way: more at a time would only slow down everybody else.
STUDIES_AT_ONCE_MAX = 2

_threads = ThreadPoolExecutor(STUDIES_AT_ONCE_MAX, thread_name_prefix="anew-study")


async def studied(study: Callable[[], T], *, seconds: float) -> T:
    """What it returns; TimeoutError after so many seconds, those in line included.

    One that has begun goes on to its end and keeps its place until then, so that whoever asks again
    and again has no more than these places.
    """
    begun = asyncio.get_running_loop().run_in_executor(_threads, study)
    async with asyncio.timeout(seconds):
        return await begun
