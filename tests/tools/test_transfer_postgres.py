"""PostgreSQL as a side of a transfer, on a real server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from anew.tools.transfer import postgres_side
from tests.postgres_server import Database, a_database, server  # noqa: F401
from tests.tools.sql_calls import error_of, result_of
from tests.tools.transfer_calls import transferred

TYPES = """
CREATE TABLE things (id int PRIMARY KEY, moment timestamptz, n numeric(30,10), b bytea, a text[],
  j jsonb, f float8, length interval, u uuid, day date, yes boolean);
INSERT INTO things SELECT i, now(), i * 1.1, '\\xdeadbeef', array['a', 'b"c'], '{"x": [1, 2]}',
  'NaN', '1 day 2 hours', gen_random_uuid(), '2024-01-01', i % 2 = 0 FROM generate_series(1, 25) i;
CREATE TABLE copies (LIKE things INCLUDING ALL);
"""
DOCUMENT = """
workload: {place: warehouse}
workflow:
  - step: copy
    tool:
      kind: transfer
      source: {type: postgres, auth: "{{ workload.place }}", table: things}
      target: {type: postgres, auth: warehouse, table: copies}
"""
DIFFERENT = (
    "SELECT (SELECT count(*) FROM copies), count(*) FROM "
    "(SELECT things::text FROM things EXCEPT SELECT copies::text FROM copies) AS d"
)


@pytest.fixture
def things(database: Database) -> Database:
    database.execute(TYPES)
    return database


def sides(database: Database) -> tuple[dict[str, Any], dict[str, Any]]:
    side = {"type": "postgres", "auth": database.auth}
    return {**side, "table": "things"}, {**side, "table": "Public.COPIES"}


def test_rows_of_every_type_arrive_as_they_were(things: Database, tmp_path: Path) -> None:
    source, target = sides(things)
    outcome = transferred(tmp_path, source, target, batch_size=10)
    assert result_of(outcome) == {"rows": 25, "batches": 3}
    assert things.execute(DIFFERENT) == [(25, 0)]


@pytest.mark.parametrize("key", [None, "id"])
def test_a_lost_connection_is_resumed_without_loss_or_doubles(
    things: Database, tmp_path: Path, key: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = sides(things)
    written = postgres_side.PostgresTarget._insert
    calls = 0

    async def insert(self: Any, rows: Any) -> None:
        nonlocal calls
        calls += 1
        await written(self, rows)
        if calls == 2:
            things.terminate_backends()

    with monkeypatch.context() as patch:
        patch.setattr(postgres_side.PostgresTarget, "_insert", insert)
        first = transferred(tmp_path, {**source, "key": key}, target, batch_size=10)
    assert error_of(first)["kind"] == "db_connection"
    assert things.execute("SELECT count(*) FROM copies") == [(10,)]
    second = transferred(tmp_path, {**source, "key": key}, target, batch_size=10)
    assert result_of(second) == {"rows": 25, "batches": 3}
    assert things.execute(DIFFERENT) == [(25, 0)]


def test_replace_and_upsert_change_what_is_there(things: Database, tmp_path: Path) -> None:
    source, target = sides(things)
    part = {"type": "postgres", "auth": things.auth, "params": {"most": 5}}
    part["query"] = "SELECT id, 'new' AS words, n FROM things WHERE id <= :most -- some"
    things.execute("ALTER TABLE copies ADD words text DEFAULT 'old'")
    transferred(tmp_path, source, target)
    outcome = transferred(tmp_path, part, {**target, "key": ["id"]}, key="2", mode="upsert")
    assert result_of(outcome)["rows"] == 5
    count = "SELECT words, count(*) FROM copies GROUP BY words ORDER BY words"
    assert things.execute(count) == [("new", 5), ("old", 20)]
    transferred(tmp_path, part, target, key="3", mode="replace", batch_size=2)
    assert things.execute(count) == [("new", 5)]


def test_each_side_names_its_credential_which_no_log_holds(
    things: Database, tmp_path: Path
) -> None:
    things.execute("CREATE ROLE owner LOGIN PASSWORD 'p-secret-word'; GRANT ALL ON things TO owner")
    try:
        things.execute("ALTER TABLE copies OWNER TO owner; GRANT ALL ON SCHEMA public TO owner")
        (tmp_path / "copy.yaml").write_text(DOCUMENT)
        auth = {**things.auth, "user": "owner", "password": "p-secret-word"}
        variables = {"ANEW_CREDENTIAL_WAREHOUSE": json.dumps({"type": "postgres", "data": auth})}
        words = ["run", "copy.yaml", "--db", "a.db"]
        ended = subprocess.run(
            [sys.executable, "-m", "anew", *words],
            cwd=tmp_path,
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        assert things.execute(DIFFERENT) == [(25, 0)]
        assert "p-secret-word" not in ended.stdout + ended.stderr
        assert all(b"p-secret-word" not in file.read_bytes() for file in tmp_path.glob("a.db*"))
    finally:
        things.execute("DROP OWNED BY owner; DROP ROLE owner")


def test_failures_have_their_kinds_and_codes(things: Database, tmp_path: Path) -> None:
    source, target = sides(things)
    transferred(tmp_path, source, target)
    twice = transferred(tmp_path, source, target, key="2")
    assert (error_of(twice)["kind"], error_of(twice)["code"]) == ("db_constraint", "23505")
    assert twice.helpers["pg"]["sqlstate"] == "23505"
    text = {**source, "query": "SELECT 'x' AS id"}
    del text["table"]
    assert error_of(transferred(tmp_path, text, target, key="3"))["code"] == "22P02"
    nobody = {**target, "auth": {**things.auth, "port": "1"}}
    assert error_of(transferred(tmp_path, source, nobody, key="4"))["kind"] == "db_connection"


def test_who_may_not_create_the_table_of_progress_is_told_what_to_do(
    things: Database, tmp_path: Path
) -> None:
    things.execute("CREATE ROLE clerk LOGIN; GRANT SELECT, INSERT ON things, copies TO clerk")
    try:
        source, target = sides(things)
        clerk = {**target, "auth": {**things.auth, "user": "clerk"}}
        error = error_of(transferred(tmp_path, source, clerk))
        assert (error["kind"], error["code"]) == ("db_error", "42501")
        assert "name another with `target.progress`" in error["message"]
        things.execute(
            "CREATE TABLE done (transfer text PRIMARY KEY, place text, row_count bigint, "
            "batch_count bigint, is_done integer, updated_at bigint); "
            "GRANT SELECT, INSERT, UPDATE, DELETE ON done TO clerk"
        )
        outcome = transferred(tmp_path, source, {**clerk, "progress": "done"})
        assert result_of(outcome)["rows"] == 25
    finally:
        things.execute("DROP OWNED BY clerk; DROP ROLE clerk")


def test_replace_does_not_empty_its_own_source(things: Database, tmp_path: Path) -> None:
    source, target = sides(things)
    error = error_of(
        transferred(tmp_path, source, {**target, "table": "public.THINGS"}, mode="replace")
    )
    assert "would empty the table that `source` reads" in error["message"]
    assert things.execute("SELECT count(*) FROM things") == [(25,)]


def test_upsert_takes_the_last_of_a_key_however_it_is_spelled(
    database: Database, tmp_path: Path
) -> None:
    database.execute("CREATE TABLE t (id int PRIMARY KEY, word text)")
    database.execute("INSERT INTO t VALUES (1, 'old')")
    rows = [{"id": 1, "word": "a"}, {"id": "2", "word": "b"}, {"id": "1", "word": "c"}]
    (tmp_path / "a.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    target = {"type": "postgres", "auth": database.auth, "table": "t", "key": "id"}
    result_of(transferred(tmp_path, {"type": "file", "path": "a.jsonl"}, target, mode="upsert"))
    assert database.execute("SELECT * FROM t ORDER BY id") == [(1, "c"), (2, "b")]
