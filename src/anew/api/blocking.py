"""The engine for programs without an event loop: it lives in a thread of its own.

Every method blocks until it is done, and may be called from any thread but the engine's own. That
thread has an event loop, so a notebook, which has one running itself, can use this form too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from threading import Thread, current_thread
from types import TracebackType
from typing import Any, overload

from anew.api.engine import EmbeddedEngine, FileName, Input
from anew.api.runs import Ending, Run, SyncRun, T
from anew.engine.events import Event
from anew.engine.state import RunStatus
from anew.errors import AnewError, ConfigError
from anew.program.findings import Finding
from anew.runtime.engine import Listener
from anew.runtime.programs import Document
from anew.store import RunId, RunRow
from anew.values import Value


class LoopThread:
    """An event loop that runs in a thread until it is closed."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._run, name="anew", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        loop = self._loop
        loop.run_forever()
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()

    def call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Its result or its exception. An interruption cancels it."""
        if current_thread() is self._thread:
            coroutine.close()
            raise ConfigError(
                "the engine was called from its own thread, by a listener or a tool, which would "
                "wait for itself. Use `async with open_engine(…)` there, or another thread."
            )
        if self._loop.is_closed():
            coroutine.close()
            raise ConfigError("the engine is closed; open it again with `open_engine`")
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()


class SyncEngine:
    """As `Engine`, each method done when it returns. `close` stops it; `with` does that itself."""

    def __init__(self, opening: Callable[[], AbstractAsyncContextManager[EmbeddedEngine]]) -> None:
        self._thread = LoopThread()
        self._call = self._thread.call
        try:
            self._opened = opening()
            self._engine = self._call(self._opened.__aenter__())
        except BaseException:
            self._thread.close()
            raise

    def close(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        """Hand back what is at work and stop. Unfinished runs go on when an engine is opened."""
        try:
            self._call(self._opened.__aexit__(kind, error, trace))
        finally:
            self._thread.close()

    def check(self, file: FileName, *, dialect: str | None = None) -> Sequence[Finding]:
        return self._engine.check(file, dialect=dialect)

    def load(self, file: FileName, *, dialect: str | None = None) -> Document:
        return self._engine.load(file, dialect=dialect)

    def run(
        self,
        what: FileName | Document,
        input: Input = None,
        *,
        key: str | None = None,
        labels: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> SyncRun:
        """Start a document and wait for it; `result()` is at hand then."""
        started = self._engine.run(what, input, key=key, labels=labels, timeout=timeout)
        return self._of(self._call(started))

    def start(
        self,
        what: FileName | Document,
        input: Input = None,
        *,
        key: str | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> SyncRun:
        """Start a document, and return at once; a run that has this key already is continued."""
        return self._of(self._call(self._engine.start(what, input, key=key, labels=labels)))

    def wait(self, run: int, timeout: float | None = None) -> Ending:
        return self._call(self._engine.wait(run, timeout))

    @overload
    def result(self, run: int, type: None = None, *, timeout: float | None = None) -> Value: ...
    @overload
    def result(self, run: int, type: type[T], *, timeout: float | None = None) -> T: ...
    def result(self, run: int, type: Any = None, *, timeout: float | None = None) -> Any:
        """As `SyncRun.result`, of any run."""
        return self._call(self._engine.result(run, type, timeout=timeout))

    def status(self, run: int) -> RunStatus:
        return self._call(self._engine.status(run))

    def get(self, run: int) -> RunRow:
        return self._call(self._engine.get(run))

    def list(
        self,
        *,
        status: str | Iterable[str] = (),
        program: str | None = None,
        labels: Mapping[str, str] | None = None,
        limit: int = 50,
    ) -> Sequence[RunRow]:
        found = self._engine.list(status=status, program=program, labels=labels, limit=limit)
        return self._call(found)

    def events(self, run: int) -> Sequence[Event]:
        return self._call(self._engine.events(run))

    def listen(self, listener: Listener) -> None:
        """The listener is called in the engine's thread."""
        self._engine.listen(listener)

    def pause(self, run: int, reason: str | None = None) -> bool:
        return self._call(self._engine.pause(run, reason))

    def resume(self, run: int) -> bool:
        return self._call(self._engine.resume(run))

    def resume_all(self) -> dict[RunId, AnewError]:
        return self._call(self._engine.resume_all())

    def cancel(self, run: int, reason: str | None = None) -> bool:
        return self._call(self._engine.cancel(run, reason))

    def retry(self, run: int, step: str | None = None, *, key: str | None = None) -> SyncRun:
        return self._of(self._call(self._engine.retry(run, step, key=key)))

    def fork(
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
    ) -> SyncRun:
        forked = self._engine.fork(
            run,
            at=at,
            step=step,
            what=what,
            input=input,
            key=key,
            labels=labels,
            cancels=cancels,
        )
        return self._of(self._call(forked))

    def answer(
        self, run: int, said: str, *, step: str | None = None, by: str | None = None
    ) -> None:
        self._call(self._engine.answer(run, said, step=step, by=by))

    def signal(self, run: int, name: str, payload: object = None, *, id: str | None = None) -> bool:
        return self._call(self._engine.signal(run, name, payload, id=id))

    def _of(self, run: Run) -> SyncRun:
        return SyncRun.of(run, self._call)
