"""Who listens hears of every event once, in the order of the log, on a real SQLite file."""

import asyncio

from anew.runtime.engine import Engine
from anew.runtime.programs import read_document
from anew.runtime.run_starts import StartRequest
from anew.stores.sqlite import SqliteDatabase

LOOP = """
workflow:
  - step: fan
    loop: {in: "{{ range(300) | list }}", iterator: n, spec: {mode: parallel, max_in_flight: 24}}
    tool: {kind: sleep, seconds: "{{ (iter.n % 5) / 1000 }}"}
"""


def test_commits_are_told_in_the_order_of_the_log(tmp_path, monkeypatch):
    # However slow the disk: a lone caller writes at once, beside those who wait for the thread.
    monkeypatch.setattr("anew.stores.sqlite.writer.QUICK_FLUSH_SECONDS", 60.0)

    async def work():
        database = SqliteDatabase.open(tmp_path / "anew.db")
        engine = Engine(database, tmp_path / "scratch")
        heard = []
        engine.listen(lambda _, events: heard.extend(event.seq for event in events))
        started = await engine.start(StartRequest(read_document(LOOP, "loop.yaml"), {}))
        state = await asyncio.wait_for(engine.wait(started.run), 60)
        await engine.stop(0)
        await database.close()
        return heard, state.version

    heard, version = asyncio.run(work())
    assert heard == list(range(1, version + 1))
