"""Places for analyses: few, given back in time, and nothing that keeps a server from ending."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable
from threading import Event, current_thread

import pytest

from anew.lab.cancellation import AnalysisCancelled, CancelCheck
from anew.surfaces.api import background_analyses
from anew.surfaces.api.background_analyses import STUDIES_AT_ONCE_MAX, BackgroundAnalyses
from anew.surfaces.api.problems import ApiError

PATIENCE_SECONDS = 30.0
# Whoever starts it is done at once, while the analysis goes on for ever.
STUBBORN = """
import asyncio
from threading import Event
from anew.surfaces.api.background_analyses import BackgroundAnalyses

async def ask():
    begun = Event()
    def study(cancel_check):
        begun.set()
        Event().wait()
    asking = asyncio.ensure_future(BackgroundAnalyses().run(study, seconds=3600))
    await asyncio.to_thread(begun.wait)
    asking.cancel()

asyncio.run(ask())
print("over")
"""


class Endless:
    """An analysis that ends only when nobody waits for it any more."""

    def __init__(self) -> None:
        self.begun, self.ended = Event(), Event()

    def __call__(self, cancel_check: CancelCheck) -> None:
        self.begun.set()
        try:
            while True:
                cancel_check()
        except AnalysisCancelled:
            self.ended.set()
            raise


def in_time(act: Callable[[BackgroundAnalyses], object]) -> None:
    async def whole() -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await act(BackgroundAnalyses())  # type: ignore[misc]

    asyncio.run(whole())


def test_an_analysis_gives_what_it_found_or_raises() -> None:
    def fails(_: CancelCheck) -> None:
        raise KeyError("x")

    async def act(studies: BackgroundAnalyses) -> None:
        name = await studies.run(lambda _: current_thread().name, seconds=10)
        assert name == "anew-study"
        for _ in range(STUDIES_AT_ONCE_MAX + 1):
            with pytest.raises(KeyError):
                await studies.run(fails, seconds=10)

    in_time(act)


def test_one_that_takes_too_long_ends_itself_and_gives_its_place_back() -> None:
    async def act(studies: BackgroundAnalyses) -> None:
        for _ in range(STUDIES_AT_ONCE_MAX + 1):
            study = Endless()
            with pytest.raises(TimeoutError):
                await studies.run(study, seconds=0.02)
            assert await asyncio.to_thread(study.ended.wait, PATIENCE_SECONDS)

    in_time(act)


def test_one_that_nobody_waits_for_ends_itself() -> None:
    async def act(studies: BackgroundAnalyses) -> None:
        study = Endless()
        asking = asyncio.ensure_future(studies.run(study, seconds=3600))
        await asyncio.to_thread(study.begun.wait)
        asking.cancel()
        assert await asyncio.to_thread(study.ended.wait, PATIENCE_SECONDS)

    in_time(act)


def test_whoever_finds_no_place_is_told_to_come_again(monkeypatch) -> None:
    monkeypatch.setattr(background_analyses, "PLACE_SECONDS_MAX", 0.02)

    async def act(studies: BackgroundAnalyses) -> None:
        taken = [Endless() for _ in range(STUDIES_AT_ONCE_MAX)]
        asking = [asyncio.ensure_future(studies.run(one, seconds=3600)) for one in taken]
        for one in taken:
            await asyncio.to_thread(one.begun.wait)
        with pytest.raises(ApiError) as refused:
            await studies.run(lambda _: None, seconds=10)
        assert (refused.value.kind, refused.value.status) == ("unavailable", 503)
        assert refused.value.headers == {"Retry-After": str(background_analyses.AGAIN_SECONDS)}
        assert "Try again" in refused.value.detail
        for one in asking:
            one.cancel()

    in_time(act)


def test_whoever_waits_for_a_place_gets_it_with_all_of_the_time() -> None:
    async def act(studies: BackgroundAnalyses) -> None:
        taken = [Endless() for _ in range(STUDIES_AT_ONCE_MAX)]
        asking = [asyncio.ensure_future(studies.run(one, seconds=3600)) for one in taken]
        for one in taken:
            await asyncio.to_thread(one.begun.wait)
        waiting = asyncio.ensure_future(studies.run(lambda _: "found", seconds=10))
        await asyncio.sleep(0)
        asking[0].cancel()
        assert await waiting == "found"
        asking[1].cancel()

    in_time(act)


def test_a_process_ends_without_waiting_for_its_analyses() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", STUBBORN],
        timeout=PATIENCE_SECONDS,
        check=True,
        capture_output=True,
        text=True,
    )
    assert (ended.stdout, ended.stderr) == ("over\n", "")
