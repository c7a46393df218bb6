"""Commits: whole or not at all, in order, once, and refused when they are late."""

from __future__ import annotations

from msgspec.structs import replace

from anew.engine.state import RunState, RunStatus, StepRun, StepRunKey
from anew.store import (
    Commit,
    Database,
    KeyTaken,
    Lease,
    NewRun,
    Park,
    RunHead,
    RunId,
    StaleLease,
    StaleVersion,
    WaitReason,
)
from anew.stores.contract.making import (
    LAST_RUN,
    LATER,
    NOW,
    RUN,
    RUNNING,
    Factory,
    first,
    follows,
    job,
    job_row,
    log_of,
    only_lease,
    opened,
    paused,
    processed,
    ref,
    refused,
    requested,
)


async def case_a_commit_is_read_back_as_it_was(factory: Factory) -> None:
    async with opened(factory) as db:
        event = processed(2, {"data": [1, 2.5, None, True, "ä"]}, x={"y": 1})
        await db.store.commit(first())
        await db.store.commit(follows(1, event, paused(3)))
        assert await log_of(db) == [requested(), event, paused(3)]
        assert await db.archive.events(RUN) == [requested(), event, paused(3)]


async def case_an_unknown_run_is_none(factory: Factory) -> None:
    async with opened(factory) as db:
        assert await db.store.load(RUN) is None
        assert await db.archive.run(RUN) is None
        assert await db.archive.events(RUN) == []
        assert await db.archive.jobs(RUN) == []
        assert await db.archive.run_of_key("k") is None


async def case_a_run_keeps_what_it_was_born_with(factory: Factory) -> None:
    async with opened(factory) as db:
        parent = ref("caller", 4, run=RunId(3))
        labels = {"team": "ä", "": "x"}
        await db.store.commit(first(key="k", labels=labels, parent=parent, depth=2))
        await db.store.commit(follows(1, paused(2)))
        row = await db.archive.run(RUN)
        assert row is not None
        assert (row.run, row.program, row.digest, row.version) == (RUN, "p", "d", 2)
        assert (row.status, row.created_at, row.updated_at) == (RunStatus.RUNNING, NOW, NOW)
        assert (row.key, row.labels) == ("k", labels)
        assert (row.parent, row.depth, row.ended_at, row.error) == (parent, 2, None, None)
        stored = await db.store.load(RUN)
        assert stored is not None
        assert (stored.digest, stored.parent, stored.depth) == ("d", parent, 2)


async def case_the_head_is_that_of_the_newest_commit(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first())
        failed = RunHead(RunStatus.FAILED, {"kind": "auth", "message": "ü"}, LATER)
        await db.store.commit(follows(1, replace(paused(2), at=LATER), head=failed, at=LATER))
        row = await db.archive.run(RUN)
        assert row is not None
        assert (row.status, row.error, row.ended_at) == ("failed", failed.error, LATER)
        assert (row.created_at, row.updated_at, row.version) == (NOW, LATER, 2)
        await db.store.commit(follows(2, paused(3), head=RUNNING))
        row = await db.archive.run(RUN)
        assert row is not None
        assert (row.status, row.error, row.ended_at) == ("running", None, None)


async def case_a_commit_without_events_keeps_the_version(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(jobs=[job()]))
        await db.store.commit(follows(1, jobs=[job("b")]))
        await refused(StaleVersion, db.store.commit(follows(0, jobs=[job("c")])))
        await refused(StaleVersion, db.store.commit(follows(2, jobs=[job("c")])))
        assert [row.job.key.step for row in await db.archive.jobs(RUN)] == ["a", "b"]
        assert await log_of(db) == [requested()]


async def case_a_late_version_is_refused_and_changes_nothing(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(jobs=[job()]))
        held = await only_lease(db)
        await db.store.commit(follows(1, paused(2)))
        await db.store.commit(first(RunId(8), [job(due_at=None)]))
        late = follows(1, paused(2, "x"), lease=held, jobs=[job("b")], wakes=[ref(run=RunId(8))])
        await refused(StaleVersion, db.store.commit(late))
        await refused(StaleVersion, db.store.commit(follows(5, paused(6))))
        assert await log_of(db) == [requested(), paused(2)]
        assert [row.job.key.step for row in await db.archive.jobs(RUN)] == ["a"]
        assert [row.due_at for row in await db.archive.jobs(RunId(8))] == [None]


async def case_a_run_begins_once(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first())
        other = requested(workload={"x": 1})
        await refused(StaleVersion, db.store.commit(replace(first(), events=[other])))
        await refused(StaleVersion, db.store.commit(follows(0, other)))
        assert await log_of(db) == [requested()]


