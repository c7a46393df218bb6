"""Long analyses of programs and logs beside the event loop: a few at a time, and not for ever.

An analysis is told when nobody waits for it any longer, and ends itself. A process that ends waits
for none of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from threading import Event, Thread
from typing import TypeVar

from anew.lab.patience import OutOfTime, Patience
from anew.surfaces.api.problems import Refusal

# An analysis is Python all the way: more at a time would only slow down everybody else.
STUDIES_AT_ONCE_MAX = 2
# Whoever waits longer for a place would have no time left for the analysis itself.
PLACE_SECONDS_MAX = 1.0
AGAIN_SECONDS = 2

T = TypeVar("T")


class Studies:
    """The places for analyses of one server."""

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(STUDIES_AT_ONCE_MAX)

    async def made(self, study: Callable[[Patience], T], *, seconds: float) -> T:
        """What it returns; TimeoutError when it takes longer, Refusal when there is no place.

        One that goes on although nobody waits keeps its place until it has ended, so that whoever
        asks again and again has no more than these places.
        """
        await self._place()
        over = Event()

        def patience() -> None:
            if over.is_set():
                raise OutOfTime

        begun = self._begin(study, patience)
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.wrap_future(begun)
        except OutOfTime:
            raise TimeoutError from None
        finally:
            over.set()

    async def _place(self) -> None:
        try:
            async with asyncio.timeout(PLACE_SECONDS_MAX):
                await self._places.acquire()
        except TimeoutError:
            detail = f"the server makes {STUDIES_AT_ONCE_MAX} other analyses now. Ask again soon."
            headers = {"Retry-After": str(AGAIN_SECONDS)}
            raise Refusal("unavailable", detail, headers=headers) from None

    def _begin(self, study: Callable[[Patience], T], patience: Patience) -> Future[T]:
        loop, begun = asyncio.get_running_loop(), Future[T]()
        begun.set_running_or_notify_cancel()

        def work() -> None:
            try:
                begun.set_result(study(patience))
            except BaseException as error:
                begun.set_exception(error)
            with suppress(RuntimeError):  # the server has stopped meanwhile
                loop.call_soon_threadsafe(self._places.release)

        # The process ends without it: no analysis changes anything.
        thread = Thread(target=work, name="anew-study", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the machine has no thread left
            self._places.release()
            raise
        return begun
