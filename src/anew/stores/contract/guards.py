"""The states of guards: changed with a commit or not at all, and never by two who read the same."""

from __future__ import annotations

import asyncio

from anew.store import Database, GuardWrite, StaleLease, StaleVersion, StoredGuard
from anew.stores.contract.making import (
    LATER,
    RUN,
    Factory,
    first,
    follows,
    job,
    log_of,
    only_lease,
    opened,
    paused,
    refused,
    requested,
)

_NEW = GuardWrite("api/ä", None, "t1", '{"numbered":1}')


async def _state(db: Database, scope: str = "api/ä") -> StoredGuard | None:
    found = await db.guards.read([scope, "another"])
    return found[0] if found else None


async def case_a_state_changes_with_the_commit_that_was_decided_from_it(factory: Factory) -> None:
    async with opened(factory) as db:
        assert await _state(db) is None
        await db.store.commit(follows(0, requested(), new=first().new, guards=[_NEW]))
        assert await _state(db) == StoredGuard("api/ä", "t1", '{"numbered":1}')
        again = GuardWrite("api/ä", "t1", "t2", "{}")
        await db.store.commit(follows(1, paused(2), guards=[again]))
        assert await db.guards.listed() == [StoredGuard("api/ä", "t2", "{}")]


async def case_a_commit_decided_from_an_older_state_is_refused_whole(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(jobs=[job()]))
        await db.guards.write([_NEW])
        lease = await only_lease(db)
        other = GuardWrite("other", None, "t1", "{}")
        for stale in (
            GuardWrite("api/ä", None, "t9", "{}"),
            GuardWrite("api/ä", "t0", "t9", "{}"),
            GuardWrite("api/ä", "t0"),
            GuardWrite("missing", "t0", "t9", "{}"),
        ):
            taken = [job("b", taken_until=LATER, is_fresh=True)]
            late = follows(1, paused(2), lease=lease, jobs=taken, guards=[other, stale])
            await refused(StaleVersion, db.store.commit(late))
            await refused(StaleVersion, db.guards.write([other, stale]))
        assert await log_of(db) == [requested()]
        assert [one.token for one in await db.guards.listed()] == ["t1"]


async def case_what_was_only_read_must_not_have_changed(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.guards.write([_NEW])
        await db.store.commit(
            follows(0, requested(), new=first().new, guards=[GuardWrite("api/ä", "t1")])
        )
        assert await _state(db) == StoredGuard("api/ä", "t1", '{"numbered":1}')
        await db.store.commit(follows(1, paused(2), guards=[GuardWrite("nobody", None)]))
        assert await _state(db, "nobody") is None


async def case_the_same_guarded_commit_again_changes_nothing(factory: Factory) -> None:
    async with opened(factory) as db:
        begins = follows(0, requested(), new=first().new, guards=[_NEW])
        await db.store.commit(begins)
        await db.store.commit(begins)
        await db.guards.write([GuardWrite("api/ä", "t1", "t2", "{}")])
        await db.store.commit(begins)
        assert await _state(db) == StoredGuard("api/ä", "t2", "{}")


async def case_who_has_lost_the_lease_changes_no_state(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first(jobs=[job()]))
        lease = await only_lease(db)
        await db.store.commit(follows(1, paused(2), lease=lease))
        for jobs in ([], [job("b", taken_until=LATER, is_fresh=True)]):
            late = follows(2, paused(3), lease=lease, jobs=jobs, guards=[_NEW])
            await refused(StaleLease, db.store.commit(late))
        assert await _state(db) is None


async def case_of_many_who_read_the_same_state_one_changes_it(factory: Factory) -> None:
    async with opened(factory) as db:
        writes = [db.guards.write([GuardWrite("s", None, f"t{n}", "{}")]) for n in range(10)]
        answers = await asyncio.gather(*writes, return_exceptions=True)
        assert sum(answer is None for answer in answers) == 1
        assert sum(isinstance(answer, StaleVersion) for answer in answers) == 9


async def case_commits_of_many_runs_change_one_state_one_after_the_other(factory: Factory) -> None:
    async with opened(factory) as db:
        runs = [type(RUN)(RUN + number) for number in range(20)]

        def begin(number: int) -> GuardWrite:
            return GuardWrite("s", f"t{number - 1}" if number else None, f"t{number}", str(number))

        commits = [
            follows(0, requested(run), run=run, new=first().new, guards=[begin(number)])
            for number, run in enumerate(runs)
        ]
        await asyncio.gather(*(db.store.commit(commit) for commit in commits))
        assert await _state(db, "s") == StoredGuard("s", "t19", "19")
