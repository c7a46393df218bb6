"""The same commit once more: for those who did not hear the answer."""

from __future__ import annotations

from msgspec.structs import replace

from anew.engine.state import RunStatus
from anew.store import (
    KeyTaken,
    Park,
    RunHead,
    RunId,
    StaleLease,
    StaleVersion,
    WaitReason,
)
from anew.stores.codec import INLINE_BYTES_MAX
from anew.stores.contract.making import (
    LATER,
    NOW,
    RUN,
    Factory,
    first,
    follows,
    job,
    job_row,
    lease,
    log_of,
    only_lease,
    opened,
    paused,
    processed,
    ref,
    refused,
    requested,
)


async def case_the_same_commit_again_changes_nothing(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(RunId(8), [job(due_at=None)]))
        await db.store.commit(first())
        commit = follows(1, paused(2), paused(3), jobs=[job()], wakes=[ref(run=RunId(8))])
        await db.store.commit(commit)
        held = [await only_lease(db, runs=[run]) for run in (RUN, RunId(8))]
        await db.store.commit(commit)
        assert await log_of(db) == [requested(), paused(2), paused(3)]
        assert (await lease(db)).leases == []
        assert await db.store.extend(held, LATER) == held


async def case_the_same_commit_again_after_others(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first())
        commit = follows(1, paused(2), jobs=[job()])
        await db.store.commit(commit)
        ended = RunHead(RunStatus.CANCELLED, None, LATER)
        await db.store.commit(follows(2, paused(3), head=ended, drop_all=True))
        await db.store.commit(commit)
        assert len(await log_of(db)) == 3
        assert await db.archive.jobs(RUN) == []
        row = await db.archive.run(RUN)
        assert row is not None
        assert (row.status, row.ended_at, row.version) == ("cancelled", LATER, 3)


async def case_another_commit_at_the_same_place_is_late(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first())
        await db.store.commit(follows(1, paused(2), paused(3)))
        for events in (
            [paused(2, "x")],
            [replace(paused(2), at=NOW + 1)],
            [paused(2), paused(3, "x")],
            [paused(2), paused(3), paused(4)],
        ):
            await refused(StaleVersion, db.store.commit(follows(1, *events)))
        await refused(StaleVersion, db.store.commit(follows(1)))
        assert await log_of(db) == [requested(), paused(2), paused(3)]


async def case_a_new_run_with_its_key_again(factory: Factory) -> None:
    async with opened(factory) as db:
        begins = first(jobs=[job()], key="k", labels={"a": "b"})
        await db.store.commit(begins)
        await db.store.commit(begins)
        await db.store.commit(follows(1, paused(2)))
        await db.store.commit(begins)
        assert len(await log_of(db)) == 2
        assert len(await db.archive.jobs(RUN)) == 1
        error = await refused(KeyTaken, db.store.commit(first(RunId(8), key="k")))
        assert error.run == RUN
        other = replace(begins, events=[requested(workload={"x": 1})])
        error = await refused(KeyTaken, db.store.commit(other))
        assert error.run == RUN


async def case_a_commit_with_its_lease_again(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(jobs=[job()]))
        held = await only_lease(db)
        next_job = job("b", taken_until=LATER, is_fresh=True)
        answers = follows(1, paused(2), lease=held, jobs=[next_job])
        await db.store.commit(answers)
        await db.store.commit(answers)
        rows = await db.archive.jobs(RUN)
        assert [(row.job.key.step, row.token) for row in rows] == [("b", 1)]
        await db.store.commit(follows(2, paused(3), lease=replace(held, job=ref("b"), token=1)))
        await db.store.commit(answers)
        assert await db.archive.jobs(RUN) == []
        assert len(await log_of(db)) == 3


async def case_a_commit_that_parks_again(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(jobs=[job()]))
        held = await only_lease(db)
        parks = follows(1, paused(2), lease=held, park=Park(None, WaitReason.CHILD))
        await db.store.commit(parks)
        await db.store.wake(ref())
        await db.store.commit(parks)
        row = await job_row(db)
        assert row is not None
        assert (row.due_at, row.reason) == (0, WaitReason.READY)


async def case_a_commit_without_events_is_not_known_again(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(jobs=[job()]))
        held = await only_lease(db)
        answers = follows(1, lease=held)
        await db.store.commit(answers)
        await refused(StaleLease, db.store.commit(answers))


async def case_a_large_commit_again(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first())
        large = processed(2, "x" * (INLINE_BYTES_MAX + 1))
        await db.store.commit(follows(1, large))
        await db.store.commit(follows(1, large))
        other = processed(2, "y" * (INLINE_BYTES_MAX + 1))
        await refused(StaleVersion, db.store.commit(follows(1, other)))
        assert await log_of(db) == [requested(), large]
