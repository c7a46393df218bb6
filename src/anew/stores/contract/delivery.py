"""Jobs: handed out in order, each to one worker, and taken back."""

from __future__ import annotations

from anew.engine.state import StepRunKey
from anew.store import (
    DEFAULT_POOL,
    JobRef,
    Lease,
    RunId,
    StaleLease,
    StaleVersion,
    WaitReason,
)
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
    only_lease,
    opened,
    paused,
    ref,
    refused,
)


def steps(leases: list[Lease]) -> list[str]:
    return [held.job.key.step for held in leases]


async def case_a_job_is_handed_out_once(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(jobs=[job(attempt=4)]))
        assert await only_lease(db) == Lease(ref(), 1, LATER, was_parked=False)
        assert (await lease(db)).leases == []
        row = await job_row(db)
        assert row is not None
        assert (row.leased_until, row.token, row.attempt, row.pool) == (LATER, 1, 4, "default")


async def case_jobs_due_longest_go_first(factory: Factory) -> None:
    async with opened(factory) as db:
        due = {"c": NOW - 2, "a": NOW, "d": NOW - 3, "b": NOW - 1, "later": NOW + 1}
        await db.store.commit(first(jobs=[job(step, due_at=at) for step, at in due.items()]))
        assert steps((await lease(db, limit=2)).leases) == ["d", "c"]
        assert steps((await lease(db)).leases) == ["b", "a"]
        assert steps((await lease(db, now=NOW + 1)).leases) == ["later"]


async def case_among_equals_older_runs_and_lower_iterations_go_first(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(RunId(9), [job("a")]))
        await db.store.commit(first(RunId(8), [job("a", n) for n in (10, 2, None)]))
        found = [held.job for held in (await lease(db)).leases]
        mine = [ref("a", n, run=RunId(8)) for n in (None, 2, 10)]
        assert found == [*mine, ref("a", run=RunId(9))]


async def case_no_more_than_the_limit_is_handed_out(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(jobs=[job("a", n) for n in range(5)]))
        sizes = [len((await lease(db, limit=2)).leases) for _ in range(4)]
        assert sizes == [2, 2, 1, 0]


async def case_the_next_due_time_is_exact(factory: Factory) -> None:
    async with opened(factory) as db:
        assert (await lease(db)).next_due is None
        jobs = [job("a", due_at=NOW - 5), job("b", due_at=NOW + 7), job("c", due_at=NOW + 3)]
        jobs += [job("held", due_at=None), job("else", due_at=NOW + 1, pool="other")]
        await db.store.commit(first(jobs=[*jobs, job("taken", due_at=NOW + 2, taken_until=LATER)]))
        pools = [DEFAULT_POOL]
        assert (await lease(db, limit=0, pools=pools)).next_due == NOW - 5
        assert (await lease(db, pools=pools)).next_due == NOW + 3
        assert (await lease(db, now=NOW + 3, pools=pools)).next_due == NOW + 7
        assert (await lease(db, now=NOW + 7, pools=pools)).next_due is None
        assert (await lease(db, limit=0)).next_due == NOW + 1
        assert (await lease(db, limit=0, pools=["other"])).next_due == NOW + 1
        assert (await lease(db, limit=0, runs=[RunId(8)])).next_due is None


async def case_the_next_due_time_is_the_soonest_of_all_asked_for(factory: Factory) -> None:
    async with opened(factory) as db:
        for run, pool, due_at in ((5, "x", NOW + 9), (6, "y", NOW + 3), (7, "x", NOW + 6)):
            await db.store.commit(first(RunId(run), [job(pool=pool, due_at=due_at)]))
        for pools in (["x", "y"], ["y", "x"]):
            assert (await lease(db, pools=pools)).next_due == NOW + 3
        for runs in ([5, 7, 99], [7, 5]):
            asked = [RunId(run) for run in runs]
            assert (await lease(db, pools=["x", "y"], runs=asked)).next_due == NOW + 6


async def case_what_is_due_but_over_the_limit_is_due_next(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(jobs=[job("a", due_at=NOW - 2), job("b", due_at=NOW - 1)]))
        batch = await lease(db, limit=1)
        assert (steps(batch.leases), batch.next_due) == (["a"], NOW - 1)


async def case_a_worker_gets_jobs_of_its_pools_only(factory: Factory) -> None:
    async with opened(factory) as db:
        pools = {"a": "default", "b": "gpu", "c": "big"}
        jobs = [job(step, pool=pool) for step, pool in pools.items()]
        await db.store.commit(first(jobs=jobs))
        assert steps((await lease(db, pools=[])).leases) == []
        assert steps((await lease(db, pools=["gpu", "nobody"])).leases) == ["b"]
        assert steps((await lease(db, pools=["default"])).leases) == ["a"]
        assert steps((await lease(db, pools=["default", "gpu", "big"])).leases) == ["c"]


