"""Which runs may be dropped: those that have ended, and those that are damaged. Reads only."""

from __future__ import annotations

from anew.engine.state import FINAL
from anew.errors import ConfigError
from anew.runtime.questions import readable_state
from anew.store import Database, JobRef, RunId, RunRow


async def parent_of_dropped(database: Database, run: RunId) -> JobRef | None:
    """The job that may wait for a run which may be dropped; ConfigError when it may not."""
    row = await database.archive.run(run)
    if row is None:
        raise ConfigError(f"there is no run {run}. `anew runs` lists those there are.")
    if row.damage is None and await readable_state(database.store, run) is not None:
        await _check_over(database, row)
    return row.parent


async def _check_over(database: Database, row: RunRow) -> None:
    """A run that goes on cannot be dropped, nor one whose parent may not have read its end yet."""
    if row.status not in FINAL:
        raise ConfigError(
            f"run {row.run} has not ended ({row.status.value}) and is not damaged. Cancel it "
            f"first: `anew cancel {row.run}`."
        )
    parent = None if row.parent is None else await database.archive.run(row.parent.run)
    if parent is not None and parent.status not in FINAL:
        raise ConfigError(
            f"run {row.run} belongs to run {parent.run}, which has not ended. Drop it after that "
            "one."
        )
