"""`restart`: a task that ends its run's line here and begins it anew as another run.

The new run has the program, the workload and the labels of the first, begins at the named step,
and knows whose place it takes. Its key is made of the old run's id, so that a worker that dies here
finds it again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace

from anew.engine.events import RunRequested
from anew.engine.outcome import Outcome, error_of, outcome_of
from anew.errors import EngineBug
from anew.runtime.keys import RESTART
from anew.runtime.ledger import Ledger
from anew.runtime.live_runs import LiveRun
from anew.runtime.programs import Programs
from anew.runtime.run_logs import successor
from anew.runtime.run_starts import Started, StartRequest
from anew.store import Archive, RunId
from anew.tool import Answer, Call


class RestartTool(Struct, frozen=True, eq=False):
    """Needs to start runs, and to go on with one that was started before."""

    archive: Archive
    ledger: Ledger
    programs: Programs
    start: Callable[[StartRequest], Awaitable[Started]]
    adopt: Callable[[Iterable[RunId]], Awaitable[None]]

    async def call(self, call: Call) -> Answer:
        run = RunId(int(call.place.run))
        known = await successor(self.archive, run)
        if known is None:
            live = await self.ledger.live.get(run)
            request = await self._request_for(live, str(call.inputs.get("entry")))
            if isinstance(request, Outcome):
                return request
            started = await self.start(request)
            known = started.run
        await self.adopt([known])
        return outcome_of({"run_id": str(known)})

    async def _request_for(self, live: LiveRun, entry: str) -> StartRequest | Outcome:
        generation, most = live.state.generation + 1, live.program.limits.restarts
        if generation > most:
            message = f"the run is not restarted again: its limit (restarts) is {most}"
            return outcome_of(error=error_of("limit_exceeded", message))
        if entry not in live.program.steps:
            message = f"the program has no step {entry!r} to restart at"
            return outcome_of(error=error_of("reference", message))
        row, request = await self.archive.run(live.id), await self._request(live.id)
        assert row is not None
        document = await self.programs.get(row.digest)
        if request.file is not None:
            document = replace(document, file=request.file)
        return StartRequest(
            document,
            request.workload,
            f"{RESTART}{live.id}",
            row.labels,
            row.parent,
            row.depth,
            entry=entry,
            continues=str(live.id),
            generation=generation,
        )

    async def _request(self, run: RunId) -> RunRequested:
        first = await self.archive.events(run, limit=1)
        if not first or not isinstance(first[0], RunRequested):
            raise EngineBug(f"the log of run {run} does not start with its request")
        return first[0]

    async def close(self) -> None:
        """Nothing was opened."""
