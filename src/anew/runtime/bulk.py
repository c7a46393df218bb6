"""One action on many runs, one after the other: what each came to.

A run that refuses does not stop the others. What was done stays done: asked again, an action finds
the runs that it changed in a state that it does not change.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from typing import Literal, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from anew.engine.statuses import DetailedStatus
from anew.errors import AnewError, ConfigError
from anew.runtime.engine import Engine
from anew.runtime.keys import ASKED
from anew.store import RunFilter, RunId, RunRow, Statistics

# What one request or command does; whoever wants more asks again with the cursor it was given.
BULK_RUNS_MAX = 100
# Looked at between two runs: the answer then says where to go on.
BULK_SECONDS_MAX = 5.0

BulkAction: TypeAlias = Literal["cancel", "pause", "resume", "retry", "skip"]
_OPEN = frozenset(
    {
        *(
            DetailedStatus.QUEUED,
            DetailedStatus.RUNNING,
            DetailedStatus.RETRYING,
            DetailedStatus.PERSON,
            DetailedStatus.SIGNAL,
        ),
        *(DetailedStatus.PARKED, DetailedStatus.WAITING),
    }
)
# In which states an action can change a run.
ABLE: Mapping[BulkAction, frozenset[DetailedStatus]] = {
    "cancel": _OPEN | {DetailedStatus.PAUSED},
    "pause": _OPEN,
    "resume": frozenset({DetailedStatus.PAUSED}),
    "retry": frozenset({DetailedStatus.FAILED, DetailedStatus.DEAD}),
    # Only the run itself knows whether something of it waits, whatever stands for it.
    "skip": _OPEN | {DetailedStatus.PAUSED},
}
# Which actions the log tells the reason of, and which who wanted them.
WITH_REASON: tuple[BulkAction, ...] = ("cancel", "pause")
WITH_NAME: tuple[BulkAction, ...] = ("skip",)


class ActionRefused(ConfigError):
    """The action does not change this run. `retried_as` is the run that takes it up already."""

    def __init__(self, detail: str, retried_as: RunId | None = None) -> None:
        super().__init__(detail)
        self.retried_as = retried_as


class BulkOperation(Struct, frozen=True):
    """What is done to each run, and what its log tells of it where it can."""

    action: BulkAction
    reason: str | None = None
    by: str | None = None

    def check(self) -> None:
        """ConfigError for what would be lost."""
        if self.reason is not None and self.action not in WITH_REASON:
            those = " and ".join(WITH_REASON)
            raise ConfigError(f"{self.action} takes no reason: omit it. {those} take one.")
        if self.by is not None and self.action not in WITH_NAME:
            those = " and ".join(WITH_NAME)
            raise ConfigError(f"{self.action} takes no name: omit `by`. {those} takes one.")


class BulkResult(Struct):
    """`looked_at` runs, of which some are `changed`, and why each other is not."""

    looked_at: int = 0
    changed: list[RunId] = field(default_factory=list)
    refused: list[tuple[RunId, AnewError]] = field(default_factory=list)
    last: RunId | None = None


class BulkPreview(Struct, frozen=True):
    """`count` runs are meant, and an action can change `able` of them."""

    count: int
    able: int


async def preview_of(statistics: Statistics, action: BulkAction, meant: RunFilter) -> BulkPreview:
    """What the action would find."""
    counts = able = await statistics.counts(meant)
    if action == "retry" and meant.is_retried is None:
        able = await statistics.counts(replace(meant, is_retried=False))
    elif action == "retry" and meant.is_retried:
        able = {}
    elif action == "skip":
        able = await statistics.counts(replace(meant, is_delayed=True))
    some = sum(count for state, count in able.items() if state in ABLE[action])
    return BulkPreview(sum(counts.values()), some)


def unknown(named: Iterable[RunId], found: Collection[RunId]) -> list[tuple[RunId, AnewError]]:
    """Refusals for the runs that are not there."""
    missing = [run for run in named if run not in found]
    return [(run, ActionRefused("there is no such run")) for run in missing]


async def act_on_all(
    engine: Engine,
    operation: BulkOperation,
    rows: Iterable[RunRow],
    *,
    is_over: Callable[[], bool] = lambda: False,
) -> BulkResult:
    """Do it to each of the runs, until `is_over`; one at least."""
    result = BulkResult()
    for row in rows:
        if result.looked_at and is_over():
            break
        result.looked_at, result.last = result.looked_at + 1, row.run
        try:
            await _act(engine, operation, row)
        except AnewError as error:
            result.refused.append((row.run, error))
        else:
            result.changed.append(row.run)
    return result


async def _act(engine: Engine, operation: BulkOperation, row: RunRow) -> None:
    if row.state not in ABLE[operation.action]:
        raise ActionRefused(f"it is {row.state.value}: there is nothing to {operation.action}")
    if not await _ACTIONS[operation.action](engine, row.run, operation):
        raise ActionRefused(f"there was nothing to {operation.action}")


async def _skip(engine: Engine, run: RunId, operation: BulkOperation) -> bool:
    return bool(await engine.waits.skip(run, by=operation.by))


async def _retry(engine: Engine, run: RunId, _: BulkOperation) -> bool:
    """Once for each run, however often it is asked, and whoever did it: its key is made of its id.

    The row is read again: others may have retried it while this one waited for its turn.
    """
    row = await engine.database.archive.run(run)
    retried_as = None if row is None else row.retried_as
    if retried_as is None:
        started = await engine.retry(run, key=f"{ASKED}bulk-retry:{run}")
        retried_as = None if started.is_new else started.run
    if retried_as is not None:
        raise ActionRefused(f"it was retried before, as run {retried_as}", retried_as)
    return True


_ACTIONS: Mapping[BulkAction, Callable[[Engine, RunId, BulkOperation], Awaitable[bool]]] = {
    "cancel": lambda engine, run, operation: engine.cancel(run, operation.reason),
    "pause": lambda engine, run, operation: engine.pause(run, operation.reason),
    "resume": lambda engine, run, _: engine.resume(run),
    "retry": _retry,
    "skip": _skip,
}
