"""End waits for a moment on someone's behalf: which are meant, and what came of it.

A retry or a jump that was delayed starts now, a `sleep` ends now. Whoever works on the run goes on
with it; the engine decides what may be skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from anew.clock import Clock
from anew.engine.boundaries import Skipped
from anew.engine.events import WaitSkipped
from anew.engine.state import StepRunKey
from anew.engine.waits import moment_waits
from anew.errors import ConfigError
from anew.program.findings import did_you_mean
from anew.runtime.families import existing_run
from anew.runtime.ledger import Ledger
from anew.runtime.live_runs import LiveRun
from anew.runtime.turns import TURN_EVENTS_MAX
from anew.store import Database, RunId
from anew.values import Object


class WaitSkipper(Struct, frozen=True, eq=False):
    """Of one engine."""

    database: Database
    ledger: Ledger
    clock: Clock
    redact: Callable[[str], str]

    async def skip(
        self,
        run: RunId,
        step: str | None = None,
        *,
        visit: int | None = None,
        iteration: int | None = None,
        by: str | None = None,
    ) -> list[WaitSkipped]:
        """End the waits of a run, or those of one step, visit or iteration; those that were ended.

        ConfigError when there is no such run or step. A wait that is over changes nothing, so that
        it can be asked again.
        """
        await existing_run(self.database.archive, run)
        live = await self.ledger.live.newest(run)
        if step is not None and step not in live.program.steps:
            near = did_you_mean(step, live.program.steps) or "`anew show` lists its steps."
            raise ConfigError(f"run {run} has no step {step!r}. {near}")
        if step is None and (visit is not None or iteration is not None):
            raise ConfigError("a visit or an iteration is of a step: name the step, too")

        def is_meant(key: StepRunKey) -> bool:
            pairs = ((step, key.step), (visit, key.visit), (iteration, key.iteration))
            return all(said is None or said == found for said, found in pairs)

        # People's names may be secrets, too; the log learns none that this process knows.
        by = None if by is None else self.redact(by)
        found: list[WaitSkipped] = []
        for keys in self._groups(live, is_meant):
            applied = await self.ledger.apply(run, Skipped(keys, by))
            found += [event for event in applied.events if isinstance(event, WaitSkipped)]
        return found

    def _groups(
        self, live: LiveRun, is_meant: Callable[[StepRunKey], bool]
    ) -> Iterator[tuple[StepRunKey, ...]]:
        """The step-runs that wait, as many at a time as one commit may hold."""
        waits = moment_waits(live.program, live.state, self.clock.now())
        keys = [wait.run.key for wait in waits if is_meant(wait.run.key)]
        for begin in range(0, len(keys), TURN_EVENTS_MAX):
            yield tuple(keys[begin : begin + TURN_EVENTS_MAX])


def skipped_row(event: WaitSkipped) -> Object:
    """A wait that was ended, as a command answers it."""
    return {
        "step": event.step,
        "visit": event.visit,
        "iteration": event.iteration,
        "task": event.task,
        "attempt": event.attempt,
        "waited_for": event.waited_for,
    }
