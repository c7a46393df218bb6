"""Start a run only while no other of the same name is unfinished.

The runs of a name are numbered, and each number is a start key: of two processes that start one at
the same moment, one begins it and the other finds it. Knows keys and labels, not how runs start.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from msgspec.structs import replace

from anew.engine.state import FINAL
from anew.errors import ConfigError, EngineBug
from anew.runtime.keys import SINGLETON
from anew.runtime.run_starts import Started, StartRequest
from anew.store import Archive, RunFilter, RunRow

NAME_LABEL = "singleton"
NUMBER_LABEL = "singleton_number"
# Each look finds a newer run; others would have to start and end this many meanwhile.
_LOOKS_MAX = 100


async def start_alone(
    archive: Archive, request: StartRequest, start: Callable[[StartRequest], Awaitable[Started]]
) -> Started:
    """A new run, or the unfinished one of that name."""
    name = request.singleton
    assert name is not None
    for _ in range(_LOOKS_MAX):
        newest = await _newest(archive, name)
        if newest is not None and newest.status not in FINAL:
            return Started(newest.run, is_new=False, notice=_notice(name, newest))
        started = await start(_numbered(request, name, newest))
        if started.is_new:
            return started
    raise EngineBug(f"the singleton {name!r} could not be started in {_LOOKS_MAX} looks")


def check_singleton(name: str | None, key: str | None) -> str | None:
    """A name a person may give; raises ConfigError."""
    if name is not None and not name.strip():
        raise ConfigError("the singleton is empty. Leave it out, or give a name.")
    if name is not None and key is not None:
        raise ConfigError(
            "a key names one run forever, a singleton one unfinished run at a time: give one"
        )
    return name


async def _newest(archive: Archive, name: str) -> RunRow | None:
    rows = await archive.runs(RunFilter(labels={NAME_LABEL: name}, limit=1))
    return rows[0] if rows else None


def _numbered(request: StartRequest, name: str, before: RunRow | None) -> StartRequest:
    last = before.labels.get(NUMBER_LABEL, "") if before is not None else ""
    number = str(int(last) + 1 if last.isdecimal() else 1)
    labels = {**request.labels, NAME_LABEL: name, NUMBER_LABEL: number}
    return replace(request, key=f"{SINGLETON}{number}:{name}", labels=labels)


def _notice(name: str, row: RunRow) -> str:
    return (
        f"run {row.run} of the singleton {name!r} is not finished, so no other was started; "
        f"what was given now has no effect on it. `anew cancel {row.run}` ends it."
    )
