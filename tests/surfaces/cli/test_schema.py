"""`anew schema`: what editors are given, and the files of the docs that say the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anew.surfaces.cli.main import main
from anew.surfaces.cli.schema import DOCUMENTS

FOLDER = Path(__file__).resolve().parents[3] / "docs/schema"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_file_in_the_docs_is_what_the_command_prints(
    document: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["schema", document]) == 0
    file = FOLDER / f"{document}.schema.json"
    remedy = f"write it again: anew schema {document} > docs/schema/{file.name}"
    assert file.read_text(encoding="utf-8") == capsys.readouterr().out, remedy


@pytest.mark.parametrize("document", DOCUMENTS)
def test_it_is_the_same_on_one_line(document: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", document]) == 0
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) < 1000
    assert main(["schema", document, "--json"]) == 0
    line = capsys.readouterr().out
    assert line.count("\n") == 1
    assert json.loads(line) == json.loads(printed)
    assert json.loads(line)["$schema"] == "http://json-schema.org/draft-07/schema#"


def test_there_is_no_schema_of_graphs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "graph"]) == 2
    assert "playbook" in capsys.readouterr().err


def test_a_tool_that_is_installed_is_known(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("anew.program.kinds.installed_kinds", lambda: frozenset({"dice"}))
    assert main(["schema", "playbook"]) == 0
    assert "dice" in json.loads(capsys.readouterr().out)["definitions"]["kind"]["enum"]
