"""`anew check`: what people and programs read about a document."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from anew.surfaces.cli.main import main

GOOD = """\
metadata: {name: good}
workflow:
  - step: start
    tool: {kind: http, method: GET, url: "http://x"}
    next:
      arcs:
        - step: finish
  - step: finish
    tool: {kind: http, method: GET, url: "http://x"}
"""

BAD = GOOD.replace("- step: finish\n  - step", "- step: finsh\n  - step")

ROW_KEYS = {"severity", "rule", "message", "file", "line", "column", "suggestion"}


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("good.yaml").write_text(GOOD)
    Path("bad.yaml").write_text(BAD)


def test_a_good_document_is_described_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "good.yaml"]) == 0
    captured = capsys.readouterr()
    assert captured.out == "ok: good.yaml (2 steps, 2 tasks, dialect policy)\n"
    assert captured.err == ""


def test_a_finding_shows_the_line_with_a_caret_and_the_remedy(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["check", "bad.yaml"]) == 2
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("bad.yaml:7:17: error ")
    assert lines[1] == " 7 |         - step: finsh"
    assert lines[2] == "   |                 ^"
    assert lines[3].startswith("  help: ")
    assert "'finish'" in lines[3]


def test_the_last_line_counts_errors_and_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "bad.yaml", "good.yaml"]) == 2
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].endswith("in 1 file")
    assert lines[-1].startswith("1 error")
    assert lines[-2] == "ok: good.yaml (2 steps, 2 tasks, dialect policy)"


def test_json_has_one_object_per_finding_and_nothing_else(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["check", "--json", "bad.yaml"]) == 2
    captured = capsys.readouterr()
    rows = json.loads(captured.out)
    assert captured.err == ""
    assert all(set(row) == ROW_KEYS for row in rows)
    errors = [row for row in rows if row["severity"] == "error"]
    assert [(row["file"], row["line"], row["column"]) for row in errors] == [("bad.yaml", 7, 17)]


def test_json_of_a_good_document_is_an_empty_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--json", "good.yaml"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_strict_refuses_what_is_accepted_but_not_canonical(
    capsys: pytest.CaptureFixture[str],
) -> None:
    loose = GOOD.replace("\n      arcs:\n        - step: finish", " finish")
    Path("loose.yaml").write_text(loose)
    assert main(["check", "loose.yaml"]) == 0
    assert main(["check", "--strict", "good.yaml"]) == 0
    capsys.readouterr()
    assert main(["check", "--strict", "loose.yaml"]) == 2
    out = capsys.readouterr().out
    assert "loose.yaml:5:" in out
    assert "warning" in out


def test_standard_input_is_a_document(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(BAD.encode())))
    assert main(["check", "-"]) == 2
    assert capsys.readouterr().out.startswith("<stdin>:7:17: error ")


def test_a_closed_standard_input_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["check", "-"]) == 2
    assert capsys.readouterr().err == "anew: cannot read <stdin>: it is closed\n"


@pytest.mark.parametrize(
    ("path", "reason"),
    [("missing.yaml", "there is no such file"), ("a\0b", "null byte")],
)
def test_a_document_that_cannot_be_read_does_not_keep_others_from_being_checked(
    path: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", path, "good.yaml"]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("anew: cannot read ")
    assert reason in captured.err
    assert captured.out.startswith("ok: good.yaml")


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("missing.yaml", "file.unreadable"),
    ],
)
def test_json_has_a_row_for_a_document_that_cannot_be_checked(
    path: str, rule: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--json", path, "good.yaml"]) == 2
    captured = capsys.readouterr()
    (row,) = json.loads(captured.out)
    assert set(row) == ROW_KEYS
    assert (row["severity"], row["rule"], row["file"]) == ("error", rule, path)
    assert (row["line"], row["column"]) == (1, 1)
    assert row["suggestion"]
    assert captured.err == ""


def test_notes_are_shown_and_counted_and_refuse_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("asks.yaml").write_text(GOOD.replace('"http://x"', '"{{ api_url }}"'))
    assert main(["check", "asks.yaml"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "info name.unprovided" in lines[0]
    assert lines[-2].startswith("ok: asks.yaml")
    assert lines[-1] == "1 note in 1 file"


def test_a_binary_file_is_answered_with_a_place(capsys: pytest.CaptureFixture[str]) -> None:
    Path("image.yaml").write_bytes(bytes(range(256)) * 20)
    assert main(["check", "--json", "image.yaml"]) == 2
    rows = json.loads(capsys.readouterr().out)
    assert rows
    assert all(row["file"] == "image.yaml" and row["line"] >= 1 for row in rows)


def test_warnings_fail_the_check_where_that_is_asked(capsys: pytest.CaptureFixture[str]) -> None:
    Path("typo.yaml").write_text("workflow: [{step: a, tool: {kind: noop, rslt: 1}}]\n")
    assert main(["check", "typo.yaml"]) == 0
    assert main(["check", "--fail-on", "warning", "typo.yaml"]) == 2
    assert "input.unknown" in capsys.readouterr().out
