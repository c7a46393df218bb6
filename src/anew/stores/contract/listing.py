"""Lists of runs and events: newest runs first, events in order, page by page."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from anew.engine.events import Event
from anew.engine.state import RunStatus
from anew.store import Database, NewRun, Park, RunFilter, RunHead, RunId, WaitReason
from anew.stores.contract.making import (
    LATER,
    NOW,
    RUN,
    Factory,
    first,
    follows,
    job,
    only_lease,
    opened,
    paused,
    ref,
    requested,
)


async def listed(db: Database, **asked: Any) -> list[int]:
    return [row.run for row in await db.archive.runs(RunFilter(**asked))]


async def case_runs_are_listed_newest_first(factory: Factory) -> None:
    async with opened(factory) as db:
        assert await listed(db) == []
        for run in (5, 9, 7):
            await db.store.commit(first(RunId(run)))
        assert await listed(db) == [9, 7, 5]
        assert await listed(db, limit=2) == [9, 7]
        assert await listed(db, limit=2, before=RunId(7)) == [5]
        assert await listed(db, before=RunId(5)) == []
        rows = await db.archive.runs(RunFilter())
        assert rows[0] == await db.archive.run(RunId(9))


async def case_runs_can_be_asked_for_by_status(factory: Factory) -> None:
    async with opened(factory) as db:
        for run, status in enumerate(RunStatus, 1):
            await db.store.commit(replace(first(RunId(run)), head=RunHead(status)))
        assert await listed(db, statuses=[RunStatus.PAUSED]) == [5]
        assert await listed(db, statuses=[RunStatus.DONE, RunStatus.NEW]) == [6, 1]
        assert await listed(db, statuses=[RunStatus.DONE, RunStatus.NEW], limit=1) == [6]


async def case_runs_can_be_asked_for_by_program(factory: Factory) -> None:
    async with opened(factory) as db:
        for run, program in enumerate(("a", "b", "a", "A"), 1):
            await db.store.commit(replace(first(RunId(run)), new=NewRun(program, "d")))
        assert await listed(db, program="a") == [3, 1]
        assert await listed(db, program="a", before=RunId(3)) == [1]
        assert await listed(db, program="none") == []


async def case_runs_can_be_asked_for_by_label(factory: Factory) -> None:
    async with opened(factory) as db:
        for run, labels in enumerate(({"x": "1"}, {"x": "1", "y": "ä\0"}, {"y": "ä\0"}), 1):
            await db.store.commit(first(RunId(run), labels=labels))
        assert await listed(db, labels={"x": "1"}) == [2, 1]
        assert await listed(db, labels={"x": "1", "y": "ä\0"}) == [2]
        assert await listed(db, labels={"y": "ä"}) == []
        assert await listed(db, labels={"1": "x"}) == []


async def case_runs_can_be_asked_for_by_age(factory: Factory) -> None:
    async with opened(factory) as db:
        for run in (1, 2, 3):
            await db.store.commit(replace(first(RunId(run)), at=NOW + run))
        assert await listed(db, since=NOW + 2) == [3, 2]
        assert await listed(db, since=NOW + 4) == []
        assert await listed(db, since=NOW, before=RunId(2)) == [1]


async def case_runs_can_be_asked_for_by_parent(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(RunId(1)))
        for run in (2, 3):
            await db.store.commit(first(RunId(run), parent=ref("call", run=RunId(1)), depth=1))
        await db.store.commit(first(RunId(4), parent=ref("call", run=RunId(3)), depth=2))
        assert await listed(db, parent=RunId(1)) == [3, 2]
        assert await listed(db, parent=RunId(3)) == [4]
        assert await listed(db, parent=RunId(4)) == []
        assert await listed(db, is_child=True) == [4, 3, 2]


async def case_runs_that_wait_to_try_again_are_found(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(RunId(1), [job(due_at=LATER, reason=WaitReason.SLEEP)]))
        await db.store.commit(first(RunId(2), [job("b", due_at=LATER), job()]))
        await db.store.commit(first(RunId(3), [job(due_at=LATER, reason=WaitReason.RETRY)]))
        held = await only_lease(db)
        assert await listed(db, retrying=True) == [3]
        park = Park(LATER, WaitReason.RETRY, attempt=2)
        await db.store.commit(follows(1, run=RunId(2), lease=held, park=park))
        assert await listed(db, retrying=True) == [3, 2]
        await db.store.commit(follows(1, paused(2), run=RunId(3), drop_all=True))
        assert await listed(db, retrying=True) == [2]


async def case_filters_add_up(factory: Factory) -> None:
    async with opened(factory) as db:
        retry = job(due_at=LATER, reason=WaitReason.RETRY)
        await db.store.commit(first(RunId(1), [retry], labels={"x": "1"}))
        await db.store.commit(first(RunId(2), labels={"x": "1"}))
        await db.store.commit(first(RunId(3), [retry]))
        asked = {"labels": {"x": "1"}, "retrying": True, "program": "p", "since": NOW}
        assert await listed(db, statuses=[RunStatus.RUNNING], **asked) == [1]
        assert await listed(db, statuses=[RunStatus.DONE], **asked) == []


async def case_events_come_in_pages(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(RunId(RUN + 1)))
        await db.store.commit(first())
        log: list[Event] = [requested(), *(paused(n, str(n)) for n in range(2, 12))]
        await db.store.commit(follows(1, *log[1:]))
        assert await db.archive.events(RUN) == log
        assert await db.archive.events(RUN, limit=3) == log[:3]
        assert await db.archive.events(RUN, after=3, limit=3) == log[3:6]
        assert await db.archive.events(RUN, after=11) == []
        assert await db.archive.events(RUN, limit=0) == []


async def case_jobs_are_listed_in_order(factory: Factory) -> None:
    async with opened(factory) as db:
        jobs = [job("b"), job("a", 10), job("a", 9), job("a", taken_until=LATER)]
        await db.store.commit(first(jobs=jobs))
        found = [row.job for row in await db.archive.jobs(RUN)]
        assert found == [ref("a"), ref("a", 9), ref("a", 10), ref("b")]
