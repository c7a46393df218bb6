"""Asks a server over HTTP, and asks again while it cannot be reached.

Every operation is safe to repeat, so that a lost answer costs time and nothing else.
Knows requests and answers. Does not know what they are about.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Hashable, Iterator
from functools import cache
from itertools import repeat
from random import uniform
from typing import Any, NamedTuple, Optional, TypeVar, cast
from urllib.parse import urlsplit

import msgspec

from anew.errors import ConfigError
from anew.store import StoreError
from anew.stores.remote.http import Client, HttpReply, NotAnswered, NotHttp, ReplyTooLarge
from anew.stores.remote.route import NotSent, find_route
from anew.stores.remote.wire import (
    CURSOR_HEADER,
    MEDIA_TYPE,
    PATH,
    PROTOCOL,
    PROTOCOL_HEADER,
    REPEATED_HEADER,
    ErrorReply,
    bytes_max,
    error_of,
)

T = TypeVar("T")

# How long a server may be away: as long as it takes to start another in its place.
PATIENCE_SECONDS = 60.0
PAUSE_SECONDS_FIRST = 0.05
SERVER_PAUSE_SECONDS_MAX = 5.0
# For the first byte of an answer, and between two of them; what may wait there has its time added.
SERVER_ANSWER_SECONDS_MAX = 30.0
SERVER_CONNECTIONS_MAX = 100
# To say that a job is alive must not take as long as its lease. Who does not answer it by then is
# asked on another connection, and each time given more time: it may only be slow.
URGENT_SECONDS_MIN = 0.1
URGENT_CONNECTIONS_MAX = 4
# A server that is away, and a proxy before it that has too much to do.
_AWAY = frozenset({408, 429, 502, 503, 504})
_REPEATED = f"{REPEATED_HEADER}: 1\r\n".encode()
_CURSOR = CURSOR_HEADER.encode()
_MEDIA_TYPE = MEDIA_TYPE.encode()


class _Way(NamedTuple):
    """Which connections a try takes, and how long each piece of the answer may take."""

    client: Client
    answer_seconds: float


class _Trouble(NamedTuple):
    """Why a try gave nothing. `may_be_heard`: the server may have done what was asked."""

    error: Exception
    may_be_heard: bool


class ServerConnection:
    """Make one inside a running event loop; close it there."""

    def __init__(self, url: str, token: str | None, *, patience_seconds: float) -> None:
        self.url = checked_url(url)
        self.patience_seconds = patience_seconds
        # How far the server's notices had come when the newest answer was asked for.
        self.cursor = ""
        self._route, self._headers = find_route(self.url), _headers(token)
        self._client = self._client_of(SERVER_CONNECTIONS_MAX)
        # Of its own: the others may all have fallen silent, and be tried one after the other. Only
        # who works needs it.
        self._urgent: Client | None = None

    def _client_of(self, connections_max: int) -> Client:
        return Client(self._route, self._headers, connections_max=connections_max)

    async def ask(
        self,
        operation: str,
        asked: object,
        answer: type[T],
        *,
        wait_seconds: float = 0.0,
        patience_seconds: float | None = None,
        urgent_seconds: float | None = None,
    ) -> T:
        """What the server answers, or the error it refuses with.

        StoreError once it has been away for longer than there is patience. `urgent_seconds`: an
        answer is soon asked for again, after that long the first time.
        """
        reply = await self._ask(
            operation,
            asked,
            wait_seconds=wait_seconds,
            patience_seconds=patience_seconds,
            urgent_seconds=urgent_seconds,
        )
        return self._understood(operation, reply, answer)

    async def ask_maybe(self, operation: str, asked: object, answer: type[T]) -> T | None:
        """The same, where the answer may be that there is none."""
        reply = await self._ask(operation, asked)
        found: T | None = self._understood(operation, reply, Optional[answer])  # type: ignore[arg-type]  # noqa: UP045
        return found

    async def tell(self, operation: str, asked: object) -> None:
        """The same, where there is nothing to answer."""
        self._understood(operation, await self._ask(operation, asked), type(None))

    async def _ask(
        self,
        operation: str,
        asked: object,
        *,
        wait_seconds: float = 0.0,
        patience_seconds: float | None = None,
        urgent_seconds: float | None = None,
    ) -> HttpReply:
        body = msgspec.msgpack.encode(asked)
        _check_size(operation, len(body))
        patience = self.patience_seconds if patience_seconds is None else patience_seconds
        gives_up_at: float | None = None
        pause, headers = PAUSE_SECONDS_FIRST, b""
        for way in self._ways(wait_seconds, urgent_seconds):
            if self._client.is_closed:
                raise StoreError(f"the connection to {self.url} is closed.")
            got = await self._try(operation, body, headers=headers, way=way)
            if isinstance(got, HttpReply):
                return got
            now = time.monotonic()
            gives_up_at = now + patience if gives_up_at is None else gives_up_at
            if now >= gives_up_at:
                raise got.error
            if got.may_be_heard:
                headers = _REPEATED
            await asyncio.sleep(min(uniform(pause / 2, pause), gives_up_at - now))
            pause = min(pause * 2, SERVER_PAUSE_SECONDS_MAX)
        raise AssertionError("there is always another way")

    def _ways(self, wait_seconds: float, urgent_seconds: float | None) -> Iterator[_Way]:
        """How each try is made, for ever."""
        if urgent_seconds is None:
            yield from repeat(_Way(self._client, SERVER_ANSWER_SECONDS_MAX + wait_seconds))
            return
        if self._urgent is None:
            self._urgent = self._client_of(URGENT_CONNECTIONS_MAX)
        seconds = max(urgent_seconds, URGENT_SECONDS_MIN)
        while True:
            yield _Way(self._urgent, min(seconds, SERVER_ANSWER_SECONDS_MAX))
            seconds *= 2

    async def close(self) -> None:
        await self._client.close()
        if self._urgent is not None:
            await self._urgent.close()

    async def _try(
        self, operation: str, body: bytes, *, headers: bytes, way: _Way
    ) -> HttpReply | _Trouble:
        """One request. What may pass is trouble; what will not is raised."""
        try:
            reply = await way.client.post(
                PATH + operation, body, headers=headers, answer_seconds=way.answer_seconds
            )
        except ReplyTooLarge as error:
            raise self._not_a_server(str(error)) from error
        except (NotSent, NotAnswered) as error:
            if operation == "hello" and isinstance(error, NotHttp):
                raise self._not_a_server(f"it does not speak HTTP: {error}") from error
            what = str(error).rstrip(".")
            away = StoreError(
                f"the server {self.url} cannot be reached: {what}. "
                "Is it an Anew server, and is it running?"
            )
            return _Trouble(away, isinstance(error, NotAnswered))
        self.cursor = reply.headers.get(_CURSOR, self.cursor.encode()).decode("latin-1")
        refusal = _refusal(reply)
        # Our own failures say so. What else fails is between us and the server, or is the server
        # as it stops; only who speaks to it for the first time may have the wrong address.
        is_foreign = reply.status >= 500 and refusal is None and operation != "hello"
        if reply.status not in _AWAY and not is_foreign:
            return reply
        said = refusal.message if refusal is not None else f"HTTP {reply.status}"
        return _Trouble(StoreError(f"the server {self.url} cannot do it now: {said}"), True)

    def _understood(self, operation: str, reply: HttpReply, answer: type[T]) -> T:
        if reply.status == 200 and _media_type(reply) == _MEDIA_TYPE:
            try:
                found: T = _decoder(cast(Hashable, answer)).decode(reply.body)
                return found
            except msgspec.DecodeError as error:
                raise self._not_a_server(
                    f"its answer to {operation} cannot be read: {error}"
                ) from error
        refusal = _refusal(reply)
        if refusal is not None:
            raise error_of(refusal)
        if reply.status == 401:
            raise ConfigError(self._unauthorized())
        if reply.status == 413:
            raise ConfigError(
                f"{operation} is too large for the server {self.url} or a proxy before it. "
                "Raise the limit of the proxy, or let steps give smaller results."
            )
        raise self._not_a_server(f"it answered {operation} with HTTP {reply.status}")

    def _unauthorized(self) -> str:
        if "authorization" in self._headers:
            return (
                f"the server {self.url} does not accept the token. "
                "Give the one it was started with (--token-file or ANEW_TOKEN)."
            )
        return (
            f"the server {self.url} needs a token. Give it with --token-file DATABASE.token (the "
            "file that the server names when it starts) or with ANEW_TOKEN."
        )

    def _not_a_server(self, found: str) -> ConfigError:
        return ConfigError(
            f"{self.url} is not an Anew server of this version ({found}). "
            "Check the address: it is the one that `anew serve` prints."
        )


def checked_url(url: str) -> str:
    """Without a slash at its end; ConfigError when it is not the address of a server."""
    try:
        parts = urlsplit(url)
        has_port = parts.port is None or parts.port > 0
    except ValueError:
        has_port = False
    if not has_port or parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(
            f"{url!r} is not the address of a server. Write one like http://127.0.0.1:8700"
        )
    if parts.username is not None or parts.query or parts.fragment:
        raise ConfigError(
            "the address of a server has a host, a port and a path only. "
            "Give the token with ANEW_TOKEN."
        )
    return parts.geturl().rstrip("/")


def _headers(token: str | None) -> dict[str, str]:
    headers = {
        PROTOCOL_HEADER: str(PROTOCOL),
        "content-type": MEDIA_TYPE,
        "accept-encoding": "identity",
    }
    if token is not None:
        if not token.isascii() or not token.isprintable() or " " in token or not token:
            raise ConfigError("the token must be printable ASCII characters without spaces.")
        headers["authorization"] = f"Bearer {token}"
    return headers


def _check_size(operation: str, size: int) -> None:
    limit = bytes_max(operation)
    if size > limit:
        raise ConfigError(
            f"{operation} has {size:,} bytes, and a server takes {limit:,} at most. "
            "Let steps give smaller results, and keep large data in files or tables."
        )


@cache
def _decoder(answer: Hashable) -> msgspec.msgpack.Decoder[Any]:
    decoder: msgspec.msgpack.Decoder[Any] = msgspec.msgpack.Decoder(cast(Any, answer))
    return decoder


def _media_type(reply: HttpReply) -> bytes:
    return reply.headers.get(b"content-type", b"")


def _refusal(reply: HttpReply) -> ErrorReply | None:
    if reply.status == 200 or _media_type(reply) != _MEDIA_TYPE:
        return None
    try:
        return msgspec.msgpack.decode(reply.body, type=ErrorReply)
    except msgspec.DecodeError:
        return None
