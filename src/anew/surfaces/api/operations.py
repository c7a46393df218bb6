"""What each operation that a server is asked for does: one row each.

What it takes is in `stores.remote.wire`; `commit_checks` and `input_checks` check it.
Nobody here knows how requests arrive.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from typing import Any, Protocol, TypeAlias, TypeVar

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
    FailureFilter,
    JobRef,
    LeaseResult,
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
from anew.surfaces.api.commit_checks import check_commit, checked_program, is_checked_at_once
from anew.surfaces.api.input_checks import check_credential, check_filter, checked_presence

Bounded = TypeVar("Bounded", RunFilter, FailureFilter)

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


async def _leave(control: Control, asked: wire.TicketRequest, _: RemoteCaller) -> None:
    await control.dispatcher.leave(asked.ticket)


async def _extend(control: Control, asked: wire.ExtendRequest, _: RemoteCaller) -> object:
    return await control.database.store.extend(asked.leases, asked.until)


async def _expired(control: Control, asked: wire.ExpiredRequest, _: RemoteCaller) -> object:
    return await control.database.store.expired(asked.now, runs=asked.runs)


async def _release(control: Control, asked: wire.ReleaseRequest, _: RemoteCaller) -> None:
    await control.database.store.release(asked.lease, due_at=asked.due_at)


async def _wake(control: Control, asked: JobRef, _: RemoteCaller) -> None:
    await control.database.store.wake(asked)


# --- the archive -------------------------------------------------------------------------------


async def _run(control: Control, asked: wire.RunRequest, _: RemoteCaller) -> object:
    return await control.database.archive.run(asked.run)


async def _runs(control: Control, asked: RunFilter, _: RemoteCaller) -> object:
    return await control.database.archive.runs(_bounded(asked))


def _bounded(asked: Bounded) -> Bounded:
    if not 0 <= asked.limit <= wire.ROWS_MAX:
        raise ConfigError(f"the limit of runs is {asked.limit}; it goes up to {wire.ROWS_MAX}.")
    if isinstance(asked, RunFilter):
        check_filter(asked)
    return asked


async def _run_of_key(control: Control, asked: wire.TextRequest, _: RemoteCaller) -> object:
    return await control.database.archive.run_of_key(asked.text)


async def _events(control: Control, asked: wire.EventsRequest, _: RemoteCaller) -> wire.PackedPage:
    found = await control.database.archive.rows(asked.run, after=asked.after, limit=asked.limit)
    page = cut(found, wire.PAGE_BYTES_MAX)
    return wire.PackedPage(page, is_cut=len(page.rows) < len(found.rows))


async def _jobs(control: Control, asked: wire.RunRequest, _: RemoteCaller) -> object:
    return await control.database.archive.jobs(asked.run)


async def _prune(control: Control, asked: wire.PruneRequest, _: RemoteCaller) -> int:
    archive = control.database.archive
    return await archive.prune(ended_before=asked.ended_before, limit=asked.limit)


async def _remove(control: Control, asked: wire.RunRequest, _: RemoteCaller) -> bool:
    return await control.database.archive.remove(asked.run)


# --- statistics ---------------------------------------------------------------------------------


async def _counts(control: Control, asked: RunFilter, _: RemoteCaller) -> object:
    return await control.database.statistics.counts(_bounded(asked))


async def _points(control: Control, asked: RunFilter, _: RemoteCaller) -> object:
    return await control.database.statistics.points(_bounded(asked))


async def _failures(control: Control, asked: FailureFilter, _: RemoteCaller) -> object:
    return await control.database.statistics.failures(_bounded(asked))


async def _names_of_programs(control: Control, asked: wire.LimitRequest, _: RemoteCaller) -> object:
    return await control.database.statistics.programs(asked.limit)


async def _versions(control: Control, asked: wire.DigestsRequest, _: RemoteCaller) -> object:
    return await control.database.statistics.versions(asked.digests)


# --- programs and credentials ------------------------------------------------------------------


async def _keep(control: Control, asked: StoredProgram, _: RemoteCaller) -> None:
    program = await asyncio.to_thread(checked_program, asked)
    await control.database.catalog.keep(program)


async def _register(control: Control, asked: StoredProgram, _: RemoteCaller) -> object:
    program = await asyncio.to_thread(checked_program, asked)
    return await control.database.catalog.register(program)


async def _get(control: Control, asked: wire.TextRequest, _: RemoteCaller) -> object:
    return await control.database.catalog.get(asked.text)


async def _find(control: Control, asked: wire.ProgramRequest, _: RemoteCaller) -> object:
    return await control.database.catalog.find(asked.name, asked.version)


async def _programs(control: Control, _: wire.EmptyRequest, __: RemoteCaller) -> object:
    return await control.database.catalog.programs()


async def _seal(control: Control, asked: SealedCredential, _: RemoteCaller) -> None:
    check_credential(asked)
    await control.database.vault.seal(asked)


async def _sealed(control: Control, asked: wire.TextRequest, _: RemoteCaller) -> object:
    return await control.database.vault.sealed(asked.text)


async def _names(control: Control, _: wire.EmptyRequest, __: RemoteCaller) -> object:
    return await control.database.vault.names()


async def _forget(control: Control, asked: wire.TextRequest, _: RemoteCaller) -> bool:
    return await control.database.vault.forget(asked.text)


# --- who works ---------------------------------------------------------------------------------


async def _beat(control: Control, asked: Presence, _: RemoteCaller) -> None:
    database = control.database
    await database.roster.beat(checked_presence(asked, database.clock.now()))


async def _part(control: Control, asked: wire.TextRequest, _: RemoteCaller) -> None:
    await control.database.roster.leave(asked.text)


async def _workers(control: Control, asked: wire.LimitRequest, _: RemoteCaller) -> object:
    return await control.database.roster.workers(asked.limit)


async def _loads(control: Control, asked: wire.LoadsRequest, _: RemoteCaller) -> object:
    return await control.database.roster.loads(asked.now)


async def _asking(control: Control, asked: wire.LimitRequest, _: RemoteCaller) -> object:
    return await control.database.roster.asking(asked.limit)


Operation: TypeAlias = Callable[[Control, Any, RemoteCaller], Coroutine[Any, Any, object]]
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
    "archive.remove": _remove,
    "survey.counts": _counts,
    "survey.points": _points,
    "survey.failures": _failures,
    "survey.programs": _names_of_programs,
    "survey.versions": _versions,
    "catalog.keep": _keep,
    "catalog.register": _register,
    "catalog.get": _get,
    "catalog.find": _find,
    "catalog.programs": _programs,
    "vault.seal": _seal,
    "vault.sealed": _sealed,
    "vault.names": _names,
    "vault.forget": _forget,
    "roster.beat": _beat,
    "roster.leave": _part,
    "roster.workers": _workers,
    "roster.loads": _loads,
    "roster.asking": _asking,
}
