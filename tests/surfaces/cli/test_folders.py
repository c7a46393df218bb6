"""Whole folders: what `check`, `register` and `migrate` find in them, do and say."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from anew.surfaces.cli import folders
from anew.surfaces.cli.folders import SkippedFiles, document_in, files_in
from tests.surfaces.cli.terminals import HELLO, Desk, a_desk  # noqa: F401

BAD = HELLO.replace("hello", "bad") + "    next: [nowhere]\n"
GRAPH = (
    'digraph g { graph [goal="x"]; start [shape=Mdiamond]; done [shape=Msquare]; start -> done }'
)


def fill(desk: Desk) -> None:
    """A folder with a document of each sort, and much that is none."""
    desk.write("all/hello.yaml", HELLO)
    desk.write("all/deep/er/bad.yml", BAD)
    desk.write("all/deep/graph.dot", GRAPH)
    desk.write("all/values.yaml", "replicas: 3\n")
    desk.write("all/package.json", '{"name": "x"}\n')
    desk.write("all/readme.md", "workflow:\n")
    desk.write("all/.git/hidden.yaml", BAD)
    desk.write("all/node_modules/x.yaml", BAD)


def names(*paths: str) -> list[str]:
    return [file.path for file in files_in(paths)]


# --- which files ---------------------------------------------------------------------------------


def test_a_loop_of_links_is_not_entered_and_a_linked_file_is_read_once(desk: Desk) -> None:
    desk.write("all/hello.yaml", HELLO)
    Path("all/again").symlink_to(Path("all").resolve())
    Path("all/same.yaml").symlink_to(Path("all/hello.yaml").resolve())
    Path("all/gone.yaml").symlink_to("nothing")
    os.mkfifo("all/pipe.yaml")
    assert names("all", "all/hello.yaml") == ["all/hello.yaml"]


def test_a_folder_below_others_is_reached_however_deep(desk: Desk) -> None:
    deep = "/".join(["d"] * 500)
    desk.write(f"{deep}/hello.yaml", HELLO)
    assert names("d") == [f"{deep}/hello.yaml"]


def test_too_many_files_are_answered_in_time(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(desk)
    monkeypatch.setattr(folders, "FOLDER_FILES_MAX", 2)
    answer = desk.call("check", "all")
    assert (answer.status, answer.is_one_clear_line()) == (2, True)


@pytest.mark.parametrize(
    ("name", "text", "is_document"),
    [
        ("a.yaml", "workflow:\n- step: a\n", True),
        ("a.yaml", "kind: Playbook\n", True),
        ("a.yaml", "kind: Subscription\n", True),
        ("a.yaml", "{workflow: [{step: a}]}\n", True),
        ("a.yaml", "{metadata: {name: x}, workflow: []}\n", True),
        ("a.json", '{\n  "workflow": []\n}\n', True),
        ("a.yaml", '# x\n"workflow": [\n', True),
        ("a.yaml", "kind: Deployment\nspec:\n  workflow: x\n", False),
        ("a.yaml", "on:\n  workflow_dispatch:\n", False),
        ("a.yaml", "", False),
        ("a.dot", GRAPH, True),
        ("a.dot", "\x00\x01 a template of letters", False),
    ],
)
def test_a_document_is_known_by_its_text(
    desk: Desk, name: str, text: str, is_document: bool
) -> None:
    desk.write(f"all/{name}", text)
    (file,) = files_in(["all"])
    skipped = SkippedFiles()
    assert (document_in(file, skipped) is not None) is is_document
    assert skipped.count == (not is_document)


def test_an_unreadable_folder_is_a_finding(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.write("all/hello.yaml", HELLO)
    desk.write("all/closed/hello.yaml", HELLO)
    scan = os.scandir

    def refusing(path: str) -> object:
        if path.endswith("closed"):
            raise PermissionError(13, "Permission denied")
        return scan(path)

    monkeypatch.setattr(os, "scandir", refusing)
    answer = desk.call("check", "all")
    assert answer.status == 2
    assert "file.unreadable: cannot read all/closed: permission denied" in answer.out
    assert "2 documents: 1 accepted, 1 refused" in answer.out


# --- check ---------------------------------------------------------------------------------------


def test_a_check_of_a_folder_prints_errors_and_counts_the_rest(desk: Desk) -> None:
    fill(desk)
    answer = desk.call("check", "all")
    assert answer.status == 2
    assert "all/deep/er/bad.yml:6:12: error arc.unknown-step" in answer.out
    assert "3 documents: 2 accepted, 1 refused; 2 other files skipped\n" in answer.out
    assert "1 in 1 document" in answer.out


def test_a_check_of_a_folder_without_errors_succeeds(desk: Desk) -> None:
    desk.write("all/hello.yaml", HELLO.replace("kind: noop,", "kind: noop, zzz: 1,"))
    answer = desk.call("check", "all")
    assert answer.status == 0
    assert "all/hello.yaml:" not in answer.out
    assert "input.unknown" in answer.out
    loud = desk.call("check", "all", "--fail-on", "warning")
    assert loud.status == 2
    assert "all/hello.yaml:5:24: warning input.unknown" in loud.out


def test_a_check_of_a_folder_can_be_strict(desk: Desk) -> None:
    desk.write("all/older.yaml", HELLO + "    next: greet\n")
    assert desk.call("check", "all").status == 0
    answer = desk.call("check", "all", "--strict")
    assert answer.status == 2
    assert "warning strict.next" in answer.out


def test_a_check_of_a_folder_in_json_has_the_findings_and_the_counts(desk: Desk) -> None:
    fill(desk)
    answer = desk.call("check", "all", "--json").json
    assert (answer["documents"], answer["accepted"], answer["refused"]) == (3, 2, 1)
    assert answer["skipped"] == 2
    (rule,) = (row for row in answer["rules"] if row["severity"] == "error")
    assert (rule["rule"], rule["findings"], rule["documents"]) == ("arc.unknown-step", 1, 1)
    assert any(row["file"] == "all/deep/er/bad.yml" for row in answer["findings"])


def test_a_dialect_is_meant_for_the_graphs_of_a_folder(desk: Desk) -> None:
    desk.write("all/hello.yaml", HELLO)
    desk.write("all/graph.dot", GRAPH)
    assert desk.call("check", "all", "--dialect", "spec").status == 0


def test_a_folder_cannot_be_expanded(desk: Desk) -> None:
    desk.write("all/hello.yaml", HELLO)
    assert desk.call("check", "all", "--expand").status == 2


# --- register ------------------------------------------------------------------------------------


def test_a_folder_is_registered_once(desk: Desk) -> None:
    fill(desk)
    first = desk.call("register", "all")
    assert first.status == 2
    assert "registered  hello version 1 (all/hello.yaml)\n" in first.out
    assert "refused     all/deep/er/bad.yml: 1 error\n" in first.out
    assert "3 documents: 2 registered, 0 unchanged, 1 refused; 2 other files skipped" in first.out
    assert "arc.unknown-step" in first.err
    second = desk.call("register", "all")
    assert "unchanged   hello version 1 (all/hello.yaml)\n" in second.out
    assert "0 registered, 2 unchanged, 1 refused" in second.out
    desk.write("all/hello.yaml", HELLO.replace("world", "moon"))
    rows = desk.call("register", "all", "--json").json
    assert rows["skipped"] == 2
    (row,) = (row for row in rows["documents"] if row["name"] == "hello")
    assert (row["outcome"], row["version"], row["reason"]) == ("registered", 2, None)


def test_two_documents_of_one_name_do_not_become_versions_of_each_other(desk: Desk) -> None:
    desk.write("all/a.yaml", HELLO)
    desk.write("all/b.yaml", HELLO)
    answer = desk.call("register", "all")
    assert (answer.status, "copy        all/b.yaml: of all/a.yaml" in answer.out) == (0, True)
    desk.write("all/b.yaml", HELLO.replace("world", "moon"))
    answer = desk.call("register", "all")
    assert answer.status == 2
    assert "refused     all/b.yaml: its name 'hello' is that of all/a.yaml" in answer.out
    assert "unchanged   hello version 1 (all/a.yaml)\n" in answer.out


# --- migrate -------------------------------------------------------------------------------------


def test_a_folder_is_migrated_only_when_asked(desk: Desk) -> None:
    fill(desk)
    older = HELLO.replace("hello", "older") + "    next: greet\n"
    desk.write("all/older.yaml", older)
    told = desk.call("migrate", "all")
    assert told.status == 2
    for line in (
        "canonical  all/hello.yaml\n",
        "rewritten  all/older.yaml\n",
        "graph      all/deep/graph.dot\n",
        "refused    all/deep/er/bad.yml: 1 error\n",
        "Nothing was written: add --write.\n",
    ):
        assert line in told.out
    assert "arc.unknown-step" in told.err
    assert Path("all/older.yaml").read_text() == older
    written = desk.call("migrate", "all", "--write")
    assert "Nothing was written" not in written.out
    assert "arcs:" in Path("all/older.yaml").read_text()
    assert Path("all/hello.yaml").read_text() == HELLO
    assert Path("all/deep/er/bad.yml").read_text() == BAD
    assert "canonical  all/older.yaml\n" in desk.call("migrate", "all").out


def test_the_result_of_a_folder_is_not_one_file(desk: Desk) -> None:
    fill(desk)
    assert desk.call("migrate", "all", "-o", "x.yaml").status == 2
