"""The log of a run: page by page, or as a stream of server-sent events.

A stream reads the log from where its reader stopped; notices only tell it when to look. So it
neither loses an event nor tells one twice, whoever commits it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from functools import partial

import msgspec
from starlette.responses import Response

from anew.engine.events import Event, RunCancelled, RunDone, RunFailed
from anew.engine.state import FINAL
from anew.store import Notice, RunId, RunRow
from anew.surfaces.api import shapes
from anew.surfaces.api.endpoint import Endpoints, JsonResponse
from anew.surfaces.api.event_pages import Page, read_page
from anew.surfaces.api.problems import ApiError
from anew.surfaces.api.request import JSON, ApiRequest
from anew.surfaces.api.service import Service
from anew.surfaces.api.streams import ALIVE, BEGUN, STREAM, next_sign, stream_of
from anew.values import Object
from anew.views.words import rows_with_text

# What one look at the log may bring into memory, for each reader that does not read.
STREAM_PAGE_EVENTS = 500
STREAM_PAGE_BYTES = 256 * 1024
# Small events go out together.
STREAM_PIECE_BYTES = 16 * 1024
Words = Callable[[list[Event]], list[Object]]
_ENDS = (RunDone, RunFailed, RunCancelled)
ENDPOINTS = Endpoints("events")


@ENDPOINTS.get(
    "/runs/{run}/events",
    "Read the log of a run; with `Accept: text/event-stream` as a stream",
    shapes.EventPage,
    query=shapes.EventsAsked,
    forms=(JSON, STREAM),
)
async def list_events(request: ApiRequest) -> Response:
    """A page of the log; a stream where the Accept header asks for one no less."""
    if request.accepts(STREAM) and request.quality_of(STREAM) >= request.quality_of(JSON):
        return await stream(request)
    wanted = request.query(shapes.EventsAsked)
    row = await request.run()
    archive = request.engine.database.archive
    page = await read_page(archive, row.run, after=wanted.after, limit=wanted.limit)
    return JsonResponse({"events": rows_with_text(page.events), "next": page.next})


@ENDPOINTS.get(
    "/runs/{run}/events/stream",
    "Follow the log of a run; 204 when all of it was seen",
    answers={200: None, 204: None},
    query=shapes.StreamQuery,
    headers={"last-event-id": "the last event that was seen; wins over `after`"},
    forms=(STREAM,),
)
async def stream(request: ApiRequest) -> Response:
    """Every event after the one that the reader saw last, up to the last of the run."""
    _after(request)
    return await stream_in(request, await request.run(), rows_with_text)


async def stream_in(
    request: ApiRequest, row: RunRow, words: Words, *, reads_all: bool = False
) -> Response:
    """A stream in these words. `reads_all`: they lean on the events before, which are read too."""
    after = _after(request)
    if row.status in FINAL and after >= row.version:
        return Response(status_code=204)  # tells a browser not to come back
    begins = 0 if reads_all else after
    make = partial(EventLogStream, request.service, row.run, words, seen=after, after=begins)
    return stream_of(request, make, "a stream of events")


def _after(request: ApiRequest) -> int:
    seen = request.header("last-event-id")
    if not seen:
        return request.query(shapes.StreamQuery).after
    is_number = seen.isascii() and seen.isdigit() and len(seen) <= len(str(shapes.SEQUENCE_MAX))
    if not (is_number and int(seen) <= shapes.SEQUENCE_MAX):
        raise ApiError("bad-request", f"Last-Event-ID {seen[:40]!r} is not the number of an event")
    return int(seen)


class EventLogStream:
    """Tells the log of a run until the run has ended."""

    def __init__(
        self, service: Service, run: RunId, words: Words, *, seen: int, after: int
    ) -> None:
        self._service = service
        self._run = run
        self._words = words
        self._seen = seen
        self._after = after
        self._is_news = asyncio.Event()

    def on_notice(self, notice: Notice) -> None:
        if notice.run == self._run:
            self._is_news.set()

    async def chunks(self) -> AsyncIterator[bytes]:
        """What is sent, up to the run's end. Now and then something, even if nothing happens."""
        yield BEGUN
        alive_at, may_be_over = next_sign(self._service), True
        while True:
            self._is_news.clear()
            page = await self._page()
            for piece in self._pieces(page.events):
                yield piece
            if page.next is not None:
                continue
            if (may_be_over or _has_end(page.events)) and await self._is_over():
                return
            await self._wait_for_events()
            # A run that is silent so long may be gone altogether: looked at once more, too.
            may_be_over = asyncio.get_running_loop().time() >= alive_at
            if may_be_over:
                yield ALIVE
                alive_at = next_sign(self._service)

    def _pieces(self, events: list[Event]) -> Iterator[bytes]:
        """What is sent at once; the next is made when this one is on its way."""
        piece = b""
        for event in events:
            self._after = event.seq
            piece += b"".join(self._texts(event))
            if len(piece) >= STREAM_PIECE_BYTES:
                yield piece
                piece = b""
        if piece:
            yield piece

    def _texts(self, event: Event) -> Iterator[bytes]:
        """One block for each row; JSON has no line breaks of its own."""
        for row in self._words([event]):
            if row["seq"] > self._seen:
                yield b"id: %d\ndata: %s\n\n" % (row["seq"], msgspec.json.encode(row))

    async def _page(self) -> Page:
        return await read_page(
            self._service.engine.database.archive,
            self._run,
            after=self._after,
            limit=STREAM_PAGE_EVENTS,
            bytes_max=STREAM_PAGE_BYTES,
        )

    async def _is_over(self) -> bool:
        """Whether nothing can come any more."""
        row = await self._service.engine.database.archive.run(self._run)
        return row is None or (row.status in FINAL and self._after >= row.version)

    async def _wait_for_events(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._service.settings.stream_poll_seconds):
                await self._is_news.wait()


def _has_end(page: list[Event]) -> bool:
    return any(isinstance(event, _ENDS) for event in page)
