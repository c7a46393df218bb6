"""What the `postgres` tool says when the server, the network or the statement fails."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path
from typing import Any

import pytest

from anew.engine.outcome import Outcome
from anew.tool import Timeout
from anew.tools.postgres import PostgresTool, connections
from tests.postgres_server import LOCKED_PASSWORD, LOCKED_ROLE, Database, a_database  # noqa: F401
from tests.tools.sql_calls import SqlTool, call_of, cancel, error_of, outcomes, play, rows_of, until

SECRET = "s3cret-value"


def failure(folder: Path, auth: Any, command: str = "SELECT 1", **inputs: Any) -> Outcome:
    return outcomes(
        PostgresTool, call_of(folder, "postgres", auth=auth, command=command, **inputs)
    )[0]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("SELECT 1/0", ("db_error", "22012", False)),
        ("SELEC 1", ("db_error", "42601", False)),
        ("SELECT * FROM missing", ("db_error", "42P01", False)),
        ("CREATE TABLE t (id int CHECK (id > 0)); INSERT INTO t VALUES (0)", ("db_constraint", "23514", False)),
        ("DO $$ BEGIN RAISE SQLSTATE '40001'; END $$", ("db_deadlock", "40001", True)),
        ("DO $$ BEGIN RAISE SQLSTATE '08006'; END $$", ("db_connection", "08006", True)),
        ("DO $$ BEGIN RAISE SQLSTATE '53300'; END $$", ("db_connection", "53300", True)),
        ("DO $$ BEGIN RAISE SQLSTATE '28P01'; END $$", ("auth", "28P01", False)),
    ],
)  # fmt: skip
def test_a_sqlstate_has_its_kind(
    database: Database, tmp_path: Path, command: str, expected: tuple[str, str, bool]
) -> None:
    outcome = failure(tmp_path, database.auth, command)
    error = error_of(outcome)
    assert (error["kind"], error["code"], error["retryable"]) == expected
    code = expected[1]
    assert outcome.helpers == {"pg": {"code": code, "sqlstate": code}}


def test_a_message_has_the_hint_but_not_the_row(database: Database, tmp_path: Path) -> None:
    database.execute("CREATE TABLE t (name text UNIQUE)")
    twice = f"INSERT INTO t VALUES ('{SECRET}'), ('{SECRET}')"
    assert SECRET not in str(failure(tmp_path, database.auth, twice))
    hint = failure(tmp_path, database.auth, "SELECT nme FROM t")
    assert "Hint: " in error_of(hint)["message"]


BARRIER = """
    SELECT pg_advisory_xact_lock_shared(7);
    DO $$ BEGIN
        WHILE (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 7) < 2 LOOP
            PERFORM pg_sleep(0.01);
        END LOOP;
    END $$;
