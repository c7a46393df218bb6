"""The smallest runs, commits and values that the cases need."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeAlias, TypeVar

from msgspec.structs import replace

from anew.engine import events as e
from anew.engine.outcome import Outcome
from anew.engine.state import RunStatus, StepRunKey
from anew.program.policy import DirectiveKind, OutcomeStatus
from anew.store import (
    Commit,
    Database,
    JobRef,
    JobRow,
    Lease,
    LeaseResult,
    NewJob,
    NewRun,
    RunHead,
    RunId,
    StoreError,
)
from anew.values import Value

Factory: TypeAlias = Callable[[], Awaitable[Database]]
Case: TypeAlias = Callable[[Factory], Awaitable[None]]
Refusal = TypeVar("Refusal", bound=StoreError)

RUN = RunId(7)
# What a 63-bit id can be at most.
LAST_RUN = RunId(2**63 - 1)
NOW = 1_700_000_000_000_000_000
LATER = NOW + 60_000_000_000
RUNNING = RunHead(RunStatus.RUNNING)


@asynccontextmanager
async def opened(factory: Factory) -> AsyncIterator[Database]:
    database = await factory()
    try:
        yield database
    finally:
        await database.close()


async def refused(kind: type[Refusal], asked: Awaitable[object]) -> Refusal:
    """The error `asked` raises, which must be of this kind."""
    try:
        await asked
    except kind as error:
        return error
    except StoreError as error:
        raise AssertionError(f"{error!r} instead of {kind.__name__}") from error
    raise AssertionError(f"not refused with {kind.__name__}")


def requested(run: RunId = RUN, workload: Value = None) -> e.RunRequested:
    return e.RunRequested(
        seq=1, at=NOW, run=str(run), program="p", digest="d", workload=workload or {}
    )


def processed(seq: int, result: Value = None, **patches: Value) -> e.TaskProcessed:
    """An event with everything in it: a place, an outcome, patches."""
    outcome = Outcome(OutcomeStatus.OK, result)
    return e.TaskProcessed(
        seq=seq,
        at=NOW,
        step="fetch",
        visit=1,
        iteration=2,
        task="call",
        attempt=3,
        outcome=outcome,
        directive=DirectiveKind.CONTINUE,
        patches=patches,
    )


def paused(seq: int, reason: str = "") -> e.RunPaused:
    """The smallest event: stores do not mind what makes sense."""
    return e.RunPaused(seq=seq, at=NOW, reason=reason or None)


def first(run: RunId = RUN, jobs: Sequence[NewJob] = (), **new: Any) -> Commit:
    """The commit that begins a run."""
    return Commit(run, 0, NOW, [requested(run)], RUNNING, jobs=jobs, new=NewRun("p", "d", **new))


def follows(expected: int, *events: e.Event, run: RunId = RUN, **more: Any) -> Commit:
    """A later commit."""
    return replace(Commit(run, expected, NOW, list(events), RUNNING), **more)


def job(step: str = "a", iteration: int | None = None, **more: Any) -> NewJob:
    return NewJob(StepRunKey(step, 1, iteration), **more)


def ref(step: str = "a", iteration: int | None = None, run: RunId = RUN) -> JobRef:
    return JobRef(run, StepRunKey(step, 1, iteration))


async def lease(database: Database, **asked: Any) -> LeaseResult:
    return await database.store.lease(**{"now": NOW, "until": LATER, "limit": 100, **asked})


async def only_lease(database: Database, **asked: Any) -> Lease:
    """The lease of the one job that is due."""
    batch = await lease(database, **asked)
    assert len(batch.leases) == 1, batch
    return batch.leases[0]


async def job_row(database: Database, step: str = "a", run: RunId = RUN) -> JobRow | None:
    rows = [row for row in await database.archive.jobs(run) if row.job.key.step == step]
    return rows[0] if rows else None


async def log_of(database: Database, run: RunId = RUN) -> list[e.Event]:
    stored = await database.store.load(run)
    assert stored is not None
    return stored.events
