"""Numbers that nobody means are the asker's mistake: told once, and never asked again."""

from __future__ import annotations

import asyncio
from math import inf, nan

import httpx2
import msgspec
import pytest

from anew.stores.contract.making import RUN, first, follows, job, log_of, paused
from anew.stores.packing import pack
from anew.stores.postgres import PostgresDatabase
from anew.stores.remote import wire
from anew.stores.sqlite import SqliteDatabase
from tests.postgres_server import a_module_database  # noqa: F401
from tests.stores.control_server import served

HUGE = 2**63
LEASE = {"now": 0, "until": 1, "limit": 1, "ticket": "t"}
JOB = {"run": HUGE, "key": {"step": "a", "visit": 1}}
COMMIT = msgspec.to_builtins(pack(first(jobs=[job()])))


def order(**asked):
    return {"id": "o", "request": msgspec.json.encode(asked)}


BAD = [
    ("archive.run", {"run": HUGE}),
    ("archive.jobs", {"run": 2**64 - 1}),
    ("archive.events", {"run": HUGE, "after": 0, "limit": 1}),
    ("archive.events", {"run": 1, "after": HUGE, "limit": 1}),
    ("archive.events", {"run": 1, "after": 0, "limit": -1}),
    ("archive.events", {"run": 1, "after": 0, "limit": 2**62}),
    ("archive.runs", {"limit": -1}),
    # A filter of a newer client: who left it out would find more runs than were asked for.
    ("archive.runs", {"newer": True}),
    ("archive.runs", {"limit": 2**62}),
    ("archive.runs", {"before": HUGE}),
    ("archive.runs", {"since": HUGE}),
    ("archive.prune", {"ended_before": HUGE, "limit": 1}),
    ("archive.prune", {"ended_before": 1, "limit": -1}),
    ("catalog.find", {"name": "x", "version": HUGE}),
    ("store.load", [{"run": HUGE, "knows": ""}]),
    ("store.lease", LEASE | {"limit": -1}),
    ("store.lease", LEASE | {"until": HUGE}),
    ("store.lease", LEASE | {"runs": [1, HUGE]}),
    ("store.lease", LEASE | {"wait_seconds": nan}),
    ("store.lease", LEASE | {"wait_seconds": inf}),
    ("store.lease", LEASE | {"wait_seconds": -1.0}),
    ("store.extend", {"leases": [{"job": JOB, "token": 1, "until": 1}], "until": 1}),
    ("store.expired", {"now": HUGE}),
    ("store.release", {"lease": {"job": JOB, "token": 1, "until": 1}, "due_at": 0}),
    ("store.wake", JOB),
    ("store.load", []),
    ("store.load", [{"run": 1, "knows": ""}] * (wire.TOGETHER_MAX + 1)),
    ("store.commit", []),
    ("store.commit", [COMMIT | {"at": HUGE}]),
    ("store.commit", [COMMIT | {"jobs": [{"key": {"step": "a", "visit": HUGE}}]}]),
    ("notices", {"after": "", "wait_seconds": nan}),
    ("order", order(do="prune", before=HUGE)),
    ("order", order(do="cancel", run="abc")),
    ("order", order(do="cancel", run="9" * 5000)),
]


async def statuses(server, asked) -> list[int]:
    found = []
    headers = {wire.PROTOCOL_HEADER: str(wire.PROTOCOL)}
    async with httpx2.AsyncClient(trust_env=False, headers=headers) as client:
        for operation, body in asked:
            url = f"{server.url}{wire.PATH}{operation}"
            answer = await client.post(url, content=msgspec.msgpack.encode(body))
            found.append(answer.status_code)
    return found


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_numbers_that_no_database_holds_are_refused(tmp_path, kind, module_database):
    async def go():
        if kind == "sqlite":
            database = SqliteDatabase.open(tmp_path / "runs.db")
        else:
            database = await PostgresDatabase.open(module_database.dsn)
        async with served(database, tmp_path) as server:
            found = await statuses(server, BAD)
            assert [row for row in zip(found, BAD, strict=True) if row[0] != 400] == []
            assert await database.archive.run(RUN) is None

    asyncio.run(go())


def test_a_cursor_of_any_length_is_taken_for_the_newest(tmp_path):
    async def go():
        async with served(SqliteDatabase.open(tmp_path / "runs.db"), tmp_path) as server:
            cursor = f"{server.dispatcher.board.boot}-{'9' * 5000}"
            asked = [("notices", {"after": cursor, "wait_seconds": 0})]
            assert await statuses(server, asked) == [200]

    asyncio.run(go())


def test_a_log_longer_than_one_answer_may_be_is_read_whole(tmp_path, monkeypatch):
    monkeypatch.setattr("anew.stores.remote.database.ROWS_MAX", 2)

    async def go():
        async with served(SqliteDatabase.open(tmp_path / "runs.db"), tmp_path) as server:
            remote = await server.open()
            await remote.store.commit(first())
            await remote.store.commit(follows(1, *(paused(seq) for seq in range(2, 8))))
            log = await log_of(remote)
            assert len(log) == 7
            assert await remote.archive.events(RUN) == log
            assert await remote.archive.events(RUN, after=1, limit=3) == log[1:4]
            await remote.close()

    asyncio.run(go())
