"""Many at once: nothing is lost, nothing happens twice, nobody disturbs the others."""

from __future__ import annotations

import asyncio

from anew.engine.state import RunState
from anew.store import KeyTaken, RunFilter, RunId, StaleLease, StaleVersion
from anew.stores.contract.making import (
    LATER,
    RUN,
    Factory,
    first,
    follows,
    job,
    lease,
    log_of,
    only_lease,
    opened,
    paused,
    processed,
    requested,
)

MANY = 200


async def case_many_runs_commit_at_once(factory: Factory) -> None:
    async with opened(factory) as db:

        async def play(run: RunId) -> None:
            await db.store.commit(first(run, [job()]))
            for version in (1, 2, 3):
                await db.store.commit(follows(version, paused(version + 1), run=run))

        await asyncio.gather(*(play(RunId(run)) for run in range(1, MANY + 1)))
        rows = await db.archive.runs(RunFilter(limit=MANY + 1))
        assert [(row.run, row.version) for row in rows] == [(n, 4) for n in range(MANY, 0, -1)]
        assert await log_of(db, RunId(MANY)) == [
            requested(RunId(MANY)),
            *(paused(seq) for seq in (2, 3, 4)),
        ]


async def case_of_many_commits_to_one_version_one_wins(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first())
        rivals = [follows(1, paused(2, f"rival {n}"), jobs=[job(f"{n}")]) for n in range(MANY)]
        answers = await asyncio.gather(
            *(db.store.commit(rival) for rival in rivals), return_exceptions=True
        )
        winners = [n for n, answer in enumerate(answers) if answer is None]
        assert len(winners) == 1
        assert sum(isinstance(answer, StaleVersion) for answer in answers) == MANY - 1
        assert await log_of(db) == [requested(), paused(2, f"rival {winners[0]}")]
        assert [row.job.key.step for row in await db.archive.jobs(RUN)] == [f"{winners[0]}"]


async def case_those_that_read_again_all_get_through(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first())

        async def insist(number: int) -> None:
            while True:
                row = await db.archive.run(RUN)
                assert row is not None
                try:
                    event = paused(row.version + 1, str(number))
                    return await db.store.commit(follows(row.version, event))
                except StaleVersion:
                    continue

        await asyncio.gather(*(insist(number) for number in range(20)))
        log = await log_of(db)
        assert [event.seq for event in log] == list(range(1, 22))
        reasons = {getattr(event, "reason", None) for event in log[1:]}
        assert reasons == {str(number) for number in range(20)}


async def case_one_job_goes_to_one_of_many_workers(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(jobs=[job("a", n) for n in range(50)]))
        batches = await asyncio.gather(*(lease(db, limit=3) for _ in range(MANY // 4)))
        taken = [held.job for batch in batches for held in batch.leases]
        assert len(taken) == len(set(taken)) == 50


async def case_a_lease_is_answered_by_one_of_many(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(jobs=[job()]))
        held = await only_lease(db)
        answers = await asyncio.gather(
            *(db.store.commit(follows(1, paused(2, str(n)), lease=held)) for n in range(20)),
            return_exceptions=True,
        )
        assert sum(answer is None for answer in answers) == 1
        assert sum(isinstance(answer, StaleLease) for answer in answers) == 19


async def case_a_key_starts_one_of_many_runs(factory: Factory) -> None:
    async with opened(factory) as db:
        answers = await asyncio.gather(
            *(db.store.commit(first(RunId(run), [job()], key="k")) for run in range(1, 51)),
            return_exceptions=True,
        )
        winner = await db.archive.run_of_key("k")
        refusals = [answer for answer in answers if isinstance(answer, KeyTaken)]
        assert len(refusals) == 49
        assert {refusal.run for refusal in refusals} == {winner}
        assert [row.run for row in await db.archive.runs(RunFilter())] == [winner]
        assert len((await lease(db, until=LATER)).leases) == 1


async def case_the_refused_do_not_disturb_the_others(factory: Factory) -> None:
    async with opened(factory) as db:
        await asyncio.gather(*(db.store.commit(first(RunId(run))) for run in range(1, 41)))
        asked = [
            follows(1 if run % 2 else 9, paused(2 if run % 2 else 10), run=RunId(run))
            for run in range(1, 41)
        ]
        answers = await asyncio.gather(
            *(db.store.commit(one) for one in asked), return_exceptions=True
        )
        assert [answer is None for answer in answers] == [True, False] * 20
        rows = await db.archive.runs(RunFilter())
        assert [row.version for row in rows] == [1, 2] * 20


async def case_the_same_commit_twice_at_once(factory: Factory) -> None:
    async with opened(factory) as db:
        runs = [RunId(run) for run in range(1, 21)]
        await asyncio.gather(*(db.store.commit(first(run, [job()])) for run in runs))
        held = {one.job.run: one for one in (await lease(db)).leases}
        asked = [follows(1, paused(2), run=run, lease=held[run]) for run in runs for _ in range(2)]
        await asyncio.gather(*(db.store.commit(one) for one in asked))
        assert [await log_of(db, run) for run in runs] == [
            [requested(run), paused(2)] for run in runs
        ]


async def case_runs_that_are_loaded_at_once_are_each_whole(factory: Factory) -> None:
    async with opened(factory) as db:
        runs = [RunId(run) for run in range(1, MANY + 1)]
        await asyncio.gather(*(db.store.commit(first(run)) for run in runs))
        large = processed(2, "x" * 70_000)
        await db.store.commit(follows(1, large, run=RunId(5)))
        kept = RunState(version=2)
        await db.store.commit(follows(1, paused(2), run=RunId(9), snapshot=kept))
        await db.store.commit(follows(2, paused(3), run=RunId(9)))
        asked = [*runs, RunId(5), RunId(MANY + 1)]
        found = [await one for one in [asyncio.ensure_future(db.store.load(run)) for run in asked]]
        assert found.pop() is None
        logs = {run: stored.events for run, stored in zip(asked, found, strict=False) if stored}
        assert logs.pop(RunId(5)) == [requested(RunId(5)), large]
        assert logs.pop(RunId(9)) == [paused(3)]
        assert [stored.snapshot for stored in found if stored and stored.snapshot] == [kept]
        assert logs == {run: [requested(run)] for run in runs if run not in (5, 9)}
