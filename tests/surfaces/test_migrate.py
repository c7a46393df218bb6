"""`anew migrate`: where the rewritten document goes."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from anew.surfaces.cli.main import main

OLD = """\
metadata: {name: old}
workflow:
  - step: start  # the only one
    type: http
    method: GET
    url: "http://x"
    retry: {max_attempts: 3, initial_delay: 1.0}
"""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.yaml").write_text(OLD)


def test_the_result_goes_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrate", "old.yaml"]) == 0
    assert "policy:" in capsys.readouterr().out
    assert Path("old.yaml").read_text() == OLD


def test_the_result_passes_the_strict_check(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrate", "old.yaml", "-o", "new.yaml"]) == 0
    assert capsys.readouterr().out == ""
    assert main(["check", "--strict", "new.yaml"]) == 0


def test_write_replaces_the_file_and_keeps_its_mode(capsys: pytest.CaptureFixture[str]) -> None:
    Path("old.yaml").chmod(0o640)
    main(["migrate", "old.yaml"])
    expected = capsys.readouterr().out
    assert main(["migrate", "--write", "old.yaml"]) == 0
    assert Path("old.yaml").read_text() == expected
    assert stat.S_IMODE(Path("old.yaml").stat().st_mode) == 0o640
    assert [path.name for path in Path().iterdir()] == ["old.yaml"]


def test_a_document_with_errors_is_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    broken = OLD.replace("workflow:", "workflow: [")
    Path("old.yaml").write_text(broken)
    assert main(["migrate", "--write", "old.yaml"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "old.yaml:" in captured.err
    assert Path("old.yaml").read_text() == broken


def test_standard_input_cannot_be_rewritten_in_place(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrate", "--write", "-"]) == 2
    assert "--write needs a file" in capsys.readouterr().err


def test_a_target_that_cannot_be_written_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrate", "old.yaml", "-o", "no/such/folder.yaml"]) == 2
    assert capsys.readouterr().err.startswith("anew: cannot write no/such/folder.yaml: ")


def test_what_check_warns_of_is_said_before_it_is_rewritten(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("old.yaml").write_text("workflow: [{step: a, tool: http, url: u, retry: 5, headrs: {}}]\n")
    assert main(["migrate", "old.yaml"]) == 0
    assert "headers" in capsys.readouterr().err
