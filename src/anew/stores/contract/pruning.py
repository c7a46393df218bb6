"""Old runs go away, with all that is theirs, and nothing else does."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from anew.engine.state import RunState, RunStatus
from anew.store import Database, RunFilter, RunHead, RunId
from anew.stores.contract.making import (
    NOW,
    RUN,
    Factory,
    first,
    follows,
    job,
    lease,
    log_of,
    opened,
    processed,
    ref,
)


async def ended(db: Database, run: int, at: int, **new: Any) -> None:
    head = RunHead(RunStatus.DONE, ended_at=at)
    await db.store.commit(replace(first(RunId(run), **new), head=head))


async def left(db: Database) -> list[int]:
    return [row.run for row in await db.archive.runs(RunFilter(limit=1000))]


async def case_runs_that_ended_long_ago_are_removed(factory: Factory) -> None:
    async with opened(factory) as db:
        for run in (1, 2, 3):
            await ended(db, run, NOW + run)
        await db.store.commit(first(RunId(4)))
        assert await db.archive.prune(ended_before=NOW + 1) == 0
        assert await db.archive.prune(ended_before=NOW + 3) == 2
        assert await left(db) == [4, 3]
        assert await db.store.load(RunId(1)) is None
        assert await db.archive.events(RunId(1)) == []


async def case_a_removed_run_leaves_nothing(factory: Factory) -> None:
    async with opened(factory) as db:
        large = "x" * 200_000
        await db.store.commit(
            first(jobs=[job(), job("b", due_at=None)], key="k", labels={"x": "1"})
        )
        head = RunHead(RunStatus.DONE, ended_at=NOW)
        state = RunState(version=2)
        await db.store.commit(follows(1, processed(2, large), head=head, snapshot=state))
        await db.store.commit(first(RunId(8), [job()]))
        await db.store.commit(follows(1, processed(2, large), run=RunId(8)))
        assert await db.archive.prune(ended_before=NOW + 1) == 1
        assert await db.archive.jobs(RUN) == []
        assert [held.job.run for held in (await lease(db)).leases] == [8]
        assert (await log_of(db, RunId(8)))[1:] == [processed(2, large)]
        await db.store.commit(first(RunId(9), key="k"))
        await db.store.commit(first())
        assert len(await log_of(db)) == 1
        assert await db.archive.runs(RunFilter(labels={"x": "1"})) == []


async def case_no_more_than_the_limit_is_removed_oldest_first(factory: Factory) -> None:
    async with opened(factory) as db:
        for run in range(1, 71):
            await ended(db, run, NOW - run)
        assert await db.archive.prune(ended_before=NOW, limit=0) == 0
        assert await db.archive.prune(ended_before=NOW, limit=45) == 45
        assert await left(db) == list(range(25, 0, -1))
        assert await db.archive.prune(ended_before=NOW) == 25
        assert await left(db) == []


async def case_a_child_stays_until_its_parent_has_ended(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(RunId(1)))
        await ended(db, 2, NOW, parent=ref(run=RunId(1)))
        await ended(db, 3, NOW, parent=ref(run=RunId(99)))
        assert await db.archive.prune(ended_before=NOW + 1) == 1
        assert await left(db) == [2, 1]
        head = RunHead(RunStatus.DONE, ended_at=NOW + 5)
        await db.store.commit(follows(1, processed(2), run=RunId(1), head=head))
        assert await db.archive.prune(ended_before=NOW + 1) == 1
        assert await left(db) == [1]
        assert await db.archive.prune(ended_before=NOW + 6) == 1


async def case_one_run_can_be_removed_however_it_stands(factory: Factory) -> None:
    async with opened(factory) as db:
        large = "x" * 200_000
        await db.store.commit(first(jobs=[job(), job("b")], key="k", labels={"x": "1"}))
        await db.store.commit(follows(1, processed(2, large), snapshot=RunState(version=2)))
        await db.store.commit(first(RunId(8), [job()]))
        assert await db.archive.remove(RUN) is True
        assert await db.archive.remove(RUN) is False
        assert await left(db) == [8]
        assert await db.store.load(RUN) is None
        assert await db.archive.events(RUN) == []
        assert await db.archive.jobs(RUN) == []
        assert await db.archive.run_of_key("k") is None
        assert [held.job.run for held in (await lease(db)).leases] == [8]
        await db.store.commit(first(key="k"))
        assert len(await log_of(db)) == 1
