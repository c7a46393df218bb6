"""What looking for runs takes besides the runs themselves: programs, and logs of failed runs."""

from __future__ import annotations

from collections.abc import Sequence

from anew.engine.events import GateChecked, StepFailed
from anew.errors import ConfigError
from anew.runtime.program_names import find_program
from anew.store import Catalog, Database, FailedRunGroup, FailureFilter
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
    """The step that failed the newest run of a group; None if its log does not end with it."""
    row = await database.archive.run(group.newest)
    if row is None:
        return None
    after = max(0, row.version - FAILED_STEP_EVENTS_MAX)
    events = await database.archive.events(row.run, after=after, limit=FAILED_STEP_EVENTS_MAX)
    for event in reversed(events):
        if isinstance(event, StepFailed) and not event.handled:
            return event.step
        if isinstance(event, GateChecked) and event.gate is not None:
            return event.gate
    return None
