"""Files as sides of a transfer: formats, and what a crash in the middle of a batch leaves."""

from __future__ import annotations

import errno
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from anew.program.transfer import RowFormat
from anew.tools.inputs import BadInput
from anew.tools.transfer import file_side, row_formats
from anew.tools.transfer.row_formats import rows_of
from tests.tools.sql_calls import error_of, result_of
from tests.tools.transfer_calls import numbers, rows_at, transferred

FORMATS = ["csv", "jsonl", "json"]
NUMBERS = {"type": "sqlite", "database": "a.db", "table": "numbers"}


def ids_in(path: Path) -> list[int]:
    with path.open(encoding="utf-8", newline="") as file:
        return [int(str(row["id"])) for row in rows_of(file, RowFormat(path.suffix[1:]), "")]


@pytest.mark.parametrize("form", FORMATS)
def test_rows_go_to_a_file_and_come_back(tmp_path: Path, form: str) -> None:
    file, out = numbers(tmp_path / "a.db", 25), {"type": "file", "path": f"out.{form}"}
    there = transferred(tmp_path, NUMBERS, out, batch_size=10)
    assert result_of(there) == {"rows": 25, "batches": 3}
    back = {"type": "sqlite", "database": "a.db", "table": "copies"}
    assert result_of(transferred(tmp_path, out, back, batch_size=20)) == {"rows": 25, "batches": 2}
    assert rows_at(file, "SELECT * FROM numbers EXCEPT SELECT * FROM copies") == []


@pytest.mark.parametrize("form", FORMATS)
def test_append_adds_and_replace_starts_anew(tmp_path: Path, form: str) -> None:
    numbers(tmp_path / "a.db", 3)
    out = tmp_path / f"out.{form}"
    for key, mode in enumerate(("append", "append", "replace", "append")):
        target = {"type": "file", "path": out.name}
        transferred(tmp_path, NUMBERS, target, key=str(key), mode=mode, batch_size=2)
    assert ids_in(out) == [1, 2, 3, 1, 2, 3]


