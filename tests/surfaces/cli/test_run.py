"""`anew run` as a user types it."""

from __future__ import annotations

import json
import sqlite3
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from tests.surfaces.cli.terminals import HELLO, Desk, a_desk  # noqa: F401

FAILS = """\
metadata: {name: fails}
workflow:
  - step: break
    tool: {kind: shell, command: "exit 3"}
"""
COUNTED = """\
metadata: {name: counted}
workflow:
  - step: count
    tool: {kind: shell, command: "echo once >> done.txt"}
"""
PROGRAM = "hello.yaml"


@pytest.fixture(autouse=True)
def _a_playbook(desk: Desk) -> None:
    desk.write(PROGRAM, HELLO)


def test_settings_lie_over_the_payload_and_that_over_the_workload(desk: Desk) -> None:
    desk.write("asked.json", '{"who": "file", "x": {"y": 1}}')
    plain = desk.call("run", PROGRAM, "--json")
    payload = desk.call("run", PROGRAM, "--json", "--payload", "@asked.json")
    settings = desk.call("run", PROGRAM, "--json", "--payload", "@asked.json", "--set", "who=me")
    told = [ran.json["result"]["who"] for ran in (plain, payload, settings)]
    assert told == ["world", "file", "me"]


def test_json_is_one_object_and_nothing_else(desk: Desk) -> None:
    ran = desk.call("run", PROGRAM, "--json")
    assert (ran.status, ran.err) == (0, "")
    assert ran.json["status"] == "done"
    assert ran.json["program"] == "hello"
    assert ran.json["steps"]["greet"]["attempts"] == 1
    assert isinstance(ran.json["run"], str)
    assert ran.json["events"] == len(desk.log(ran.json["run"]))


def test_lines_then_lanes_then_a_verdict(desk: Desk) -> None:
    lines = desk.call("run", PROGRAM).out.splitlines()
    assert "greet: started" in lines[1]
    assert lines[-1].startswith("run ")
    assert "Done in" in lines[-1]


def test_quiet_prints_the_last_line_only(desk: Desk) -> None:
    ran = desk.call("run", PROGRAM, "--quiet")
    assert len(ran.out.splitlines()) == 1
    assert "Done in" in ran.out


@pytest.mark.parametrize(
    ("words", "word"), [("actions", "action_completed"), ("events", "run.done")]
)
def test_words_prints_the_log_in_these_words(desk: Desk, words: str, word: str) -> None:
    ran = desk.call("run", PROGRAM, "--words", words)
    assert (ran.status, ran.err) == (0, "")
    assert word in ran.out


def test_labels_find_the_run_again(desk: Desk) -> None:
    run = desk.call("run", PROGRAM, "--json", "--label", "env=dev", "--label", "a=b").json["run"]
    desk.call("run", PROGRAM, "--json")
    assert [row["run"] for row in desk.runs("--label", "env=dev")] == [run]


def test_the_same_key_is_the_same_run_and_executes_nothing_again(desk: Desk) -> None:
    file = desk.write("counted.yaml", COUNTED)
    first = desk.call("run", file, "--json", "--key", "nightly")
    again = desk.call("run", file, "--json", "--key", "nightly")
    other = desk.call("run", file, "--json", "--key", "other")
    assert first.json["run"] == again.json["run"] != other.json["run"]
    assert again.status == 0
    assert desk.done() == ["once", "once"]


def test_a_failed_run_exits_with_1_and_says_what_to_do(desk: Desk) -> None:
    ran = desk.call("run", desk.write("fails.yaml", FAILS))
    assert ran.status == 1
    assert "Failed in step break: exit_code" in ran.out
    run = desk.runs()[0]["run"]
    assert f"`anew retry {run} --from break`" in ran.out


def test_a_failed_run_is_json_too(desk: Desk) -> None:
    ran = desk.call("run", desk.write("fails.yaml", FAILS), "--json")
    assert (ran.status, ran.err) == (1, "")
    assert ran.json["error"]["kind"] == "exit_code"


def test_a_document_comes_from_standard_input(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(HELLO.encode())))
    assert desk.call("run", "-", "--json").json["program"] == "hello"


