"""Listen, and hand every request to its route. Nothing a client sends ends the server."""

from __future__ import annotations

import asyncio
import time
from types import TracebackType

from anew.errors import ConfigError
from anew.lab.server.ledger import CallLedger
from anew.lab.server.routes import answer_to
from anew.lab.server.wire import (
    LAB_HEAD_BYTES_MAX,
    LAB_IDLE_SECONDS_MAX,
    Answer,
    Refused,
    Request,
    read_request,
    refusal,
    write_answer,
)

LAB_CONNECTIONS_MAX = 256


class LabServer:
    """The server while it is entered: `async with LabServer() as server: server.url`."""

    def __init__(self, *, host: str = "127.0.0.1", port: int = 0) -> None:
        self._host = host
        self._port = port
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._spoke_at = time.monotonic()
        self._requests_open = 0
        self.ledger = CallLedger()
        self.connections_seen = 0

    @property
    def url(self) -> str:
        """Its address without a slash at the end."""
        assert self._server is not None, "the server is not running"
        host, port = self._server.sockets[0].getsockname()[:2]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    @property
    def idle_seconds(self) -> float:
        """How long no request has been under way."""
        return 0.0 if self._requests_open else time.monotonic() - self._spoke_at

    async def __aenter__(self) -> LabServer:
        try:
            self._server = await asyncio.start_server(
                self._serve, self._host, self._port, limit=LAB_HEAD_BYTES_MAX
            )
        except OSError as error:
            why = error.strerror or str(error)
            raise ConfigError(f"cannot listen on {self._host}:{self._port}: {why}") from None
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections_seen += 1
        task = asyncio.current_task()
        assert task is not None
        if len(self._connections) >= LAB_CONNECTIONS_MAX:
            writer.transport.abort()
            return
        self._connections.add(task)
        try:
            await self._converse(reader, writer)
            writer.close()
            async with asyncio.timeout(LAB_IDLE_SECONDS_MAX):
                await writer.wait_closed()
        except (ConnectionError, TimeoutError, asyncio.CancelledError):
            pass  # the client went away, does not read, or the server stops
        finally:
            writer.transport.abort()  # does nothing to a connection that is closed
            self._connections.discard(task)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            try:
                request = await read_request(reader)
            except Refused as refused:  # what follows on this connection cannot be understood
                await write_answer(writer, refusal(refused), is_last=True)
                return
            if request is None:
                return
            answer = await self._answer(request)
            is_last = request.is_last or answer.cut_at is not None
            async with asyncio.timeout(LAB_IDLE_SECONDS_MAX):
                is_head = request.method == "HEAD"
                await write_answer(writer, answer, is_head=is_head, is_last=is_last)
            if is_last:
                return

    async def _answer(self, request: Request) -> Answer:
        self._requests_open += 1
        try:
            return await answer_to(request, self.ledger)
        except Refused as refused:
            return refusal(refused)
        finally:
            self._requests_open -= 1
            self._spoke_at = time.monotonic()
