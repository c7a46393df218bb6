"""One action on many runs, one after the other: what each came to.

A run that refuses does not stop the others. What was done stays done: asked again, an action finds
the runs that it changed in a state that it does not change.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Literal, TypeAlias

from msgspec import Struct, field

from anew.engine.standing import State
from anew.errors import AnewError, ConfigError
from anew.runtime.embedded import Embedded
from anew.runtime.keys import ASKED
from anew.store import RunId, RunRow

# What one request or order does; whoever wants more asks again with the cursor it was given.
BULK_RUNS_MAX = 100
# Looked at between two runs: the answer then says where to go on.
BULK_SECONDS_MAX = 5.0

BulkAction: TypeAlias = Literal["cancel", "pause", "resume", "retry", "skip"]
_OPEN = frozenset(
    {
        *(State.QUEUED, State.RUNNING, State.RETRYING, State.PERSON, State.SIGNAL),
        *(State.PARKED, State.WAITING),
    }
)
# In which states an action can change a run.
ABLE: Mapping[BulkAction, frozenset[State]] = {
    "cancel": _OPEN | {State.PAUSED},
    "pause": _OPEN,
    "resume": frozenset({State.PAUSED}),
    "retry": frozenset({State.FAILED, State.DEAD}),
    "skip": frozenset({State.RETRYING, State.PARKED}),
}


class Refused(ConfigError):
    """The action does not change this run."""


class BulkResult(Struct):
    """`looked_at` runs, of which some are `changed`, and why each other is not."""

    looked_at: int = 0
    changed: list[RunId] = field(default_factory=list)
    refused: list[tuple[RunId, AnewError]] = field(default_factory=list)
    last: RunId | None = None


async def act_on_all(
    engine: Embedded,
    action: BulkAction,
    rows: Iterable[RunRow],
    *,
    reason: str | None = None,
    is_over: Callable[[], bool] = lambda: False,
) -> BulkResult:
    """Do it to each of the runs, until `is_over`; one at least."""
    result = BulkResult()
    for row in rows:
        if result.looked_at and is_over():
            break
        result.looked_at, result.last = result.looked_at + 1, row.run
        try:
            await _act(engine, action, row, reason)
        except AnewError as error:
            result.refused.append((row.run, error))
        else:
            result.changed.append(row.run)
    return result


async def _act(engine: Embedded, action: BulkAction, row: RunRow, reason: str | None) -> None:
    if row.state not in ABLE[action]:
        raise Refused(f"it is {row.state.value}: there is nothing to {action}")
    if not await _ACTIONS[action](engine, row.run, reason):
        raise Refused(f"there was nothing to {action}")


async def _resume(engine: Embedded, run: RunId, _: str | None) -> bool:
    return await engine.resume(run)


async def _skip(engine: Embedded, run: RunId, _: str | None) -> bool:
    return await engine.skip(run) > 0


async def _retry(engine: Embedded, run: RunId, _: str | None) -> bool:
    """Once for each run, however often it is asked: the key is made of its id."""
    started = await engine.retry(run, key=f"{ASKED}bulk-retry:{run}")
    if not started.is_new:
        raise Refused(f"it was retried before, as run {started.run}")
    return True


_ACTIONS: Mapping[BulkAction, Callable[[Embedded, RunId, str | None], Awaitable[bool]]] = {
    "cancel": lambda engine, run, reason: engine.cancel(run, reason),
    "pause": lambda engine, run, reason: engine.pause(run, reason),
    "resume": _resume,
    "retry": _retry,
    "skip": _skip,
}
