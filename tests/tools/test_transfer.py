"""The `transfer` tool between databases in files: batches, modes, resuming, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from anew.tools.transfer import embedded, sqlite_side
from anew.tools.transfer.statements import is_ordered, table_name
from tests.tools.sql_calls import error_of, result_of
from tests.tools.transfer_calls import numbers, rows_at, sqlite_file, transferred

NUMBERS = {"type": "sqlite", "database": "a.db", "table": "numbers"}
COPIES = {"type": "sqlite", "database": "a.db", "table": "copies"}
ALL = "SELECT count(*), count(DISTINCT id), sum(id) FROM copies"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return numbers(tmp_path / "a.db", 25)


def test_rows_are_copied_in_batches_also_within_one_file(file: Path) -> None:
    outcome = transferred(file.parent, NUMBERS, COPIES, batch_size=10)
    assert result_of(outcome) == {"rows": 25, "batches": 3}
    assert rows_at(file, ALL) == [(25, 25, 325)]


def test_a_transfer_that_is_done_is_not_made_again_under_its_key(file: Path) -> None:
    for _ in range(2):
        outcome = transferred(file.parent, NUMBERS, COPIES, batch_size=10)
        assert result_of(outcome) == {"rows": 25, "batches": 3}
    assert rows_at(file, ALL) == [(25, 25, 325)]
    again = transferred(file.parent, NUMBERS, COPIES, key="2")
    assert error_of(again)["kind"] == "db_constraint"


@pytest.mark.parametrize(
    ("fails_at", "key"), [(1, None), (2, None), (4, None), (2, "id"), (3, ["word", "id"])]
)
def test_it_resumes_at_the_batch_that_is_not_there(
    file: Path, fails_at: int, key: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fourth write is the one that says that all is done."""
    written = embedded.EmbeddedWriter.write
    calls = 0

    def write(self: Any, *args: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == fails_at:
            raise ConnectionError("the process ends here")
        written(self, *args)

    source = {**NUMBERS, "key": key}
    with monkeypatch.context() as patch:
        patch.setattr(embedded.EmbeddedWriter, "write", write)
        with pytest.raises(ConnectionError):
            transferred(file.parent, source, COPIES, batch_size=10)
    assert rows_at(file, ALL)[0][0] == min(25, 10 * (fails_at - 1))
    outcome = transferred(file.parent, source, COPIES, batch_size=10)
    assert result_of(outcome) == {"rows": 25, "batches": 3}
    assert rows_at(file, ALL) == [(25, 25, 325)]


def test_a_batch_and_its_progress_are_one_transaction(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inserted = sqlite_side.SqliteLink.insert

    def insert(self: Any, *args: Any) -> None:
        inserted(self, *args)
        raise ConnectionError("between the rows and the commit")

    with monkeypatch.context() as patch:
        patch.setattr(sqlite_side.SqliteLink, "insert", insert)
        with pytest.raises(ConnectionError):
            transferred(file.parent, NUMBERS, COPIES)
    assert rows_at(file, ALL)[0][0] == 0
    assert rows_at(file, "SELECT batch_count FROM anew_transfers") == [(0,)]


def test_a_second_call_of_the_same_transfer_writes_nothing_twice(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that lost its lease is still at work when the next one has written its batch."""
    written = embedded.EmbeddedWriter.write
    is_first = True

    def write(self: Any, *args: Any) -> None:
        nonlocal is_first
        if is_first:
            is_first = False
            transferred(file.parent, NUMBERS, COPIES, batch_size=10)
        written(self, *args)

    monkeypatch.setattr(embedded.EmbeddedWriter, "write", write)
    late = transferred(file.parent, NUMBERS, COPIES, batch_size=10)
    assert error_of(late)["kind"] == "db_deadlock"
    assert rows_at(file, ALL) == [(25, 25, 325)]


def test_replace_removes_the_rows_that_were_there_once(file: Path) -> None:
    sqlite_file(file, "INSERT INTO copies VALUES (1, 'old'), (99, 'old')")
    outcome = transferred(file.parent, NUMBERS, COPIES, mode="replace", batch_size=10)
    assert result_of(outcome)["rows"] == 25
    assert rows_at(file, ALL) == [(25, 25, 325)]


def test_replace_by_no_rows_leaves_an_empty_table(file: Path) -> None:
    sqlite_file(file, "INSERT INTO copies VALUES (1, 'old')")
    nothing = {"type": "sqlite", "database": "a.db", "query": "SELECT * FROM numbers WHERE 0"}
    outcome = transferred(file.parent, nothing, COPIES, mode="replace")
    assert result_of(outcome) == {"rows": 0, "batches": 0}
    assert rows_at(file, ALL)[0][0] == 0


def test_upsert_changes_the_rows_with_the_same_key(file: Path) -> None:
    sqlite_file(file, "INSERT INTO copies VALUES (1, 'old'), (99, 'old')")
    sqlite_file(file, "INSERT INTO numbers VALUES (25, 'last')")
    target = {**COPIES, "key": "id"}
    source = {"type": "sqlite", "database": "a.db", "query": "SELECT * FROM numbers ORDER BY rowid"}
    assert result_of(transferred(file.parent, source, target, mode="upsert"))["rows"] == 26
    found = rows_at(file, "SELECT word FROM copies WHERE id IN (1, 25, 99) ORDER BY id")
    assert found == [("n1",), ("last",), ("old",)]


def test_a_mapping_names_the_columns_and_reads_inside_fields(file: Path) -> None:
    lines = '{"key": 7, "about": {"word": "seven"}}\n{"key": 8}\n'
    (file.parent / "in.jsonl").write_text(lines)
    source = {"type": "file", "path": "in.jsonl"}
    mapping = {"id": "key", "word": "about.word"}
    assert result_of(transferred(file.parent, source, COPIES, mapping=mapping))["rows"] == 2
    assert rows_at(file, "SELECT * FROM copies") == [(7, "seven"), (8, None)]
    wrong = transferred(file.parent, source, COPIES, key="2", mapping={"id": "kee"})
    assert "`mapping` reads 'kee', which no row has; they have key, about" in str(wrong.error)


def test_names_are_quoted_and_values_bound(tmp_path: Path) -> None:
    evil = 'x"; DROP TABLE t; --'
    quoted = evil.replace('"', '""')
    file = sqlite_file(tmp_path / "a.db", f'CREATE TABLE t ("{quoted}" TEXT)')
    source = {
        "type": "sqlite",
        "database": "a.db",
        "query": f'SELECT :v AS "{quoted}"',
        "params": {"v": "'); DROP TABLE t; --"},
    }
    target = {"type": "sqlite", "database": "a.db", "table": "t"}
    assert result_of(transferred(tmp_path, source, target))["rows"] == 1
    assert rows_at(file, "SELECT * FROM t") == [("'); DROP TABLE t; --",)]


@pytest.mark.parametrize(
    ("name", "quoted"),
    [("t", '"t"'), ("Public.T", '"Public"."T"'), ('main."a.b"', '"main"."a.b"')],
)
def test_a_table_is_quoted_part_by_part(name: str, quoted: str) -> None:
    assert table_name(name, folds=False) == quoted
    assert table_name(name, folds=True) in (quoted, quoted.lower())


@pytest.mark.parametrize(
    ("query", "verdict"),
    [
        ("SELECT 1 ORDER BY 1", True),
        ("SELECT * FROM (SELECT 1 ORDER BY 1) x", False),
        ("SELECT 'order by' -- ORDER BY 1", False),
        ("SELECT row_number() OVER (ORDER BY a) FROM t order\n by b", True),
    ],
)
def test_it_is_known_whether_a_query_has_an_order(query: str, verdict: bool) -> None:
    assert is_ordered(query) is verdict


@pytest.mark.parametrize(
    ("source", "target", "more", "words"),
    [
        ({"table": "numbers"}, COPIES, {}, "`source.type` must be one of"),
        ({**NUMBERS, "type": "snowflake"}, COPIES, {}, "it is 'snowflake'"),
        ({"type": "sqlite"}, COPIES, {}, "`source` of type sqlite needs `query` or `table`"),
        (NUMBERS, {"type": "sqlite"}, {}, "`target` of type sqlite needs `table`"),
        (NUMBERS, COPIES, {"mode": "merge"}, "`mode` must be append, replace, upsert"),
        (NUMBERS, COPIES, {"mode": "upsert"}, "`mode: upsert` needs `target.key`"),
        (NUMBERS, COPIES, {"batch_size": 0}, "`batch_size` must be a whole number from 1"),
        (NUMBERS, {**COPIES, "database": ":memory:"}, {}, "cannot be :memory:"),
        ({**NUMBERS, "key": "word2"}, COPIES, {}, "`source.key` names 'word2'"),
        ({**NUMBERS, "table": "a..b"}, COPIES, {}, "is not the name of a table"),
    ],
)
def test_inputs_that_cannot_be_used_are_refused_in_words(
    file: Path, source: Any, target: Any, more: Any, words: str
) -> None:
    error = error_of(transferred(file.parent, source, target, **more))
    assert error["kind"] == "config"
    assert words in error["message"]
    assert rows_at(file, ALL)[0][0] == 0


def test_a_key_that_would_lose_rows_is_refused(file: Path) -> None:
    sqlite_file(file, "INSERT INTO numbers VALUES (5, 'again')")
    twice = error_of(transferred(file.parent, {**NUMBERS, "key": "id"}, COPIES, batch_size=5))
    assert (twice["kind"], "same `source.key`" in twice["message"]) == ("config", True)
    sqlite_file(file, "UPDATE numbers SET id = NULL WHERE word = 'again'")
    null = error_of(transferred(file.parent, {**NUMBERS, "key": "id"}, COPIES, key="2"))
    assert "is null in a row" in null["message"]


def test_a_source_that_is_not_there_is_a_reference(tmp_path: Path) -> None:
    error = error_of(transferred(tmp_path, {**NUMBERS, "database": "no.db"}, COPIES))
    assert error["kind"] == "reference"
    assert not (tmp_path / "no.db").exists()


def test_duckdb_is_a_side_too(file: Path) -> None:
    place = str(file.parent / "d.db")
    with duckdb.connect(place) as link:
        link.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, word TEXT, j JSON)")
    there = {"type": "duckdb", "database": "d.db", "table": "t"}
    for key, mode in (("1", "append"), ("2", "replace"), ("3", "upsert")):
        target = {**there, "key": "id"}
        outcome = transferred(file.parent, NUMBERS, target, key=key, mode=mode, batch_size=10)
        assert result_of(outcome) == {"rows": 25, "batches": 3}
    with duckdb.connect(place) as link:
        assert link.execute("SELECT count(*), sum(id) FROM t").fetchall() == [(25, 325)]
    query = "SELECT id, word FROM t WHERE id <= $most"
    source = {"type": "duckdb", "connection": "d.db", "query": query, "params": {"most": 12}}
    outcome = transferred(file.parent, {**source, "key": "id"}, COPIES, batch_size=5)
    assert result_of(outcome) == {"rows": 12, "batches": 3}


def test_values_keep_their_types_between_databases(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "d.db")) as link:
        link.execute(
            "CREATE TABLE t (n DECIMAL(20,4), moment TIMESTAMP, b BLOB, l INTEGER[], j JSON, x DOUBLE)"
        )
        link.execute(
            "INSERT INTO t VALUES (12.3400, '2026-01-02 03:04:05', '\\x00\\xFF'::BLOB, [1, 2],"
            " '{\"a\": 1}', 1.5)"
        )
        link.execute("CREATE TABLE u AS FROM t WHERE false")
    source = {"type": "duckdb", "database": "d.db", "table": "t"}
    target = {"type": "duckdb", "database": "d.db", "table": "u"}
    assert result_of(transferred(tmp_path, source, target))["rows"] == 1
    with duckdb.connect(str(tmp_path / "d.db")) as link:
        assert link.execute("FROM t EXCEPT FROM u").fetchall() == []


def test_failures_of_the_database_have_their_kinds(file: Path) -> None:
    wrong = {"type": "sqlite", "database": "a.db", "query": "SELEC 1"}
    assert error_of(transferred(file.parent, wrong, COPIES))["kind"] == "db_error"
    nowhere = {**COPIES, "table": "nowhere"}
    assert error_of(transferred(file.parent, NUMBERS, nowhere))["kind"] == "db_error"


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_key_of_bytes_is_refused(tmp_path: Path, kind: str) -> None:
    """It would be kept as a text, which no database compares with bytes."""
    texts = ["CREATE TABLE t (id BLOB)", "INSERT INTO t VALUES (CAST('x1' AS BLOB))"]
    if kind == "sqlite":
        sqlite_file(tmp_path / "k.db", *texts)
    else:
        with duckdb.connect(str(tmp_path / "k.db")) as link:
            link.execute("; ".join(texts))
    source = {"type": kind, "database": "k.db", "table": "t", "key": "id"}
    error = error_of(transferred(tmp_path, source, {"type": "file", "path": "out.jsonl"}))
    assert error["kind"] == "config"
    assert "`source.key` is bytes in a row (id)" in error["message"]


@pytest.mark.parametrize("table", ["numbers", "main.Numbers", '"numbers"'])
def test_replace_does_not_empty_its_own_source(file: Path, table: str) -> None:
    (file.parent / "link.db").symlink_to("a.db")
    target = {"type": "sqlite", "database": "link.db", "table": table}
    error = error_of(transferred(file.parent, NUMBERS, target, mode="replace"))
    assert error["kind"] == "config"
    assert "would empty the table that `source` reads" in error["message"]
    assert rows_at(file, "SELECT count(*) FROM numbers") == [(25,)]


def test_a_table_of_the_same_name_in_another_file_is_replaced(file: Path) -> None:
    other = numbers(file.parent / "b.db", 3)
    target = {"type": "sqlite", "database": "b.db", "table": "numbers"}
    assert result_of(transferred(file.parent, NUMBERS, target, mode="replace"))["rows"] == 25
    assert rows_at(other, "SELECT count(*) FROM numbers") == [(25,)]


SPELLED = """{"id": 1, "word": "a"}
{"id": "2", "word": "b"}
{"id": "1", "word": "c"}
{"id": 1, "word": "d"}
{"id": 2, "word": "e"}
"""


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_upsert_takes_the_last_of_a_key_however_it_is_spelled(tmp_path: Path, kind: str) -> None:
    (tmp_path / "a.jsonl").write_text(SPELLED)
    table, read = "CREATE TABLE t (id INTEGER PRIMARY KEY, word TEXT)", "SELECT * FROM t ORDER BY 1"
    if kind == "sqlite":
        sqlite_file(tmp_path / "t.db", table)
    else:
        with duckdb.connect(str(tmp_path / "t.db")) as link:
            link.execute(table)
    target = {"type": kind, "database": "t.db", "table": "t", "key": "id"}
    result_of(transferred(tmp_path, {"type": "file", "path": "a.jsonl"}, target, mode="upsert"))
    if kind == "sqlite":
        found = rows_at(tmp_path / "t.db", read)
    else:
        with duckdb.connect(str(tmp_path / "t.db")) as link:
            found = link.execute(read).fetchall()
    assert found == [(1, "d"), (2, "e")]
