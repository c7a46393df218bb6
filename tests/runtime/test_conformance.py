"""Every conformance scenario through the real runtime, on every store, in virtual time."""

import asyncio

import pytest

from anew.lab.replay import replay
from anew.languages import load_text
from anew.stores.memory import MemoryDatabase
from anew.stores.sqlite import SqliteDatabase
from anew.views.summary import summary
from tests.test_conformance import CASES, compare, source, suffix
from tests.virtual import played

# What meets in one instant has an order in a simulation only.
SIMULATION_ONLY = {"own-loop-tie"}
RUN_CASES = [case for case in CASES if case["id"] not in SIMULATION_ONLY]
EXIT = {"done": 0, "failed": 1, "cancelled": 130}


def database_of(kind, folder):
    if kind == "memory":
        return MemoryDatabase()
    return SqliteDatabase.open(folder / "anew.db", synchronous="NORMAL")


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@pytest.mark.parametrize("case", RUN_CASES, ids=lambda case: case["id"])
def test_conformance_through_the_runtime(kind, case, tmp_path, monkeypatch):
    for name in ("PG_K8S", "X"):
        monkeypatch.setenv(
            f"ANEW_CREDENTIAL_{name}", '{"type": "postgres", "data": {"host": "db"}}'
        )

    async def work():
        database = database_of(kind, tmp_path)
        try:
            file = f"test{suffix(case)}"
            return await played(database, source(case), tmp_path, file=file, **case["script"])
        finally:
            await database.close()

    log, state, _ = asyncio.run(work())
    program = load_text(source(case), f"test{suffix(case)}").program
    out = summary(program, log, state)
    compare(out, EXIT[out["status"]], case)
    assert replay(program, log) is None
