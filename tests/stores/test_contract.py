"""Every store of ours keeps the contract."""

from __future__ import annotations

import asyncio

import pytest

from anew.stores.contract import CASES
from anew.stores.memory import MemoryDatabase
from anew.stores.sqlite import SqliteDatabase


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
