"""What runs are found by, and the groups that failures make."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from anew.engine.fingerprints import fingerprint_of
from anew.engine.state import RunStatus
from anew.engine.statuses import DetailedStatus
from anew.store import (
    PROGRAMS_OF_FAILURE_MAX,
    Database,
    FailureFilter,
    NewRun,
    Park,
    RunHead,
    RunId,
    WaitReason,
)
from anew.stores.contract.listing import listed
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
)

_REFUSED = {"kind": "auth", "message": "user 12 is not known"}
_ALSO_REFUSED = {"kind": "auth", "message": "user 99 is not known", "code": 401}
_LOST = {"kind": "worker_lost", "message": "3 workers died"}


async def _fail(
    db: Database, run: int, error: dict[str, Any] | None, *, at: int = LATER, program: str = "p"
) -> None:
    head = RunHead(RunStatus.FAILED, error, at)
    await db.store.commit(replace(first(RunId(run)), new=NewRun(program, "d")))
    await db.store.commit(follows(1, paused(2), run=RunId(run), head=head, drop_all=True))


async def case_failed_runs_are_found_by_what_failed_them(factory: Factory) -> None:
    async with opened(factory) as db:
        errors = (_REFUSED, {"kind": "auth", "message": "user 7 is not known"}, _LOST, None)
        for run, error in enumerate(errors, 1):
            await _fail(db, run, error)
        await db.store.commit(first(RunId(9)))
        assert await listed(db, error_kind="auth") == [2, 1]
        assert await listed(db, fingerprint=fingerprint_of(_REFUSED)) == [2, 1]
        assert await listed(db, fingerprint=fingerprint_of(None)) == [4]
        assert await listed(db, error_kind="none") == []
        row = await db.archive.run(RunId(3))
        assert row is not None
        assert (row.error_kind, row.fingerprint) == ("worker_lost", fingerprint_of(_LOST))
        assert row.state is DetailedStatus.DEAD


async def case_a_run_that_goes_on_has_no_fingerprint(factory: Factory) -> None:
    async with opened(factory) as db:
        head = RunHead(RunStatus.RUNNING, _REFUSED)
        await db.store.commit(replace(first(), head=head))
        row = await db.archive.run(RUN)
        assert row is not None
        assert (row.fingerprint, row.error_kind) == (None, None)
        assert await db.statistics.failures(FailureFilter()) == []


async def case_runs_can_be_asked_for_by_id_and_document(factory: Factory) -> None:
    async with opened(factory) as db:
        for run, digest in enumerate(("x", "y", "x", "z\0"), 1):
            await db.store.commit(replace(first(RunId(run)), new=NewRun("p", digest)))
        assert await listed(db, digests=["x"]) == [3, 1]
        assert await listed(db, digests=["y", "z\0"]) == [4, 2]
        assert await listed(db, digests=[]) == []
        assert await listed(db, runs=[RunId(4), RunId(1), RunId(99)]) == [4, 1]
        assert await listed(db, runs=[]) == []


async def case_runs_can_be_asked_for_up_to_a_moment(factory: Factory) -> None:
    async with opened(factory) as db:
        for run in (1, 2, 3):
            await db.store.commit(replace(first(RunId(run)), at=NOW + run))
        assert await listed(db, until=NOW + 3) == [2, 1]
        assert await listed(db, since=NOW + 2, until=NOW + 3) == [2]
        assert await listed(db, until=NOW + 1) == []


async def case_runs_are_found_by_the_attempt_they_are_at(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(RunId(1), [job(), job("b", attempt=4)]))
        await db.store.commit(first(RunId(2), [job(attempt=2)]))
        await db.store.commit(first(RunId(3), [job()]))
        await db.store.commit(first(RunId(4)))
        assert await listed(db, attempt_min=1) == [3, 2, 1]
        assert await listed(db, attempt_min=2) == [2, 1]
        assert await listed(db, attempt_min=4) == [1]
        assert await listed(db, attempt_min=5) == []


async def case_runs_are_found_by_when_their_retry_is_due(factory: Factory) -> None:
    async with opened(factory) as db:
        for run, due_at in ((1, LATER), (2, LATER + 5), (3, NOW)):
            retry = job(due_at=due_at, reason=WaitReason.RETRY)
            await db.store.commit(first(RunId(run), [retry]))
        asleep = job(due_at=NOW, reason=WaitReason.SLEEP)
        await db.store.commit(first(RunId(4), [asleep]))
        assert await listed(db, due_before=LATER) == [3, 1]
        held = await only_lease(db, runs=[3])
        assert await listed(db, due_before=LATER) == [1]
        park = Park(LATER, WaitReason.RETRY, attempt=2)
        await db.store.commit(follows(1, run=RunId(3), lease=held, park=park))
        assert await listed(db, due_before=LATER) == [3, 1]
        assert await listed(db, due_before=NOW) == []


async def case_runs_are_found_by_a_text(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(replace(first(RunId(7001)), new=NewRun("Import_%", "d")))
        await db.store.commit(first(RunId(7002), key="order-5"))
        await db.store.commit(first(RunId(7003), key="asked:order"))
        await db.store.commit(first(RunId(7004), labels={'t"eam': "Größe\\x", "note": "ends"}))
        await _fail(db, 7005, {"kind": "auth", "message": 'no "Access" to 10% of it'})
        assert await listed(db, text="700") == [7005, 7004, 7003, 7002, 7001]
        assert await listed(db, text="import") == [7001]
        assert await listed(db, text="t_%") == [7001]
        assert await listed(db, text="x%r") == []
        assert await listed(db, text="ORDER") == [7002]
        assert await listed(db, text="orde_") == []
        assert await listed(db, text='T"E') == [7004]
        assert await listed(db, text="größe\\X") == [7004]
        assert await listed(db, text="GRÖSSE") == []
        assert await listed(db, text='"acc') == [7005]
        assert await listed(db, text="10%") == [7005]
        # What only the JSON of labels or errors has is in no run.
        for word in ("message", "kind", '":"', '","'):
            assert await listed(db, text=word) == [], word


async def case_failures_are_grouped(factory: Factory) -> None:
    async with opened(factory) as db:
        await _fail(db, 1, _REFUSED, at=LATER + 3)
        await _fail(db, 2, {**_REFUSED, "message": "user 5 is not known"}, at=LATER + 9)
        await _fail(db, 3, {**_REFUSED, "message": "user 6 is not known"}, at=LATER, program="q")
        await _fail(db, 4, _ALSO_REFUSED, at=LATER + 4)
        await _fail(db, 5, _LOST, at=LATER + 9)
        await db.store.commit(first(RunId(6)))
        found = {one.fingerprint: one for one in await db.statistics.failures(FailureFilter())}
        one = found[fingerprint_of(_REFUSED)]
        assert (one.kind, one.message) == ("auth", "user 5 is not known")
        assert (one.count, one.dead, one.newest) == (3, 0, 2)
        assert (one.first_at, one.last_at) == (LATER, LATER + 9)
        assert list(one.programs) == ["p", "q"]
        assert found[fingerprint_of(_LOST)].dead == 1
        order = [one.last_at for one in found.values()]
        assert order == [LATER + 9, LATER + 9, LATER + 4]


async def case_groups_of_failures_can_be_chosen(factory: Factory) -> None:
    async with opened(factory) as db:
        await _fail(db, 1, _REFUSED, at=LATER)
        await _fail(db, 2, _REFUSED, at=LATER + 5, program="q")
        await _fail(db, 3, _LOST, at=LATER + 9)

        async def counted(**asked: Any) -> list[tuple[str, int, int]]:
            groups = await db.statistics.failures(FailureFilter(**asked))
            return [(one.kind, one.count, one.newest) for one in groups]

        assert await counted() == [("worker_lost", 1, 3), ("auth", 2, 2)]
        assert await counted(limit=1) == [("worker_lost", 1, 3)]
        assert await counted(since=LATER + 1) == [("worker_lost", 1, 3), ("auth", 1, 2)]
        assert await counted(until=LATER + 5) == [("auth", 1, 1)]
        assert await counted(program="p") == [("worker_lost", 1, 3), ("auth", 1, 1)]
        assert await counted(program="none") == []


async def case_few_programs_of_a_failure_are_named(factory: Factory) -> None:
    async with opened(factory) as db:
        for run in range(PROGRAMS_OF_FAILURE_MAX + 2):
            await _fail(db, run + 1, _LOST, program=f"p{run:02}")
        [group] = await db.statistics.failures(FailureFilter())
        assert list(group.programs) == [f"p{n:02}" for n in range(PROGRAMS_OF_FAILURE_MAX)]


async def case_programs_of_runs_are_named_once(factory: Factory) -> None:
    async with opened(factory) as db:
        assert await db.statistics.programs() == []
        for run, program in enumerate(("b", "a\0", "b", "B"), 1):
            await db.store.commit(replace(first(RunId(run)), new=NewRun(program, "d")))
        assert await db.statistics.programs() == ["B", "a\0", "b"]
        assert await db.statistics.programs(2) == ["B", "a\0"]


async def case_the_commit_that_fails_a_run_can_be_repeated(factory: Factory) -> None:
    async with opened(factory) as db:
        await _fail(db, 1, _REFUSED)
        head = RunHead(RunStatus.FAILED, _REFUSED, LATER)
        again = follows(1, paused(2), run=RunId(1), head=head, drop_all=True)
        await db.store.commit(again)
        assert await listed(db, fingerprint=fingerprint_of(_REFUSED)) == [1]
