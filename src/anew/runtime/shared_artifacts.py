"""What a run has under names of its own that another run has kept: the one whose log it shares.

It is kept when a task of the run first asks for such a name, from the run's own log. So nothing is
kept for a run that never came to be, and whatever dies on the way, the next task does the rest.
"""

from __future__ import annotations

import asyncio

from anew.engine.artifacts import SharedArtifact, artifacts_in
from anew.runtime.live_runs import LiveRun
from anew.runtime.run_logs import read_log
from anew.store import Archive, Artifacts, NewArtifact, RunId
from anew.store.artifacts import owner_of_run

# Runs remembered as done; one that is forgotten is only done again.
_RUNS_REMEMBERED = 10_000


class SharedArtifacts:
    """Of one process."""

    def __init__(self, archive: Archive, artifacts: Artifacts) -> None:
        self._archive = archive
        self._artifacts = artifacts
        self._done: dict[RunId, None] = {}
        self._turn = asyncio.Lock()

    async def keep(self, live: LiveRun) -> None:
        """Have all that the shared part of the run's log tells of, unless it is there already."""
        if not live.state.shared_until or live.id in self._done:
            return
        async with self._turn:
            if live.id not in self._done:
                await self._keep(live)

    async def _keep(self, live: LiveRun) -> None:
        log = await read_log(self._archive, live.id, until=live.state.shared_until)
        for artifact in artifacts_in(log):
            await self._artifacts.put(_shared_with(live.id, artifact))
        self._done[live.id] = None
        if len(self._done) > _RUNS_REMEMBERED:
            del self._done[next(iter(self._done))]


def _shared_with(run: RunId, artifact: SharedArtifact) -> NewArtifact:
    """What another run kept, for one that shares its history."""
    request = artifact.request
    return NewArtifact(
        owner=owner_of_run(run),
        name=request.name,
        run=run,
        key=f"shared:{artifact.seq}",
        attempt=1,
        checksum=request.checksum,
        data=request.data,
        version=artifact.version,
    )
