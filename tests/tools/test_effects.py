"""`exactly_once`: changes and the row that stands for them are there both, or neither."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import apsw
import pytest
from msgspec.structs import replace

from anew.engine.outcome import Outcome
from anew.tool import Call
from anew.tools.postgres import PostgresTool
from anew.tools.sqlite import SqliteTool
from tests.postgres_server import Database, a_database, server  # noqa: F401
from tests.tools.sql_calls import SqlTool, call_of, error_of, outcomes, play, result_of, rows_of

ADD = "INSERT INTO t (id) VALUES (1) RETURNING id"
MAKE = "CREATE TABLE t (id integer)"
COUNT = "SELECT count(*) AS n FROM t"


class Tables:
    """One database of either kind, and calls to it."""

    def __init__(self, kind: str, folder: Path, inputs: dict[str, Any]) -> None:
        self.make = PostgresTool if kind == "postgres" else SqliteTool
        self._kind, self._folder, self._inputs = kind, folder, inputs
        result_of(self.say(MAKE))

    def call(self, command: Any, key: str | None = None, **inputs: Any) -> Call:
        call = call_of(self._folder, self._kind, command=command, **self._inputs, **inputs)
        return call if key is None else replace(call, idempotency_key=key, exactly_once=True)

    def say(self, command: Any, key: str | None = None, **inputs: Any) -> Outcome:
        return outcomes(self.make, self.call(command, key, **inputs))[0]

    def count(self) -> int:
        found = rows_of(self.say(COUNT))[0]["n"]
        assert isinstance(found, int)
        return found


@pytest.fixture(params=["sqlite", "postgres"])
def tables(request: pytest.FixtureRequest, tmp_path: Path) -> Tables:
    if request.param == "sqlite":
        return Tables("sqlite", tmp_path, {"database": "data.db"})
    database: Database = request.getfixturevalue("database")
    return Tables("postgres", tmp_path, {"auth": database.auth})


def test_a_call_that_is_made_again_changes_nothing_and_gives_the_same(tables: Tables) -> None:
    first = tables.say([ADD, COUNT], "one")
    again = tables.say([ADD, COUNT], "one")
    assert result_of(again) == result_of(first)
    assert tables.count() == 1


def test_calls_of_other_keys_are_other_changes(tables: Tables) -> None:
    assert tables.say(ADD, "one").error is None
    assert tables.say(ADD, "two").error is None
    assert tables.count() == 2


def test_a_call_that_failed_left_nothing_and_is_made_again(tables: Tables) -> None:
    assert tables.say([ADD, "SELECT * FROM gone"], "one").error is not None
    assert tables.count() == 0
    assert tables.say(ADD, "one").error is None
    assert tables.count() == 1


def test_the_same_call_by_two_workers_at_once_is_made_once(tables: Tables) -> None:
    async def scene(tool: SqlTool) -> list[Outcome]:
        return list(await asyncio.gather(*(tool.call(tables.call(ADD, "one")) for _ in range(6))))

    found = play(tables.make, scene)
    assert [result_of(outcome) for outcome in found] == [result_of(found[0])] * 6
    assert tables.count() == 1


@pytest.mark.parametrize("word", ["COMMIT", "begin", "ROLLBACK", "/* x */ END", "-- y\nCOMMIT"])
def test_statements_that_would_part_changes_and_row_are_refused(tables: Tables, word: str) -> None:
    problem = error_of(tables.say([ADD, word], "one"))
    assert problem["kind"] == "config"
    assert "exactly_once has one transaction of its own" in problem["message"]
    assert tables.count() == 0


def test_a_savepoint_may_be_rolled_back(tables: Tables) -> None:
    undone = ["SAVEPOINT a", ADD, "ROLLBACK TO SAVEPOINT a", "RELEASE SAVEPOINT a"]
    assert tables.say([*undone, ADD], "one").error is None
    assert tables.count() == 1


def test_without_one_transaction_the_call_is_refused(tables: Tables) -> None:
    problem = error_of(tables.say(ADD, "one", transaction=False))
    assert problem["kind"] == "config"
    assert "remove `transaction: false`" in problem["message"]


def test_a_database_in_memory_is_refused(tmp_path: Path) -> None:
    call = call_of(tmp_path, command=MAKE, database=":memory:")
    problem = error_of(outcomes(SqliteTool, replace(call, exactly_once=True))[0])
    assert problem["kind"] == "config"
    assert "exactly_once needs a file" in problem["message"]


DOCUMENT = """
workflow:
  - step: add
    tool:
      - make: {kind: sqlite, database: data.db, command: CREATE TABLE IF NOT EXISTS t (id)}
      - add:
          kind: sqlite
          database: data.db
          command: INSERT INTO t VALUES (1)
          spec: {exactly_once: EXACTLY}
"""
# Dies when the changes are committed, before the outcome is reported.
DIES = """
import os, signal, sys
from anew.surfaces.cli.main import main
from anew.tools import sqlite

run = sqlite._Session.run

def dying(session):
    result = run(session)
    if "INSERT" in session._request.texts[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    return result

sqlite._Session.run = dying
sys.exit(main(["run", "d.yaml", "--quiet"]))
"""


@pytest.mark.parametrize(("flag", "rows"), [("true", 1), ("false", 2)])
def test_a_worker_killed_after_its_commit_does_not_change_anything_twice(
    tmp_path: Path, flag: str, rows: int
) -> None:
    (tmp_path / "d.yaml").write_text(DOCUMENT.replace("EXACTLY", flag), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    died = subprocess.run([sys.executable, "-c", DIES], cwd=tmp_path, env=environment, check=False)
    assert died.returncode == -signal.SIGKILL
    command = [sys.executable, "-m", "anew", "resume", "--quiet"]
    resumed = subprocess.run(command, cwd=tmp_path, env=environment, check=False)
    assert resumed.returncode == 0
    database = apsw.Connection(str(tmp_path / "data.db"))
    assert database.execute("SELECT count(*) FROM t").get == rows
    database.close()
