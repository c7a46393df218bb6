"""`anew explain`: why a run did what it did, read from a real database."""

from __future__ import annotations

import json

import pytest

from anew.engine.state import StepRunKey
from anew.store import NewJob, WaitReason
from anew.surfaces.cli.hints import hinted
from anew.surfaces.cli.main import main
from tests.surfaces.cli.recorded import DOWN, RETRIES, RUN, hostile, played
from tests.surfaces.cli.servers import TOKEN, server


def twice():
    return played(RETRIES, outcomes={"page": [{**DOWN, "times": 2}, {"result": {"n": 1}}]})


def test_a_run_is_explained_attempt_by_attempt(shelf, anew) -> None:
    shelf.put(twice())
    told = anew("explain", "last")
    assert told.status == 0
    heads = [line for line in told.lines if not line.startswith("  ")]
    assert [head.split(" at ")[0] for head in heads] == [
        "the run",
        "fetch.page, attempt 1",
        "fetch.page, attempt 2",
        "fetch.page, attempt 3",
        "after fetch",
        "store, attempt 1",
        "after store",
        "the run",
    ]
    assert heads[2].endswith("(2.0 s after attempt 1)")
    text = " ".join(line.strip() for line in told.lines)
    assert "Rule 1 of page (flow.yaml:11:17) matches: `outcome.status == 'error'`;" in text
    assert all(len(line) <= 100 for line in told.lines)


def test_a_step_alone_is_explained(shelf, anew) -> None:
    shelf.put(twice())
    told = anew("explain", "last", "store")
    assert "store, attempt 1 at " in told.out
    assert "fetch.page" not in told.out


def test_an_unknown_step_is_refused_with_the_name_that_was_meant(shelf, anew) -> None:
    shelf.put(twice())
    told = anew("explain", "last", "stor")
    assert told.status == 2
    assert told.err == f"anew: run {RUN} has no step 'stor'. Did you mean 'store'?\n"


def test_a_run_that_waits_says_until_when(shelf, anew) -> None:
    job = NewJob(StepRunKey("fetch", 1), due_at=2**62, reason=WaitReason.RETRY)
    shelf.put(twice(), upto=7, jobs=[job])
    told = anew("explain", "last")
    assert "fetch.page, before the next attempt at " in told.out
    assert told.lines[-2].startswith("it waits now at ")
    assert "Waiting to retry fetch (attempt 2 of 3)" in told.lines[-1]


def test_json_has_the_facts_of_every_paragraph(shelf, anew) -> None:
    shelf.put(twice())
    found = json.loads(anew("explain", "last", "--json").out)
    assert found["run"] == str(RUN)
    delays = [row["delay"] for row in found["paragraphs"] if row["delay"]]
    assert [delay["seconds"] for delay in delays] == [2.0, 2.0]
    events = sorted(seq for row in found["paragraphs"] for seq in row["events"])
    assert events == list(range(1, len(events) + 1))


def test_a_run_without_its_program_is_explained_from_its_log(shelf, anew) -> None:
    shelf.put(twice(), document="workflow: [")
    told = anew("explain", "last")
    assert told.status == 0
    text = " ".join(line.strip() for line in told.lines)
    assert "Rule 1 of page matches; it allows 3 attempts, 1 was made." in text


def test_hostile_names_do_not_reach_the_terminal(shelf, anew) -> None:
    shelf.put(hostile())
    told = anew("explain", "last")
    assert "\x1b" not in told.out
    assert told.status == 0


def test_no_run_is_an_error_that_says_what_to_do(shelf, anew) -> None:
    shelf.put(twice())
    told = anew("explain", "999")
    assert told.status == 2
    assert "`anew runs` lists the runs" in told.err


def test_a_run_on_a_server_is_explained(tmp_path, monkeypatch, capsys) -> None:
    flow = tmp_path / "flow.yaml"
    flow.write_text("workflow: [{step: a, tool: {kind: noop}, next: [b]}, {step: b}]")
    monkeypatch.setenv("ANEW_TOKEN", TOKEN)
    with server(tmp_path) as one:
        assert main(["run", str(flow), "--server", one.url, "--quiet"]) == 0
        capsys.readouterr()
        assert main(["explain", "last", "b", "--server", one.url]) == 0
    assert "Arc 1 of a leads here." in capsys.readouterr().out


def test_a_long_explanation_of_a_step_does_not_ask_to_name_one(shelf, anew, monkeypatch) -> None:
    monkeypatch.setattr("anew.views.explain.explaining.shortened.__defaults__", (3,))
    shelf.put(twice())
    assert "Name a step, or use --json." in anew("explain", "last").out
    told = anew("explain", "last", "fetch").out
    assert "--json has them all." in told
    assert "Name a step" not in told


@pytest.mark.parametrize(
    "command",
    ["explain", "record", "replay", "whatif --program new.yaml", "credential add", "failures"],
)
def test_a_command_about_a_run_that_is_told_names_the_place(command: str) -> None:
    assert hinted(f"`anew {command} 7`", "x.db") == f"`anew {command} 7 --db x.db`"


@pytest.mark.parametrize("command", ["bounds flow.yaml", "test", "schema"])
def test_a_command_about_documents_has_no_place(command: str) -> None:
    assert hinted(f"`anew {command}`", "x.db") == f"`anew {command}`"
