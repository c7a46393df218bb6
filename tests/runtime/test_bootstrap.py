"""What a server does first with a file that its owner left."""

import asyncio

from anew.engine.moments import LAST_MOMENT
from anew.errors import ConfigError
from anew.runtime.bootstrap import open_server_engine
from anew.runtime.families import unfinished_runs
from anew.runtime.worker import Worker
from anew.stores.contract.making import first, job
from anew.stores.sqlite import SqliteDatabase


def test_a_run_that_cannot_go_on_does_not_keep_a_server_from_serving(tmp_path, monkeypatch, caplog):
    async def refuses(*_):
        raise ConfigError("it was compiled with extensions")

    monkeypatch.setattr(Worker, "recover", refuses)

    async def play():
        database = SqliteDatabase.open(tmp_path / "anew.db")
        await database.store.commit(first(jobs=[job(taken_until=LAST_MOMENT)]))
        await database.close()
        async with open_server_engine(str(tmp_path / "anew.db"), works=False) as engine:
            assert await unfinished_runs(engine.database.archive)

    asyncio.run(play())
    assert "cannot continue here: it was compiled with extensions" in caplog.text
