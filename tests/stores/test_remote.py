"""A remote database keeps the contract of the one behind its server."""

from __future__ import annotations

import asyncio

import pytest

from anew.stores.contract import CASES
from anew.stores.memory import MemoryDatabase
from anew.stores.sqlite import SqliteDatabase
from tests.stores.control_server import served


def keeps(case, database, scratch):
    async def go():
        async with served(database(), scratch, checks=False) as server:
            await case(server.open)

    asyncio.run(go())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_over_memory(case, tmp_path):
    keeps(case, MemoryDatabase, tmp_path)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_over_sqlite(case, tmp_path):
    keeps(case, lambda: SqliteDatabase.open(tmp_path / "runs.db"), tmp_path)
