"""What looking for runs takes besides the runs themselves: programs, and logs of failed runs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from anew.engine.events import GateChecked, StepFailed
from anew.errors import ConfigError
from anew.runtime.damage import folded, readable_log
from anew.runtime.program_names import find_program
from anew.store import Catalog, Database, FailedRunGroup, FailureFilter, RunRow
from anew.stores.damage import DamagedRun
from anew.stores.packing import may_tell_a_cause
from anew.values import Object

# How far from its end the log of a failed run is read for the step that failed it.
FAILED_STEP_EVENTS_MAX = 50


async def digests_of(
    catalog: Catalog, program: str | None, version: int | None, digest: str | None = None
) -> Sequence[str] | None:
    """The documents that are meant; None where any is."""
    if version is None:
        return None if digest is None else [digest]
    if program is None:
        raise ConfigError(f"version {version} is one of a program: name the program, too")
    found = await find_program(catalog, program, version)
    if found is None:
        raise ConfigError(f"program {program!r} has no version {version}")
    return [found.digest] if digest in (None, found.digest) else []


async def failure_rows(database: Database, asked: FailureFilter) -> list[Object]:
    """Failed runs in groups, as JSON."""
    # Slow to import, and no list of runs needs it.
    from anew.runtime.json_rows import failure_row  # noqa: PLC0415

    groups = await database.statistics.failures(asked)
    return [failure_row(one, await _failed_step(database, one)) for one in groups]


async def _failed_step(database: Database, group: FailedRunGroup) -> str | None:
    """The step whose failure the newest run of a group failed from.

    None if the log does not end with it.
    """
    row = await database.archive.run(group.newest)
    if row is None:
        return None
    if may_tell_a_cause(group.message) and (step := await _step_of_cause(database, row)):
        return step
    after = max(0, row.version - FAILED_STEP_EVENTS_MAX)
    events = await database.archive.events(row.run, after=after, limit=FAILED_STEP_EVENTS_MAX)
    for event in events:
        if isinstance(event, StepFailed) and event.fails_run and event.error == row.error:
            return event.step
    asked = [event.gate for event in events if isinstance(event, GateChecked) and event.gate]
    return asked[-1] if asked else None


async def _step_of_cause(database: Database, row: RunRow) -> str | None:
    """Where the failure was that the step which failed the run only dealt with."""
    found = await readable_log(database.archive, row)
    try:
        cause = (await asyncio.to_thread(folded, row.run, found.events)).cause
    except DamagedRun:
        return None
    return None if cause is None else cause.step
