"""The `postgres` tool on a real server: statements, parameters, transactions, values."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from anew.engine.outcome import Outcome
from anew.tool import Call
from anew.tools.postgres import PostgresTool, connections
from anew.tools.sql import rows
from tests.postgres_server import Database, a_database, server  # noqa: F401
from tests.tools.sql_calls import (
    SqlTool,
    call_of,
    error_of,
    outcomes,
    play,
    result_of,
    rows_of,
    until,
)

INJECTIONS = [
    "'; DROP TABLE t; --",
    "1 OR 1=1",
    "%(id)s",
    "$1",
    ":id",
    "\\'; DROP TABLE t; --",
    "$$",
]


class Talk:
    """Calls to one database, one after the other."""

    def __init__(self, database: Database, folder: Path) -> None:
        self.database = database
        self.folder = folder

    def call(self, command: Any, params: Any = None, **inputs: Any) -> Call:
        return call_of(
            self.folder,
            "postgres",
            auth=self.database.auth,
            command=command,
            params=params,
            **inputs,
        )

    def __call__(self, command: Any, params: Any = None, **inputs: Any) -> Outcome:
        return outcomes(PostgresTool, self.call(command, params, **inputs))[0]


@pytest.fixture
def talk(database: Database, tmp_path: Path) -> Talk:
    return Talk(database, tmp_path)


@pytest.fixture
def ask(tmp_path: Path) -> Talk:
    """For calls that change nothing and so need no database of their own."""
    return Talk(Database("postgres", server().dsn, server()), tmp_path)


def test_the_result_is_that_of_the_last_statement_and_has_those_of_all(talk: Talk) -> None:
    outcome = talk(
        "CREATE TABLE t (id int, name text); INSERT INTO t VALUES (1, 'a;b'); SELECT * FROM t"
    )
    last = {"rows": [{"id": 1, "name": "a;b"}], "row_count": 1, "columns": ["id", "name"]}
    first = {"rows": [], "row_count": 0, "columns": []}
    commands = [first, {**first, "row_count": 1}, last]
    assert outcome.result == {**last, "statements": 3, "commands": commands}


def test_a_change_counts_the_rows_it_touched(talk: Talk) -> None:
    talk("CREATE TABLE t (id int)")
    assert talk("INSERT INTO t SELECT generate_series(1, 5)").result == {
        "rows": [],
        "row_count": 5,
        "columns": [],
        "statements": 1,
    }
    assert result_of(talk("CREATE TABLE u (id int)"))["row_count"] == 0
    assert rows_of(talk("DELETE FROM t WHERE id > 3 RETURNING id")) == [{"id": 4}, {"id": 5}]
    assert result_of(talk("SELECT * INTO v FROM t"))["row_count"] == 3


def test_a_query_without_rows_still_names_its_columns(ask: Talk) -> None:
    assert result_of(ask("SELECT 1 AS a, 2 AS b WHERE false"))["columns"] == ["a", "b"]


def test_columns_of_one_name_are_all_kept(ask: Talk) -> None:
    assert rows_of(ask("SELECT 1 AS id, 2 AS id, 3 AS id_2")) == [{"id": 1, "id_3": 2, "id_2": 3}]


@pytest.mark.parametrize("value", INJECTIONS)
@pytest.mark.parametrize("place", ["%(id)s", ":id"])
def test_a_parameter_is_never_part_of_the_text(talk: Talk, value: str, place: str) -> None:
    outcome = talk(
        ["CREATE TABLE t (v text)", f"INSERT INTO t VALUES ({place})", "SELECT v FROM t"],
        {"id": value},
    )
    assert rows_of(outcome) == [{"v": value}]


@pytest.mark.parametrize(
    ("command", "params", "row"),
    [
        ("SELECT %s::int AS a, %s::text AS b", [1, "x"], {"a": 1, "b": "x"}),
        ("SELECT $2::int AS a, $1::text AS b", ["x", 1], {"a": 1, "b": "x"}),
        ("SELECT %(n)s::int + %(n)s AS a", {"n": 2, "unused": 0}, {"a": 4}),
        ("SELECT 1; SELECT %s::int AS a, %s::int AS b", [1, 2], {"a": 1, "b": 2}),
        ("SELECT %s::int; SELECT %s::int AS a", [1, 2], {"a": 2}),
        ("SELECT 'a%' LIKE 'a%%' AS a, 5 % 3 AS b, 5 %% 3 AS c, :n::int AS d", {"n": 1}, {"a": True, "b": 2, "c": 2, "d": 1}),
        ("SELECT 7 % 4 AS a", None, {"a": 3}),
        ("SELECT (ARRAY[1, 2, 3])[1:2] AS a, :n::int AS b", {"n": 3}, {"a": [1, 2], "b": 3}),
        ("SELECT ':n' AS a, $$:n$$ AS b, :n::int AS c -- :n", {"n": 3}, {"a": ":n", "b": ":n", "c": 3}),
        ("SELECT %(v)s::jsonb AS a", {"v": {"x": [1]}}, {"a": {"x": [1]}}),
        ("SELECT jsonb_array_length(%(v)s) AS a", {"v": []}, {"a": 0}),
        ("SELECT 2 = ANY(%(v)s) AS a", {"v": [1, 2]}, {"a": True}),
        ("SELECT %(v)s::text[] AS a", {"v": []}, {"a": []}),
        ("SELECT CAST(%(v)s AS int[]) AS a", {"v": [[1], [2]]}, {"a": [[1], [2]]}),
        ("SELECT x FROM jsonb_to_recordset(%(v)s) AS r (x int)", {"v": [{"x": 4}]}, {"x": 4}),
        ("SELECT %(v)s::text IS NULL AS a", {"v": None}, {"a": True}),
    ],
)  # fmt: skip
def test_parameters_are_bound(ask: Talk, command: str, params: Any, row: dict[str, Any]) -> None:
    assert rows_of(ask(command, params)) == [row]


@pytest.mark.parametrize(
    ("command", "params", "words"),
    [
        ("SELECT %(a)s, %(b)s", {"a": 1}, "no value for the placeholder b"),
        ("SELECT %s", {"a": 1}, "params must be a list"),
        ("SELECT %(a)s", [1], "params must be a mapping"),
        ("SELECT %s, %s", [1], "2 placeholders, but params has 1 values left"),
        ("SELECT %s", [1, 2], "params has 2 values, the statements have 1 placeholders"),
        ("SELECT %s, $1", [1], "mixes %s and $1"),
        ("SELECT 1", "x", "params is a mapping"),
        ("-- nothing", None, "command holds no statement"),
        ([], None, "command holds no statement"),
        (7, None, "command is SQL text"),
        ("SELECT %(v)s::text", {"v": "a\x00b"}, "NUL"),
    ],
)
def test_inputs_that_cannot_be_used_are_named(
    ask: Talk, command: Any, params: Any, words: str
) -> None:
    error = error_of(ask(command, params))
    assert error["kind"] == "config"
    assert words in error["message"]


def test_a_forgotten_placeholder_changes_nothing(talk: Talk) -> None:
    talk("CREATE TABLE t (id int)")
    assert error_of(talk("INSERT INTO t VALUES (%s)", [1, 2]))["kind"] == "config"
    assert rows_of(talk("SELECT * FROM t")) == []


def test_the_first_failure_rolls_everything_back(talk: Talk) -> None:
    talk("CREATE TABLE t (id int PRIMARY KEY)")
    outcome = talk(
        ["INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)"]
    )
    assert "statement 2 of 3" in error_of(outcome)["message"]
    assert rows_of(talk("SELECT * FROM t")) == []


def test_without_a_transaction_what_came_before_the_failure_stays(talk: Talk) -> None:
    talk("CREATE TABLE t (id int PRIMARY KEY)")
    talk(
        ["INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)"],
        transaction=False,
    )
    assert rows_of(talk("SELECT * FROM t")) == [{"id": 1}]


def test_a_constraint_checked_at_the_end_fails_the_call(talk: Talk) -> None:
    talk("CREATE TABLE t (id int UNIQUE DEFERRABLE INITIALLY DEFERRED)")
    outcome = talk("INSERT INTO t VALUES (1); INSERT INTO t VALUES (1)")
    assert error_of(outcome)["code"] == "23505"
    assert rows_of(talk("SELECT * FROM t")) == []


def test_statements_may_bring_their_own_transaction(talk: Talk) -> None:
    talk(
        "CREATE TABLE t (id int); BEGIN; INSERT INTO t VALUES (1); COMMIT; BEGIN; INSERT INTO t VALUES (2); ROLLBACK"
    )
    assert rows_of(talk("SELECT * FROM t")) == [{"id": 1}]
    left_open = talk("BEGIN; INSERT INTO t VALUES (3)", transaction=False)
    assert "leave a transaction open" in error_of(left_open)["message"]
    assert rows_of(talk("SELECT * FROM t")) == [{"id": 1}]


def test_a_statement_that_may_not_be_in_a_transaction_can_stand_alone(talk: Talk) -> None:
    assert talk("VACUUM").error is None


def test_a_function_with_semicolons_in_its_body_is_one_statement(talk: Talk) -> None:
    outcome = talk(
        """
        CREATE FUNCTION f(a int) RETURNS int LANGUAGE plpgsql AS $body$ BEGIN a := a + 1; RETURN a; END $body$;
        CREATE FUNCTION g() RETURNS int BEGIN ATOMIC; SELECT 1; SELECT CASE WHEN true THEN 2 END; END;
        /* ; /* ; */ ; */
        SELECT f(1) AS f, g() AS g
        """
    )
    assert rows_of(outcome) == [{"f": 2, "g": 2}]
    assert result_of(outcome)["statements"] == 3


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("1.50::numeric", 1.5),
        ("10::numeric", 10),
        ("0.1234567890123456789::numeric", "0.1234567890123456789"),
        ("123456789012345678901234567890::numeric", "123456789012345678901234567890"),
        ("'NaN'::numeric", None),
        ("'Infinity'::float8", None),
        ("9223372036854775807", 9223372036854775807),
        ("date '2020-01-02'", "2020-01-02"),
        ("time '03:04:05.5'", "03:04:05.500000"),
        ("timestamp '2020-01-02 03:04:05'", "2020-01-02T03:04:05"),
        ("timestamptz '2020-01-02 03:04:05+02'", "2020-01-02T01:04:05Z"),
        ("timestamp 'infinity'", "infinity"),
        ("interval '1 day 02:03:04.5'", "P1DT2H3M4.5S"),
        ("interval '-1 hour'", "-PT1H"),
        ("'6f48b0e0-a4d7-48a1-9ecb-bcffe95961f5'::uuid", "6f48b0e0-a4d7-48a1-9ecb-bcffe95961f5"),
        ("'\\x00ff'::bytea", "AP8="),
        ("""'{"a": [1, null]}'::jsonb""", {"a": [1, None]}),
        ("'[1e5000]'::jsonb", ["1" + "0" * 5000]),
        ("ARRAY[[1, 2], [3, 4]]", [[1, 2], [3, 4]]),
        ("ARRAY[date '2020-01-02']", ["2020-01-02"]),
        ("'10.0.0.1'::inet", "10.0.0.1"),
        ("true", True),
        ("NULL", None),
        ("(1, 'a')", ["1", "a"]),
    ],
)
def test_a_value_looks_like_this_in_a_result(ask: Talk, sql: str, value: Any) -> None:
    assert rows_of(ask(f"SELECT {sql} AS v")) == [{"v": value}]


def test_another_database_of_the_same_server(talk: Talk) -> None:
    auth = {**talk.database.auth, "dbname": "postgres"}
    call = call_of(
        talk.folder,
        auth=auth,
        database=talk.database.name,
        command="SELECT current_database() AS d",
    )
    assert rows_of(outcomes(PostgresTool, call)[0]) == [{"d": talk.database.name}]


def test_a_credential_may_be_an_address_or_use_other_names(talk: Talk) -> None:
    fields = talk.database.auth
    other = {
        "db_host": fields["host"],
        "username": fields["user"],
        "database": fields["dbname"],
        "type": "postgres",
        "schema": "pg_catalog",
    }
    for auth in ({"dsn": talk.database.dsn}, {"url": talk.database.dsn}, talk.database.dsn, other):
        call = call_of(talk.folder, auth=auth, command="SELECT 1 AS a")
        assert rows_of(outcomes(PostgresTool, call)[0]) == [{"a": 1}]


def test_a_connection_is_used_again_and_forgets_the_call_before(talk: Talk) -> None:
    first, second = outcomes(
        PostgresTool,
        talk.call(
            "SET search_path = pg_catalog; CREATE TEMP TABLE x (a int); SELECT pg_backend_pid() AS pid"
        ),
        talk.call(
            "SELECT pg_backend_pid() AS pid, to_regclass('x') AS x, current_setting('search_path') AS p"
        ),
    )
    assert rows_of(second) == [{"pid": rows_of(first)[0]["pid"], "x": None, "p": '"$user", public'}]


def test_many_calls_at_once_share_a_few_connections(ask: Talk) -> None:
    async def scene(tool: SqlTool) -> list[Outcome]:
        call = ask.call("SELECT pg_backend_pid() AS pid")
        return await asyncio.gather(*(tool.call(call) for _ in range(40)))

    found = play(PostgresTool, scene)
    assert len({rows_of(outcome)[0]["pid"] for outcome in found}) <= 8


def test_the_time_of_a_call_begins_when_it_need_not_wait_for_others(
    ask: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "CONNECTIONS_MAX", 1)
    said: list[str] = []

    async def scene(tool: SqlTool) -> None:
        async def work(name: str) -> None:
            call = replace(ask.call("SELECT 1"), begins=lambda: said.append(f"{name} starts"))
            await tool.call(call)
            said.append(f"{name} is done")

        await asyncio.gather(work("one"), work("two"))

    play(PostgresTool, scene)
    assert PostgresTool.queues
    # Giving a connection back and telling its caller are two moments.
    assert said[0] == "one starts"
    assert said.index("two starts") >= 1
    assert said[-1] == "two is done"


def test_closing_the_tool_closes_its_connections(talk: Talk) -> None:
    talk("SELECT 1")
    others = "datname = current_database() AND pid <> pg_backend_pid()"
    count = f"SELECT count(*) FROM pg_stat_activity WHERE {others}"
    asyncio.run(until(lambda: talk.database.execute(count) == [(0,)]))


def test_more_rows_than_a_result_holds_is_an_error_and_undoes_the_change(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "SQL_ROWS_MAX", 1000)
    talk("CREATE TABLE t (id int)")
    for command in (
        "SELECT generate_series(1, 1000000000)",
        "INSERT INTO t SELECT * FROM generate_series(1, 1001) RETURNING id",
    ):
        error = error_of(talk(command))
        assert (error["kind"], error["retryable"]) == ("limit_exceeded", False)
        assert "SQL_ROWS_MAX" in error["message"]
    assert rows_of(talk("SELECT count(*) AS n FROM t")) == [{"n": 0}]


def test_rows_that_are_too_large_are_an_error(ask: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "VALUE_CHARS_MAX", 100_000)
    error = error_of(ask("SELECT repeat('x', 10000) AS x, generate_series(1, 1000000000)"))
    assert error["kind"] == "limit_exceeded"
    assert "VALUE_CHARS_MAX" in error["message"]
