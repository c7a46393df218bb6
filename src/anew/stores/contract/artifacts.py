"""Values by name and version, of runs and of programs, and which of them go with a run."""

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from anew.engine.state import RunStatus
from anew.store import NewArtifact, RunHead, RunId, StoredArtifact
from anew.store.artifacts import owner_of_program, owner_of_run
from anew.stores.contract.making import NOW, RUN, Factory, first, opened

OTHER = RunId(8)
PROGRAM = owner_of_program("flow ä")


def artifact(key: str, owner: str = PROGRAM, run: RunId = RUN) -> NewArtifact:
    return NewArtifact(owner, "report ä", run, key, 1, f"sum of {key}", f'"{key}"'.encode())


def stored(version: int, key: str) -> StoredArtifact:
    return StoredArtifact(version, f"sum of {key}", f'"{key}"'.encode())


async def case_versions_count_under_each_name_and_owner(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first())
        new = [artifact("a"), artifact("b"), artifact("c", owner_of_run(RUN))]
        assert [await db.artifacts.put(one) for one in new] == [1, 2, 1]
        assert await db.artifacts.put(replace(artifact("d"), name="other")) == 1
        name = new[0].name
        assert await db.artifacts.get(PROGRAM, name) == stored(2, "b")
        assert await db.artifacts.get(PROGRAM, name, 1) == stored(1, "a")
        assert await db.artifacts.get(owner_of_run(RUN), name) == stored(1, "c")
        assert await db.artifacts.get(PROGRAM, name, 3) is None
        assert await db.artifacts.get(PROGRAM, "none") is None
        assert await db.artifacts.get(owner_of_run(OTHER), name) is None


async def case_the_same_visit_keeps_one_version(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first())
        for key in ("a", "b", "a"):
            await db.artifacts.put(artifact(key))
        name = artifact("a").name
        assert await db.artifacts.get(PROGRAM, name) == stored(2, "b")
        again = replace(artifact("b"), key="a", attempt=2)
        assert await db.artifacts.put(again) == 1
        assert await db.artifacts.get(PROGRAM, name, 1) == stored(1, "b")
        # What an earlier attempt gave comes too late.
        assert await db.artifacts.put(artifact("a")) == 1
        assert await db.artifacts.get(PROGRAM, name, 1) == stored(1, "b")


async def case_values_kept_at_the_same_time_have_versions_of_their_own(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first())
        keys = [str(number) for number in range(12)]
        found = await asyncio.gather(*(db.artifacts.put(artifact(key)) for key in keys))
        assert sorted(found) == list(range(1, 13))


async def case_a_version_can_be_given(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first())
        shared = replace(artifact("a", owner_of_run(RUN)), version=3)
        assert [await db.artifacts.put(shared), await db.artifacts.put(shared)] == [3, 3]
        assert await db.artifacts.put(artifact("b", owner_of_run(RUN))) == 4


async def case_names_of_a_run_keep_every_version(factory: Factory) -> None:
    async with opened(factory) as db:
        own = owner_of_run(RUN)
        given = [replace(artifact(str(version), own), version=version) for version in (2, 1, 4)]
        # There is no row of the run yet, or none any more: that frees nothing here.
        assert [await db.artifacts.put(one) for one in given] == [2, 1, 4]
        for version in (1, 2, 4):
            found = await db.artifacts.get(own, given[0].name, version)
            assert found == stored(version, str(version))


async def case_a_value_of_megabytes_can_be_kept(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first())
        data = b'"' + b"x" * 20_000_000 + b'"'
        await db.artifacts.put(replace(artifact("a"), data=data))
        found = await db.artifacts.get(PROGRAM, artifact("a").name)
        assert found is not None
        assert found.data == data


async def case_values_go_with_their_run_but_a_programs_newest_stays(factory: Factory) -> None:
    async with opened(factory) as db:
        head = RunHead(RunStatus.DONE, ended_at=NOW)
        for run in (RUN, OTHER):
            await db.store.commit(replace(first(run), head=head))
            await db.artifacts.put(artifact(f"own {run}", owner_of_run(run), run))
        await db.artifacts.put(artifact("a"))
        await db.artifacts.put(artifact("b", run=OTHER))
        name = artifact("a").name
        assert await db.archive.remove(OTHER)
        assert await db.artifacts.get(owner_of_run(OTHER), name) is None
        assert await db.artifacts.get(owner_of_run(RUN), name) is not None
        assert await db.artifacts.get(PROGRAM, name) == stored(2, "b")
        assert await db.archive.prune(ended_before=NOW + 1) == 1
        assert await db.artifacts.get(owner_of_run(RUN), name) is None
        assert await db.artifacts.get(PROGRAM, name, 1) is None
        # The next version frees the one that was left of a run that is gone.
        await db.store.commit(first(RunId(9)))
        assert await db.artifacts.put(artifact("c", run=RunId(9))) == 3
        assert await db.artifacts.get(PROGRAM, name, 2) is None
        assert await db.artifacts.get(PROGRAM, name) == stored(3, "c")
