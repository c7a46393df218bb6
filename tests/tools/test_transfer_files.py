"""Files as sides of a transfer: formats, and what a crash in the middle of a batch leaves."""

from __future__ import annotations

import io
import json
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
