"""What a program imports that brings an engine of its own. The names here may be relied on.

>>> async with open_engine("runs.db", tools={"greet": function_tool(greet)}) as engine:
...     ending = await engine.run("flow.dot", {"name": "Ada"})

Decides nothing: the engine is `runtime.engine`, and the CLI has the same.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from msgspec import Struct, field
from msgspec.structs import replace

from anew.engine.events import Event, RunDone
from anew.engine.outcome import Advice, Outcome, error_of, outcome_of
from anew.engine.state import RunStatus
from anew.errors import AnewError, ConfigError, ProgramError
from anew.languages import load, read_file
from anew.languages.dot.extensions import Extensions, NodeType, Role, Work, calling
from anew.languages.dot.graph import Attribute, Graph, Node
from anew.program.findings import Finding, Severity
from anew.runtime import bootstrap
from anew.runtime import engine as runtime
from anew.runtime.blocked_on import BlockedOn
from anew.runtime.engine import GRACE_SECONDS, SLOTS, Listener
from anew.runtime.interviewers import (
    AutoApprove,
    Console,
    FromCallback,
    FromQueue,
    Interviewer,
    RecordedAnswer,
    Recording,
)
from anew.runtime.programs import Document
from anew.runtime.questions import OpenQuestion
from anew.runtime.run_logs import read_log, successor
from anew.runtime.run_starts import StartRequest
from anew.runtime.signals import OpenSignal
from anew.store import RunId
from anew.tool import Call, Tool
from anew.tools.function import function_tool
from anew.values import Object, Value

__all__ = [
    "Advice",
    "AnewError",
    "Attribute",
    "AutoApprove",
    "Call",
    "ConfigError",
    "Console",
    "Document",
    "EmbeddedEngine",
    "Ending",
    "Engine",
    "Event",
    "Extensions",
    "Finding",
    "FromCallback",
    "FromQueue",
    "Graph",
    "Interviewer",
    "KeyReuseWarning",
    "Node",
    "NodeType",
    "OpenQuestion",
    "OpenSignal",
    "Outcome",
    "ProgramError",
    "RecordedAnswer",
    "Recording",
    "Role",
    "RunId",
    "RunStatus",
    "Severity",
    "Tool",
    "Work",
    "calling",
    "error_of",
    "function_tool",
    "open_engine",
    "outcome_of",
]

FileName = str | os.PathLike[str]


class KeyReuseWarning(UserWarning):
    """A start key was given again with something else, which has no effect on its run."""


class Ending(Struct, frozen=True):
    """What became of a run. One that is not done, failed or cancelled has `questions` for people,
    or waits for `signals`.

    `run` is the last of its line: a graph may have a run begin anew as another.
    """

    run: RunId
    status: RunStatus
    result: Value = None
    error: Object | None = None
    questions: list[OpenQuestion] = field(default_factory=list)
    signals: list[OpenSignal] = field(default_factory=list)


class EmbeddedEngine:
    """Starts runs and works on them. `embedded` is the engine itself, for what is not here."""

    def __init__(self, embedded: runtime.Engine, extensions: Extensions) -> None:
        self.embedded = embedded
        self._extensions = extensions

    def check(self, file: FileName, *, dialect: str | None = None) -> list[Finding]:
        """Everything that is to be said about a document, in its order."""
        return load(file, dialect=dialect, extensions=self._extensions).findings

    def load(self, file: FileName, *, dialect: str | None = None) -> Document:
        """Compile a document with the extensions; ProgramError when it has errors."""
        return self.embedded.programs.read(read_file(file), os.fspath(file), dialect=dialect)

    async def run(
        self,
        what: FileName | Document,
        workload: Object | None = None,
        *,
        key: str | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> Ending:
        """Start a document and wait for it; see `start` and `wait`."""
        return await self.wait(await self.start(what, workload, key=key, labels=labels))

    async def start(
        self,
        what: FileName | Document,
        workload: Object | None = None,
        *,
        key: str | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> RunId:
        """Start a document, by file or loaded; a run that has this key already is gone on with.

        A `KeyReuseWarning` says if that one was started with another document or other input.
        """
        document = what if isinstance(what, Document) else self.load(what)
        started = await self.embedded.start(
            StartRequest(document, workload or {}, key, labels or {})
        )
        if started.notice is not None:
            warnings.warn(started.notice, KeyReuseWarning, stacklevel=2)
        return started.run

    async def wait(self, run: RunId) -> Ending:
        """Return when a run has ended, or when nobody but people can move it on."""
        archive = self.embedded.database.archive
        while True:
            blocked = await self.embedded.people.until_blocked(run)
            following = None if blocked else await successor(archive, run)
            if following is None:
                return await self._ending(run, blocked)
            await self.embedded.adopt([following])
            run = following

    async def _ending(self, run: RunId, blocked: BlockedOn | None) -> Ending:
        archive = self.embedded.database.archive
        row = await archive.run(run)
        assert row is not None
        last = await archive.events(run, after=row.version - 1, limit=1)
        result = last[0].result if last and isinstance(last[0], RunDone) else None
        questions, signals = (blocked.questions, blocked.signals) if blocked else ([], [])
        return Ending(run, row.status, result, row.error, questions, signals)

    async def resume(self, run: RunId) -> bool:
        """Go on with a run that is paused or that an earlier engine left; False if it has ended."""
        return await self.embedded.resume(run)

    async def resume_all(self) -> dict[RunId, AnewError]:
        """Go on with every unfinished run that is not paused; those that cannot go on, and why."""
        return await self.embedded.adopt_all()

    async def answer(
        self, run: RunId, said: str, *, step: str | None = None, by: str | None = None
    ) -> None:
        """Answer a question of a run; ConfigError when it has none, or the answer does not fit."""
        await self.embedded.people.answer(run, said, step=step, by=by)

    async def signal(
        self, run: RunId, name: str, payload: Value = None, *, id: str | None = None
    ) -> bool:
        """Send a run a signal; False when it had one with this `id` already."""
        return await self.embedded.signals.signal(run, name, payload, id=id)

    async def cancel(self, run: RunId, reason: str | None = None) -> bool:
        """End a run and its children; False when it had ended."""
        return await self.embedded.cancel(run, reason)

    async def events(self, run: RunId) -> list[Event]:
        """The whole log of a run."""
        return await read_log(self.embedded.database.archive, run)

    def listen(self, listener: Listener) -> None:
        """Have `listener(run, events)` called after every commit, once it is durable."""
        self.embedded.listen(listener)


# How annotations in programs name it.
Engine = EmbeddedEngine


@asynccontextmanager
async def open_engine(
    database: FileName | None = None,
    *,
    tools: Mapping[str, Tool] | None = None,
    extensions: Extensions | None = None,
    interviewer: Interviewer | None = None,
    slots: int = SLOTS,
    grace_seconds: float = GRACE_SECONDS,
) -> AsyncIterator[EmbeddedEngine]:
    """An engine in this process, which owns the database file until it is closed.

    `tools` by kind come before those that are built in or installed; graphs and playbooks may use
    them. `extensions` belong to the engine: it compiles with them what it is given and what it goes
    on with. The `interviewer` is asked the questions of its runs.
    """
    given = extensions or Extensions()
    given = replace(given, kinds=frozenset({*given.kinds, *(tools or {})}))
    async with bootstrap.open_engine(
        None if database is None else os.fspath(database),
        slots=slots,
        grace_seconds=grace_seconds,
        tools=tools,
        extensions=given,
        interviewer=interviewer,
    ) as embedded:
        yield EmbeddedEngine(embedded, given)
