"""Every conformance scenario through a server and a worker, on PostgreSQL, in virtual time.

Server and worker are real, and speak HTTP over the loopback; they live in one event loop with a
clock that stands still until nothing else can happen, and the tools play the script.
"""

import asyncio
from contextlib import asynccontextmanager
from itertools import count

import pytest

from anew.lab.replay import replay
from anew.lab.script import OutcomeQueue, script_of
from anew.languages import load_text
from anew.runtime.engine import Engine
from anew.runtime.lease_dispatcher import LeaseDispatcher
from anew.runtime.programs import read_document
from anew.runtime.roles import ProcessRole
from anew.runtime.run_logs import read_log
from anew.runtime.run_starts import StartRequest
from anew.stores.postgres import PostgresDatabase
from anew.stores.remote import RemoteDatabase
from anew.surfaces.api.control import control_routes
from anew.views.summary import summary
from tests.postgres_server import a_module_database  # noqa: F401
from tests.runtime.test_conformance import EXIT, RUN_CASES
from tests.stores.control_server import Starlette, listening
from tests.suites import daily
from tests.test_conformance import compare, source, suffix
from tests.virtual import (
    Counted,
    CountedDatabase,
    OneTool,
    ScriptedPerson,
    ScriptedSender,
    ScriptedTool,
    VirtualClock,
)

# Nobody is ever taken for dead, and nobody waits for the end of a lease.
LEASE_SECONDS = 3e9
HORIZON = 10**18
# Both files of the specification, and of ours the cases that tell of other processes.
CASES = [case for case in RUN_CASES if not case["id"].startswith("own-") or "signal" in case["id"]]
# So often in a row nothing is ready: then nothing is on its way through the loopback either.
QUIET_TURNS = 30
# All cases begin in the same moment on one database: engines of the same number would make the same
# commit twice where two cases have the same document.
PROCESSES = count()


class PatientClock(VirtualClock):
    """Jumps when both sides have been quiet for long enough that no message can be under way."""

    async def drive(self, is_quiet):
        loop, quiet = asyncio.get_running_loop(), 0
        while True:
            await asyncio.sleep(0 if is_quiet() else 0.0005)
            quiet = quiet + 1 if is_quiet() and not loop._ready else 0
            if quiet >= QUIET_TURNS:
                quiet = 0
                if self._sleepers and self._sleepers[0][0] < self._now + HORIZON:
                    self._jump()


class Calls(Counted):
    """What the worker asks of the server, except for jobs: for those it waits there."""

    def __getattr__(self, name):
        return getattr(self._store, name) if name == "lease" else super().__getattr__(name)


@pytest.fixture(scope="module")
def postgres(module_database):
    """The loop everything lives in, and one open database for all cases."""
    with asyncio.Runner() as runner:
        database = runner.run(PostgresDatabase.open(module_database.dsn))
        try:
            yield runner, database
        finally:
            runner.run(database.close())


@asynccontextmanager
async def cluster(database, folder, script):
    """An engine that only serves, and one elsewhere that only works."""
    clock = PatientClock(script.now)
    tapes = {key: OutcomeQueue(entries) for key, entries in script.outcomes.items()}
    counted = CountedDatabase(database)
    counted.clock = clock
    server = Engine(
        counted,
        folder,
        ProcessRole("server", LEASE_SECONDS, works_on_all=True),
        clock=clock,
        slots=0,
        process=next(PROCESSES),
    )
    dispatcher = LeaseDispatcher(counted)
    app = Starlette(routes=control_routes(server, dispatcher))
    async with listening(app) as (url, _):
        remote = await RemoteDatabase.open(url)
        calls = CountedDatabase(remote)
        calls.store = Calls(remote.store)
        worker = Engine(
            calls,
            folder,
            ProcessRole("worker", LEASE_SECONDS, works_on_all=True),
            clock=clock,
            slots=10_000,
            toolbox=OneTool(ScriptedTool(tapes, clock)),
            draw=script.draws(),
            interviewer=ScriptedPerson(tapes, clock),
            process=next(PROCESSES),
        )
        # Who begins the run hears that it began, who works on it that it waits.
        sender = ScriptedSender(server, script, tapes, clock)
        worker.listen(sender.hear)
        is_quiet = lambda: counted.is_quiet() and calls.is_quiet()  # noqa: E731
        driver = asyncio.create_task(clock.drive(is_quiet))
        try:
            yield server
        finally:
            driver.cancel()
            await sender.stop()
            await worker.stop(0)
            await dispatcher.close()
            await remote.close()
            await server.stop(0)


async def played(database, folder, case):
    file, script = f"test{suffix(case)}", script_of(case["script"])
    async with cluster(database, folder, script) as server:
        order = StartRequest(read_document(source(case), file), script.workload)
        run = (await server.start(order)).run
        try:
            state = await asyncio.wait_for(server.wait(run), 30)
        finally:
            await server.cancel(run)
        return await read_log(database.archive, run), state


@pytest.mark.parametrize("case", daily(CASES, 6), ids=lambda case: case["id"])
def test_conformance_through_server_and_worker(case, postgres, tmp_path, monkeypatch):
    for name in ("PG_K8S", "X"):
        monkeypatch.setenv(
            f"ANEW_CREDENTIAL_{name}", '{"type": "postgres", "data": {"host": "db"}}'
        )
    runner, database = postgres
    log, state = runner.run(played(database, tmp_path, case))
    program = load_text(source(case), f"test{suffix(case)}").program
    out = summary(program, log, state)
    compare(out, EXIT[out["status"]], case)
    assert replay(program, log) is None
