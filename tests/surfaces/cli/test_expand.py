"""`anew check --expand`: the canonical program of a document, for people, files and programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anew.languages.playbook import load_playbook
from anew.surfaces.cli.main import main

FLOW = """\
workflow:
  - step: a
    tool: {kind: http, url: "http://x", retry: 4}
    next: b
  - step: b
    tool: {kind: noop}
"""
GRAPH = "digraph g {\n  s [shape=Mdiamond]\n  a [prompt=x]\n  e [shape=Msquare]\n  s -> a -> e\n}\n"


@pytest.fixture
def flow(tmp_path: Path) -> str:
    path = tmp_path / "flow.yaml"
    path.write_text(FLOW)
    return str(path)


def test_the_expansion_is_a_document_and_nothing_else(flow, capsys) -> None:
    assert main(["check", "--expand", flow]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    program = load_playbook(printed.out, "again.yaml").program
    assert program is not None
    assert program.entry == "a"
    assert "attempts: 4 " in printed.out
    assert "# rule 1, flow.yaml:3" in printed.out


def test_it_is_the_same_every_time(flow, capsys) -> None:
    main(["check", "--expand", flow])
    first = capsys.readouterr().out
    main(["check", "--expand", flow])
    assert capsys.readouterr().out == first


def test_json_has_the_document_its_places_and_its_notes(tmp_path, capsys) -> None:
    path = tmp_path / "g.dot"
    path.write_text(GRAPH)
    assert main(["check", "--expand", "--json", str(path)]) == 0
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert list(found) == [
        "name",
        "language",
        "dialect",
        "document",
        "places",
        "remarks",
        "notes",
    ]
    assert (found["language"], found["dialect"]) == ("dot", "spec")
    assert {"path": "/workflow/1", "file": str(path), "line": 3, "column": 3} in found["places"]
    assert [note["rule"] for note in found["notes"]] == ["migrate.differs"]
    assert "migrate.differs" in printed.err


def test_errors_go_to_standard_error_and_nothing_is_printed(tmp_path, capsys) -> None:
    path = tmp_path / "flow.yaml"
    path.write_text("workflow: [{step: a, tool: {kind: noop}, next: [b]}]")
    assert main(["check", "--expand", str(path)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "arc.unknown-step" in printed.err


def test_strict_findings_refuse_and_still_expand(flow, capsys) -> None:
    assert main(["check", "--expand", "--strict", flow]) == 2
    printed = capsys.readouterr()
    assert "strict.retry" in printed.err
    assert printed.out.startswith("# What flow.yaml compiles to.")


def test_one_document_at_a_time(flow, capsys) -> None:
    assert main(["check", "--expand", flow, flow]) == 2
    assert "--expand takes one FILE" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--expand"], ["--expand", "--json"]])
def test_a_missing_file_is_told(words, capsys) -> None:
    assert main(["check", *words, "no-such.yaml"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "there is no such file" in printed.err