"""


def test_of_two_calls_in_deadlock_one_fails_and_can_be_retried(
    database: Database, tmp_path: Path
) -> None:
    database.execute("CREATE TABLE t AS SELECT id, 0 AS n FROM generate_series(1, 2) AS id")

    def locking(first: int, second: int) -> Any:
        update = "UPDATE t SET n = n + 1 WHERE id = %s;"
        command = f"{update} {BARRIER} {update}"
        return call_of(tmp_path, auth=database.auth, command=command, params=[first, second])

    async def scene(tool: SqlTool) -> list[Outcome]:
        both = await asyncio.gather(tool.call(locking(1, 2)), tool.call(locking(2, 1)))
        again = call_of(tmp_path, auth=database.auth, command="UPDATE t SET n = n + 1")
        return [*both, await tool.call(again)]

    *both, again = play(PostgresTool, scene)
    (failed,) = [outcome for outcome in both if outcome.is_error]
    assert (error_of(failed)["kind"], error_of(failed)["code"]) == ("db_deadlock", "40P01")
    assert error_of(failed)["retryable"] is True
    assert "deadlock" in error_of(failed)["message"]
    assert again.error is None
    assert database.execute("SELECT n FROM t") == [(2,), (2,)]


def test_the_server_stops_a_statement_that_takes_too_long(
    database: Database, tmp_path: Path
) -> None:
    error = error_of(
        failure(tmp_path, database.auth, "SELECT pg_sleep(600)", timeout=Timeout(seconds=0.1))
    )
    assert (error["kind"], error["code"], error["retryable"]) == ("db_timeout", "57014", True)


def is_running(database: Database, mark: str) -> bool:
    query = f"SELECT 1 FROM pg_stat_activity WHERE query LIKE '%{mark}%' AND pid <> pg_backend_pid() AND state = 'active'"
    return bool(database.server.execute(query))


@pytest.mark.parametrize(
    "command",
    [
        "SELECT pg_sleep(600) /* marked */",
        "INSERT INTO t SELECT 1; DO $$ BEGIN PERFORM pg_sleep(600); /* marked */ END $$",
        "SELECT 'marked' AS a FROM generate_series(1, 100000000000) AS x WHERE x < 0",
    ],
)
def test_a_cancelled_query_ends_on_the_server_too(
    database: Database, tmp_path: Path, command: str
) -> None:
    database.execute("CREATE TABLE t (id int)")

    async def scene(tool: SqlTool) -> Outcome:
        task = asyncio.create_task(
            tool.call(call_of(tmp_path, auth=database.auth, command=command))
        )
        await until(lambda: is_running(database, "marked"))
        await cancel(task)
        await until(lambda: not is_running(database, "marked"))
        return await tool.call(
            call_of(tmp_path, auth=database.auth, command="SELECT count(*) AS n FROM t")
        )

    assert rows_of(play(PostgresTool, scene)) == [{"n": 0}]


def terminate(database: Database) -> None:
    database.server.execute(
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
        f"WHERE datname = '{database.name}' AND pid <> pg_backend_pid()"
    )


def test_a_connection_killed_in_use_is_a_failure_and_the_next_call_succeeds(
    database: Database, tmp_path: Path
) -> None:
    async def scene(tool: SqlTool) -> list[Outcome]:
        sleeping = call_of(
            tmp_path, auth=database.auth, command="SELECT pg_sleep(600) /* doomed */"
        )
        task = asyncio.create_task(tool.call(sleeping))
        await until(lambda: is_running(database, "doomed"))
        await asyncio.to_thread(terminate, database)
        return [
            await task,
            await tool.call(call_of(tmp_path, auth=database.auth, command="SELECT 1 AS a")),
        ]

    killed, again = play(PostgresTool, scene)
    assert (error_of(killed)["kind"], error_of(killed)["code"]) == ("db_connection", "57P01")
    assert error_of(killed)["retryable"] is True
    assert rows_of(again) == [{"a": 1}]


def test_a_connection_that_died_unused_is_replaced_without_a_word(
    database: Database, tmp_path: Path
) -> None:
    async def scene(tool: SqlTool) -> list[Outcome]:
        call = call_of(tmp_path, auth=database.auth, command="SELECT pg_backend_pid() AS pid")
        first = await tool.call(call)
        await asyncio.to_thread(terminate, database)
        return [first, await tool.call(call)]

    first, second = play(PostgresTool, scene)
    assert rows_of(first) != rows_of(second)


def test_a_refused_connection_can_be_retried(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        # Bound but not listening: nobody else gets the port, and connecting is refused.
        auth = {
            "host": "127.0.0.1",
            "port": taken.getsockname()[1],
            "user": "a",
            "password": SECRET,
        }
        error = error_of(failure(tmp_path, auth))
    assert (error["kind"], error["retryable"]) == ("db_connection", True)
    assert SECRET not in str(error)


def test_a_server_that_never_answers_is_given_up(tmp_path: Path) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        auth = {"host": "127.0.0.1", "port": silent.getsockname()[1], "user": "a"}
        error = error_of(failure(tmp_path, auth, timeout=Timeout(connect=0.1)))
    assert error["kind"] == "db_connection"
    assert "did not answer within 0.1 s" in error["message"]


def test_a_wrong_password_is_of_kind_auth_and_not_shown(database: Database, tmp_path: Path) -> None:
    if not database.server.is_ours:
        pytest.skip("another server has no locked role")
    auth = {**database.auth, "user": LOCKED_ROLE, "password": SECRET}
    outcome = failure(tmp_path, auth)
    assert (error_of(outcome)["kind"], error_of(outcome)["code"]) == ("auth", "28P01")
    assert SECRET not in str(outcome)
    auth["password"] = LOCKED_PASSWORD
    assert failure(tmp_path, auth).error is None


def test_an_unknown_database_is_not_worth_a_retry(database: Database, tmp_path: Path) -> None:
    error = error_of(failure(tmp_path, database.auth, database="no_such_database"))
    assert (error["kind"], error["code"]) == ("db_error", "3D000")


@pytest.mark.parametrize(
    ("auth", "words"),
    [
        (None, "auth is missing"),
        (7, "auth must be a credential"),
        ({}, "nothing to connect with"),
        ({"host": "x", "pasword": SECRET}, "does not know: pasword"),
        (f"postgresql://{SECRET}@@[/%%", "cannot be read"),
        ({"dsn": f"host {SECRET}"}, "cannot be read"),
    ],
)
def test_a_credential_that_cannot_be_used_is_named_without_its_values(
    tmp_path: Path, auth: Any, words: str
) -> None:
    error = error_of(failure(tmp_path, auth))
    assert error["kind"] == "config"
    assert words in error["message"]
    assert SECRET not in error["message"]


def test_rows_cannot_be_copied_to_or_from_the_client(database: Database, tmp_path: Path) -> None:
    database.execute("CREATE TABLE t (id int)")
    calls = [
        call_of(tmp_path, auth=database.auth, command=command)
        for command in ("COPY t FROM STDIN", "COPY t TO STDOUT", "SELECT 1")
    ]
    *copies, after = outcomes(PostgresTool, *calls)
    for copy in copies:
        assert error_of(copy)["kind"] == "config"
        assert "use INSERT or a query instead" in error_of(copy)["message"]
    assert after.error is None


def test_waiting_for_a_connection_has_an_end(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "CONNECTIONS_MAX", 1)
    monkeypatch.setattr(connections, "CONNECTION_WAIT_SECONDS_MAX", 0.05)

    async def scene(tool: SqlTool) -> Outcome:
        holding = call_of(
            tmp_path, auth=database.auth, command="SELECT pg_sleep(600) /* holding */"
        )
        task = asyncio.create_task(tool.call(holding))
        await until(lambda: is_running(database, "holding"))
        waiting = await tool.call(call_of(tmp_path, auth=database.auth, command="SELECT 1"))
        await cancel(task)
        return waiting

    error = error_of(play(PostgresTool, scene))
    assert error["kind"] == "db_connection"
    assert "in use" in error["message"]
