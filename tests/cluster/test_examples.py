"""Every example through a server and a worker on PostgreSQL tells its golden timeline.

As in `test_examples_run.py`, where the same documents run on one process and a file.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from anew.runtime.engine import Engine
from anew.runtime.lease_dispatcher import LeaseDispatcher
from anew.runtime.programs import read_document
from anew.runtime.roles import ProcessRole
from anew.runtime.run_logs import read_log
from anew.runtime.run_starts import StartRequest
from anew.store import RunFilter
from anew.stores.postgres import PostgresDatabase
from anew.stores.remote import RemoteDatabase
from anew.surfaces.api.control import control_routes
from tests.example_world import (
    RUN_SECONDS_MAX,
    LabThread,
    PersonOfScript,
    Played,
    SenderOfScript,
    _line,
    check_replay,
    check_report,
    check_timeline,
    check_waits,
    document_file,
    script_of,
    simulated,
    workload_of,
)
from tests.postgres_server import Database, a_module_database  # noqa: F401
from tests.stores.control_server import Starlette, listening
from tests.suites import daily
from tests.test_examples_run import EMBEDDED, _in_a_fresh_folder, lab  # noqa: F401

LEASE_SECONDS = 30.0
# What has no order between two processes: its first signal comes as the first step begins.
BY_CHANCE = {"signals/payment.early"}


@pytest.fixture(scope="module")
def postgres(
    module_database: Database,
) -> Iterator[tuple[asyncio.Runner, PostgresDatabase]]:
    with asyncio.Runner() as runner:
        database = runner.run(PostgresDatabase.open(module_database.dsn))
        try:
            yield runner, database
        finally:
            runner.run(database.close())


@asynccontextmanager
async def cluster(
    database: PostgresDatabase, folder: Path, person: PersonOfScript
) -> AsyncIterator[tuple[Engine, Engine]]:
    """An engine that only serves, and one that reaches it over HTTP and only works."""
    server = Engine(
        database,
        folder / "server",
        ProcessRole("server", LEASE_SECONDS, works_on_all=True),
        slots=0,
    )
    dispatcher = LeaseDispatcher(database)
    async with listening(Starlette(routes=control_routes(server, dispatcher))) as (url, _):
        remote = await RemoteDatabase.open(url)
        worker = Engine(
            remote,
            folder / "scratch",
            ProcessRole("worker", LEASE_SECONDS, works_on_all=True),
            draw=lambda: 0.5,
            interviewer=person,
        )
        try:
            yield server, worker
        finally:
            await worker.stop(0)
            await dispatcher.close()
            await remote.close()
            await server.stop(0)


async def run_there(name: str, database: PostgresDatabase, folder: Path, lab_url: str) -> Played:
    file, script = document_file(name), script_of(name)
    document = read_document(file.read_text(encoding="utf-8"), str(file))
    async with cluster(database, folder, PersonOfScript(script)) as (server, worker):
        sender = SenderOfScript(worker, script)
        # Who begins the run hears that it began, who works on it that it waits.
        for engine in (server, worker):
            engine.listen(sender.hear)
        try:
            async with asyncio.timeout(RUN_SECONDS_MAX):
                run = (await server.start(StartRequest(document, workload_of(name, lab_url)))).run
                played = Played(document.program, await _line(server, run))
        finally:
            await sender.stop()
            await server.cancel(run)
        for child in await database.archive.runs(RunFilter(parent=run)):
            program = (await server.programs.get(child.digest)).program
            played.children.append(Played(program, [await read_log(database.archive, child.run)]))
        return played


@pytest.mark.parametrize("name", daily(name for name in EMBEDDED if name not in BY_CHANCE))
def test_an_example_runs_through_server_and_worker_as_its_timeline_says(
    name: str,
    tmp_path: Path,
    lab: LabThread,  # noqa: F811
    postgres: tuple[asyncio.Runner, PostgresDatabase],
) -> None:
    runner, database = postgres
    real = runner.run(run_there(name, database, tmp_path, lab.url))
    check_timeline(name, real.text(), lab_url=lab.url)
    check_report(simulated(name), real)
    check_waits(real.log)
    check_replay(real)