async def case_a_worker_without_pools_gets_jobs_of_all(factory: Factory) -> None:
    async with opened(factory) as db:
        jobs = [job(f"s{n}", pool=f"pool {n % 4}", due_at=NOW - n) for n in range(6)]
        await db.store.commit(first(jobs=[*jobs, job("later", pool="rare", due_at=NOW + 9)]))
        batch = await lease(db)
        assert steps(batch.leases) == ["s5", "s4", "s3", "s2", "s1", "s0"]
        assert batch.next_due == NOW + 9


async def case_pools_share_one_order_and_one_limit(factory: Factory) -> None:
    async with opened(factory) as db:
        jobs = [job(f"s{n}", pool=("x", "y")[n % 2], due_at=NOW - n) for n in range(6)]
        await db.store.commit(first(jobs=jobs))
        assert steps((await lease(db, pools=["x", "y"], limit=3)).leases) == ["s5", "s4", "s3"]


async def case_a_worker_goes_on_with_a_fresh_job_in_one_commit(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(jobs=[job(taken_until=LATER, is_fresh=True, pool="gpu")]))
        mine = Lease(ref(), 1, LATER)
        fresh = [job("b", 3, taken_until=LATER, is_fresh=True, attempt=2), job("c", is_fresh=True)]
        lost = follows(1, paused(2), lease=Lease(ref(), 2, LATER), jobs=fresh)
        await refused(StaleLease, db.store.commit(lost))
        assert [row.job for row in await db.archive.jobs(RUN)] == [ref()]
        stale = follows(0, paused(1), lease=mine, jobs=fresh)
        await refused(StaleVersion, db.store.commit(stale))
        await db.store.commit(follows(1, paused(2), lease=mine, jobs=fresh))
        assert await job_row(db) is None
        row = await job_row(db, "b")
        assert row is not None
        assert row.job == ref("b", 3)
        assert (row.leased_until, row.token, row.attempt, row.pool) == (LATER, 1, 2, "default")
        await refused(StaleLease, db.store.commit(follows(2, paused(3), lease=mine)))
        assert steps((await lease(db)).leases) == ["c"]
        await db.store.commit(follows(2, paused(3), lease=Lease(ref("b", 3), 1, LATER)))
        assert await job_row(db, "b") is None


async def case_a_worker_may_ask_for_many_runs(factory: Factory) -> None:
    async with opened(factory) as db:
        for number in range(1, 51):
            due = NOW - number if number % 2 else NOW + number
            await db.store.commit(first(RunId(number), [job(due_at=due)]))
        asked = [RunId(number) for number in range(1, 41)]
        batch = await lease(db, runs=asked, limit=15)
        assert [held.job.run for held in batch.leases] == list(range(39, 9, -2))
        assert batch.next_due == NOW - 9
        rest = await lease(db, runs=asked, limit=100)
        assert [held.job.run for held in rest.leases] == [9, 7, 5, 3, 1]
        assert rest.next_due == NOW + 2


async def case_a_worker_may_ask_for_some_runs_only(factory: Factory) -> None:
    async with opened(factory) as db:
        for run in (5, 6, 7):
            await db.store.commit(first(RunId(run), [job(due_at=NOW - run)]))
        assert (await lease(db, runs=[])).leases == []
        found = (await lease(db, runs=[RunId(5), RunId(6), RunId(99)])).leases
        assert [held.job.run for held in found] == [6, 5]
        assert (await lease(db, runs=[RunId(6)])).leases == []
        assert [held.job.run for held in (await lease(db)).leases] == [7]


async def case_the_fence_grows_with_each_lease(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(jobs=[job()]))
        tokens = []
        for _ in range(3):
            held = await only_lease(db)
            tokens.append(held.token)
            await db.store.release(held, due_at=NOW)
        assert tokens == [1, 2, 3]


async def case_a_replaced_job_keeps_its_fence(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(jobs=[job()]))
        held = await only_lease(db)
        again = job(due_at=NOW + 5, reason=WaitReason.RETRY, attempt=2, pool="x")
        await db.store.commit(follows(1, paused(2), lease=held, jobs=[again]))
        row = await job_row(db)
        assert row is not None
        assert (row.token, row.leased_until, row.due_at) == (1, None, NOW + 5)
        assert (row.reason, row.attempt, row.pool) == ("retry", 2, "x")
        assert (await only_lease(db, now=NOW + 5, pools=["x"])).token == 2
        await refused(StaleLease, db.store.commit(follows(2, paused(3), lease=held)))


async def case_a_waiting_job_can_be_replaced(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(jobs=[job(due_at=NOW + 9)]))
        held = job(due_at=None, reason=WaitReason.HELD)
        await db.store.commit(follows(1, paused(2), jobs=[held]))
        row = await job_row(db)
        assert row is not None
        assert (row.due_at, row.reason) == (None, "held")
        assert (await lease(db, now=LATER)).leases == []
        await db.store.commit(follows(2, paused(3), jobs=[job()]))
        assert (await only_lease(db)).token == 1


