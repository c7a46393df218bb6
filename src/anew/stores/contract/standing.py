"""How runs stand: the same word in a row, in a filter, in counts and in points."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product

from msgspec.structs import replace

from anew.engine.state import RunStatus
from anew.engine.statuses import DetailedStatus
from anew.store import (
    Database,
    NewJob,
    RunFilter,
    RunHead,
    RunId,
    RunPoint,
    RunRow,
    WaitReason,
)
from anew.stores.contract.making import LATER, NOW, RUN, Factory, first, job, opened, ref

_LOST = {"kind": "worker_lost", "message": "gone"}
# Of each reason one that nobody works on and one that somebody does.
_JOBS = [
    job(f"{reason}{until}", due_at=LATER, reason=reason, taken_until=until)
    for reason in WaitReason
    for until in (None, LATER)
]


async def _one_of_each(db: Database) -> list[RunRow]:
    """Runs of every status with every pair of jobs; all of them, newest first."""
    pairs = [(), *((one,) for one in _JOBS), *combinations(_JOBS, 2)]
    some = pairs[:: len(RunStatus) - 3]
    made = (*product(RunStatus, some), *product([RunStatus.RUNNING], pairs))
    for number, (status, jobs) in enumerate(made, 1):
        error = _LOST if status is RunStatus.FAILED and number % 2 else None
        head = RunHead(status, error, LATER if status in _ENDED else None)
        await db.store.commit(replace(first(RunId(number), list(jobs)), head=head))
    return await db.archive.runs(RunFilter(limit=10_000))


_ENDED = (RunStatus.DONE, RunStatus.FAILED, RunStatus.CANCELLED)


async def case_a_run_stands_the_same_wherever_it_is_told(factory: Factory) -> None:
    async with opened(factory) as db:
        rows = await _one_of_each(db)
        assert {row.state for row in rows} == set(DetailedStatus)
        everything = RunFilter(limit=10_000)
        assert await db.statistics.counts(everything) == Counter(row.state for row in rows)
        told = [RunPoint(row.run, row.created_at, row.ended_at, row.state) for row in rows]
        assert await db.statistics.points(everything) == told
        for state in DetailedStatus:
            found = await db.archive.runs(replace(everything, states=[state]))
            assert found == [row for row in rows if row.state is state], state


async def case_several_states_can_be_asked_for(factory: Factory) -> None:
    async with opened(factory) as db:
        rows = await _one_of_each(db)
        for asked in (
            [DetailedStatus.PERSON, DetailedStatus.RETRYING],
            [DetailedStatus.DEAD, DetailedStatus.DONE, DetailedStatus.PARKED],
        ):
            found = await db.archive.runs(RunFilter(states=asked, limit=10_000))
            assert found == [row for row in rows if row.state in asked], asked
            counted = await db.statistics.counts(RunFilter(states=asked))
            assert counted == Counter(row.state for row in found)


async def case_the_job_that_says_most_stands_for_its_run(factory: Factory) -> None:
    async with opened(factory) as db:

        async def shown(*jobs: NewJob) -> str:
            run = RunId(RUN + len(await db.archive.runs(RunFilter(limit=1_000))))
            await db.store.commit(first(run, list(jobs)))
            row = await db.archive.run(run)
            assert row is not None
            assert row.open is not None
            assert row.open in await db.archive.jobs(run)
            return row.open.job.key.step

        retry = job("later", due_at=LATER, reason=WaitReason.RETRY, attempt=3)
        sooner = job("sooner\0", due_at=NOW, reason=WaitReason.RETRY)
        asked = job("asked", due_at=None, reason=WaitReason.PERSON)
        asleep = job("asleep", due_at=NOW, reason=WaitReason.SLEEP)
        ready = job("ready", due_at=0)
        for_ever = job("forever", due_at=None, reason=WaitReason.SLEEP)
        assert await shown(retry, sooner) == "sooner\0"
        assert await shown(retry, asked) == "asked"
        assert await shown(asleep, ready) == "ready"
        assert await shown(for_ever, asleep) == "asleep"
        assert await shown(asleep, replace(retry, taken_until=LATER)) == "later"


async def case_a_run_without_jobs_shows_none(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first())
        row = await db.archive.run(RUN)
        assert row is not None
        assert (row.open, row.state) == (None, DetailedStatus.RUNNING)


async def case_the_job_that_is_shown_is_whole(factory: Factory) -> None:
    async with opened(factory) as db:
        aside = job("a", 3, due_at=LATER, reason=WaitReason.RETRY, attempt=4, pool="ä\0")
        await db.store.commit(first(jobs=[aside]))
        row = await db.archive.run(RUN)
        assert row is not None
        assert [row.open] == await db.archive.jobs(RUN)
        assert row.open is not None
        assert row.open.job == ref("a", 3)
