"""Runs held in memory: the program, the folded state, and when it was last kept as a snapshot.

State is read from the store once and then folded on; runs nobody works on are forgotten, the ones
used longest ago first.
"""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from anew.engine.secrets import Secrets
from anew.engine.state import LoopVisit, RunState
from anew.program.program import Program
from anew.runtime.damage import folded
from anew.runtime.families import NoSuchRun
from anew.runtime.programs import Document, Programs
from anew.store import Archive, JobRef, RunId, Store

# States kept in memory. One is a few kilobytes, unless its run holds large results.
LIVE_RUNS_MAX = 1_000
# Folding a thousand events takes about ten milliseconds, so a snapshot more often buys nothing.
SNAPSHOT_EVENTS = 1_000


class LiveRun(Struct):
    """One run in memory, whose state may be one turn ahead of the store.

    `is_stale`: the store refused a change, so memory is not the truth. `is_ended`: its end is in
    the store; `state.is_final` alone may mean an end that is not durable yet. `last_at` is the
    moment of its newest event. `folder` is what the document says; `working`, known once there is a
    `scratch` folder, is where its relative files are found on this machine, and `is_elsewhere` if
    that is a folder of the run because the document is not here.
    """

    id: RunId
    program: Program
    folder: Path
    state: RunState
    parent: JobRef | None = None
    depth: int = 0
    secrets: Secrets | None = None
    snapshot_version: int = 0
    is_stale: bool = False
    is_ended: bool = False
    scratch: Path | None = None
    working: Path = Path()
    is_elsewhere: bool = False
    last_at: int = 0

    def wants_snapshot(self) -> bool:
        """Whether enough has happened since the last one to pay for writing the whole state."""
        since = self.state.version - self.snapshot_version
        return since >= SNAPSHOT_EVENTS and since >= _size(self.state)


def folder_of(state: RunState, document: Document) -> Path:
    """Where the run's relative files are: one document may lie in several folders."""
    return document.folder if state.file is None else Path(state.file).parent


def _size(state: RunState) -> int:
    """About how many parts a snapshot would have."""
    loops = [visit for visit in state.active.values() if isinstance(visit, LoopVisit)]
    signals = sum(len(buffer.kept) + len(buffer.ids) for buffer in state.signal_buffers.values())
    items = 2 * sum(len(loop.items) for loop in loops)
    return len(state.results) + len(state.tokens) + signals + items


class LiveRuns:
    """Finds a run's state, from memory or from the store.

    With an `archive`, other processes move runs on as well, and it tells how far.
    """

    def __init__(self, store: Store, programs: Programs, archive: Archive | None = None) -> None:
        self._store = store
        self._programs = programs
        self._archive = archive
        self._live: dict[RunId, LiveRun] = {}
        self._loading: dict[RunId, int] = {}
        self._moves: dict[RunId, int] = {}

    def known(self, run: RunId) -> LiveRun | None:
        """The run, if it is in memory."""
        live = self._live.get(run)
        return None if live is None or live.is_stale else live

    async def get(self, run: RunId, *, version: int = 0) -> LiveRun:
        """The run as the store has it, or as folded on since; not older than `version`."""
        live = self.known(run)
        if live is not None and live.state.version < version:
            live.is_stale = True
        while (live := self.known(run)) is None:
            await self._read(run)
        self._live[run] = self._live.pop(run)  # the newest last
        return live

    async def newest(self, run: RunId) -> LiveRun:
        """The run as it is now, whoever moved it on last."""
        row = None
        if self._archive is not None and self.known(run) is not None:
            row = await self._archive.run(run)
        return await self.get(run, version=row.version if row is not None else 0)

    async def apart(self, run: RunId) -> LiveRun:
        """The run as the store has it now, for one caller alone; nobody else finds it here."""
        return await self._load(run)

    async def _read(self, run: RunId) -> None:
        """Read a run from the store, unless it moves on meanwhile."""
        self._loading[run] = self._loading.get(run, 0) + 1
        before = self._moves.get(run, 0)
        try:
            loaded = await self._load(run)
            if self._moves.get(run, 0) == before and self.known(run) is None:
                self.add(loaded)
        finally:
            self._loading[run] -= 1
            if not self._loading[run]:
                del self._loading[run]
                self._moves.pop(run, None)

    def moved(self, run: RunId) -> None:
        """A commit of this run has happened: what is being read may be older."""
        if run in self._loading:
            self._moves[run] = self._moves.get(run, 0) + 1

    def add(self, live: LiveRun) -> None:
        """Keep it in memory, and let go of those used longest ago when there are too many.

        One that is let go while someone works on it is only read again.
        """
        self._live[live.id] = live
        while len(self._live) > LIVE_RUNS_MAX:
            del self._live[next(iter(self._live))]

    def forget(self, run: RunId) -> None:
        self._live.pop(run, None)

    async def _load(self, run: RunId) -> LiveRun:
        stored = await self._store.load(run)
        if stored is None:
            raise NoSuchRun(run)
        document = await self._programs.get(stored.digest)
        state = stored.snapshot or RunState()
        kept = state.version
        folded(run, stored.events, state)
        live = LiveRun(
            run,
            document.program,
            folder_of(state, document),
            state,
            stored.parent,
            stored.depth,
            snapshot_version=kept,
            is_ended=state.is_final,
            last_at=stored.last_at,
        )
        await self.refresh_secrets(live)
        return live

    async def refresh_secrets(self, live: LiveRun) -> None:
        """Have the run's secrets as they are now: someone may have replaced a credential."""
        live.secrets = await self._programs.secrets(
            live.program, live.folder, is_child=live.parent is not None
        )
