"""`anew replay`: equal logs exit 0, the first difference is shown with its place."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from anew.engine import events as e
from tests.surfaces.cli.conftest import Told
from tests.surfaces.cli.recorded import DOWN, RETRIES, RUN, Shelf, played

Anew = Callable[..., Told]
PAGE = {"page": [{**DOWN, "times": 2}, {"result": {"ok": True}}]}


def put(shelf: Shelf, kind: type[e.Event] | None = None, **wrong: object) -> None:
    simulation = played(RETRIES, outcomes=PAGE)
    if kind is not None:
        index = next(n for n, event in enumerate(simulation.log) if type(event) is kind)
        simulation.log[index] = replace(simulation.log[index], **wrong)
    # Logs on the shelf are of a version that did not write the dialect.
    shelf.put(simulation)


def test_an_equal_log_is_told_in_one_line(shelf: Shelf, anew: Anew) -> None:
    put(shelf)
    said = anew("replay", "last")
    assert (said.status, said.lines) == (
        0,
        [f"{RUN}: 21 events, 9 decisions derived again, all equal"],
    )


def test_the_first_difference_is_shown_field_by_field_with_its_place(
    shelf: Shelf, anew: Anew
) -> None:
    put(shelf, e.TaskRetryScheduled, delay_seconds=5.0)
    said = anew("replay", "last")
    assert said.status == 1
    assert said.lines == [
        f"{RUN}: differs at event 7, after 5 events, 2 decisions",
        "  log     task.retry_scheduled of fetch, visit 1, task page, attempt 1",
        "  engine  task.retry_scheduled of fetch, visit 1, task page, attempt 1",
        "    field          log  engine",
        "    delay_seconds  5.0  2.0",
        "  flow.yaml:11: rule 1 of page",
    ]


def test_the_json_object_has_both_events(shelf: Shelf, anew: Anew) -> None:
    put(shelf, e.TaskRetryScheduled, delay_seconds=5.0)
    told = json.loads(anew("replay", "last", "--json").out)
    assert (told["run"], told["is_equal"], told["events"]) == (str(RUN), False, 5)
    difference = told["difference"]
    assert difference["fields"] == [{"field": "delay_seconds", "log": 5.0, "engine": 2.0}]
    assert difference["places"] == [{"what": "rule 1 of page", "file": "flow.yaml", "line": 11}]
    assert difference["log"]["data"]["delay_seconds"] == 5.0
    assert difference["engine"]["data"]["delay_seconds"] == 2.0


def test_another_program_tells_the_first_decision_that_would_differ(
    shelf: Shelf, anew: Anew, tmp_path: Path
) -> None:
    put(shelf)
    same, other = tmp_path / "same.yaml", tmp_path / "other.yaml"
    same.write_text(f"# Another file.\n{RETRIES}")
    other.write_text(RETRIES.replace("outcome.status == 'error'", "_attempt < 2"))
    assert anew("replay", "last", "--program", str(same)).status == 0
    said = anew("replay", "last", "--program", str(other))
    assert said.status == 1
    assert said.lines[0] == f"{RUN}: differs at event 9, after 8 events, 4 decisions"
    assert '    directive  "retry"  "continue"' in said.lines


def test_an_exported_log_is_derived_with_its_document(
    shelf: Shelf, anew: Anew, tmp_path: Path
) -> None:
    put(shelf)
    log, document = tmp_path / "log.jsonl", tmp_path / "flow.yaml"
    log.write_text(anew("events", "last", "--json").out)
    document.write_text(RETRIES)
    assert anew("replay", "--file", str(log), "--program", str(document)).status == 0
    log.write_text(log.read_text().replace('"delay_seconds": 2.0', '"delay_seconds": 2.1'))
    assert anew("replay", "--file", str(log), "--program", str(document)).status == 1


def test_what_an_equal_log_of_a_file_does_not_prove_is_told(
    shelf: Shelf, anew: Anew, tmp_path: Path
) -> None:
    put(shelf)
    log, document = tmp_path / "log.jsonl", tmp_path / "flow.yaml"
    rows = anew("events", "last", "--json").lines
    document.write_text(RETRIES)
    words = ("replay", "--file", str(log), "--program", str(document))
    log.write_text("\n".join(rows))
    whole = json.loads(anew(*words, "--json").out)
    assert (whole["is_equal"], whole["ended"], whole["digest_is_same"]) == (True, True, True)
    log.write_text("\n".join(rows[:3]))
    assert "  the log has no end of the run" in anew(*words).out
    cut = json.loads(anew(*words, "--json").out)
    assert (cut["is_equal"], cut["ended"]) == (True, False)
    document.write_text(f"# Another one.\n{RETRIES}")
    assert "it was derived with" in anew(*words).lines[-1]
    assert json.loads(anew(*words, "--json").out)["digest_is_same"] is False


def test_a_log_can_come_from_standard_input(
    shelf: Shelf, anew: Anew, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(shelf)
    document = tmp_path / "flow.yaml"
    document.write_text(RETRIES)
    rows = anew("events", "last", "--json").out
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(rows.encode())))
    said = anew("replay", "--file", "-", "--program", str(document))
    assert (said.status, said.lines[0][:7]) == (0, "<stdin>")


WORKLOAD, RULE = '"workload": {}', '"rule": 1'


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (WORKLOAD, f'"workload": {"[" * 20_000}{"]" * 20_000}'),
        (WORKLOAD, f'"workload": {{"a": {"[" * 400}{"]" * 400}}}'),
        (WORKLOAD, '"workload": {"$secret:not json": 1}'),
        (RULE, '"rule": -1'),
        (RULE, '"rule": -7'),
    ],
)
def test_a_damaged_log_of_a_file_is_no_crash(
    shelf: Shelf, anew: Anew, tmp_path: Path, old: str, new: str
) -> None:
    put(shelf)
    log, document = tmp_path / "log.jsonl", tmp_path / "flow.yaml"
    rows = anew("events", "last", "--json").out
    assert old in rows
    log.write_text(rows.replace(old, new))
    document.write_text(RETRIES)
    for words in ((), ("--json",)):
        said = anew("replay", "--file", str(log), "--program", str(document), *words)
        # Whatever a workload holds comes from outside; one so deep cannot have come.
        expected = {WORKLOAD: 2 if "[[" in new else 0, RULE: 1}[old]
        assert said.status == expected, said.err
        assert (said.out == "") == (expected == 2), said.err


def test_several_runs_are_told_one_after_the_other(shelf: Shelf, anew: Anew) -> None:
    put(shelf, e.TaskRetryScheduled, delay_seconds=5.0)
    shelf.put(played(RETRIES), run=RUN + 1)
    said = anew("replay", str(RUN), str(RUN + 1), "--json")
    assert said.status == 1
    assert [json.loads(line)["is_equal"] for line in said.lines] == [False, True]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "name the runs to derive again"),
        (["last", "--file", "x"], "name the runs to derive again"),
        (["--file", "none.jsonl"], "needs its document: add --program FILE"),
        (["--file", "none.jsonl", "--program", "flow.yaml"], "cannot read none.jsonl"),
        (["--file", "flow.yaml", "--program", "flow.yaml"], "flow.yaml:1: this is not an event"),
        (["--file", "empty.jsonl", "--program", "flow.yaml"], "holds no event"),
        (["last", "--program", "none.yaml"], "cannot read none.yaml"),
        (["--file", "-", "--program", "-"], "cannot be both the log and the document"),
    ],
)
def test_bad_usage_is_one_clear_line(
    shelf: Shelf, anew: Anew, words: list[str], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(shelf)
    monkeypatch.chdir(shelf.path.parent)
    Path("flow.yaml").write_text(RETRIES)
    Path("empty.jsonl").write_text("\n")
    said = anew("replay", *words)
    assert (said.status, said.out) == (2, "")
    assert told in said.err
    assert said.err.count("\n") == 1


def test_a_program_that_cannot_be_had_exits_2(shelf: Shelf, anew: Anew) -> None:
    shelf.put(played(RETRIES, outcomes=PAGE), document="workflow: []")
    said = anew("replay", "last")
    assert said.status == 2
    assert "is not available; name its document with --program FILE" in said.err
