"""Runs that take up others: what is known of those, and what is left of groups of failures."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from anew.engine.state import RunStatus
from anew.store import (
    Database,
    FailedRunGroup,
    FailureFilter,
    NewRun,
    RunFilter,
    RunHead,
    RunId,
    StaleVersion,
    WaitReason,
)
from anew.stores.contract.listing import listed
from anew.stores.contract.making import (
    LATER,
    NOW,
    Factory,
    first,
    job,
    only_lease,
    opened,
    refused,
    requested,
)

_REFUSED = {"kind": "auth", "message": "user 12 is not known"}
_LOST = {"kind": "worker_lost", "message": "3 workers died"}


async def _failed(
    db: Database,
    run: int,
    *,
    error: Any = None,
    at: int = LATER,
    program: str = "p",
    of: Any = None,
) -> None:
    head = RunHead(RunStatus.FAILED, error or _REFUSED, at)
    new = NewRun(program, "d", retry_of=of)
    await db.store.commit(replace(first(RunId(run)), head=head, new=new))


async def _retried(db: Database, run: int, of: int) -> None:
    await db.store.commit(first(RunId(run), retry_of=RunId(of)))


async def _retried_as(db: Database) -> dict[int, int]:
    rows = await db.archive.runs(RunFilter())
    for row in rows:
        assert await db.archive.run(row.run) == row
    return {row.run: row.retried_as for row in rows if row.retried_as is not None}


async def _groups(db: Database, **asked: Any) -> list[FailedRunGroup]:
    return await db.statistics.failures(FailureFilter(**asked))


async def case_a_run_knows_the_newest_that_takes_it_up(factory: Factory) -> None:
    async with opened(factory) as db:
        await _failed(db, 1)
        await db.store.commit(first(RunId(2)))
        assert await _retried_as(db) == {}
        await _retried(db, 3, of=1)
        assert await _retried_as(db) == {1: 3}
        await _failed(db, 4, of=1)
        await _retried(db, 5, of=4)
        assert await _retried_as(db) == {1: 4, 4: 5}


async def case_runs_are_found_by_whether_they_were_retried(factory: Factory) -> None:
    async with opened(factory) as db:
        for run in (1, 2):
            await _failed(db, run)
        await _retried(db, 3, of=1)
        assert await listed(db, is_retried=True) == [1]
        assert await listed(db, is_retried=False) == [3, 2]
        assert await listed(db, is_retried=False, statuses=[RunStatus.FAILED]) == [2]
        counts = await db.statistics.counts(RunFilter(is_retried=True))
        assert sum(counts.values()) == 1


async def case_a_retry_that_is_refused_takes_nothing_up(factory: Factory) -> None:
    async with opened(factory) as db:
        await _failed(db, 1)
        await db.store.commit(first(RunId(2)))
        # Another process drew the same id.
        other = replace(first(RunId(2), retry_of=RunId(1)), events=[requested(RunId(2), {"a": 1})])
        await refused(StaleVersion, db.store.commit(other))
        assert await _retried_as(db) == {}


async def case_a_retry_can_be_committed_again(factory: Factory) -> None:
    async with opened(factory) as db:
        await _failed(db, 1)
        for _ in range(2):
            await _retried(db, 2, of=1)
        assert await _retried_as(db) == {1: 2}


async def case_what_was_retried_leaves_its_group(factory: Factory) -> None:
    async with opened(factory) as db:
        await _failed(db, 1, at=LATER)
        await _failed(db, 2, at=LATER + 2, program="q")
        await _failed(db, 3, at=LATER + 4, program="r")
        await _failed(db, 4, at=LATER + 9, error=_LOST)
        await _retried(db, 5, of=3)
        await _retried(db, 6, of=4)
        [group] = await _groups(db)
        assert (group.count, group.retried, group.newest) == (2, 1, 2)
        assert (group.first_at, group.last_at) == (LATER, LATER + 2)
        assert list(group.programs) == ["p", "q"]
        assert (group.kind, group.dead) == ("auth", 0)


async def case_groups_can_be_asked_for_with_what_was_retried(factory: Factory) -> None:
    async with opened(factory) as db:
        await _failed(db, 1, at=LATER)
        await _failed(db, 2, at=LATER + 2, program="q")
        await _failed(db, 3, at=LATER + 9, error=_LOST, program="r")
        await _retried(db, 4, of=2)
        await _retried(db, 5, of=3)
        lost, auth = await _groups(db, with_retried=True)
        assert (lost.count, lost.retried, lost.dead) == (1, 1, 1)
        assert (auth.count, auth.retried, auth.newest) == (2, 1, 2)
        [one] = await _groups(db, with_retried=True, program="p")
        assert (one.count, one.retried, one.newest) == (1, 0, 1)
        assert await _groups(db, program="q") == []


async def case_the_newest_of_a_group_is_one_of_it(factory: Factory) -> None:
    async with opened(factory) as db:
        for run, program in ((1, "p"), (2, "p"), (3, "q")):
            await _failed(db, run, program=program)
        await _retried(db, 4, of=2)
        [group] = await _groups(db, program="p")
        assert (group.count, group.newest) == (1, 1)


async def case_runs_that_wait_for_a_moment_are_found(factory: Factory) -> None:
    async with opened(factory) as db:
        for run, reason in enumerate(WaitReason, 1):
            await db.store.commit(first(RunId(run), [job(due_at=LATER, reason=reason)]))
        head = RunHead(RunStatus.PAUSED)
        asleep = [job(), job("b", due_at=LATER, reason=WaitReason.SLEEP)]
        await db.store.commit(replace(first(RunId(20), asleep), head=head))
        retry = job(due_at=NOW, reason=WaitReason.RETRY)
        await db.store.commit(first(RunId(21), [retry]))
        delayed = [n for n, reason in enumerate(WaitReason, 1) if reason in ("retry", "sleep")]
        assert await listed(db, is_delayed=True) == [21, 20, *reversed(delayed)]
        await only_lease(db, runs=[21])
        assert await listed(db, is_delayed=True) == [20, *reversed(delayed)]