@pytest.mark.parametrize(
    ("form", "dies"),
    [("csv", "half"), ("jsonl", "half"), ("json", "half"), ("json", "before"), ("csv", "after")],
)
def test_a_half_written_batch_is_cut_off(
    tmp_path: Path, form: str, dies: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process ends around the second batch: its rows are there once, and no half line."""
    numbers(tmp_path / "a.db", 25)
    out = tmp_path / f"out.{form}"
    target = {"type": "file", "path": out.name}
    text_of, note = file_side.FileWriter._text, file_side.FileWriter._note
    texts, notes = 0, 0

    def text(self: Any, *args: Any, **more: Any) -> str:
        nonlocal texts
        texts += 1
        made = text_of(self, *args, **more)
        return made[: len(made) // 2] if texts == 2 and dies == "half" else made

    def noted(self: Any, *args: Any) -> None:
        nonlocal notes
        notes += 1
        if notes == 3 and dies in ("half", "after"):
            raise KeyboardInterrupt
        note(self, *args)
        if notes == 2 and dies == "before":
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(file_side.FileWriter, "_text", text)
        patch.setattr(file_side.FileWriter, "_note", noted)
        with pytest.raises(KeyboardInterrupt):
            transferred(tmp_path, NUMBERS, target, batch_size=10)
    assert result_of(transferred(tmp_path, NUMBERS, target, batch_size=10))["rows"] == 25
    assert sorted(ids_in(out)) == list(range(1, 26))


def test_what_others_wrote_after_a_transfer_stays(tmp_path: Path) -> None:
    numbers(tmp_path / "a.db", 2)
    out = tmp_path / "out.csv"
    target = {"type": "file", "path": "out.csv"}
    transferred(tmp_path, NUMBERS, target)
    with out.open("a") as file:
        file.write("77,by hand\n")
    transferred(tmp_path, NUMBERS, target, key="2")
    assert ids_in(out) == [1, 2, 77, 1, 2]


def test_no_rows_still_make_a_json_list(tmp_path: Path) -> None:
    numbers(tmp_path / "a.db", 1)
    nothing = {"type": "sqlite", "database": "a.db", "query": "SELECT 1 AS id WHERE 0"}
    transferred(tmp_path, nothing, {"type": "file", "path": "out.json"})
    assert json.loads((tmp_path / "out.json").read_text()) == []


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.csv", "id,id2\n1,2,3\n", "line 2 has 3 fields, the header 2"),
        ("a.jsonl", '{"id": 1}\n{\n', "line 2 cannot be read as JSON"),
        ("a.jsonl", "[1]\n", "row 1 is list, not an object"),
        ("a.json", '[{"id": 1}, {"id"', "row 2 of the list cannot be read as JSON"),
        ("a.txt", "", "the name 'a.txt' does not say it"),
    ],
)
def test_a_file_that_cannot_be_read_says_where(
    tmp_path: Path, name: str, text: str, words: str
) -> None:
    (tmp_path / name).write_text(text)
    error = error_of(transferred(tmp_path, {"type": "file", "path": name}, {**_OUT}))
    assert error["kind"] == "config"
    assert words in error["message"]


_OUT = {"type": "file", "path": "out.jsonl"}


def test_a_file_that_is_not_there_is_a_reference(tmp_path: Path) -> None:
    missing = error_of(transferred(tmp_path, {"type": "file", "path": "no.csv"}, _OUT))
    assert missing["kind"] == "reference"
    nowhere = {"type": "file", "path": "no/out.csv"}
    (tmp_path / "a.csv").write_text("id\n1\n")
    there = transferred(tmp_path, {"type": "file", "path": "a.csv"}, nowhere)
    assert error_of(there)["kind"] == "reference"


def test_a_csv_file_gets_no_columns_it_does_not_have(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": 1}\n{"id": 2, "more": 3}\n')
    target = {"type": "file", "path": "out.csv"}
    source = {"type": "file", "path": "a.jsonl"}
    error = error_of(transferred(tmp_path, source, target, batch_size=1))
    assert "a row has the column 'more', which the file does not have (id)" in error["message"]


def test_a_json_list_is_read_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_formats, "_PIECE_CHARS", 7)
    rows = [{"id": number, "text": "][},{ü\\"} for number in range(50)]
    file = io.StringIO(json.dumps(rows, indent=1))
    found = rows_of(file, RowFormat.JSON, "")
    assert next(found) == rows[0]
    assert file.tell() < 200
    assert [rows[0], *found] == rows


def test_rows_below_a_path_of_a_json_file_are_read() -> None:
    file = io.StringIO('{"data": {"items": [{"id": 1}, {"id": 2}]}}')
    assert list(rows_of(file, RowFormat.JSON, "data.items")) == [{"id": 1}, {"id": 2}]
    with pytest.raises(BadInput, match="where the answer has nothing"):
        list(rows_of(io.StringIO("{}"), RowFormat.JSON, "data.items"))


def test_an_empty_field_of_csv_is_null() -> None:
    rows = rows_of(io.StringIO('\ufeffid,"a ""b"""\r\n1,\r\n2,"x, y"\r\n'), RowFormat.CSV, "")
    assert list(rows) == [{"id": "1", 'a "b"': None}, {"id": "2", 'a "b"': "x, y"}]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("out.csv", "id,word\n7,n7"),
        ("out.csv", "id,word\r\n7,n7\r\n"),
        ("out.csv", "id,word"),
        ("out.jsonl", '{"id": 7}'),
        ("out.json", "[" + " " * 80 + "]"),
        ("out.json", '[{"id": 7}' + " " * 5000 + "]" + "\n" * 5000),
    ],
)
def test_rows_are_added_to_a_file_however_it_ends(tmp_path: Path, name: str, text: str) -> None:
    numbers(tmp_path / "a.db", 2)
    out = tmp_path / name
    out.write_bytes(text.encode())
    result_of(transferred(tmp_path, NUMBERS, {"type": "file", "path": name}, batch_size=1))
    assert ids_in(out) == ([7, 1, 2] if "7" in text else [1, 2])
    if name.endswith(".json"):
        json.loads(out.read_text())


@pytest.mark.parametrize("text", ["]", " ", "{}", '"["'])
def test_what_is_no_json_list_gets_no_rows(tmp_path: Path, text: str) -> None:
    numbers(tmp_path / "a.db", 2)
    (tmp_path / "out.json").write_text(text)
    error = error_of(transferred(tmp_path, NUMBERS, {"type": "file", "path": "out.json"}))
    assert "out.json is not a JSON list" in error["message"]
    assert (tmp_path / "out.json").read_text() == text


