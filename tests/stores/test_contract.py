"""Every store of ours keeps the contract."""

from __future__ import annotations

import asyncio

import pytest

from anew.stores.contract import CASES
from anew.stores.memory import MemoryDatabase
from anew.stores.postgres import PostgresDatabase
from anew.stores.sqlite import SqliteDatabase
from tests.postgres_server import Database, a_module_database  # noqa: F401


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_memory(case):
    async def factory():
        return MemoryDatabase()

    asyncio.run(case(factory))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_sqlite(case, tmp_path):
    async def factory():
        return SqliteDatabase.open(tmp_path / "runs.db")

    asyncio.run(case(factory))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_sqlite_with_every_transaction_on_its_thread(case, tmp_path, monkeypatch):
    monkeypatch.setattr("anew.stores.sqlite.writer.QUICK_FLUSH_SECONDS", 0)

    async def factory():
        return SqliteDatabase.open(tmp_path / "runs.db", synchronous="NORMAL")

    asyncio.run(case(factory))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_postgres(case, module_database: Database):
    module_database.empty()

    async def factory():
        return await PostgresDatabase.open(module_database.dsn, notify=False)

    asyncio.run(case(factory))
