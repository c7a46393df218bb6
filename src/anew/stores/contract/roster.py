"""Who works, how much waits in each pool, and what waits for people."""

from __future__ import annotations

from typing import Any

from anew.engine.moments import NANOSECONDS
from anew.store import (
    WORKERS_KEPT_SECONDS_MAX,
    HeldJob,
    Park,
    PoolLoad,
    Presence,
    RunId,
    WaitReason,
)
from anew.stores.contract.making import (
    LATER,
    NOW,
    Factory,
    first,
    follows,
    job,
    lease,
    only_lease,
    opened,
    ref,
)


def presence(worker: str = "w", **more: Any) -> Presence:
    said = {
        "host": "example",
        "process": 7,
        "kind": "worker",
        "pools": ["default"],
        "slots": 32,
        "busy": 1,
        "leases": 2,
        "version": "1.0",
        "started_at": NOW,
        "seen_at": NOW,
    }
    return Presence(worker, **{**said, **more})


async def case_a_worker_is_known_as_it_last_said(factory: Factory) -> None:
    async with opened(factory) as db:
        assert await db.roster.workers() == []
        await db.roster.beat(presence())
        assert await db.roster.workers() == [presence()]
        held = [HeldJob(ref("ä\0"), 3), HeldJob(ref("b", 7), 1)]
        again = presence(busy=9, leases=0, pools=["gpu", "ä\0"], slots=4, seen_at=LATER, jobs=held)
        await db.roster.beat(again)
        assert await db.roster.workers() == [again]


async def case_workers_are_listed_by_when_they_were_seen(factory: Factory) -> None:
    async with opened(factory) as db:
        for name, seen_at in (("b", NOW), ("c", LATER), ("a", NOW)):
            await db.roster.beat(presence(name, seen_at=seen_at))
        assert [one.worker for one in await db.roster.workers()] == ["c", "a", "b"]
        assert [one.worker for one in await db.roster.workers(2)] == ["c", "a"]


async def case_a_worker_that_leaves_is_forgotten(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.roster.beat(presence("a"))
        await db.roster.beat(presence("b\0"))
        await db.roster.leave("b\0")
        await db.roster.leave("nobody")
        assert [one.worker for one in await db.roster.workers()] == ["a"]


async def case_a_worker_unseen_for_long_is_forgotten_by_the_next_beat(factory: Factory) -> None:
    async with opened(factory) as db:
        kept = WORKERS_KEPT_SECONDS_MAX * NANOSECONDS
        await db.roster.beat(presence("gone", seen_at=NOW - kept - 1))
        await db.roster.beat(presence("late", seen_at=NOW - kept))
        await db.roster.beat(presence("here"))
        assert [one.worker for one in await db.roster.workers()] == ["here", "late"]


async def case_the_jobs_of_each_pool_are_counted(factory: Factory) -> None:
    async with opened(factory) as db:
        assert await db.roster.loads(NOW) == []
        jobs = [
            *(job("a", due_at=NOW - 5), job("b", due_at=NOW), job("c", due_at=0)),
            job("d", due_at=LATER, reason=WaitReason.RETRY),
            job("e", due_at=NOW + 7, reason=WaitReason.SLEEP),
            job("f", due_at=None, reason=WaitReason.CHILD),
            job("g", taken_until=LATER),
            job("h", taken_until=NOW - 1),
            job("i", due_at=LATER, pool="gpu\0"),
        ]
        await db.store.commit(first(jobs=jobs))
        assert await db.roster.loads(NOW) == [
            PoolLoad("default", 3, NOW - 5, 3, NOW + 7, leased=2, expired=1),
            PoolLoad("gpu\0", 0, None, 1, LATER, leased=0, expired=0),
        ]


async def case_a_woken_job_is_ready_since_nobody_knows_when(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(jobs=[job(due_at=None, reason=WaitReason.HELD)]))
        await db.store.wake(ref())
        assert await db.roster.loads(NOW) == [
            PoolLoad("default", 1, None, 0, None, leased=0, expired=0)
        ]


async def case_questions_come_by_their_deadline(factory: Factory) -> None:
    async with opened(factory) as db:
        for run, due_at in ((1, None), (2, LATER + 1), (3, LATER), (4, None)):
            asks = job(due_at=due_at, reason=WaitReason.PERSON)
            await db.store.commit(first(RunId(run), [asks, job("b", due_at=LATER)]))
        await db.store.commit(first(RunId(5), [job(due_at=None, reason=WaitReason.SIGNAL)]))
        found = await db.roster.asking()
        assert [row.job.run for row in found] == [3, 2, 1, 4]
        assert found[0] == (await db.archive.jobs(RunId(3)))[0]
        assert [row.job.run for row in await db.roster.asking(3)] == [3, 2, 1]
        assert [row.job.run for row in await db.roster.asking(1)] == [3]


async def case_questions_of_one_step_come_by_their_iteration(factory: Factory) -> None:
    async with opened(factory) as db:
        for run, due_at in ((1, LATER), (2, None)):
            asks = [job("a", n, due_at=due_at, reason=WaitReason.PERSON) for n in (10, 2, 0, 1)]
            await db.store.commit(first(RunId(run), asks))
        found = [(row.job.run, row.job.key.iteration) for row in await db.roster.asking()]
        assert found == [(run, n) for run in (1, 2) for n in (0, 1, 2, 10)]


async def case_a_question_that_somebody_works_on_is_not_open(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(jobs=[job()]))
        held = await only_lease(db)
        await db.store.commit(follows(1, lease=held, park=Park(NOW, WaitReason.PERSON)))
        assert [row.job for row in await db.roster.asking()] == [ref()]
        await lease(db)
        assert await db.roster.asking() == []
