"""What a second terminal can ask of the owner of a database file, and how it is said.

One JSON object per line, one line back. Only the owner changes a file; everyone else asks here.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from anew.errors import AnewError, ConfigError
from anew.files import KeptFile
from anew.runtime.bulk import ABLE, BULK_RUNS_MAX, ActionRefused, BulkOperation, act_on_all, unknown
from anew.runtime.engine import Engine
from anew.runtime.forks import ForkPoint, ForkRequest
from anew.runtime.ledger import StartRequest
from anew.runtime.ownership import check_socket, socket_path
from anew.runtime.program_moves import moves_row, moves_to
from anew.runtime.programs import Document, compiled_beside, read_document
from anew.runtime.wait_skips import skipped_row
from anew.runtime.webhooks import open_webhooks
from anew.store import RunFilter, RunId, SealedCredential, StoreError
from anew.values import Object

# A request holds a document (1 MiB), the files it names (4 MiB) and a payload (10 MiB).
REQUEST_BYTES_MAX = 16 * 1024 * 1024
RUN_ID_MAX = 2**63 - 1
RUN_ID_DIGITS = len(str(RUN_ID_MAX))
# An owner answers at once, or it is not one.
ANSWER_SECONDS_MAX = 30.0


class NoAnswer(StoreError):
    """The owner is gone, or not there yet."""


class Request(msgspec.Struct, omit_defaults=True):
    """One order. Which fields it needs follows from `do`."""

    do: str
    run: str | None = None
    source: str | None = None
    file: str | None = None
    workload: dict[str, Any] = {}
    key: str | None = None
    labels: dict[str, str] = {}
    reason: str | None = None
    step: str | None = None
    name: str | None = None
    version: int | None = None
    before: int | None = None
    answer: str | None = None
    by: str | None = None
    asked: int | None = None
    asking: str | None = None
    payload: Any = None
    id: str | None = None
    is_kept_only: bool = False
    sealed: SealedCredential | None = None
    dialect: str | None = None
    files: dict[str, str] = {}
    at: int | None = None
    visit: int | None = None
    iteration: int | None = None
    seen: int | None = None
    is_cancelling: bool = False
    runs: list[str] = []


async def _start(engine: Engine, asked: Request) -> Object:
    if asked.name is not None:
        document = await engine.programs.find(asked.name, asked.version)
    else:
        document = await _document(asked)
    started = await engine.start(StartRequest(document, asked.workload, asked.key, asked.labels))
    return {"run": str(started.run), "is_new": started.is_new}


async def _cancel(engine: Engine, asked: Request) -> Object:
    return {"changed": await engine.cancel(_run(asked), asked.reason)}


async def _pause(engine: Engine, asked: Request) -> Object:
    return {"changed": await engine.pause(_run(asked), asked.reason)}


async def _resume(engine: Engine, asked: Request) -> Object:
    return {"changed": await engine.resume(_run(asked))}


async def _skip(engine: Engine, asked: Request) -> Object:
    """End waits; whoever works on the run goes on with it."""
    run = _run(asked)
    ended = await engine.skipping.skip(
        run, asked.step, visit=asked.visit, iteration=asked.iteration, by=asked.by
    )
    live = await engine.ledger.live.newest(run)
    rows = [skipped_row(event) for event in ended]
    return {"run": str(run), "status": live.state.status.value, "skipped": rows}


async def _adopt(engine: Engine, asked: Request) -> Object:
    await engine.adopt([_run(asked)])
    return {"run": asked.run}


async def _resume_all(engine: Engine, _: Request) -> Object:
    problems = await engine.adopt_all()
    return {"problems": {str(run): str(error) for run, error in problems.items()}}


async def _answer(engine: Engine, asked: Request) -> Object:
    """Keep an answer, and go on with the run unless that is not wanted."""
    run = _run(asked)
    asking = None if asked.asking is None else _run_id(asked.asking)
    await engine.people.answer(
        run, asked.answer or "", step=asked.step, by=asked.by, asked=asked.asked, asking=asking
    )
    if not asked.is_kept_only:
        await engine.adopt([run])
    return {"run": str(run)}


async def _signal(engine: Engine, asked: Request) -> Object:
    """Keep a signal, and go on with the run unless that is not wanted."""
    run = _run(asked)
    is_new = await engine.signals.signal(
        run, asked.name or "", asked.payload, id=asked.id, by=asked.by
    )
    if not asked.is_kept_only:
        await engine.adopt([run])
    return {"run": str(run), "is_new": is_new}


async def _webhook(_: Engine, asked: Request) -> Object:
    """Where a signal can be sent to by someone who has no token."""
    return {"run": asked.run, "path": open_webhooks().path_for(_run(asked), asked.name or "")}


async def _retry(engine: Engine, asked: Request) -> Object:
    started = await engine.retry(_run(asked), asked.step, at=asked.at, key=asked.key)
    return {"run": str(started.run)}


async def _bulk(engine: Engine, asked: Request) -> Object:
    """Do one thing to many runs; `name` says what."""
    action = next((one for one in ABLE if one == asked.name), None)
    if action is None:
        raise ConfigError(f"there is no action {asked.name!r}; there are {', '.join(ABLE)}.")
    deed = BulkOperation(action, asked.reason, asked.by)
    deed.check()
    named = [_run(Request("bulk", run=run)) for run in asked.runs[:BULK_RUNS_MAX]]
    rows = await engine.database.archive.runs(RunFilter(runs=named, limit=len(named)))
    result = await act_on_all(engine, deed, rows)
    refused = [*unknown(named, {row.run for row in rows}), *result.refused]
    return {
        "changed": [str(run) for run in result.changed],
        "refused": [_refused_row(run, error) for run, error in refused],
    }


def _refused_row(run: RunId, error: AnewError) -> Object:
    retried_as = error.retried_as if isinstance(error, ActionRefused) else None
    return {
        "run": str(run),
        "detail": str(error),
        "retried_as": None if retried_as is None else str(retried_as),
    }


async def _fork(engine: Engine, asked: Request) -> Object:
    document = None
    if asked.name is not None:
        document = await engine.programs.find(asked.name, asked.version)
    elif asked.source is not None:
        document = await _document(asked)
    order = ForkRequest(
        _run(asked),
        ForkPoint(asked.at, asked.step, asked.visit, seen=asked.seen),
        document,
        asked.workload,
        asked.key,
        asked.labels,
        cancels=asked.is_cancelling,
    )
    started = await engine.fork(order)
    return {"run": str(started.run), "is_new": started.is_new}


async def _register(engine: Engine, asked: Request) -> Object:
    document = await _document(asked)
    version = await engine.register(document)
    moves = await moves_to(engine.database, engine.programs, document)
    return {"name": document.program.name, "version": version, "runs": moves_row(moves)}


async def _seal(engine: Engine, asked: Request) -> Object:
    if asked.sealed is None:
        raise ConfigError("there is no credential in this order")
    await engine.database.vault.seal(asked.sealed)
    return {}


async def _forget(engine: Engine, asked: Request) -> Object:
    vault = engine.database.vault
    known = [row.name for row in await vault.names()]
    return {"changed": await vault.forget(asked.name or ""), "known": known}


async def _prune(engine: Engine, asked: Request) -> Object:
    return {"removed": await engine.prune(asked.before or 0)}


async def _drop(engine: Engine, asked: Request) -> Object:
    """Remove one run."""
    await engine.drop(_run(asked))
    return {"removed": 1}


async def _document(asked: Request) -> Document:
    """What whoever asks has compiled: with nothing that only code here knows."""
    source, file = asked.source or "", asked.file or ""
    read = partial(read_document, source, file, dialect=asked.dialect, files=asked.files)
    return await compiled_beside(read, len(source))


def _run(asked: Request) -> RunId:
    return _run_id(asked.run or "")


def _run_id(said: str) -> RunId:
    if not (said.isascii() and said.isdigit() and len(said) <= RUN_ID_DIGITS):
        raise ConfigError(f"{said[:80]!r} is no run id. `anew runs` lists the runs.")
    return RunId(min(int(said), RUN_ID_MAX))


ORDERS: dict[str, Callable[[Engine, Request], Awaitable[Object]]] = {
    "start": _start,
    "cancel": _cancel,
    "pause": _pause,
    "resume": _resume,
    "skip": _skip,
    "resume_all": _resume_all,
    "adopt": _adopt,
    "answer": _answer,
    "signal": _signal,
    "webhook": _webhook,
    "retry": _retry,
    "bulk": _bulk,
    "fork": _fork,
    "register": _register,
    "prune": _prune,
    "drop": _drop,
    "seal": _seal,
    "forget": _forget,
}


async def obey(engine: Engine, asked: Request) -> Object:
    """Do what is asked; AnewError when it cannot be done."""
    order = ORDERS.get(asked.do)
    if order is None:
        raise ConfigError(f"there is no order {asked.do!r}. Are both terminals of one version?")
    return await order(engine, asked)


class ControlSocket:
    """Listens beside the database for as long as this process owns it."""

    def __init__(self, engine: Engine, database: Path) -> None:
        self._engine = engine
        self._database = database
        self._path = socket_path(database)
        self._socket: KeptFile | None = None
        self._server: asyncio.Server | None = None
        self._unheard: set[asyncio.StreamWriter] = set()
        self._answering: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        check_socket(self._path, self._database)
        with suppress(FileNotFoundError):
            self._path.unlink()  # left by an owner that died; the lock says there is no other
        umask = os.umask(0o177)
        try:
            self._server = await asyncio.start_unix_server(
                self._attend, path=self._path, limit=REQUEST_BYTES_MAX
            )
        finally:
            os.umask(umask)
        self._socket = KeptFile(str(self._path))

    async def close(self) -> None:
        """Take no more orders, and finish those that came: what they began must be handed back.

        Whoever has come and is not heard yet gets no answer, and asks the next owner.
        """
        if self._server is None:
            return
        server, self._server = self._server, None
        if self._socket is not None and self._socket.is_kept():  # else it is that of another owner
            with suppress(FileNotFoundError):
                self._path.unlink()
        try:
            await _let_in(server)
        finally:
            server.close()
            for writer in self._unheard:
                writer.close()
        if self._answering:
            await asyncio.wait(set(self._answering), timeout=ANSWER_SECONDS_MAX)

    async def _attend(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            answer = None if self._server is None else await self._answer(reader, writer)
            if answer is not None:
                writer.write(msgspec.json.encode(answer) + b"\n")
                await writer.drain()
        writer.close()

    async def _answer(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> Object | None:
        """What comes of an order; None once the next owner is to be asked."""
        try:
            line = await self._hear(reader, writer)
            if line is None:
                return None
            return {"ok": await obey(self._engine, msgspec.json.decode(line, type=Request))}
        except AnewError as error:
            is_store = isinstance(error, StoreError)
            # A stop in a hurry closes the database under an order. Whoever asks may still use it.
            is_left = is_store and self._server is None
            return None if is_left else {"error": str(error), "is_store": is_store}
        except Exception as error:  # a bug of ours must be an answer too, or it is asked again
            return {"error": f"the owner failed ({type(error).__name__}: {error})"}

    async def _hear(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bytes | None:
        """An order, which is answered before the engine stops; None when that is on its way."""
        self._unheard.add(writer)
        try:
            line = await reader.readline()
        finally:
            self._unheard.discard(writer)
        if self._server is None:
            return None
        task = asyncio.current_task()
        assert task is not None
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)
        return line


async def _let_in(server: asyncio.Server) -> None:
    """Make whoever has knocked known; asyncio forgets to hang up on who is on the threshold."""
    loop = asyncio.get_running_loop()
    for listening in server.sockets:
        loop.remove_reader(listening.fileno())
    await asyncio.sleep(0)


async def ask_owner(database: Path, request: Request) -> Object:
    """Have the owner of a file do something; StoreError when nobody answers."""
    path = socket_path(database)
    check_socket(path, database)
    try:
        reader, writer = await asyncio.open_unix_connection(path, limit=REQUEST_BYTES_MAX)
    except OSError as error:
        raise NoAnswer(f"the owner of {database} does not answer on its socket") from error
    try:
        writer.write(msgspec.json.encode(request) + b"\n")
        async with asyncio.timeout(ANSWER_SECONDS_MAX):
            line = await reader.readline()
    except (OSError, TimeoutError) as error:
        raise NoAnswer(f"the owner of {database} gave no answer") from error
    finally:
        writer.close()
    if not line.endswith(b"\n"):
        raise NoAnswer(f"the owner of {database} ended before it answered")
    answer: Object = msgspec.json.decode(line)
    if "error" in answer:
        kind = StoreError if answer.get("is_store") else ConfigError
        raise kind(answer["error"])
    found: Object = answer["ok"]
    return found
