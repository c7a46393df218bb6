"""The `sqlite` tool on real files: statements, locks, cancellation, limits."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import apsw
import pytest
from msgspec.structs import replace

from anew.engine.outcome import Outcome
from anew.tool import Timeout
from anew.tools.sql import rows
from anew.tools.sqlite import SqliteTool
from tests.tools.sql_calls import (
    SqlTool,
    call_of,
    cancel,
    error_of,
    outcomes,
    play,
    result_of,
    rows_of,
    until,
)

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
INJECTIONS = ["'; DROP TABLE t; --", "1 OR 1=1", ":v", "?", '"x"']


def say(folder: Path, command: Any, params: Any = None, **inputs: Any) -> Outcome:
    return outcomes(SqliteTool, call_of(folder, command=command, params=params, **inputs))[0]


def test_the_result_is_that_of_the_last_statement_and_has_those_of_all(tmp_path: Path) -> None:
    outcome = say(
        tmp_path,
        "CREATE TABLE t (id, name); INSERT INTO t VALUES (1, 'a;b'); SELECT * FROM t; -- end",
    )
    last = {"rows": [{"id": 1, "name": "a;b"}], "row_count": 1, "columns": ["id", "name"]}
    first = {"rows": [], "row_count": 0, "columns": []}
    commands = [first, {**first, "row_count": 1}, last]
    assert outcome.result == {**last, "statements": 3, "commands": commands}


def test_the_rows_of_all_statements_together_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anew.tools.sql.rows.VALUE_CHARS_MAX", 100)
    long = "SELECT printf('%.*c', 60, 'x') AS x"
    assert say(tmp_path, long).error is None
    problem = error_of(say(tmp_path, f"CREATE TABLE t (id); {long}"))
    assert problem["kind"] == "limit_exceeded"
    assert "the rows of 2 statements together" in problem["message"]
    assert "no such table" in error_of(say(tmp_path, "SELECT * FROM t"))["message"]


def test_tables_last_from_one_call_of_the_run_to_the_next(tmp_path: Path) -> None:
    say(tmp_path, "CREATE TABLE t (id)")
    assert result_of(say(tmp_path, "INSERT INTO t VALUES (1), (2)"))["row_count"] == 2
    assert result_of(say(tmp_path, "CREATE TABLE u (id)"))["row_count"] == 0
    assert rows_of(say(tmp_path, "DELETE FROM t RETURNING id")) == [{"id": 1}, {"id": 2}]
    assert result_of(say(tmp_path, "SELECT id FROM t"))["columns"] == ["id"]
    assert (tmp_path / "scratch/sqlite.db").exists()


def test_a_database_may_be_another_file_or_memory(tmp_path: Path) -> None:
    say(tmp_path, "CREATE TABLE t (id)", database="mine.db")
    assert (tmp_path / "mine.db").exists()
    assert (
        "no such table"
        in error_of(say(tmp_path, "SELECT * FROM t", database=":memory:"))["message"]
    )
    missing = error_of(say(tmp_path, "SELECT 1", database="no/such/mine.db"))
    assert missing["kind"] == "config"
    assert "its folder does not exist" in missing["message"]
    assert "is a folder" in error_of(say(tmp_path, "SELECT 1", database="."))["message"]


def test_a_trigger_is_one_statement(tmp_path: Path) -> None:
    outcome = say(
        tmp_path,
        """
        CREATE TABLE t (id);
        CREATE TABLE log (id);
        CREATE TRIGGER g AFTER INSERT ON t BEGIN
            INSERT INTO log VALUES (new.id); INSERT INTO log VALUES (new.id);
        END;
        INSERT INTO t VALUES (7);
        SELECT count(*) AS n FROM log
        """,
    )
    assert rows_of(outcome) == [{"n": 2}]
    assert result_of(outcome)["statements"] == 5
    assert result_of(say(tmp_path, "INSERT INTO t VALUES (8)"))["row_count"] == 1


@pytest.mark.parametrize("value", INJECTIONS)
def test_a_parameter_is_never_part_of_the_text(tmp_path: Path, value: str) -> None:
    command = ["CREATE TABLE t (v)", "INSERT INTO t VALUES (:v)", "SELECT v FROM t"]
    assert rows_of(say(tmp_path, command, {"v": value})) == [{"v": value}]


@pytest.mark.parametrize(
    ("command", "params", "row"),
    [
        ("SELECT ? AS a, ? AS b", [1, "x"], {"a": 1, "b": "x"}),
        ("SELECT ?2 AS a, ?1 AS b", ["x", 1], {"a": 1, "b": "x"}),
        ("SELECT ?; SELECT ? AS a", [1, 2], {"a": 2}),
        ("SELECT :n + $n + @n AS a", {"n": 2, "unused": 0}, {"a": 6}),
        ("SELECT :n; SELECT :n AS a", {"n": 2}, {"a": 2}),
        ("SELECT json_extract(:v, '$.x[0]') AS a", {"v": {"x": [5]}}, {"a": 5}),
        ("SELECT count(*) AS a FROM json_each(?)", [[1, 2, 3]], {"a": 3}),
        ("SELECT ? AS a, ? AS b, ? AS c", [None, True, 1.5], {"a": None, "b": 1, "c": 1.5}),
        ("SELECT x'00ff' AS a, 9e999 AS b", None, {"a": "AP8=", "b": None}),
        ("SELECT 1 AS id, 2 AS id", None, {"id": 1, "id_2": 2}),
    ],
)
def test_parameters_are_bound(
    tmp_path: Path, command: str, params: Any, row: dict[str, Any]
) -> None:
    assert rows_of(say(tmp_path, command, params)) == [row]


@pytest.mark.parametrize(
    ("command", "params", "words"),
    [
        ("SELECT :a, :b", {"a": 1}, "no value for the placeholder b"),
        ("SELECT ?", {"a": 1}, "params must be a list"),
        ("SELECT ?", None, "params must be a list"),
        ("SELECT :a", [1], "params must be a mapping"),
        ("SELECT :a, ?", {"a": 1}, "mixes named placeholders with ?"),
        ("SELECT ?", [2**63], "SQLite cannot hold"),
        ("INSERT INTO t VALUES (?)", [1, 2], "params has 2 values, the statements have 1"),
        (" ; -- nothing", None, "command holds no statement"),
        ("SELECT 1", 7, "params is a mapping"),
    ],
)
def test_inputs_that_cannot_be_used_are_named(
    tmp_path: Path, command: Any, params: Any, words: str
) -> None:
    say(tmp_path, "CREATE TABLE t (id)")
    error = error_of(say(tmp_path, command, params))
    assert error["kind"] == "config"
    assert words in error["message"]
    assert rows_of(say(tmp_path, "SELECT * FROM t")) == []


@pytest.mark.parametrize(("is_transaction", "left"), [(True, []), (False, [{"id": 1}])])
def test_the_first_failure_rolls_back_what_is_in_its_transaction(
    tmp_path: Path, is_transaction: bool, left: list[Any]
) -> None:
    say(tmp_path, "CREATE TABLE t (id PRIMARY KEY)")
    command = "INSERT INTO t VALUES (1); INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)"
    error = error_of(say(tmp_path, command, transaction=is_transaction))
    assert (error["kind"], error["retryable"]) == ("db_constraint", False)
    assert error["code"] == "SQLITE_CONSTRAINT_PRIMARYKEY"
    assert "(statement 2)" in error["message"]
    assert rows_of(say(tmp_path, "SELECT * FROM t")) == left


def test_statements_may_bring_their_own_transaction(tmp_path: Path) -> None:
    say(tmp_path, "CREATE TABLE t (id)")
    assert say(tmp_path, "BEGIN; INSERT INTO t VALUES (1); COMMIT").error is None
    left_open = say(tmp_path, "BEGIN; INSERT INTO t VALUES (2)", transaction=False)
    assert "leave a transaction open" in error_of(left_open)["message"]
    assert rows_of(say(tmp_path, "SELECT * FROM t")) == [{"id": 1}]


def test_a_statement_that_may_not_be_in_a_transaction_can_stand_alone(tmp_path: Path) -> None:
    assert say(tmp_path, "VACUUM").error is None


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("SELEC 1", "SQLITE_ERROR"),
        ("SELECT load_extension('x')", "SQLITE_ERROR"),
        ("SELECT CAST(x'ff' AS TEXT)", None),
    ],
)
def test_a_statement_that_fails_is_not_worth_a_retry(
    tmp_path: Path, command: str, code: str
) -> None:
    error = error_of(say(tmp_path, command))
    assert (error["kind"], error["retryable"], error.get("code")) == ("db_error", False, code)


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[apsw.Connection]:
    """The run's file, with another connection writing to it."""
    say(tmp_path, "CREATE TABLE t (id)")
    other = apsw.Connection(str(tmp_path / "scratch/sqlite.db"))
    other.execute("BEGIN IMMEDIATE")
    yield other
    other.close()