async def case_a_leased_job_can_be_replaced(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(jobs=[job()]))
        lost = await only_lease(db)
        await db.store.commit(follows(1, paused(2), jobs=[job()]))
        assert await db.store.extend([lost], LATER) == []
        assert len(await db.archive.jobs(RUN)) == 1
        assert (await only_lease(db)).token == 2


async def case_a_job_can_be_taken_at_once(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(jobs=[job(taken_until=LATER)]))
        assert (await lease(db)).leases == []
        mine = Lease(ref(), 1, LATER)
        assert await db.store.extend([mine], LATER + 1) == [Lease(ref(), 1, LATER + 1)]
        await db.store.commit(
            follows(1, paused(2), lease=mine, jobs=[job("b", taken_until=LATER), job("c")])
        )
        assert [row.job.key.step for row in await db.archive.jobs(RUN)] == ["b", "c"]
        taken = Lease(ref("b"), 1, LATER)
        again = job("b", taken_until=LATER)
        await db.store.commit(follows(2, paused(3), lease=taken, jobs=[again]))
        await refused(StaleLease, db.store.commit(follows(3, paused(4), lease=taken)))
        await db.store.commit(follows(3, paused(4), lease=Lease(ref("b"), 2, LATER)))


async def case_a_lease_can_be_kept_over_a_commit(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(jobs=[job()]))
        held = await only_lease(db)
        for version in (1, 2):
            kept = follows(version, paused(version + 1), lease=held, keeps_lease=True)
            await db.store.commit(kept)
        row = await job_row(db)
        assert row is not None
        assert (row.token, row.leased_until) == (held.token, LATER)
        await db.store.commit(follows(3, paused(4), lease=held))
        assert await db.archive.jobs(RUN) == []


async def case_dropped_jobs_are_gone(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(jobs=[job("a"), job("b", 1), job("b", 2), job("c")]))
        held = (await lease(db, limit=1)).leases[0]
        drops = [StepRunKey("b", 1, 1), StepRunKey("a", 1), StepRunKey("nothing", 1)]
        await db.store.commit(follows(1, paused(2), drops=drops))
        left = [row.job for row in await db.archive.jobs(RUN)]
        assert left == [ref("b", 2), ref("c")]
        await refused(StaleLease, db.store.commit(follows(2, paused(3), lease=held)))


async def case_an_ended_run_has_no_jobs(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(jobs=[job("a"), job("b", due_at=None), job("c", 3)]))
        await db.store.commit(first(RunId(8), [job()]))
        held = (await lease(db, limit=1)).leases[0]
        await db.store.commit(follows(1, paused(2), lease=held, drop_all=True))
        assert await db.archive.jobs(RUN) == []
        assert [row.job for row in await db.archive.jobs(RunId(8))] == [ref(run=RunId(8))]


async def case_a_lease_can_be_extended_while_it_is_held(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(jobs=[job("a"), job("b"), job("c")]))
        a, b, c = (await lease(db, until=NOW + 1)).leases
        await db.store.release(b, due_at=NOW)
        await db.store.commit(follows(1, paused(2), lease=c))
        held = await db.store.extend([a, b, c], LATER + 5)
        assert held == [Lease(ref("a"), 1, LATER + 5)]
        assert await db.store.expired(LATER) == []
        assert await db.store.extend([], LATER) == []


async def case_leases_that_ran_out_are_found(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(jobs=[job("a"), job("b", taken_until=NOW + 1)]))
        await db.store.commit(first(RunId(8), [job(), job("waits", due_at=NOW + 1)]))
        await lease(db, until=NOW + 2)
        assert await db.store.expired(NOW + 1) == []
        assert await db.store.expired(NOW + 2) == [Lease(ref("b"), 1, NOW + 1)]
        late = await db.store.expired(NOW + 3)
        assert [held.job for held in late] == [ref("b"), ref("a"), ref(run=RunId(8))]
        assert [held.until for held in late] == [NOW + 1, NOW + 2, NOW + 2]
        of_run = await db.store.expired(NOW + 3, runs=[RunId(8)])
        assert [held.job.run for held in of_run] == [8]
        assert await db.store.expired(NOW + 3, runs=[]) == []
        # Whoever answers first wins: here the one that noticed.
        await db.store.commit(follows(1, paused(2), lease=late[1], jobs=[job("a")]))
        await refused(StaleLease, db.store.commit(follows(2, paused(3), lease=late[1])))


async def case_a_released_job_is_as_before(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(jobs=[job(attempt=3, reason=WaitReason.RETRY)]))
        held = await only_lease(db)
        await db.store.release(held, due_at=NOW + 4)
        row = await job_row(db)
        assert row is not None
        assert (row.due_at, row.leased_until) == (NOW + 4, None)
        assert (row.attempt, row.reason, row.token) == (3, "retry", 1)
        await db.store.release(held, due_at=NOW - 4)
        await db.store.release(Lease(JobRef(RUN, StepRunKey("nothing", 1)), 1, LATER), due_at=0)
        assert (await lease(db)).next_due == NOW + 4
