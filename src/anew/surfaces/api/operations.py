"""What each operation that a server is asked for does: one row each.

What it takes is in `stores.remote.wire`; `commit_checks` and `input_checks` check it.
Nobody here knows how requests arrive.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol, TypeAlias

import msgspec
from msgspec import Struct

from anew import __version__
from anew.errors import ConfigError
from anew.runtime.command_executor import execute
from anew.runtime.commands import Command, SealCredential, is_repeatable, read_command
from anew.runtime.engine import Engine
from anew.runtime.lease_dispatcher import LeaseDispatcher
from anew.store import (
    Database,
    LeaseResult,
    NewArtifact,
    PackedCommit,
    Presence,
    RunFilter,
    SealedCredential,
    StoredProgram,
    StoreError,
)
from anew.stores.codec import snapshot_format
from anew.stores.notices import notice_filter
from anew.stores.packing import cut
from anew.stores.remote import wire
from anew.surfaces.api.commit_checks import (
    check_commit,
    check_guards,
    checked_program,
    is_checked_at_once,
)
from anew.surfaces.api.input_checks import (
    check_artifact,
    check_credential,
    check_filter,
    checked_presence,
)

# Answers of commands, in case one did not arrive and the same is asked again.
COMMANDS_KEPT_MAX = 1_000
# Operations that wait on purpose.
WAITING = frozenset({"store.lease", "notices"})


class OutcomeUnknown(StoreError):
    """Whether a command was executed is not known here. To ask again would not help."""


class Control(Struct, eq=False):
    """What the operations work on."""

    engine: Engine
    dispatcher: LeaseDispatcher
    orders: OrderedDict[str, asyncio.Task[bytes]]

    @property
    def database(self) -> Database:
        return self.engine.database


class RemoteCaller(Protocol):
    """Who asks: whether it is still there, and whether it may have asked before."""

    @property
    def is_repeated(self) -> bool: ...

    async def gone(self) -> None: ...

    async def is_gone(self) -> bool: ...


# --- the server itself -------------------------------------------------------------------------


async def _hello(control: Control, _: wire.EmptyRequest, __: RemoteCaller) -> wire.Hello:
    now = control.database.clock.now()
    boot = control.dispatcher.board.boot
    return wire.Hello(wire.PROTOCOL, __version__, snapshot_format(), boot, now)


async def _time(control: Control, _: wire.EmptyRequest, __: RemoteCaller) -> int:
    return control.database.clock.now()


async def _notices(
    control: Control, asked: wire.NoticesRequest, _: RemoteCaller
) -> wire.NoticePage:
    wait_seconds = min(asked.wait_seconds, wire.WAIT_SECONDS_MAX)
    chosen = notice_filter(turns_only=asked.turns_only, runs=asked.runs)
    return wire.NoticePage(*await control.dispatcher.board.after(asked.after, wait_seconds, chosen))


async def _order(control: Control, asked: wire.OrderRequest, caller: RemoteCaller) -> bytes:
    """Executed once, however often it is asked; to the end, whoever goes away."""
    task = control.orders.get(asked.id)
    if task is None:
        command = _read_command(asked.request)
        if caller.is_repeated and not is_repeatable(command):
            raise OutcomeUnknown(
                "the server was restarted before it could answer: whether it did what was asked "
                "is not known. Look at the runs before you ask again."
            )
        task = asyncio.create_task(_execute(control.engine, command))
        # Whoever asked may be gone by then, and with it the only one to hear of a failure.
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        control.orders[asked.id] = task
        _forget_oldest(control.orders)
    return await asyncio.shield(task)


def _read_command(request: bytes) -> Command:
    command = read_command(request)
    if isinstance(command, SealCredential):
        wire.check_numbers(command.sealed)
        check_credential(command.sealed)
    return command


async def _execute(engine: Engine, command: Command) -> bytes:
    return msgspec.json.encode(await execute(engine, command))


def _forget_oldest(orders: OrderedDict[str, asyncio.Task[bytes]]) -> None:
    for name in list(orders)[: max(0, len(orders) - COMMANDS_KEPT_MAX)]:
        if orders[name].done():
            del orders[name]


# --- the store ---------------------------------------------------------------------------------


async def _commit(control: Control, asked: PackedCommit, _: RemoteCaller) -> None:
    if is_checked_at_once(asked):
        check_commit(asked)
    else:
        await asyncio.to_thread(check_commit, asked)
    await control.database.store.write(asked)


async def _load(
    control: Control, asked: wire.LoadRequest, _: RemoteCaller
) -> wire.LoadedRun | None:
    found = await control.database.store.read(asked.run, knows=asked.knows)
    if found is None:
        return None
    rows = found.events.rows
    version = rows[-1].seq if rows else 0
    page = cut(found.events, wire.PAGE_BYTES_MAX)
    return wire.LoadedRun(msgspec.structs.replace(found, events=page), version)


async def _lease(control: Control, asked: wire.LeaseRequest, caller: RemoteCaller) -> LeaseResult:
    wait_seconds = min(asked.wait_seconds, wire.WAIT_SECONDS_MAX)
    asked = msgspec.structs.replace(asked, wait_seconds=wait_seconds)
    batch = await control.dispatcher.lease(asked, caller.gone)
    if batch.leases and await caller.is_gone():
        await control.dispatcher.leave(asked.ticket)
    return batch


# --- the archive -------------------------------------------------------------------------------


async def _bounded(read: Callable[[Any], Awaitable[object]], asked: Any) -> object:
    """A list of runs or failures, which a filter must not make too long."""
    if not 0 <= asked.limit <= wire.ROWS_MAX:
        raise ConfigError(f"the limit of runs is {asked.limit}; it goes up to {wire.ROWS_MAX}.")
    if isinstance(asked, RunFilter):
        check_filter(asked)
    return await read(asked)


async def _events(control: Control, asked: wire.EventsRequest, _: RemoteCaller) -> wire.PackedPage:
    found = await control.database.archive.rows(asked.run, after=asked.after, limit=asked.limit)
    page = cut(found, wire.PAGE_BYTES_MAX)
    return wire.PackedPage(page, is_cut=len(page.rows) < len(found.rows))


# --- programs and credentials ------------------------------------------------------------------


async def _keep(control: Control, asked: StoredProgram, _: RemoteCaller) -> None:
    program = await asyncio.to_thread(checked_program, asked)
    await control.database.catalog.keep(program)


async def _register(control: Control, asked: StoredProgram, _: RemoteCaller) -> object:
    program = await asyncio.to_thread(checked_program, asked)
    return await control.database.catalog.register(program)


async def _put_artifact(control: Control, asked: NewArtifact, _: RemoteCaller) -> int:
    check_artifact(asked)
    return await control.database.artifacts.put(asked)


async def _seal(control: Control, asked: SealedCredential, _: RemoteCaller) -> None:
    check_credential(asked)
    await control.database.vault.seal(asked)


async def _write_guards(control: Control, asked: wire.GuardWrites, _: RemoteCaller) -> None:
    check_guards("a request", asked.writes)
    await control.database.guards.write(asked.writes)


# --- who works ---------------------------------------------------------------------------------


async def _beat(control: Control, asked: Presence, _: RemoteCaller) -> None:
    database = control.database
    await database.roster.beat(checked_presence(asked, database.clock.now()))


Operation: TypeAlias = Callable[[Control, Any, RemoteCaller], Coroutine[Any, Any, object]]
# A plain read or write is a call of the database, with what was asked for.
OPERATIONS: dict[str, Operation] = {
    "hello": _hello,
    "time": _time,
    "order": _order,
    "notices": _notices,
    "store.commit": _commit,
    "store.load": _load,
    "store.lease": _lease,
    "store.leave": lambda to, asked, _: to.dispatcher.leave(asked.ticket),
    "store.extend": lambda to, asked, _: to.database.store.extend(asked.leases, asked.until),
    "store.expired": lambda to, asked, _: to.database.store.expired(asked.now, runs=asked.runs),
    "store.release": lambda to, asked, _: to.database.store.release(
        asked.lease, due_at=asked.due_at
    ),
    "store.wake": lambda to, asked, _: to.database.store.wake(asked),
    "archive.run": lambda to, asked, _: to.database.archive.run(asked.run),
    "archive.runs": lambda to, asked, _: _bounded(to.database.archive.runs, asked),
    "archive.run_of_key": lambda to, asked, _: to.database.archive.run_of_key(asked.text),
    "archive.events": _events,
    "archive.jobs": lambda to, asked, _: to.database.archive.jobs(asked.run),
    "archive.prune": lambda to, asked, _: to.database.archive.prune(
        ended_before=asked.ended_before, limit=asked.limit
    ),
    "archive.remove": lambda to, asked, _: to.database.archive.remove(asked.run),
    "survey.counts": lambda to, asked, _: _bounded(to.database.statistics.counts, asked),
    "survey.points": lambda to, asked, _: _bounded(to.database.statistics.points, asked),
    "survey.failures": lambda to, asked, _: _bounded(to.database.statistics.failures, asked),
    "survey.programs": lambda to, asked, _: to.database.statistics.programs(asked.limit),
    "survey.versions": lambda to, asked, _: to.database.statistics.versions(asked.digests),
    "catalog.keep": _keep,
    "catalog.register": _register,
    "catalog.get": lambda to, asked, _: to.database.catalog.get(asked.text),
    "catalog.find": lambda to, asked, _: to.database.catalog.find(asked.name, asked.version),
    "catalog.at_path": lambda to, asked, _: to.database.catalog.at_path(asked.text),
    "catalog.programs": lambda to, _, __: to.database.catalog.programs(),
    "artifacts.put": _put_artifact,
    "artifacts.get": lambda to, asked, _: to.database.artifacts.get(
        asked.owner, asked.name, asked.version
    ),
    "vault.seal": _seal,
    "vault.sealed": lambda to, asked, _: to.database.vault.sealed(asked.text),
    "vault.names": lambda to, _, __: to.database.vault.names(),
    "vault.forget": lambda to, asked, _: to.database.vault.forget(asked.text),
    "guards.read": lambda to, asked, _: to.database.guards.read(asked.scopes),
    "guards.listed": lambda to, asked, _: to.database.guards.listed(asked.limit),
    "guards.write": _write_guards,
    "roster.beat": _beat,
    "roster.leave": lambda to, asked, _: to.database.roster.leave(asked.text),
    "roster.workers": lambda to, asked, _: to.database.roster.workers(asked.limit),
    "roster.loads": lambda to, asked, _: to.database.roster.loads(asked.now),
    "roster.asking": lambda to, asked, _: to.database.roster.asking(asked.limit),
}
