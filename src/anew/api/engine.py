"""The engine of a Python program: starts runs, works on them, and does what the program asks.

Decides nothing: the engine is `runtime.engine`, and the command line has the same.
"""

from __future__ import annotations

import asyncio
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, overload

from anew.api.runs import Ending, Run, T, result_of
from anew.engine.events import Event, RunDone
from anew.engine.state import RunStatus
from anew.errors import AnewError, ConfigError
from anew.languages import load, read_file
from anew.languages.dot.extensions import Extensions
from anew.program.findings import Finding
from anew.runtime import engine as runtime
from anew.runtime.blocked_on import BlockedOn
from anew.runtime.engine import Listener
from anew.runtime.families import existing_run
from anew.runtime.forks import ForkPoint, ForkRequest
from anew.runtime.programs import Document
from anew.runtime.run_logs import read_log, successor
from anew.runtime.run_starts import Started, StartRequest
from anew.store import RunFilter, RunId, RunRow
from anew.tools.python_values import as_json
from anew.values import Object, Value

FileName = str | os.PathLike[str]
# A mapping, or anything that becomes one as JSON: a dataclass, a struct, a model.
Input = object


class KeyReuseWarning(UserWarning):
    """A start key was given again with something else, which has no effect on its run."""


class EmbeddedEngine:
    """Starts runs and works on them. `embedded` is the engine itself, for what is not here.

    A run is named by its id, which every `Run` is.
    """

    def __init__(self, embedded: runtime.Engine, extensions: Extensions) -> None:
        self.embedded = embedded
        self._extensions = extensions

    # --- documents -----------------------------------------------------------------------------

    def check(self, file: FileName, *, dialect: str | None = None) -> Sequence[Finding]:
        """Everything that is to be said about a document, in its order."""
        return load(file, dialect=dialect, extensions=self._extensions).findings

    def load(self, file: FileName, *, dialect: str | None = None) -> Document:
        """Compile a document with the extensions; ProgramError when it has errors."""
        return self.embedded.programs.read(read_file(file), os.fspath(file), dialect=dialect)

    # --- runs ----------------------------------------------------------------------------------

    async def run(
        self,
        what: FileName | Document,
        input: Input = None,
        *,
        key: str | None = None,
        labels: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> Run:
        """Start a document and wait for it; see `start` and `wait`. `result()` is at hand then."""
        run = await self.start(what, input, key=key, labels=labels)
        return Run.of(self, (await self.wait(run, timeout)).run)

    async def start(
        self,
        what: FileName | Document,
        input: Input = None,
        *,
        key: str | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> Run:
        """Start a document, by file or loaded; a run that has this key already is gone on with.

        A `KeyReuseWarning` says if that one was started with another document or other input.
        """
        document = what if isinstance(what, Document) else self.load(what)
        started = await self.embedded.start(
            StartRequest(document, _workload(input), key, labels or {})
        )
        return self._started(started)

    async def wait(self, run: int, timeout: float | None = None) -> Ending:
        """Return when a run has ended, or when nobody but people or signals can move it on.

        One that an earlier engine left is worked on. TimeoutError after `timeout` seconds, which
        changes nothing for the run.
        """
        await self._row(run)
        try:
            async with asyncio.timeout(timeout):
                return await self._ended(RunId(run))
        except TimeoutError:
            raise TimeoutError(f"run {run} has not ended after {timeout} s; it continues") from None

    @overload
    async def result(
        self, run: int, type: None = None, *, timeout: float | None = None
    ) -> Value: ...
    @overload
    async def result(self, run: int, type: type[T], *, timeout: float | None = None) -> T: ...
    async def result(self, run: int, type: Any = None, *, timeout: float | None = None) -> Any:
        """As `Run.result`, of any run."""
        return result_of(await self.wait(run, timeout), type)

    async def status(self, run: int) -> RunStatus:
        return (await self._row(run)).status

    async def get(self, run: int) -> RunRow:
        """A run as lists show it: its program, its labels, when it started, its error."""
        return await self._row(run)

    async def list(
        self,
        *,
        status: str | Iterable[str] = (),
        program: str | None = None,
        labels: Mapping[str, str] | None = None,
        limit: int = 50,
    ) -> Sequence[RunRow]:
        """Runs, newest first: those of a status, of a program, and with these labels."""
        wanted = [_status(one) for one in ([status] if isinstance(status, str) else status)]
        asked = RunFilter(statuses=wanted, program=program, labels=labels or {}, limit=limit)
        return await self.embedded.database.archive.runs(asked)

    async def events(self, run: int) -> Sequence[Event]:
        """The whole log of a run."""
        await self._row(run)
        return await read_log(self.embedded.database.archive, RunId(run))

    def listen(self, listener: Listener) -> None:
        """Have `listener(run, events)` called after every commit, once it is durable."""
        self.embedded.listen(listener)

    # --- what people can do to a run -----------------------------------------------------------

    async def pause(self, run: int, reason: str | None = None) -> bool:
        """Start no further task of a run; False when that changes nothing."""
        return await self.embedded.pause(RunId(run), reason)

    async def resume(self, run: int) -> bool:
        """Go on with a run that is paused or that an earlier engine left; False if it has ended."""
        return await self.embedded.resume(RunId(run))

    async def resume_all(self) -> dict[RunId, AnewError]:
        """Go on with every unfinished run that is not paused; those that cannot go on, and why."""
        return await self.embedded.adopt_all()

    async def cancel(self, run: int, reason: str | None = None) -> bool:
        """End a run and its children; False when it had ended."""
        return await self.embedded.cancel(RunId(run), reason)

    async def retry(self, run: int, step: str | None = None, *, key: str | None = None) -> Run:
        """A new run that continues at the step that failed, or at this one."""
        return self._started(await self.embedded.retry(RunId(run), step, key=key))

    async def fork(
        self,
        run: int,
        *,
        at: int | None = None,
        step: str | None = None,
        what: FileName | Document | None = None,
        input: Input = None,
        key: str | None = None,
        labels: Mapping[str, str] | None = None,
        cancels: bool = False,
    ) -> Run:
        """A new run that shares the log up to event `at`, or up to the last visit of `step`.

        It may continue under another document, and with values laid over the input. `cancels` ends
        the old run.
        """
        document = self.load(what) if isinstance(what, (str, os.PathLike)) else what
        where, changed = ForkPoint(at, step), _workload(input)
        request = ForkRequest(
            RunId(run), where, document, changed, key, labels or {}, cancels=cancels
        )
        return self._started(await self.embedded.fork(request))

    async def answer(
        self, run: int, said: str, *, step: str | None = None, by: str | None = None
    ) -> None:
        """Answer a question of a run; ConfigError when it has none, or the answer does not fit."""
        await self.embedded.people.answer(RunId(run), said, step=step, by=by)
        await self.embedded.adopt([RunId(run)])

    async def signal(
        self, run: int, name: str, payload: object = None, *, id: str | None = None
    ) -> bool:
        """Send a run a signal; False when it had one with this `id` already."""
        sent = as_json(payload, f"the payload of the signal {name!r}")
        is_new = await self.embedded.signals.signal(RunId(run), name, sent, id=id)
        await self.embedded.adopt([RunId(run)])
        return is_new

    # --- how it is done ------------------------------------------------------------------------

    def _started(self, started: Started) -> Run:
        if started.notice is not None:
            # Two calls up is the line of the author, in the asynchronous form.
            warnings.warn(started.notice, KeyReuseWarning, stacklevel=3)
        return Run.of(self, started.run)

    async def _row(self, run: int) -> RunRow:
        return await existing_run(self.embedded.database.archive, RunId(run))

    async def _ended(self, run: RunId) -> Ending:
        archive = self.embedded.database.archive
        while True:
            if self.embedded.ledger.live.known(run) is None:
                await self.embedded.adopt([run])
            blocked = await self.embedded.people.until_blocked(run)
            following = None if blocked else await successor(archive, run)
            if following is None:
                return await self._ending(run, blocked)
            run = following

    async def _ending(self, run: RunId, blocked: BlockedOn | None) -> Ending:
        row = await self._row(run)
        archive = self.embedded.database.archive
        last = await archive.events(run, after=row.version - 1, limit=1)
        result: Value = last[0].result if last and isinstance(last[0], RunDone) else None
        questions, signals = (blocked.questions, blocked.signals) if blocked else ([], [])
        return Ending(run, row.status, result, row.error, questions, signals)


def _workload(given: Input) -> Object:
    workload = as_json({} if given is None else given, "the input")
    if not isinstance(workload, dict):
        raise ConfigError(
            f"the input is a {type(given).__name__}, which names no values; "
            "give a mapping, a dataclass or a model."
        )
    return workload


def _status(said: str) -> RunStatus:
    try:
        return RunStatus(said)
    except ValueError:
        known = ", ".join(status.value for status in RunStatus)
        raise ConfigError(f"there is no status {said!r}; known are {known}") from None