def test_a_lock_held_for_too_long_can_be_retried(tmp_path: Path, locked: apsw.Connection) -> None:
    error = error_of(say(tmp_path, "INSERT INTO t VALUES (1)", timeout=Timeout(seconds=0.05)))
    assert (error["kind"], error["retryable"], error["code"]) == ("db_timeout", True, "SQLITE_BUSY")
    locked.execute("COMMIT")
    assert say(tmp_path, "INSERT INTO t VALUES (1)").error is None


def test_waiting_for_a_lock_can_be_cancelled(tmp_path: Path, locked: apsw.Connection) -> None:
    async def scene(tool: SqlTool) -> None:
        task = asyncio.create_task(tool.call(call_of(tmp_path, command="INSERT INTO t VALUES (1)")))
        await asyncio.sleep(0)
        await cancel(task)

    play(SqliteTool, scene)
    locked.execute("COMMIT")
    assert rows_of(say(tmp_path, "SELECT * FROM t")) == []


def test_calls_at_once_on_one_file_all_count(tmp_path: Path) -> None:
    say(tmp_path, "CREATE TABLE t (n); INSERT INTO t VALUES (0)")

    async def scene(tool: SqlTool) -> list[Outcome]:
        call = call_of(tmp_path, command="SELECT n FROM t; UPDATE t SET n = n + 1")
        return await asyncio.gather(*(tool.call(call) for _ in range(20)))

    assert [outcome.error for outcome in play(SqliteTool, scene)] == [None] * 20
    assert rows_of(say(tmp_path, "SELECT n FROM t")) == [{"n": 20}]


