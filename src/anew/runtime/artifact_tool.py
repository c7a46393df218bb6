"""`artifact`: a task that keeps a value under a name, or reads one that was kept.

The value is kept once for each visit of the task, by the visit's key, so that a worker that dies
here finds its version again.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from anew.engine.artifacts import (
    ArtifactRequest,
    BadArtifact,
    artifact_request,
    found,
    kept,
    missing,
    refused,
    too_large,
)
from anew.engine.outcome import Outcome
from anew.program.artifacts import ArtifactAction, ArtifactScope
from anew.runtime.ledger import Ledger
from anew.runtime.shared_artifacts import SharedArtifacts
from anew.store import Artifacts, NewArtifact, RunId
from anew.store.artifacts import owner_of_program, owner_of_run
from anew.tool import Call


class ArtifactTool(Struct, frozen=True, eq=False):
    """Needs the store of values, and to know of which program a run is and what it shares."""

    artifacts: Artifacts
    ledger: Ledger
    shared: SharedArtifacts

    async def call(self, call: Call) -> Outcome:
        try:
            request = artifact_request(call.inputs)
        except BadArtifact as problem:
            return refused(problem)
        owner = await self._owner(request, RunId(int(call.place.run)))
        if request.action is ArtifactAction.PUT:
            return too_large(request) or await self._put(request, owner, call)
        stored = await self.artifacts.get(owner, request.name, request.version)
        if stored is None:
            return missing(request, owner.replace(":", " ", 1))
        return found(request, stored.version, msgspec.json.decode(stored.data))

    async def close(self) -> None:
        """Nothing was opened."""

    async def _put(self, request: ArtifactRequest, owner: str, call: Call) -> Outcome:
        new = NewArtifact(
            owner=owner,
            name=request.name,
            run=RunId(int(call.place.run)),
            key=call.idempotency_key,
            attempt=call.place.attempt,
            checksum=request.checksum,
            data=request.data,
        )
        return kept(request, await self.artifacts.put(new))

    async def _owner(self, request: ArtifactRequest, run: RunId) -> str:
        live = await self.ledger.live.get(run)
        if request.scope is ArtifactScope.PROGRAM:
            return owner_of_program(live.program.name)
        await self.shared.keep(live)
        return owner_of_run(run)
