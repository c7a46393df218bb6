"""Make a new run out of the beginning of an old one: up to where a step began.

The new run's log starts with the old events, so that nothing before that step happens again.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from anew.engine import events as e
from anew.errors import ConfigError
from anew.program.program import Program
from anew.runtime.programs import Document, Programs
from anew.store import Archive, Database, RunId

_PAGE = 5_000


class Reopening(Struct, frozen=True):
    """What a retried run begins with: a document, and the events it shares with the old run."""

    document: Document
    events: Sequence[e.Event]
    run: RunId
    step: str


async def reopened(
    database: Database, programs: Programs, run: RunId, step: str | None
) -> Reopening:
    """The beginning of `run` up to its latest visit of `step`, or of the step that failed it."""
    row = await database.archive.run(run)
    if row is None:
        raise ConfigError(f"there is no run {run}. `anew runs` lists those there are.")
    document = await programs.get(row.digest)
    log = await whole_log(database.archive, run)
    name = step or _failed_step(log, run, document.program)
    if name not in document.program.steps:
        known = ", ".join(document.program.steps)
        raise ConfigError(f"the program has no step {name!r}; it has {known}.")
    return Reopening(document, log[: _beginning(log, run, name)], run, name)


async def whole_log(archive: Archive, run: RunId) -> list[e.Event]:
    """Every event of a run, in order."""
    log: list[e.Event] = []
    while page := await archive.events(run, after=len(log), limit=_PAGE):
        log.extend(page)
    return log


def renamed(events: Sequence[e.Event], run: RunId) -> list[e.Event]:
    """The same beginning, told of another run."""
    first = events[0]
    assert isinstance(first, e.RunRequested)
    return [replace(first, run=str(run)), *events[1:]]


def _failed_step(log: Sequence[e.Event], run: RunId, program: Program) -> str:
    for event in reversed(log):
        if isinstance(event, e.StepFailed) and not event.handled and event.step:
            return event.step
        if isinstance(event, e.GateChecked) and event.gate is not None:
            # Where the gate would have sent the run once more.
            gate = program.steps[event.gate].gate
            return (gate.to if gate else None) or event.gate
    raise ConfigError(f"no step of run {run} failed. Say where to begin with `--from STEP`.")


def _beginning(log: Sequence[e.Event], run: RunId, step: str) -> int:
    """How many events come before the latest visit of a step."""
    for index in range(len(log) - 1, -1, -1):
        if isinstance(log[index], e.StepScheduled) and log[index].step == step:
            is_joined = isinstance(log[index - 1], e.BranchJoined)
            return index - 1 if is_joined else index
    raise ConfigError(f"run {run} never came to step {step!r}.")
