"""Where workers and the command line of other machines ask this server: one route, plain ASGI.

Every step of every worker comes along here. Reads a request within its limits, has its operation
done in time, and answers, whatever goes wrong. What operations do is in `operations`.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections import OrderedDict
from collections.abc import Coroutine
from typing import Any, TypeAlias

import msgspec
from msgspec import Raw
from starlette.requests import ClientDisconnect, Request
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from anew import __version__
from anew.errors import AnewError, ConfigError
from anew.runtime.engine import Engine
from anew.runtime.lease_dispatcher import LeaseDispatcher, stopping
from anew.store import StoreError
from anew.stores.remote import wire
from anew.surfaces.api.operations import OPERATIONS, WAITING, Control, OutcomeUnknown
from anew.surfaces.api.settings import STORE_SECONDS_MAX

# What a proxy may go by; our own clients have a pause of their own.
RETRY_AFTER_SECONDS = 1
_CURSOR = wire.CURSOR_HEADER.encode()
_MEDIA_TYPE = wire.MEDIA_TYPE.encode()
_PROTOCOL_HEADER = wire.PROTOCOL_HEADER.encode()
_REPEATED = wire.REPEATED_HEADER.encode()
_DECODERS = {name: msgspec.msgpack.Decoder(takes) for name, takes in wire.OPERATIONS.items()}
_encode = msgspec.msgpack.Encoder().encode
_log = logging.getLogger("anew.control")

# A status, and an answer or a refusal.
Outcome: TypeAlias = tuple[int, object]


class RequestTooLarge(ConfigError):
    """A request over its limit."""


class _HttpCaller:
    def __init__(self, scope: Scope, receive: Receive) -> None:
        self._scope = scope
        self._receive = receive

    @property
    def is_repeated(self) -> bool:
        return any(name == _REPEATED for name, _ in self._scope["headers"])

    async def gone(self) -> None:
        """Return once the connection is closed. The body must have been read."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def is_gone(self) -> bool:
        return await Request(self._scope, self._receive).is_disconnected()


def control_routes(engine: Engine, dispatcher: LeaseDispatcher) -> list[Route]:
    """The one route for one engine. To close the dispatcher ends everything that waits here."""
    control = Control(engine, dispatcher, OrderedDict())
    return [Route(f"{wire.PATH}{{operation}}", ControlPoint(control), methods=["POST"])]


class ControlPoint:
    """Answers the requests of one server."""

    def __init__(self, control: Control) -> None:
        self._control = control

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        cursor = self._control.dispatcher.board.cursor.encode()
        try:
            status, body = await _answer(self._control, scope, receive)
        except asyncio.CancelledError:
            if not self._control.dispatcher.is_closed:
                raise
            # The server stops, and this took longer than it waits. Whoever asked will ask again.
            _uncancel()
            status, refusal = wire.refusal_of(stopping())
            body = _encode(refusal)
        headers = [
            (b"content-type", _MEDIA_TYPE),
            (b"content-length", b"%d" % len(body)),
            (_CURSOR, cursor),
        ]
        if status == 503:
            headers.append((b"retry-after", b"%d" % RETRY_AFTER_SECONDS))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


