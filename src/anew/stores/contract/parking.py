"""Jobs that wait: put aside, woken, and never forgotten between the two."""

from __future__ import annotations

from anew.store import Park, RunId, StaleLease, WaitReason
from anew.stores.contract.making import (
    LATER,
    NOW,
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


async def case_a_parked_job_waits_for_its_time(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(jobs=[job()]))
        held = await only_lease(db)
        park = Park(NOW + 5, WaitReason.RETRY, attempt=2)
        await db.store.commit(follows(1, paused(2), lease=held, park=park))
        row = await job_row(db)
        assert row is not None
        assert (row.reason, row.due_at, row.attempt) == ("retry", NOW + 5, 2)
        assert (row.leased_until, row.token) == (None, 1)
        batch = await lease(db, now=NOW + 4)
        assert (batch.leases, batch.next_due) == ([], NOW + 5)
        again = await only_lease(db, now=NOW + 5)
        assert (again.token, again.was_parked) == (2, False)
        await refused(StaleLease, db.store.commit(follows(2, paused(3), lease=held)))


async def case_a_call_put_aside_is_called_again(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(jobs=[job()]))
        held = await only_lease(db)
        park = Park(NOW, WaitReason.SLEEP, calls_again=True)
        await db.store.commit(follows(1, lease=held, park=park))
        again = await only_lease(db)
        assert again.was_parked
        assert (await db.store.expired(LATER + 1))[0].was_parked
        await db.store.release(again, due_at=NOW)
        again = await only_lease(db)
        assert again.was_parked
        await db.store.commit(follows(1, lease=again, park=Park(NOW, WaitReason.RETRY)))
        last = await only_lease(db)
        assert not last.was_parked
        await db.store.commit(follows(1, lease=last, park=park))
        await db.store.commit(follows(1, jobs=[job()]))
        assert not (await only_lease(db)).was_parked


async def case_a_wake_makes_a_parked_job_due(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(jobs=[job()]))
        for waits_until in (None, LATER):
            held = await only_lease(db)
            park = Park(waits_until, WaitReason.CHILD, calls_again=True)
            await db.store.commit(follows(1, lease=held, park=park))
            assert (await lease(db)).leases == []
            await db.store.wake(ref())
            row = await job_row(db)
            assert row is not None
            assert row.reason == "ready"
        assert (await only_lease(db)).was_parked


async def case_a_wake_while_leased_is_not_lost(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(jobs=[job()]))
        held = await only_lease(db)
        await db.store.wake(ref())
        await db.store.wake(ref())
        assert (await lease(db)).leases == []
        park = Park(None, WaitReason.CHILD, calls_again=True)
        await db.store.commit(follows(1, lease=held, park=park))
        held = await only_lease(db)
        assert held.was_parked
        await db.store.commit(follows(1, lease=held, park=park))
        assert (await lease(db, now=LATER)).leases == []


async def case_a_wake_while_leased_outlasts_a_kept_lease(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(jobs=[job()]))
        held = await only_lease(db)
        await db.store.wake(ref())
        await db.store.extend([held], LATER + 1)
        await db.store.commit(follows(1, paused(2), lease=held, keeps_lease=True))
        await db.store.commit(follows(2, lease=held, park=Park(None, WaitReason.CHILD)))
        await only_lease(db)


async def case_a_wake_while_leased_makes_a_released_job_due(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(jobs=[job()]))
        held = await only_lease(db)
        await db.store.wake(ref())
        await db.store.release(held, due_at=LATER)
        held = await only_lease(db)
        await db.store.commit(follows(1, lease=held, park=Park(None, WaitReason.CHILD)))
        assert (await lease(db, now=LATER)).leases == []


async def case_a_commit_wakes_jobs_of_any_run(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(RunId(8), [job(due_at=None, reason=WaitReason.CHILD)]))
        await db.store.commit(first(RunId(9), [job()]))
        other = await only_lease(db)
        await db.store.commit(first(jobs=[job("b", due_at=None)]))
        wakes = [ref(run=RunId(8)), ref(run=RunId(9)), ref("b"), ref(run=RunId(99))]
        await db.store.commit(follows(1, paused(2), wakes=wakes))
        found = (await lease(db)).leases
        assert [held.job for held in found] == [ref("b"), ref(run=RunId(8))]
        park = Park(None, WaitReason.CHILD)
        await db.store.commit(follows(1, run=RunId(9), lease=other, park=park))
        assert (await only_lease(db)).job == ref(run=RunId(9))


async def case_a_held_job_waits_to_be_woken(factory: Factory) -> None:
    async with opened(factory) as db:
        held = job(due_at=None, reason=WaitReason.HELD)
        await db.store.commit(first(jobs=[held]))
        batch = await lease(db, now=LATER * 2)
        assert (batch.leases, batch.next_due) == ([], None)
        await db.store.wake(ref())
        await only_lease(db)


async def case_a_wake_for_nobody_does_nothing(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.wake(ref())
        await db.store.commit(first(jobs=[job("b", due_at=NOW + 1)]))
        await db.store.wake(ref("a"))
        await db.store.wake(ref("b", 1))
        assert (await lease(db)).next_due == NOW + 1
        assert len(await db.archive.jobs(ref().run)) == 1


async def case_a_replaced_job_forgets_that_it_was_woken(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(jobs=[job()]))
        held = await only_lease(db)
        await db.store.wake(ref())
        await db.store.commit(follows(1, paused(2), lease=held, jobs=[job()]))
        held = await only_lease(db)
        await db.store.commit(follows(2, lease=held, park=Park(None, WaitReason.CHILD)))
        assert (await lease(db, now=LATER)).leases == []
