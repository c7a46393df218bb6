"""Server-sent events: how a stream begins, stays open, and ends.

Knows readers that go away and servers that stop. Does not know what is told.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Protocol

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from anew.store import Notice, StoreError
from anew.surfaces.api.endpoint import log_failure, log_unavailable
from anew.surfaces.api.problems import ApiError, api_error_of, stopping
from anew.surfaces.api.request import ApiRequest
from anew.surfaces.api.service import Service

STREAM = "text/event-stream"
# What a reader is told first, and what it is told now and then, even if nothing happens.
BEGUN = b": anew\n\n"
ALIVE = b": alive\n\n"


class StreamSource(Protocol):
    """Who has something to tell."""

    def on_notice(self, notice: Notice) -> None:
        """Something was committed, here or elsewhere."""

    def chunks(self) -> AsyncIterator[bytes]:
        """What is sent, to the end."""


def stream_of(request: ApiRequest, make: Callable[[], StreamSource], what: str) -> Response:
    """A stream; ApiError when the server stops, or has as many as it may."""
    service = request.service
    if service.stopping.is_set():
        raise stopping()
    if service.streams >= (limit := service.settings.streams_max):
        raise ApiError("unavailable", f"{limit:,} streams are open here; there can be no more")
    if request.http.method == "HEAD":
        return Response(media_type=STREAM)
    return Stream(service, make(), what)


def next_sign(service: Service) -> float:
    """When a silent stream is to say that it is alive, on the clock of the loop."""
    return asyncio.get_running_loop().time() + service.settings.keep_alive_seconds


class Stream(Response):
    """Server-sent events until there are no more, the reader goes away, or the server stops."""

    def __init__(self, service: Service, source: StreamSource, what: str) -> None:
        super().__init__(media_type=STREAM, headers={"Cache-Control": "no-store"})
        del self.headers["content-length"]
        self._service = service
        self._source = source
        self._what = what

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        del scope
        service, notices = self._service, self._service.engine.database.notices
        service.streams += 1
        stop_listening = notices.listen(self._source.on_notice)
        telling = asyncio.ensure_future(self._send_chunks(send))
        others = [asyncio.ensure_future(wait) for wait in (_gone(receive), self._stopping())]
        try:
            await asyncio.wait({telling, *others}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stop_listening()
            service.streams -= 1
            for task in (telling, *others):
                task.cancel()
            ended, *_ = await asyncio.gather(telling, *others, return_exceptions=True)
        with suppress(OSError):
            await send(self._last_words(ended))

    async def _stopping(self) -> None:
        await self._service.stopping.wait()

    async def _send_chunks(self, send: Send) -> None:
        await send(
            {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        )
        async for chunk in self._source.chunks():
            await send({"type": "http.response.body", "body": chunk, "more_body": True})

    def _last_words(self, ended: object) -> Message:
        """How a stream closes. A reader that comes back goes on after what it was told."""
        text = b""
        if isinstance(ended, StoreError):
            log_unavailable(ended, self._what, self._service)
            text = f": {api_error_of(ended).detail}\n\n".encode()
        elif isinstance(ended, Exception) and not isinstance(ended, OSError):
            log_failure(ended, self._what, self._service)
        return {"type": "http.response.body", "body": text, "more_body": False}


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