def test_only_plain_files_are_sides(tmp_path: Path) -> None:
    """Opening a pipe would wait for ever."""
    os.mkfifo(tmp_path / "pipe.jsonl")
    numbers(tmp_path / "a.db", 2)
    pipe = {"type": "file", "path": "pipe.jsonl"}
    for outcome in (transferred(tmp_path, pipe, _OUT), transferred(tmp_path, NUMBERS, pipe)):
        error = error_of(outcome)
        assert error["kind"] == "config"
        assert "it is not a file" in error["message"]


@pytest.mark.parametrize("mode", ["append", "replace"])
@pytest.mark.parametrize("name", ["a.csv", "symbolic.csv", "hard.csv"])
def test_a_file_is_not_copied_onto_itself(tmp_path: Path, name: str, mode: str) -> None:
    file = tmp_path / "a.csv"
    file.write_text("id\n1\n")
    (tmp_path / "symbolic.csv").symlink_to("a.csv")
    os.link(file, tmp_path / "hard.csv")
    source, target = {"type": "file", "path": "a.csv"}, {"type": "file", "path": name}
    error = error_of(transferred(tmp_path, source, target, mode=mode))
    assert error["kind"] == "config"
    assert "the same file" in error["message"]
    assert file.read_text() == "id\n1\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", '{"id": 1}\n{"id": "' + "x" * 100 + '"}\n'),
        ("a.csv", "id\n1\n" + "x" * 101),
        ("a.csv", "id,word\n1,2\n" + '"x\n",' * 40),
        ("a.csv", "x" * 101),
    ],
)
def test_a_row_has_a_limit(
    tmp_path: Path, name: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_formats, "TRANSFER_ROW_CHARS_MAX", 100)
    (tmp_path / name).write_text(text)
    error = error_of(transferred(tmp_path, {"type": "file", "path": name}, _OUT))
    assert error["kind"] == "limit_exceeded"
    assert "longer than 100 characters (TRANSFER_ROW_CHARS_MAX)" in error["message"]


def test_many_short_rows_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_formats, "TRANSFER_ROW_CHARS_MAX", 10)
    assert len(list(rows_of(io.StringIO("id\n" + "1\n" * 50), RowFormat.CSV, ""))) == 50
    assert len(list(rows_of(io.StringIO('{"a": 1}\n' * 50), RowFormat.JSON_LINES, ""))) == 50


@pytest.mark.parametrize("change", ["shorter", "longer", "other", "new"])
def test_a_file_that_was_rewritten_after_a_crash_is_left_alone(
    tmp_path: Path, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers(tmp_path / "a.db", 25)
    out, target = tmp_path / "out.csv", {"type": "file", "path": "out.csv"}
    out.write_text("id,word\n0,zero\n")

    with monkeypatch.context() as patch:
        patch.setattr(file_side, "write_whole", _dying(file_side.write_whole, at=3))
        with pytest.raises(KeyboardInterrupt):
            transferred(tmp_path, NUMBERS, target, batch_size=10)
    found = out.read_text()
    if change == "new":
        out.rename(tmp_path / "old.csv")
    text = {
        "shorter": "id,word\n",
        "longer": f"{found}77,by hand\n",
        "other": found.replace("zero", "null"),
    }.get(change, found)
    out.write_text(text)
    error = error_of(transferred(tmp_path, NUMBERS, target, batch_size=10))
    assert "was changed after a transfer was interrupted" in error["message"]
    assert out.read_text() == text
    anew = transferred(tmp_path, NUMBERS, target, key="2", mode="replace")
    assert result_of(anew)["rows"] == 25


def _dying(write: Any, *, at: int) -> Any:
    """The process ends at this write of the journal."""
    calls = 0

    def written(*args: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == at:
            raise KeyboardInterrupt
        write(*args)

    return written


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EMFILE, errno.EIO])
def test_what_the_machine_lacks_is_not_the_authors_fault(
    tmp_path: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes to the runtime, which knows what may be had later."""
    numbers(tmp_path / "a.db", 2)

    def lacking(*_: Any) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(file_side, "write_whole", lacking)
    with pytest.raises(OSError, match=os.strerror(number)):
        transferred(tmp_path, NUMBERS, _OUT)


def test_a_folder_in_place_of_a_file_is_the_authors_fault(tmp_path: Path) -> None:
    numbers(tmp_path / "a.db", 2)
    (tmp_path / "out.jsonl").mkdir()
    assert error_of(transferred(tmp_path, NUMBERS, _OUT))["kind"] == "config"
