"""Runs for the reading commands to read: simulated, then committed to a real SQLite file."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from anew.engine import events as e
from anew.engine.fold import fold
from anew.engine.moments import NANOSECONDS
from anew.lab.script import script_of
from anew.lab.simulate import Simulation, simulate
from anew.languages import load_text
from anew.store import Commit, NewJob, NewRun, RunHead, RunId, StoredProgram
from anew.stores.sqlite import SqliteDatabase

RUN = 7351000000000000042
SECOND = NANOSECONDS

RETRIES = """\
metadata: {name: flaky}
workflow:
  - step: fetch
    tool:
      - page:
          kind: http
          url: "http://x"
          spec:
            policy:
              rules:
                - when: "{{ outcome.status == 'error' }}"
                  then: {do: retry, attempts: 3, backoff: fixed, delay: 2.0}
    next: [{step: store}]
  - step: store
    tool: {kind: noop}
"""
DOWN = {"error": {"kind": "server_error", "message": "503"}, "http": {"status": 503}, "takes": 0.4}
HOSTILE = "a\x1b[2J\nb漢字"


def played(document: str, **script: Any) -> Simulation:
    """A simulation of a document; outcomes by task."""
    loaded = load_text(document, "flow.yaml")
    assert loaded.program is not None, loaded.findings
    return simulate(loaded.program, script_of(script))


def hostile() -> Simulation:
    """Names that would clear a screen, break a line, or take two columns a character."""
    name = "a\\e[2J\\nb漢字"
    return played(
        f'metadata: {{name: "{name}"}}\nworkflow: [{{step: "{name}", tool: {{kind: noop}}}}]'
    )


class Shelf:
    """A database file, written before a command reads it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "runs.db"
        self.url = f"sqlite:///{self.path}"

    def put(
        self,
        simulation: Simulation,
        *,
        run: int = RUN,
        document: str = RETRIES,
        upto: int | None = None,
        jobs: Sequence[NewJob] = (),
        labels: dict[str, str] | None = None,
    ) -> None:
        """Commit a run of this log, or of its first `upto` events."""
        program = simulation.program
        stored = StoredProgram(program.digest, program.name, 0, document, "flow.yaml", 0)
        log = simulation.log[:upto]
        first = e.RunRequested(
            run=str(run), program=program.name, digest=program.digest, workload={}
        )
        first.seq, first.at = log[0].seq, log[0].at
        commit = Commit(
            run=RunId(run),
            expected=0,
            at=log[-1].at,
            events=[first, *log[1:]],
            head=_head(log),
            jobs=jobs,
            new=NewRun(program.name, program.digest, labels=labels or {}),
        )
        asyncio.run(self._commit(commit, stored))

    def add(self, run: int, events: list[e.Event]) -> None:
        """Commit what happened next."""
        asyncio.run(self._add(run, events))

    async def _commit(self, commit: Commit, stored: StoredProgram) -> None:
        database = SqliteDatabase.open(self.path)
        await database.catalog.register(stored)
        await database.store.commit(commit)
        await database.close()

    async def _add(self, run: int, events: list[e.Event]) -> None:
        database = SqliteDatabase.open(self.path)
        known = await database.archive.events(RunId(run))
        head = _head([*known, *events])
        await database.store.commit(Commit(RunId(run), len(known), events[-1].at, events, head))
        await database.close()


def _head(log: Sequence[e.Event]) -> RunHead:
    state = fold(log)
    ended = log[-1].at if state.is_final else None
    return RunHead(state.status, state.failure, ended, state.cause)