def test_a_cancelled_query_stops_and_is_rolled_back(tmp_path: Path) -> None:
    say(tmp_path, "CREATE TABLE t (id)")

    async def scene(tool: SqlTool) -> None:
        endless = call_of(tmp_path, command=f"INSERT INTO t VALUES (1); {ENDLESS}")
        task = asyncio.create_task(tool.call(endless))
        # The write lock is the sign that it has begun.
        await until(lambda: is_locked(tmp_path / "scratch/sqlite.db"))
        await cancel(task)
        assert not is_locked(tmp_path / "scratch/sqlite.db")

    play(SqliteTool, scene)
    assert rows_of(say(tmp_path, "SELECT * FROM t")) == []


def is_locked(path: Path) -> bool:
    connection = apsw.Connection(str(path))
    try:
        connection.execute("BEGIN IMMEDIATE")
    except apsw.BusyError:
        return True
    finally:
        connection.close()
    return False


def all_threads_busy(tool: SqliteTool, go: Event) -> list[asyncio.Task[bool]]:
    busy = [tool._threads.run(lambda _: go.wait(60), begins=lambda: None) for _ in range(8)]
    return [asyncio.create_task(each) for each in busy]


def test_the_time_of_a_call_begins_when_it_has_a_thread(tmp_path: Path) -> None:
    async def scene(tool: SqliteTool) -> None:
        go, begun = Event(), asyncio.Event()
        blocking = all_threads_busy(tool, go)
        await asyncio.sleep(0)
        call = replace(call_of(tmp_path, command="SELECT 1"), begins=begun.set)
        waiting = asyncio.create_task(tool.call(call))
        await until(lambda: tool._threads._executor._work_queue.qsize() == 1)
        assert not begun.is_set()
        go.set()
        await asyncio.gather(*blocking, waiting)
        assert begun.is_set()

    assert SqliteTool.queues
    play(SqliteTool, scene)  # type: ignore[arg-type]


def test_a_call_cancelled_before_it_has_a_thread_does_nothing(tmp_path: Path) -> None:
    say(tmp_path, "CREATE TABLE t (id)")

    async def scene(tool: SqliteTool) -> None:
        go = Event()
        blocking = all_threads_busy(tool, go)
        waiting = asyncio.create_task(
            tool.call(call_of(tmp_path, command="INSERT INTO t VALUES (1)"))
        )
        await asyncio.sleep(0)
        await cancel(waiting)
        go.set()
        await asyncio.gather(*blocking)

    play(SqliteTool, scene)  # type: ignore[arg-type]
    assert rows_of(say(tmp_path, "SELECT * FROM t")) == []


def test_more_than_a_result_holds_is_an_error_and_undoes_the_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
    say(tmp_path, "CREATE TABLE t (id)")
    monkeypatch.setattr(rows, "SQL_ROWS_MAX", 1000)
    for command in (endless, f"INSERT INTO t {endless} LIMIT 1001 RETURNING id"):
        error = error_of(say(tmp_path, command))
        assert (error["kind"], error["retryable"]) == ("limit_exceeded", False)
        assert "SQL_ROWS_MAX" in error["message"]
    monkeypatch.setattr(rows, "VALUE_CHARS_MAX", 1000)
    assert "VALUE_CHARS_MAX" in error_of(say(tmp_path, "SELECT hex(zeroblob(1000))"))["message"]
    assert rows_of(say(tmp_path, "SELECT count(*) AS n FROM t")) == [{"n": 0}]
