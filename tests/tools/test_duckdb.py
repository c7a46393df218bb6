"""The `duckdb` tool on real files: statements, sharing, cancellation, limits."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

from anew.engine.outcome import Outcome
from anew.tools.duckdb import _CONFIG, DuckdbTool
from anew.tools.sql import rows, threads
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

INJECTIONS = ["'; DROP TABLE t; --", "1 OR 1=1", "$v", "?"]
ENDLESS = "SELECT count(*) FROM range(1000000000000) AS a, range(1000000) AS b WHERE a.range + b.range < 0"


def say(folder: Path, command: Any, params: Any = None, **inputs: Any) -> Outcome:
    return outcomes(
        DuckdbTool, call_of(folder, "duckdb", command=command, params=params, **inputs)
    )[0]


def test_the_result_is_that_of_the_last_statement_and_has_those_of_all(tmp_path: Path) -> None:
    outcome = say(
        tmp_path,
        "CREATE TABLE t (id int, name text); INSERT INTO t VALUES (1, 'a;b'); SELECT * FROM t; -- end",
    )
    last = {"rows": [{"id": 1, "name": "a;b"}], "row_count": 1, "columns": ["id", "name"]}
    first = {"rows": [], "row_count": 0, "columns": []}
    commands = [first, {**first, "row_count": 1}, last]
    assert outcome.result == {**last, "statements": 3, "commands": commands}


def test_tables_last_from_one_call_of_the_run_to_the_next(tmp_path: Path) -> None:
    assert result_of(say(tmp_path, "CREATE TABLE t (id int)"))["row_count"] == 0
    counted = {"rows": [], "row_count": 2, "columns": [], "statements": 1}
    assert say(tmp_path, "INSERT INTO t VALUES (1), (2)").result == counted
    assert rows_of(say(tmp_path, "DELETE FROM t WHERE id = 1 RETURNING id")) == [{"id": 1}]
    assert result_of(say(tmp_path, "SELECT id FROM t WHERE false"))["columns"] == ["id"]
    assert rows_of(say(tmp_path, 'SELECT 3 AS "Count"')) == [{"Count": 3}]
    assert (tmp_path / "scratch/duckdb.db").exists()


def test_a_database_may_be_another_file_or_memory(tmp_path: Path) -> None:
    say(tmp_path, "CREATE TABLE t (id int)", database="mine.db")
    assert (tmp_path / "mine.db").exists()
    assert error_of(say(tmp_path, "SELECT * FROM t", database=":memory:"))["kind"] == "db_error"
    assert error_of(say(tmp_path, "SELECT 1", database="no/such/mine.db"))["kind"] == "config"


def test_files_of_the_document_are_read_by_their_name(tmp_path: Path) -> None:
    (tmp_path / "cities.csv").write_text("name,people\nBern,134000\n")
    assert rows_of(say(tmp_path, "SELECT * FROM 'cities.csv'")) == [
        {"name": "Bern", "people": 134000}
    ]


def test_variables_of_the_program_are_not_tables(tmp_path: Path) -> None:
    assert error_of(say(tmp_path, "SELECT * FROM statement"))["code"] == "CatalogException"


@pytest.mark.parametrize("value", INJECTIONS)
def test_a_parameter_is_never_part_of_the_text(tmp_path: Path, value: str) -> None:
    command = ["CREATE TABLE t (v text)", "INSERT INTO t VALUES ($v)", "SELECT v FROM t"]
    assert rows_of(say(tmp_path, command, {"v": value})) == [{"v": value}]


@pytest.mark.parametrize(
    ("command", "params", "row"),
    [
        ("SELECT ? AS a, ? AS b", [1, "x"], {"a": 1, "b": "x"}),
        ("SELECT $2 AS a, $1 AS b", ["x", 1], {"a": 1, "b": "x"}),
        ("SELECT ?; SELECT ? AS a", [1, 2], {"a": 2}),
        ("SELECT $n; SELECT $n + $n AS a", {"n": 2, "unused": 0}, {"a": 4}),
        ("SELECT $v AS a", {"v": {"x": [1, 2]}}, {"a": {"x": [1, 2]}}),
        ("SELECT list_sum(?) AS a", [[1, 2, 3]], {"a": 6}),
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
        ("SELECT $a, $b", {"a": 1}, "no value for the placeholder b"),
        ("SELECT ?", {"a": 1}, "params must be a list"),
        ("SELECT $a", [1], "params must be a mapping"),
        ("INSERT INTO t VALUES (?)", [1, 2], "params has 2 values, the statements have 1"),
        ("-- nothing", None, "command holds no statement"),
    ],
)
def test_inputs_that_cannot_be_used_are_named(
    tmp_path: Path, command: Any, params: Any, words: str
) -> None:
    say(tmp_path, "CREATE TABLE t (id int)")
    error = error_of(say(tmp_path, command, params))
    assert error["kind"] == "config"
    assert words in error["message"]
    assert rows_of(say(tmp_path, "SELECT * FROM t")) == []


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("1.50::decimal(5,2)", 1.5),
        (
            "170141183460469231731687303715884105727::hugeint",
            "170141183460469231731687303715884105727",
        ),
        ("'nan'::double", None),
        ("timestamp '2020-01-02 03:04:05.5'", "2020-01-02T03:04:05.500000"),
        ("time '03:04:05'", "03:04:05"),
        ("interval '1 day 2 hours'", "P1DT2H"),
        ("'6f48b0e0-a4d7-48a1-9ecb-bcffe95961f5'::uuid", "6f48b0e0-a4d7-48a1-9ecb-bcffe95961f5"),
        ("'ab'::blob", "YWI="),
        ("{'a': [1, NULL]}", {"a": [1, None]}),
        ("MAP {1: 'x'}", {"1": "x"}),
        ("""'{"a": [1]}'::json""", {"a": [1]}),
        ("NULL::json", None),
        ("'x'::enum('x')", "x"),
    ],
)
def test_a_value_looks_like_this_in_a_result(tmp_path: Path, sql: str, value: Any) -> None:
    assert rows_of(say(tmp_path, f"SELECT {sql} AS v")) == [{"v": value}]


def test_a_moment_with_a_time_zone_is_in_utc(tmp_path: Path) -> None:
    outcome = say(tmp_path, "SELECT timestamptz '2020-01-02 03:04:05+02' AS v")
    assert rows_of(outcome) == [{"v": "2020-01-02T01:04:05Z"}]


@pytest.mark.parametrize(("is_transaction", "left"), [(True, []), (False, [{"id": 1}])])
def test_the_first_failure_rolls_back_what_is_in_its_transaction(
    tmp_path: Path, is_transaction: bool, left: list[Any]
) -> None:
    say(tmp_path, "CREATE TABLE t (id int PRIMARY KEY)")
    command = "INSERT INTO t VALUES (1); INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)"
    outcome = say(tmp_path, command, transaction=is_transaction)
    error = error_of(outcome)
    assert (error["kind"], error["retryable"]) == ("db_constraint", False)
    assert outcome.helpers == {
        "duckdb": {"exception_type": "ConstraintException", "code": "ConstraintException"}
    }
    assert "(statement 2 of 3)" in error["message"]
    assert rows_of(say(tmp_path, "SELECT * FROM t")) == left


def test_statements_may_bring_their_own_transaction(tmp_path: Path) -> None:
    own = "CREATE TABLE t (id int); BEGIN; INSERT INTO t VALUES (1); ROLLBACK; SELECT * FROM t"
    assert rows_of(say(tmp_path, own)) == []
    assert say(tmp_path, "BEGIN; INSERT INTO t VALUES (2)").error is None
    left_open = say(tmp_path, "BEGIN; INSERT INTO t VALUES (3)", transaction=False)
    assert "leave a transaction open" in error_of(left_open)["message"]
    assert rows_of(say(tmp_path, "SELECT * FROM t")) == [{"id": 2}]


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("SELEC 1", "ParserException"),
        ("SELECT * FROM missing", "CatalogException"),
        ("SELECT 'x'::int", "ConversionException"),
        ("SELECT * FROM 'no_such_file.csv'", "IOException"),
    ],
)
def test_a_statement_that_fails_is_not_worth_a_retry(
    tmp_path: Path, command: str, code: str
) -> None:
    error = error_of(say(tmp_path, command))
    assert (error["kind"], error["retryable"], error["code"]) == ("db_error", False, code)


def test_calls_at_once_share_the_file(tmp_path: Path) -> None:
    say(tmp_path, "CREATE TABLE t (id int)")

    async def scene(tool: SqlTool) -> list[Outcome]:
        calls = [
            call_of(tmp_path, command="INSERT INTO t VALUES (?)", params=[n]) for n in range(30)
        ]
        return await asyncio.gather(*map(tool.call, calls))

    assert [outcome.error for outcome in play(DuckdbTool, scene)] == [None] * 30
    assert rows_of(say(tmp_path, "SELECT count(*) AS n FROM t")) == [{"n": 30}]


def test_a_change_of_the_same_row_by_two_can_be_retried(tmp_path: Path) -> None:
    say(tmp_path, "CREATE TABLE t (id int); INSERT INTO t VALUES (1)")
    # One database has one configuration.
    other = duckdb.connect(tmp_path / "scratch/duckdb.db", config=_CONFIG)
    try:
        other.execute("BEGIN; UPDATE t SET id = 2")
        error = error_of(say(tmp_path, "UPDATE t SET id = 3"))
    finally:
        other.close()
    assert (error["kind"], error["retryable"]) == ("db_deadlock", True)
    assert "deadlock" in error["message"]
    assert say(tmp_path, "UPDATE t SET id = 3").error is None


OTHER_PROCESS = (
    "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('open', flush=True); input()"
)


def test_a_file_open_in_another_process_can_be_retried(tmp_path: Path) -> None:
    # The tool has let go of the file, or the other process could not open it.
    say(tmp_path, "CREATE TABLE t (id int)")
    command = [sys.executable, "-c", OTHER_PROCESS, str(tmp_path / "scratch/duckdb.db")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"open\n"
        error = error_of(say(tmp_path, "SELECT * FROM t"))
        other.communicate(b"\n", timeout=30)
    assert (error["kind"], error["retryable"]) == ("db_connection", True)
    assert say(tmp_path, "SELECT * FROM t").error is None


def test_a_cancelled_query_stops_and_is_rolled_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A query that does not stop is not left behind here: the test would never end.
    monkeypatch.setattr(threads, "INTERRUPT_SECONDS_MAX", 1e6)
    say(tmp_path, "CREATE TABLE t (id int)")
    begun = tmp_path / "begun.csv"

    async def scene(tool: SqlTool) -> None:
        command = ["INSERT INTO t SELECT 1", f"COPY (SELECT 1) TO '{begun}'", ENDLESS]
        task = asyncio.create_task(tool.call(call_of(tmp_path, command=command)))
        await until(begun.exists)
        await cancel(task)

    play(DuckdbTool, scene)
    assert rows_of(say(tmp_path, "SELECT * FROM t")) == []


def test_more_than_a_result_holds_is_an_error_and_undoes_the_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(tmp_path, "CREATE TABLE t (id int)")
    monkeypatch.setattr(rows, "SQL_ROWS_MAX", 1000)
    returning = "INSERT INTO t SELECT range FROM range(1001) RETURNING id"
    for command in ("SELECT * FROM range(1000000000000)", returning):
        error = error_of(say(tmp_path, command))
        assert (error["kind"], error["retryable"]) == ("limit_exceeded", False)
        assert "SQL_ROWS_MAX" in error["message"]
    monkeypatch.setattr(rows, "VALUE_CHARS_MAX", 1000)
    assert "VALUE_CHARS_MAX" in error_of(say(tmp_path, "SELECT repeat('x', 2000)"))["message"]
    assert rows_of(say(tmp_path, "SELECT count(*) AS n FROM t")) == [{"n": 0}]
