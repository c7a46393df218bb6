"""`anew workers`: who works, and what waits in each pool."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

from anew.engine.moments import NANOSECONDS
from anew.store import NewJob
from anew.stores.contract.making import job
from anew.stores.contract.roster import presence
from anew.stores.sqlite import SqliteDatabase
from tests.surfaces.cli.recorded import HOSTILE, RETRIES, Shelf, played


def working(shelf: Shelf, **fields: Any) -> None:
    """Have a process say that it is there."""

    async def beat() -> None:
        database = SqliteDatabase.open(shelf.path)
        await database.roster.beat(presence(**{"seen_at": time.time_ns(), **fields}))
        await database.close()

    asyncio.run(beat())


def waiting(shelf: Shelf, *jobs: NewJob) -> None:
    shelf.put(played(RETRIES), upto=2, jobs=jobs)


def test_processes_and_pools_are_listed(shelf, anew) -> None:
    now = time.time_ns()
    jobs = [job("a", due_at=now - 90 * NANOSECONDS, pool="gpu"), job("b", due_at=None)]
    waiting(shelf, *jobs)
    working(shelf, worker="w1", busy=3, slots=8, leases=4)
    told = anew("workers")
    head, row, _, pool_head, *pools = told.lines
    assert head.split()[:4] == ["worker", "kind", "host", "process"]
    assert row.split()[:6] == ["w1", "worker", "example", "7", "default", "3"]
    assert "3 of 8" in row
    assert pool_head.split()[:3] == ["pool", "workers", "busy"]
    usual, gpu = pools
    assert usual.split() == ["default", "1", "3", "of", "8", "0", "1", "0", "0"]
    assert gpu.split()[:7] == ["gpu", "0", "0", "of", "0", "1", "1"]  # since a minute and a half


def test_one_that_was_killed_is_told_as_gone(shelf, anew) -> None:
    working(shelf, worker="old", seen_at=time.time_ns() - 7200 * NANOSECONDS, pools=[])
    [_, row] = anew("workers").lines
    assert "gone, 2 h" in row
    assert "  all  " in row


def test_where_nobody_works_the_remedy_is_told(shelf, anew) -> None:
    waiting(shelf)
    told = anew("workers")
    assert (told.status, told.out) == (0, "")
    assert "start `anew serve` or `anew worker`" in told.err


def test_json_has_what_the_api_answers(shelf, anew) -> None:
    working(shelf)
    told = json.loads(anew("workers", "--json").out)
    assert set(told) == {"now", "workers", "pools"}
    assert told["workers"][0]["is_alive"]
    assert told["pools"][0]["pool"] == "default"


def test_a_hostile_name_is_harmless(shelf, anew) -> None:
    working(shelf, host=HOSTILE, pools=[HOSTILE])
    told = anew("workers")
    assert "\x1b" not in told.out
    assert len(told.lines) == 5