class ControlFirst:
    """Leads to the route of workers without looking at the others; to those for anything else."""

    def __init__(self, app: ASGIApp, *, route: Route) -> None:
        self._app = app
        self._route = route

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "POST" and _is_control(scope["path"]):
            scope["route"] = self._route
            await self._route.app(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _is_control(path: str) -> bool:
    return path.startswith(wire.PATH) and path.count("/") == wire.PATH.count("/")


async def _answer(control: Control, scope: Scope, receive: Receive) -> tuple[int, bytes]:
    operation = scope["path"].rpartition("/")[2]
    caller = _HttpCaller(scope, receive)
    status, asked = await _outcome(control, operation, _read_request(operation, scope, receive))
    if status != 200:
        return status, _encode(asked)
    do = OPERATIONS[operation]
    if not isinstance(asked, list):
        work = _done(operation, do(control, asked, caller))
        status, answer = await _outcome(control, operation, work)
        return status, _encode(answer)
    works = [_done(operation, do(control, one, caller)) for one in asked]
    return _joined(await _all_of([_outcome(control, operation, work) for work in works]))


async def _done(operation: str, work: Coroutine[Any, Any, object]) -> Raw:
    """Sooner than whoever asks gives up, so that it hears why."""
    try:
        async with asyncio.timeout(None if operation in WAITING else STORE_SECONDS_MAX):
            return Raw(_encode(await work))
    except TimeoutError as error:
        raise StoreError(
            f"the database of the server gave no answer within {STORE_SECONDS_MAX:g} s."
        ) from error


async def _all_of(works: list[Coroutine[Any, Any, Outcome]]) -> list[Outcome]:
    """At once, so that the store can do them together. One needs no task of its own."""
    return [await works[0]] if len(works) == 1 else await asyncio.gather(*works)


def _joined(outcomes: list[Outcome]) -> tuple[int, bytes]:
    """A list of answers and refusals; a refusal alone if the store can do nothing now."""
    status, first = outcomes[0]
    if status != 200 and (len(outcomes) == 1 or all(status == 503 for status, _ in outcomes)):
        return status, _encode(first)
    parts: list[Raw] = []
    size = 0
    for _, answer in outcomes:
        part = Raw(_encode(answer))
        size += len(part)
        if parts and size > wire.PAGE_BYTES_MAX:
            break
        parts.append(part)
    return 200, _encode(parts)


async def _outcome(control: Control, operation: str, work: Coroutine[Any, Any, object]) -> Outcome:
    """What it comes to, or the status and the refusal of what went wrong."""
    try:
        return 200, await work
    except ClientDisconnect:
        return 400, wire.ErrorReply("ConfigError", "the request was cut off")
    except RequestTooLarge as error:
        return 413, wire.ErrorReply("ConfigError", str(error))
    except OutcomeUnknown as error:
        return 409, wire.ErrorReply("StoreError", str(error))
    except AnewError as error:
        return wire.refusal_of(error)
    except Exception as error:  # a bug of ours must be an answer too, or it is asked again
        redact = control.engine.keychain.redactor.redact_text
        _log.error("%s failed:\n%s", operation, redact(traceback.format_exc()))
        said = f"the server failed at {operation} ({type(error).__name__}). Its log says more."
        return 500, wire.ErrorReply("StoreError", said)


def _uncancel() -> None:
    task = asyncio.current_task()
    if task is not None:
        task.uncancel()


async def _read_request(operation: str, scope: Scope, receive: Receive) -> Any:
    decoder = _DECODERS.get(operation)
    if decoder is None:
        raise ConfigError(f"there is no operation {operation!r} in Anew {__version__}.")
    headers = dict(scope["headers"])
    spoken = headers.get(_PROTOCOL_HEADER, b"").decode("latin-1") or None
    if operation != "hello" and spoken != str(wire.PROTOCOL):
        raise ConfigError(
            f"this server is Anew {__version__} and speaks protocol {wire.PROTOCOL}, not "
            f"{spoken}. Use the same version on both sides."
        )
    body = await _body(operation, headers.get(b"content-length", b"0"), receive)
    try:
        asked = decoder.decode(body)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise ConfigError(f"{operation} cannot be read: {error}") from error
    wire.check_numbers(asked)
    return asked


async def _body(operation: str, told: bytes, receive: Receive) -> bytes:
    """Read in pieces, and no further than allowed."""
    limit = wire.bytes_max(operation)
    pieces: list[bytes] = []
    size, has_more = int(told) if told.isdigit() else limit + 1, True
    while has_more and size <= limit:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        pieces.append(message.get("body", b""))
        has_more = message.get("more_body", False)
        size = sum(map(len, pieces))
    if size > limit:
        raise RequestTooLarge(f"{operation} has more than {limit:,} bytes, the limit here.")
    return b"".join(pieces)
