"""Long analyses of programs and logs beside the event loop: a few at a time, and not for ever.

An analysis learns when nobody waits for it any longer, and ends itself. A process that ends waits
for none of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from threading import Event, Thread
from typing import TypeVar

from anew.lab.cancellation import AnalysisCancelled, CancelCheck
from anew.surfaces.api.problems import ApiError

# An analysis is Python all the way: more at a time would only slow down everybody else.
STUDIES_AT_ONCE_MAX = 2
# Whoever waits longer for a place would have no time left for the analysis itself.
PLACE_SECONDS_MAX = 1.0
AGAIN_SECONDS = 2

T = TypeVar("T")


class BackgroundAnalyses:
    """The places for analyses of one server."""

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(STUDIES_AT_ONCE_MAX)

    async def run(self, study: Callable[[CancelCheck], T], *, seconds: float) -> T:
        """What it returns; TimeoutError when it takes longer, ApiError when there is no place.

        One that goes on although nobody waits keeps its place until it has ended, so that whoever
        asks again and again has no more than these places.
        """
        await self._take_place()
        over = Event()

        def cancel_check() -> None:
            if over.is_set():
                raise AnalysisCancelled

        running = self._start(study, cancel_check)
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.wrap_future(running)
        except AnalysisCancelled:
            raise TimeoutError from None
        finally:
            over.set()

    async def _take_place(self) -> None:
        try:
            async with asyncio.timeout(PLACE_SECONDS_MAX):
                await self._places.acquire()
        except TimeoutError:
            detail = f"{STUDIES_AT_ONCE_MAX} other analyses run on the server now. Try again soon."
            headers = {"Retry-After": str(AGAIN_SECONDS)}
            raise ApiError("unavailable", detail, headers=headers) from None

    def _start(self, study: Callable[[CancelCheck], T], cancel_check: CancelCheck) -> Future[T]:
        loop, running = asyncio.get_running_loop(), Future[T]()
        running.set_running_or_notify_cancel()

        def work() -> None:
            try:
                running.set_result(study(cancel_check))
            except BaseException as error:
                running.set_exception(error)
            with suppress(RuntimeError):  # the server has stopped meanwhile
                loop.call_soon_threadsafe(self._places.release)

        # The process ends without it: no analysis changes anything.
        thread = Thread(target=work, name="anew-study", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the machine has no thread left
            self._places.release()
            raise
        return running