async def case_a_run_may_begin_without_events(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(replace(first(jobs=[job()]), events=[]))
        row = await db.archive.run(RUN)
        assert row is not None
        assert (row.version, row.created_at, row.updated_at) == (0, NOW, NOW)
        await refused(StaleVersion, db.store.commit(first()))
        await db.store.commit(follows(0, requested(), lease=await only_lease(db)))
        assert await log_of(db) == [requested()]


async def case_a_run_begins_with_what_it_is(factory: Factory) -> None:
    async with opened(factory) as db:
        await refused(StaleVersion, db.store.commit(follows(0, requested())))
        await refused(StaleVersion, db.store.commit(follows(3, paused(4))))
        assert await db.store.load(RUN) is None


async def case_a_key_starts_one_run(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(key="order 1\0ä"))
        error = await refused(KeyTaken, db.store.commit(first(RunId(8), [job()], key="order 1\0ä")))
        assert error.run == RUN
        assert await db.archive.run(RunId(8)) is None
        assert await db.archive.jobs(RunId(8)) == []
        assert await db.archive.run_of_key("order 1\0ä") == RUN
        assert await db.archive.run_of_key("order 1") is None
        await db.store.commit(first(RunId(9), key="order 2"))
        await db.store.commit(first(RunId(10)))
        await db.store.commit(first(RunId(11)))


async def case_a_lost_lease_is_refused_and_changes_nothing(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(jobs=[job()]))
        old = await only_lease(db)
        await db.store.release(old, due_at=0)
        new = await only_lease(db)
        assert new.token > old.token
        late = follows(1, paused(2), lease=old, jobs=[job("b")])
        await refused(StaleLease, db.store.commit(late))
        park = Park(None, WaitReason.CHILD)
        await refused(StaleLease, db.store.commit(follows(1, lease=old, park=park)))
        assert await log_of(db) == [requested()]
        row = await job_row(db)
        assert row is not None
        assert (row.token, row.leased_until) == (new.token, LATER)
        assert await job_row(db, "b") is None
        await db.store.commit(follows(1, paused(2), lease=new))
        assert await db.archive.jobs(RUN) == []


async def case_a_lease_is_answered_once(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(jobs=[job()]))
        held = await only_lease(db)
        await db.store.commit(follows(1, paused(2), lease=held))
        await refused(StaleLease, db.store.commit(follows(2, paused(3), lease=held)))
        await refused(StaleLease, db.store.commit(follows(1, paused(2, "x"), lease=held)))
        assert await log_of(db) == [requested(), paused(2)]


async def case_a_job_nobody_leased_has_no_lease(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(jobs=[job()]))
        for token in (0, 1):
            made_up = Lease(ref(), token, LATER)
            await refused(StaleLease, db.store.commit(follows(1, paused(2), lease=made_up)))
        assert await log_of(db) == [requested()]


async def case_an_expired_lease_holds_until_someone_answers(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(jobs=[job()]))
        held = await only_lease(db, until=NOW + 1)
        assert (await lease_again(db)) == []
        await db.store.commit(follows(1, paused(2), lease=held))
        assert await db.archive.jobs(RUN) == []


async def lease_again(db: Database) -> list[Lease]:
    batch = await db.store.lease(now=LATER, until=LATER + 9, limit=9)
    return batch.leases


async def case_a_snapshot_saves_the_events_before_it(factory: Factory) -> None:
    async with opened(factory) as db:
        state = RunState(run=str(RUN), version=2, ctx={"x": [1, {"y": None}]})
        state.active["a", 1] = StepRun(StepRunKey("a", 1), {"in": 1}, {})
        await db.store.commit(first())
        await db.store.commit(follows(1, paused(2), snapshot=state))
        state.ctx["x"] = "changed after the commit"
        await db.store.commit(follows(2, paused(3)))
        stored = await db.store.load(RUN)
        assert stored is not None
        assert stored.events == [paused(3)]
        assert stored.snapshot is not None
        assert stored.snapshot.ctx == {"x": [1, {"y": None}]}
        assert stored.snapshot.active["a", 1] == StepRun(StepRunKey("a", 1), {"in": 1}, {})
        stored.snapshot.ctx["x"] = "changed by a reader"
        again = await db.store.load(RUN)
        assert again is not None
        assert again.snapshot is not None
        assert again.snapshot.ctx == {"x": [1, {"y": None}]}


async def case_the_newest_snapshot_counts(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first())
        for version in (2, 3):
            state = RunState(version=version)
            await db.store.commit(follows(version - 1, paused(version), snapshot=state))
        stored = await db.store.load(RUN)
        assert stored is not None
        assert stored.snapshot is not None
        assert (stored.snapshot.version, stored.events) == (3, [])
        assert len(await db.archive.events(RUN)) == 3


async def case_the_ids_of_runs_have_63_bits(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(LAST_RUN, [job()], parent=ref(run=RunId(LAST_RUN - 1))))
        held = await only_lease(db)
        assert held.job == ref(run=LAST_RUN)
        await db.store.commit(follows(1, paused(2), run=LAST_RUN, lease=held))
        row = await db.archive.run(LAST_RUN)
        assert row is not None
        assert row.parent == ref(run=RunId(LAST_RUN - 1))


async def case_any_text_is_kept(factory: Factory) -> None:
    async with opened(factory) as db:
        text = 'naïve \0 日本 😀 \u2028 \x7f \r\n \'" \\ $ref {"$ref": 1}'
        name = StepRunKey(text, 1, 0)
        new = NewRun(text, text, key=text, labels={text: text})
        head = RunHead(RunStatus.RUNNING, {text: text})
        jobs = [replace(job(), key=name, pool=text)]
        event = replace(requested(), program=text, workload={text: text})
        await db.store.commit(Commit(RUN, 0, NOW, [event], head, jobs=jobs, new=new))
        assert await log_of(db) == [event]
        row = await db.archive.run(RUN)
        assert row is not None
        assert (row.program, row.digest, row.key, row.labels) == (text, text, text, {text: text})
        assert row.error == {text: text}
        held = await only_lease(db, pools=[text])
        assert held.job.key == name
        await db.store.commit(follows(1, paused(2, text), lease=held))
        assert (await log_of(db))[1] == paused(2, text)
