"""A tool for a database that lives in this process: on a file of the run, another file, or memory.

Reads the call and runs it on a thread; what a statement means is the database's own business.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from anew.engine.outcome import Outcome, outcome_of
from anew.tool import Call
from anew.tools.scripts import ScriptFailure, Scripts
from anew.tools.sql.failure import SqlFailure
from anew.tools.sql.request import (
    SqlRequest,
    database_of,
    is_file_of_run,
    request_of,
    with_script,
)
from anew.tools.sql.threads import Interruption, Threads
from anew.values import Object


class SqlJob(Struct, frozen=True):
    """One call, ready to run on a thread. `is_of_run`: the file belongs to the run alone."""

    request: SqlRequest
    database: str
    folder: Path
    timeout_seconds: float | None
    is_of_run: bool


def file_of_run(kind: str) -> str:
    """The name of the file that a run has for itself, in each kind of database."""
    return f"{kind}.db"


def job_of(call: Call, own_file: str, request: SqlRequest) -> SqlJob:
    """A call on the database that its inputs name, else on the run's own file of this name."""
    return SqlJob(
        request,
        database_of(call, own_file),
        call.folder,
        call.timeout.seconds,
        is_file_of_run(call),
    )


class EmbeddedDatabaseTool:
    """`run` executes a job on a thread and gives its result; it raises SqlFailure."""

    queues = True

    def __init__(self, name: str, run: Callable[[SqlJob, Interruption], Object]) -> None:
        self._file_of_run = file_of_run(name)
        self._run = run
        self._threads = Threads(f"anew-{name}")
        self._scripts = Scripts()

    async def call(self, call: Call) -> Outcome:
        try:
            inputs = await with_script(self._scripts, call)
            request = request_of(inputs, once=call.once)
            job = job_of(call, self._file_of_run, request)
            result = await self._threads.run(
                lambda interruption: self._run(job, interruption), begins=call.begins
            )
        except SqlFailure as failure:
            return failure.outcome()
        except ScriptFailure as failure:
            return failure.outcome
        return outcome_of(result)

    async def close(self) -> None:
        self._threads.close()
        await self._scripts.close()