def test_a_bad_document_is_shown_with_its_place_and_starts_nothing(desk: Desk) -> None:
    file = desk.write("bad.yaml", HELLO.replace("noop", "nop"))
    ran = desk.call("run", file, "--json")
    assert (ran.status, ran.out) == (2, "")
    assert "bad.yaml:5:18: error tool.kind" in ran.err
    assert "Did you mean 'noop'?" in ran.err
    assert not Path(".anew").exists()


@pytest.mark.parametrize("address", ["deep/er/my.db", "sqlite:///deep/er/my.db"])
def test_a_database_is_made_with_its_folder(desk: Desk, address: str) -> None:
    assert desk.call("run", PROGRAM, "--json", "--db", address).status == 0
    assert (desk.folder / "deep/er/my.db").is_file()
    assert not Path(".anew").exists()


def test_the_environment_names_the_database(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANEW_DB", str(desk.folder / "other.db"))
    assert desk.call("run", PROGRAM, "--json").status == 0
    assert len(desk.runs()) == 1
    assert (desk.folder / "other.db").is_file()


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (["missing.yaml"], 2, "cannot read missing.yaml: there is no such file"),
        (["."], 2, "it is a directory"),
        ([PROGRAM, "--set", "who"], 2, "not of the form name=value"),
        ([PROGRAM, "--payload", "[1]"], 2, "--payload must be a JSON object"),
        ([PROGRAM, "--payload", "{"], 2, "--payload is not JSON"),
        ([PROGRAM, "--payload", "@none"], 2, "cannot read none"),
        ([PROGRAM, "--label", "env"], 2, "not of the form name=value"),
        ([PROGRAM, "--key", "child:1"], 2, "Choose another."),
        ([PROGRAM, "--db", "mysql://x"], 2, "Write `sqlite:///path/to/file.db`"),
        ([PROGRAM, "--db", "postgresql://127.0.0.1:1/x"], 4, "PostgreSQL at 127.0.0.1:1/x"),
        ([PROGRAM, "--db", "folder"], 4, "is a folder. Name a file."),
        ([PROGRAM, "--db", PROGRAM], 4, "it is not a SQLite database"),
        ([PROGRAM, "--db", "foreign.db"], 4, "belongs to another program"),
        ([PROGRAM, "--db", f"{PROGRAM}/x.db"], 4, "Choose another place with `--db`"),
    ],
)
def test_what_cannot_be_done_is_one_clear_line(
    desk: Desk, words: list[str], status: int, told: str
) -> None:
    (desk.folder / "folder").mkdir()
    with sqlite3.connect("foreign.db") as foreign:
        foreign.execute("CREATE TABLE theirs (x)")
    foreign.close()
    before = (desk.folder / "foreign.db").read_bytes()
    ran = desk.call("run", *words)
    assert ran.status == status
    assert ran.is_one_clear_line(), ran.err
    assert told in ran.err
    assert not Path(".anew").exists()
    assert (desk.folder / "foreign.db").read_bytes() == before
    assert not (desk.folder / "folder.lock").exists()


def test_a_payload_too_deep_to_log_is_refused(desk: Desk) -> None:
    deep = json.dumps({"x": 1})
    for _ in range(200):
        deep = f'{{"x": {deep}}}'
    ran = desk.call("run", PROGRAM, "--payload", deep)
    assert ran.status == 2
    assert ran.is_one_clear_line(), ran.err


def test_a_database_that_cannot_be_written_says_so(desk: Desk) -> None:
    desk.call("run", PROGRAM, "--json")
    damaged = Path(".anew/anew.db")
    damaged.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    for end in ("-wal", "-shm"):
        Path(f"{damaged}{end}").unlink(missing_ok=True)
    ran = desk.call("run", PROGRAM)
    assert ran.status == 4
    assert ran.is_one_clear_line(), ran.err


def test_a_variable_that_is_set_is_not_missed(desk: Desk) -> None:
    text = 'digraph g { s [shape=Mdiamond]; x [shape=Msquare]; a [prompt="$who"]; s->a->x }'
    flow = desk.write("flow.dot", text)
    assert "nothing in the graph gives $who" in desk.call("run", flow, "--json").err
    assert desk.call("run", flow, "--set", "who=ann", "--json").err == ""


def test_a_document_can_be_run_again_on_the_same_file(desk: Desk) -> None:
    assert [desk.call("run", PROGRAM, "--json").status for _ in range(3)] == [0, 0, 0]
