"""Open an engine in this process, for programs with an event loop and for those without."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from types import TracebackType
from typing import Any

from anew.api.blocking import SyncEngine
from anew.api.engine import EmbeddedEngine, FileName
from anew.errors import ConfigError
from anew.languages.dot.extensions import Extensions
from anew.runtime import bootstrap
from anew.runtime.engine import GRACE_SECONDS, SLOTS
from anew.runtime.interviewers import Interviewer
from anew.runtime.ownership import Owned
from anew.tools.modules import Tools, row_of, tool_kinds

_SHARE_IT = (
    "One process owns a database file: open the engine once for all of the process, name another "
    "file, or a PostgreSQL, which many may share."
)


class Opening:
    """An engine that is to be opened: `with` gives the blocking one, `async with` the other.

    A program that cannot keep either open, as a notebook, calls `open()` and later `close()`.
    """

    def __init__(self, opened: Callable[[], AbstractAsyncContextManager[EmbeddedEngine]]) -> None:
        self._opened = opened
        self._inside: AbstractAsyncContextManager[EmbeddedEngine] | None = None
        self._sync: SyncEngine | None = None

    def open(self) -> SyncEngine:
        """The blocking engine, until its `close()` is called."""
        return SyncEngine(self._opened)

    def __enter__(self) -> SyncEngine:
        self._sync = self.open()
        return self._sync

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._sync is not None
        self._sync.close(kind, error, trace)

    async def __aenter__(self) -> EmbeddedEngine:
        self._inside = self._opened()
        return await self._inside.__aenter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        assert self._inside is not None
        return await self._inside.__aexit__(kind, error, trace)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not hasattr(EmbeddedEngine, name):
            raise AttributeError(name)
        raise ConfigError(
            f"the engine is not open yet: write `with open_engine(…) as engine: engine.{name}(…)`, "
            "or `async with` in a coroutine."
        )


def open_engine(
    database: FileName | None = None,
    *,
    tools: Tools | None = None,
    extensions: Extensions | None = None,
    interviewer: Interviewer | None = None,
    slots: int = SLOTS,
    grace_seconds: float = GRACE_SECONDS,
) -> Opening:
    """An engine in this process, which owns the database file until it is closed.

    Open it with `with`, where its methods block, or with `async with`, where they are awaited.
    `tools` are functions, modules or their names, or tools by kind; they come before those that are
    built in or installed, and graphs and playbooks may use them. `extensions` belong to the engine:
    it compiles with them what it is given and what it goes on with. The `interviewer` is asked the
    questions of its runs.
    """

    @asynccontextmanager
    async def opened() -> AsyncIterator[EmbeddedEngine]:
        kinds = {} if tools is None else tool_kinds(tools)
        rows = {name: row_of(kind) for name, kind in kinds.items()}
        given = (extensions or Extensions()).with_kinds(rows)
        engine = bootstrap.open_engine(
            None if database is None else os.fspath(database),
            slots=slots,
            grace_seconds=grace_seconds,
            tools={name: kind.make() for name, kind in kinds.items()},
            extensions=given,
            interviewer=interviewer,
        )
        async with AsyncExitStack() as stack:
            try:
                embedded = await stack.enter_async_context(engine)
            except Owned as owned:
                raise Owned(f"{owned}. {_SHARE_IT}") from None
            yield EmbeddedEngine(embedded, given)

    return Opening(opened)
