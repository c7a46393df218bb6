"""Put an engine together: a database, the tools, and the ways others reach it.

Three of them: for one process that starts runs and works on them, for a server that others speak
to, and for a worker that only works.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from anew.credentials import redacted_logs
from anew.engine.moments import LAST_MOMENT
from anew.errors import ConfigError
from anew.runtime.adoption import OF_ONE_RUN
from anew.runtime.control_socket import ControlSocket
from anew.runtime.databases import (
    database_file,
    identity_of,
    kind_of,
    open_database,
    open_owned,
    private_files,
    scratch_folder,
)
from anew.runtime.engine import GRACE_SECONDS, SLOTS, Engine
from anew.runtime.heartbeat import beating
from anew.runtime.interviewers import Interviewer
from anew.runtime.leases import lease_seconds
from anew.runtime.ownership import Ownership
from anew.runtime.roles import ProcessRole
from anew.runtime.toolbox import Toolbox
from anew.store import DEFAULT_POOL, Database, Lease, StoreGone
from anew.tool import Tool
from anew.tools.sandbox import open_sandbox

if TYPE_CHECKING:
    from anew.languages.dot.extensions import Extensions

_LOG = logging.getLogger(__name__)


@asynccontextmanager
async def open_engine(
    url: str | None = None,
    *,
    slots: int = SLOTS,
    grace_seconds: float = GRACE_SECONDS,
    tools: Mapping[str, Tool] | None = None,
    extensions: Extensions | None = None,
    interviewer: Interviewer | None = None,
) -> AsyncIterator[Engine]:
    """An engine that owns a database file, or shares a database with others; it stops cleanly.

    The owner of a file takes commands beside it. `tools` by kind take the place of those that are
    built in or installed.
    """
    sandbox = open_sandbox(private_files(url))
    async with open_database(url) as database:
        role = ProcessRole("command", lease_seconds() if database.is_shared else None)
        engine = Engine(
            database,
            scratch_folder(url),
            role,
            slots=slots,
            toolbox=Toolbox(tools, sandbox=sandbox),
            extensions=extensions,
            interviewer=interviewer,
        )
        _fail_on_loss(engine)
        async with _working(engine, url, grace_seconds):
            await _open_socket(engine, url)
            yield engine


@asynccontextmanager
async def open_server_engine(
    url: str | None = None,
    *,
    slots: int = SLOTS,
    pools: Sequence[str] = (DEFAULT_POOL,),
    works: bool = True,
    grace_seconds: float = GRACE_SECONDS,
    hidden: Sequence[Path] = (),
    before_work: Callable[[], object] = lambda: None,
) -> AsyncIterator[Engine]:
    """An engine for a server: others work on its runs too, and it does itself if it `works`.

    No task in a sandbox sees the files that are `hidden`. `before_work` is called once the database
    is ours, and before any task is executed.
    """
    sandbox = open_sandbox([*private_files(url), *hidden])
    async with open_owned(url) as (database, ownership):
        before_work()
        # Looked for before this process takes any itself.
        void = [] if ownership is None else await _void_leases(database, ownership)
        role = ProcessRole("server", lease_seconds(), works_on_all=True, pools=pools)
        own_slots, toolbox = slots if works else 0, Toolbox(sandbox=sandbox)
        engine = Engine(database, scratch_folder(url), role, slots=own_slots, toolbox=toolbox)
        _fail_on_loss(engine)
        async with _working(engine, url, grace_seconds):
            await _open_socket(engine, url)
            await _take_over(engine, void)
            if ownership is not None:
                ownership.settle()
            yield engine


@asynccontextmanager
async def open_worker_engine(
    url: str,
    *,
    slots: int = SLOTS,
    pools: Sequence[str] = (DEFAULT_POOL,),
    grace_seconds: float = GRACE_SECONDS,
    hidden: Sequence[Path] = (),
) -> AsyncIterator[Engine]:
    """An engine that works on every run of a database that is shared, and starts none.

    No task in a sandbox sees the files that are `hidden`.
    """
    if kind_of(url).is_file:
        raise ConfigError(
            "one process owns a database file, so no worker can share it. "
            "Start `anew serve` on the file, and workers with `--server URL`."
        )
    sandbox = open_sandbox([*private_files(url), *hidden])
    async with open_database(url) as database:
        role = ProcessRole("worker", lease_seconds(), works_on_all=True, pools=pools)
        toolbox = Toolbox(sandbox=sandbox)
        engine = Engine(database, scratch_folder(url), role, slots=slots, toolbox=toolbox)
        async with _working(engine, url, grace_seconds):
            yield engine


@asynccontextmanager
async def _working(engine: Engine, url: str | None, grace_seconds: float) -> AsyncIterator[None]:
    """Be known as a worker of the database, until the engine has stopped.

    Until then no log record of the process shows a secret it knows.
    """
    engine.keychain.hide(address=url)
    engine.keychain.remember(identity_of(url))
    async with beating(engine):
        with redacted_logs(engine.keychain.redactor):
            try:
                yield
            finally:
                await engine.stop(grace_seconds)


async def _open_socket(engine: Engine, url: str | None) -> None:
    """Let other terminals on this machine reach the owner of a file."""
    if kind_of(url).is_file:
        control = ControlSocket(engine, database_file(url))
        await control.open()
        engine.before_stop = control.close


async def _void_leases(database: Database, ownership: Ownership) -> list[Lease]:
    """What an owner of the file left undone when it died.

    All leases are void then, also those it gave to workers elsewhere: their reports are refused by
    the fence. After an owner that stopped as it should, workers keep what they have; only a lease
    without end cannot be theirs.
    """
    leases = await database.store.expired(LAST_MOMENT + 1)
    return [one for one in leases if ownership.leases_are_void or one.until >= LAST_MOMENT]


async def _take_over(engine: Engine, void: Sequence[Lease]) -> None:
    for lease in void:
        try:
            await engine.worker.recover(lease)
        except OF_ONE_RUN as error:
            _LOG.warning("run %s cannot continue here: %s", lease.job.run, error)


def _fail_on_loss(engine: Engine) -> None:
    """Fail as soon as anyone misses the files of the database."""
    loop = asyncio.get_running_loop()

    def tell(error: StoreGone) -> None:
        with suppress(RuntimeError):  # the loop has ended, and so has all that waits
            loop.call_soon_threadsafe(engine.worker.fail, error)

    engine.database.on_loss(tell)
