"""Which runs change, as a stream: what keeps a list of runs live.

Only hints: a reader asks for the runs it shows once more. Empty is read here.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import msgspec
from msgspec import Struct
from starlette.responses import Response

from anew.store import Notice, RunId
from anew.surfaces.api.endpoint import Endpoints
from anew.surfaces.api.request import ApiRequest
from anew.surfaces.api.service import Service
from anew.surfaces.api.shapes import Empty
from anew.surfaces.api.streams import ALIVE, BEGUN, STREAM, next_sign, stream_of

# Runs that one message names; of more it says that there are.
CHANGES_RUNS_MAX = 200
# A list that is drawn more often than this cannot be read.
CHANGES_PAUSE_SECONDS = 0.25
ENDPOINTS = Endpoints("runs")


class RunChanges(Struct):
    """`is_all`: more than can be named."""

    runs: list[str]
    is_all: bool


class RunChangeStream:
    """Gathers what is heard, and tells it a few times a second at most."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._heard: set[RunId] = set()
        self._is_news = asyncio.Event()

    def on_notice(self, notice: Notice) -> None:
        # One more than can be named is enough to know that there are too many.
        if len(self._heard) <= CHANGES_RUNS_MAX:
            self._heard.add(notice.run)
        self._is_news.set()

    async def chunks(self) -> AsyncIterator[bytes]:
        yield BEGUN
        while True:
            async for chunk in self._wait_for_changes():
                yield chunk
            yield b"data: %s\n\n" % msgspec.json.encode(self._taken())
            await asyncio.sleep(CHANGES_PAUSE_SECONDS)

    async def _wait_for_changes(self) -> AsyncIterator[bytes]:
        """Signs of life, until there is something to tell."""
        while not self._is_news.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout_at(next_sign(self._service)):
                    await self._is_news.wait()
            if not self._is_news.is_set():
                yield ALIVE

    def _taken(self) -> RunChanges:
        self._is_news.clear()
        heard, self._heard = self._heard, set()
        if len(heard) > CHANGES_RUNS_MAX:
            return RunChanges([], is_all=True)
        return RunChanges([str(run) for run in sorted(heard, reverse=True)], is_all=False)


@ENDPOINTS.get("/runs/changes", "Follow which runs change", query=Empty, forms=(STREAM,))
async def changes(request: ApiRequest) -> Response:
    """A stream without an end."""
    request.query(Empty)
    return stream_of(request, lambda: RunChangeStream(request.service), "a stream of changes")
