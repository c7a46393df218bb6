"""Heartbeats get through while every connection there is has fallen silent and new ones work."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from psycopg.conninfo import conninfo_to_dict

from anew.engine.moments import LAST_MOMENT, NANOSECONDS
from anew.stores.contract.making import RUN, first, job, only_lease
from anew.stores.heartbeats import extend_seconds
from anew.stores.memory import MemoryDatabase
from anew.stores.postgres import PostgresDatabase
from anew.stores.postgres.pool import Patience
from anew.stores.remote import RemoteDatabase, connection
from tests.cluster.proxy import Address, Proxy
from tests.postgres_server import Database, a_module_database  # noqa: F401
from tests.stores.control_server import served

# Longer than these tests last: what waits for an ordinary answer hangs.
FOR_EVER_SECONDS = 3600.0
LEASE_SECONDS = 3


@contextmanager
def carrying(upstream: Address) -> Iterator[Proxy]:
    proxy = Proxy(upstream)
    try:
        yield proxy
    finally:
        proxy.close()


def test_a_heartbeat_waits_for_a_part_of_its_lease():
    assert extend_seconds(30 * NANOSECONDS, 0) == 5.0
    assert extend_seconds(1, 2) == 0.0
    assert extend_seconds(LAST_MOMENT, 0) > 10**9


async def beats_twice(db, proxy) -> None:
    """Once while all is well, and once when nothing comes back on the connections there are."""
    await db.store.commit(first(jobs=[job()]))
    held = await only_lease(db)
    until = db.clock.now() + LEASE_SECONDS * NANOSECONDS
    reads = [db.archive.run(RUN) for _ in range(5)]
    kept = (await asyncio.gather(db.store.extend([held], until), *reads))[0]
    assert [one.token for one in kept] == [held.token]
    proxy.silence()
    asked = db.store.lease(now=db.clock.now(), until=until, limit=1)
    waiting = [asyncio.ensure_future(asked), asyncio.ensure_future(db.archive.run(RUN))]
    await asyncio.sleep(0.05)
    async with asyncio.timeout(20):
        kept = await db.store.extend(kept, until + NANOSECONDS)
    assert [one.until for one in kept] == [until + NANOSECONDS]
    assert not any(one.done() for one in waiting)
    proxy.cut()
    for one in waiting:
        one.cancel()
    async with asyncio.timeout(20):
        await asyncio.gather(*waiting, return_exceptions=True)


def test_a_heartbeat_to_a_server_takes_a_new_connection(tmp_path, monkeypatch):
    monkeypatch.setattr(connection, "SERVER_ANSWER_SECONDS_MAX", FOR_EVER_SECONDS)

    async def play():
        async with served(MemoryDatabase(), tmp_path) as server:
            port = int(server.url.rsplit(":", 1)[1])
            with carrying(("127.0.0.1", port)) as proxy:
                db = await RemoteDatabase.open(f"http://127.0.0.1:{proxy.port}")
                await beats_twice(db, proxy)
                await db.close()

    asyncio.run(play())


def test_a_heartbeat_to_postgresql_takes_a_new_connection(module_database: Database):
    module_database.empty()
    parts = conninfo_to_dict(module_database.dsn)
    host, port = str(parts["host"]), int(str(parts.get("port") or 5432))
    upstream = f"{host}/.s.PGSQL.{port}" if host.startswith("/") else (host, port)

    async def play():
        with carrying(upstream) as proxy:
            url = f"postgresql://{parts['user']}@127.0.0.1:{proxy.port}/{parts['dbname']}"
            patience = Patience(FOR_EVER_SECONDS, FOR_EVER_SECONDS)
            db = await PostgresDatabase.open(url, notify=False, patience=patience)
            await beats_twice(db, proxy)
            await db.close()

    asyncio.run(play())
