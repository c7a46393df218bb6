"""What is packed is written and read as what is not: the same run, the same refusals."""

from __future__ import annotations

from msgspec.structs import replace

from anew.engine.fold import fold
from anew.store import RunId, StaleVersion
from anew.stores.codec import INLINE_BYTES_MAX, snapshot_format
from anew.stores.contract.making import (
    RUN,
    Factory,
    first,
    follows,
    job,
    log_of,
    only_lease,
    opened,
    paused,
    processed,
    refused,
    requested,
)
from anew.stores.packing import NO_FORMAT, pack, unpack_events, unpack_run

LARGE = {"data": "é" * INLINE_BYTES_MAX}


async def case_a_packed_commit_is_the_commit(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.write(pack(first(jobs=[job()])))
        answered = follows(1, processed(2, LARGE), lease=await only_lease(db))
        await db.store.write(pack(answered))
        assert await log_of(db) == [requested(), *answered.events]
        assert await db.archive.jobs(RUN) == []


async def case_a_packed_commit_again_changes_nothing(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first())
        commit = follows(1, processed(2, LARGE))
        await db.store.commit(commit)
        await db.store.write(pack(commit))
        await refused(StaleVersion, db.store.write(pack(follows(1, paused(2)))))
        assert len(await log_of(db)) == 2


async def case_a_packed_run_holds_what_is_loaded(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(labels={"a": "b"}))
        await db.store.commit(follows(1, processed(2, LARGE)))
        packed = await db.store.read(RUN, knows=snapshot_format())
        assert packed is not None
        assert unpack_run(RUN, packed) == await db.store.load(RUN)
        assert await db.store.read(RunId(8), knows=snapshot_format()) is None


async def case_a_packed_run_has_the_snapshot_of_a_format_that_its_reader_knows(
    factory: Factory,
) -> None:
    async with opened(factory) as db:
        state = fold([requested()])
        await db.store.commit(replace(first(), snapshot=state))
        await db.store.commit(follows(1, paused(2)))
        known = await db.store.read(RUN, knows=snapshot_format())
        assert known is not None
        assert known.snapshot is not None
        assert known.snapshot.version == 1
        assert [row.seq for row in known.events.rows] == [2]
        for other in (NO_FORMAT, "another"):
            found = await db.store.read(RUN, knows=other)
            assert found is not None
            assert found.snapshot is None
            assert [row.seq for row in found.events.rows] == [1, 2]


async def case_packed_events_come_with_the_blobs_they_need(factory: Factory) -> None:
    async with opened(factory) as db:
        more = {"data": "ü" * INLINE_BYTES_MAX}
        await db.store.commit(first())
        await db.store.commit(follows(1, processed(2, LARGE), paused(3), processed(4, more)))
        for after, limit in ((0, 1), (1, 2), (2, 10), (9, 10)):
            packed = await db.archive.rows(RUN, after=after, limit=limit)
            found = unpack_events(RUN, packed, after=after)
            assert found == await db.archive.events(RUN, after=after, limit=limit)
            assert len(packed.blobs) == sum(row.replaced is not None for row in packed.rows)
        assert (await db.archive.rows(RunId(8))).rows == []
