"""What workers and the command line of other machines ask of this server: one route, one table.

Each operation is a row: what it takes is in `stores.remote.wire`, what it does is here. Commits are
written as they come; nobody here decodes an event.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeAlias, cast

import msgspec
from msgspec import Struct
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from anew import __version__
from anew.errors import AnewError, ConfigError
from anew.runtime.embedded import Embedded
from anew.runtime.lease_desk import LeaseDesk, stopping
from anew.runtime.orders import Request as Order
from anew.runtime.orders import obey
from anew.store import Batch, JobRef, RunFilter, SealedCredential, StoredProgram, StoreError
from anew.stores.codec import snapshot_format
from anew.stores.notices import wish_of
from anew.stores.packing import PackedCommit, ReadsPacked, WritesPacked, cut
from anew.stores.remote import wire
from anew.surfaces.api.settings import STORE_SECONDS_MAX

# Answers of orders, in case one did not arrive and the same is asked again.
ORDERS_KEPT_MAX = 1_000
# Operations that wait on purpose.
WAITING = frozenset({"store.lease", "notices"})
# Orders that change nothing when they are obeyed again; so does any other that has a key.
REPEATABLE = frozenset(
    "cancel pause resume resume_all adopt register prune seal".split(),
)
# What a proxy may go by; our own clients have a pause of their own.
RETRY_AFTER_SECONDS = 1
_log = logging.getLogger("anew.control")


class TooLarge(ConfigError):
    """A request over its limit."""


class Unknown(StoreError):
    """Whether an order was obeyed is not known here. To ask again would not help."""


class Control(Struct, eq=False):
    """What the operations work on."""

    engine: Embedded
    desk: LeaseDesk
    orders: OrderedDict[str, asyncio.Task[bytes]]

    @property
    def store(self) -> WritesPacked:
        return cast(WritesPacked, self.engine.database.store)

    @property
    def archive(self) -> ReadsPacked:
        return cast(ReadsPacked, self.engine.database.archive)


class Caller(Protocol):
    """Who asks: whether it is still there, and whether it may have asked before."""

    is_repeated: bool

    async def gone(self) -> None: ...

    async def is_gone(self) -> bool: ...


class _HttpCaller:
    def __init__(self, request: Request) -> None:
        self._request = request
        self.is_repeated = wire.REPEATED_HEADER in request.headers

    async def gone(self) -> None:
        """Return once the connection is closed. The body must have been read."""
        while (await self._request.receive())["type"] != "http.disconnect":
            pass

    async def is_gone(self) -> bool:
        return await self._request.is_disconnected()


def control_routes(engine: Embedded, desk: LeaseDesk) -> list[Route]:
    """The routes for one engine. Whoever closes the desk ends everything that waits here."""
    control = Control(engine, desk, OrderedDict())

    async def answer(request: Request) -> Response:
        cursor = desk.board.cursor
        response = await _answer(control, request)
        response.headers[wire.CURSOR_HEADER] = cursor
        return response

    return [Route(f"{wire.PATH}{{operation}}", answer, methods=["POST"])]


async def _answer(control: Control, request: Request) -> Response:
    operation = request.path_params["operation"]
    try:
        asked = await _asked(operation, request)
        # Sooner than whoever asks gives up, so that it hears why.
        async with asyncio.timeout(None if operation in WAITING else STORE_SECONDS_MAX):
            done = await OPERATIONS[operation](control, asked, _HttpCaller(request))
        return _response(200, done)
    except TimeoutError:
        said = f"the database of the server gave no answer within {STORE_SECONDS_MAX:g} s."
        return _response(503, wire.Refusal("StoreError", said))
    except asyncio.CancelledError:
        if not control.desk.is_closed:
            raise
        # The server stops, and this took longer than it waits. Whoever asked will ask again.
        _uncancel()
        return _response(*wire.refusal_of(stopping()))
    except ClientDisconnect:
        return _response(400, wire.Refusal("ConfigError", "the request was cut off"))
    except TooLarge as error:
        return _response(413, wire.Refusal("ConfigError", str(error)))
    except Unknown as error:
        return _response(409, wire.Refusal("StoreError", str(error)))
    except AnewError as error:
        return _response(*wire.refusal_of(error))
    except Exception as error:  # a bug of ours must be an answer too, or it is asked again
        redact = control.engine.keychain.redactor.redact_text
        _log.error("%s failed:\n%s", operation, redact(traceback.format_exc()))
        said = f"the server failed at {operation} ({type(error).__name__}). Its log says more."
        return _response(500, wire.Refusal("StoreError", said))


def _response(status: int, answer: object) -> Response:
    body = msgspec.msgpack.encode(answer)
    headers = {"retry-after": str(RETRY_AFTER_SECONDS)} if status == 503 else None
    return Response(body, status, headers, media_type=wire.MEDIA_TYPE)


def _uncancel() -> None:
    task = asyncio.current_task()
    if task is not None:
        task.uncancel()


async def _asked(operation: str, request: Request) -> Any:
    takes = wire.OPERATIONS.get(operation)
    if takes is None:
        raise ConfigError(f"there is no operation {operation!r} in Anew {__version__}.")
    spoken = request.headers.get(wire.PROTOCOL_HEADER)
    if operation != "hello" and spoken != str(wire.PROTOCOL):
        raise ConfigError(
            f"this server is Anew {__version__} and speaks protocol {wire.PROTOCOL}, not "
            f"{spoken}. Use the same version on both sides."
        )
    body = await _body(operation, request)
    try:
        asked = msgspec.msgpack.decode(body, type=takes)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ConfigError(f"{operation} cannot be read: {error}") from error
    wire.check_numbers(asked)
    return asked


async def _body(operation: str, request: Request) -> bytes:
    """Read in pieces, and no further than allowed."""
    limit = wire.bytes_max(operation)
    told = request.headers.get("content-length", "0")
    body = bytearray()
    if told.isdecimal() and int(told) <= limit:
        async for piece in request.stream():
            body += piece
            if len(body) > limit:
                break
        else:
            return bytes(body)
    raise TooLarge(f"{operation} has more than {limit:,} bytes, which is the limit here.")


# --- the server itself -------------------------------------------------------------------------


async def _hello(control: Control, _: wire.Nothing, __: Caller) -> wire.Hello:
    now = control.engine.database.clock.now()
    boot = control.desk.board.boot
    return wire.Hello(wire.PROTOCOL, __version__, snapshot_format(), boot, now)


async def _time(control: Control, _: wire.Nothing, __: Caller) -> int:
    return control.engine.database.clock.now()


async def _notices(control: Control, asked: wire.NoticesAsked, _: Caller) -> wire.NoticePage:
    wait_seconds = min(asked.wait_seconds, wire.WAIT_SECONDS_MAX)
    wish = wish_of(turns_only=asked.turns_only, runs=asked.runs)
    return wire.NoticePage(*await control.desk.board.after(asked.after, wait_seconds, wish))


async def _order(control: Control, asked: wire.OrderAsked, caller: Caller) -> bytes:
    """Obeyed once, however often it is asked; to the end, whoever goes away."""
    task = control.orders.get(asked.id)
    if task is None:
        order = _read_order(asked.request)
        if caller.is_repeated and not _may_be_repeated(order):
            raise Unknown(
                "the server was restarted before it could answer: whether it did what was asked "
                "is not known. Look at the runs before you ask again."
            )
        task = asyncio.create_task(_obey(control.engine, order))
        # Whoever asked may be gone by then, and with it the only one to hear of a failure.
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        control.orders[asked.id] = task
        _forget_oldest(control.orders)
    return await asyncio.shield(task)


def _read_order(request: bytes) -> Order:
    try:
        order = msgspec.json.decode(request, type=Order)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ConfigError(f"the order cannot be read: {error}") from error
    wire.check_numbers([order.before, order.version, order.asked])
    return order


def _may_be_repeated(order: Order) -> bool:
    """Whether obeying it twice is the same as obeying it once."""
    return order.do in REPEATABLE or order.key is not None or order.id is not None


async def _obey(engine: Embedded, order: Order) -> bytes:
    return msgspec.json.encode(await obey(engine, order))


def _forget_oldest(orders: OrderedDict[str, asyncio.Task[bytes]]) -> None:
    for name in list(orders)[: max(0, len(orders) - ORDERS_KEPT_MAX)]:
        if orders[name].done():
            del orders[name]


# --- the store ---------------------------------------------------------------------------------


async def _commit(control: Control, asked: PackedCommit, _: Caller) -> None:
    if [row.seq for row in asked.rows] != list(range(asked.expected + 1, asked.version + 1)):
        raise ConfigError(f"the events of a commit of run {asked.run} have gaps.")
    if asked.park is not None and asked.lease is None:
        raise ConfigError(f"a commit of run {asked.run} parks a job without its lease.")
    await control.store.write(asked)


async def _load(control: Control, asked: wire.LoadAsked, _: Caller) -> wire.Loaded | None:
    found = await control.store.read(asked.run, knows=asked.knows)
    if found is None:
        return None
    rows = found.events.rows
    version = rows[-1].seq if rows else 0
    page = cut(found.events, wire.PAGE_BYTES_MAX)
    return wire.Loaded(msgspec.structs.replace(found, events=page), version)


async def _lease(control: Control, asked: wire.LeaseAsked, caller: Caller) -> Batch:
    wait_seconds = min(asked.wait_seconds, wire.WAIT_SECONDS_MAX)
    asked = msgspec.structs.replace(asked, wait_seconds=wait_seconds)
    batch = await control.desk.lease(asked, caller.gone)
    if batch.leases and await caller.is_gone():
        await control.desk.leave(asked.ticket)
    return batch


async def _leave(control: Control, asked: wire.TicketAsked, _: Caller) -> None:
    await control.desk.leave(asked.ticket)


async def _extend(control: Control, asked: wire.ExtendAsked, _: Caller) -> object:
    return await control.engine.database.store.extend(asked.leases, asked.until)


async def _expired(control: Control, asked: wire.ExpiredAsked, _: Caller) -> object:
    return await control.engine.database.store.expired(asked.now, runs=asked.runs)


async def _release(control: Control, asked: wire.ReleaseAsked, _: Caller) -> None:
    await control.engine.database.store.release(asked.lease, due_at=asked.due_at)


async def _wake(control: Control, asked: JobRef, _: Caller) -> None:
    await control.engine.database.store.wake(asked)


# --- the archive -------------------------------------------------------------------------------


async def _run(control: Control, asked: wire.RunAsked, _: Caller) -> object:
    return await control.engine.database.archive.run(asked.run)


async def _runs(control: Control, asked: RunFilter, _: Caller) -> object:
    if not 0 <= asked.limit <= wire.ROWS_MAX:
        raise ConfigError(f"the limit of runs is {asked.limit}; it goes up to {wire.ROWS_MAX}.")
    return await control.engine.database.archive.runs(asked)


async def _run_of_key(control: Control, asked: wire.TextAsked, _: Caller) -> object:
    return await control.engine.database.archive.run_of_key(asked.text)


async def _events(control: Control, asked: wire.EventsAsked, _: Caller) -> wire.EventPage:
    found = await control.archive.rows(asked.run, after=asked.after, limit=asked.limit)
    page = cut(found, wire.PAGE_BYTES_MAX)
    return wire.EventPage(page, is_cut=len(page.rows) < len(found.rows))


async def _jobs(control: Control, asked: wire.RunAsked, _: Caller) -> object:
    return await control.engine.database.archive.jobs(asked.run)


async def _prune(control: Control, asked: wire.PruneAsked, _: Caller) -> int:
    archive = control.engine.database.archive
    return await archive.prune(ended_before=asked.ended_before, limit=asked.limit)


# --- programs and credentials ------------------------------------------------------------------


async def _keep(control: Control, asked: StoredProgram, _: Caller) -> None:
    await control.engine.database.catalog.keep(asked)


async def _register(control: Control, asked: StoredProgram, _: Caller) -> object:
    return await control.engine.database.catalog.register(asked)


async def _get(control: Control, asked: wire.TextAsked, _: Caller) -> object:
    return await control.engine.database.catalog.get(asked.text)


async def _find(control: Control, asked: wire.ProgramAsked, _: Caller) -> object:
    return await control.engine.database.catalog.find(asked.name, asked.version)


async def _programs(control: Control, _: wire.Nothing, __: Caller) -> object:
    return await control.engine.database.catalog.programs()


async def _seal(control: Control, asked: SealedCredential, _: Caller) -> None:
    await control.engine.database.vault.seal(asked)


async def _sealed(control: Control, asked: wire.TextAsked, _: Caller) -> object:
    return await control.engine.database.vault.sealed(asked.text)


async def _names(control: Control, _: wire.Nothing, __: Caller) -> object:
    return await control.engine.database.vault.names()


async def _forget(control: Control, asked: wire.TextAsked, _: Caller) -> bool:
    return await control.engine.database.vault.forget(asked.text)


Operation: TypeAlias = Callable[[Control, Any, Caller], Awaitable[object]]
OPERATIONS: dict[str, Operation] = {
    "hello": _hello,
    "time": _time,
    "order": _order,
    "notices": _notices,
    "store.commit": _commit,
    "store.load": _load,
    "store.lease": _lease,
    "store.leave": _leave,
    "store.extend": _extend,
    "store.expired": _expired,
    "store.release": _release,
    "store.wake": _wake,
    "archive.run": _run,
    "archive.runs": _runs,
    "archive.run_of_key": _run_of_key,
    "archive.events": _events,
    "archive.jobs": _jobs,
    "archive.prune": _prune,
    "catalog.keep": _keep,
    "catalog.register": _register,
    "catalog.get": _get,
    "catalog.find": _find,
    "catalog.programs": _programs,
    "vault.seal": _seal,
    "vault.sealed": _sealed,
    "vault.names": _names,
    "vault.forget": _forget,
}
