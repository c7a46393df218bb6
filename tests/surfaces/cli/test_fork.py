"""`anew fork`: a new run that shares the log of an old one up to an event."""

from __future__ import annotations

from argparse import Namespace

import pytest

from anew.surfaces.cli import fork
from anew.surfaces.cli.previews import PreparedFork, tell
from tests.surfaces.cli.terminals import HELD, Desk, Held, a_desk, a_held_run  # noqa: F401

STEPS = """\
metadata: {name: steps}
workload: {who: world}
workflow:
  - step: one
    tool: {kind: shell, command: "echo one >> done.txt; echo from one"}
    next: [{step: two}]
  - step: two
    tool: {kind: shell, command: "echo two >> done.txt; exit 1"}
    next: [{step: three}]
  - step: three
    tool: {kind: noop, result: ["{{ one.stdout | trim }}", "{{ workload.who }}"]}
"""
MENDED = STEPS.replace("exit 1", "exit 0")


@pytest.fixture
def failed(desk: Desk) -> str:
    ran = desk.call("run", desk.write("steps.yaml", STEPS), "--json")
    assert ran.status == 1
    return str(ran.json["run"])


def test_a_mended_document_goes_on_where_the_old_one_failed(desk: Desk, failed: str) -> None:
    mended = desk.write("mended.yaml", MENDED)
    forked = desk.call("fork", failed, "--from", "two", "--program", mended, "--json")
    assert (forked.status, forked.err) == (0, "")
    assert forked.json["result"] == ["from one", "world"]
    assert forked.json["preview"]["at"] == 8
    assert desk.done() == ["one", "two", "two"]
    statuses = {row["run"]: row["status"] for row in desk.runs()}
    assert statuses == {failed: "failed", forked.json["run"]: "done"}


def test_what_will_happen_is_told_first_and_a_dry_run_does_no_more(desk: Desk, failed: str) -> None:
    mended = desk.write("mended.yaml", MENDED)
    told = desk.call("fork", failed, "--at", "8", "--program", mended, "--dry-run")
    assert (told.status, told.out) == (0, "")
    lines = told.err.splitlines()
    assert lines[:5] == [
        f"run {failed} up to event 8",
        "  kept       one: 1 visit, 1 execution",
        "  continues  two starts",
        "  did later  two.two: 1 execution",
        "  effects    probably again: two.two (shell) echo two >> done.txt; exit 1",
    ]
    assert lines[5] == "  note       continues under mended.yaml"
    assert len(desk.runs()) == 1
    as_json = desk.call("fork", failed, "--at", "8", "--dry-run", "--json").json
    assert as_json["preview"]["effects"][0]["kind"] == "shell"


def test_a_changed_workload_is_read_from_there_on(desk: Desk, failed: str) -> None:
    words = ("--program", desk.write("mended.yaml", MENDED), "--set", "who=moon")
    forked = desk.call("fork", failed, "--from", "two", *words)
    assert forked.status == 0
    assert "who: changed in the input" in forked.err
    assert desk.log()[0]["data"]["workload"] == {"who": "moon"}
    assert desk.log()[-1]["data"]["result"] == ["from one", "moon"]


def test_a_registered_version_is_named(desk: Desk, failed: str) -> None:
    desk.call("register", desk.write("mended.yaml", MENDED))
    desk.call("register", "steps.yaml")
    assert desk.call("fork", failed, "--from", "two", "--program", "steps").status == 1
    assert desk.call("fork", failed, "--from", "two", "--program", "steps@1").status == 0
    unknown = desk.call("fork", failed, "--from", "two", "--program", "steps@7")
    assert unknown.status == 2
    assert unknown.is_one_clear_line(), unknown.err


def test_a_document_that_does_not_fit_is_refused_with_every_reason(desk: Desk, failed: str) -> None:
    other = desk.write("other.yaml", STEPS.replace("step: two", "step: deux"))
    refused = desk.call("fork", failed, "--at", "8", "--program", other, "--quiet")
    assert (refused.status, refused.out) == (2, "")
    first, last = refused.err.splitlines()
    assert first == "anew: other.yaml:1:1: step 'two' is next, which is not there"
    assert last.startswith(f"anew: run {failed} cannot continue there from event 8. ")
    as_json = desk.call("fork", failed, "--at", "8", "--program", other, "--json")
    assert [row["step"] for row in as_json.json["preview"]["misfits"]] == ["two"]
    assert len(desk.runs()) == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "Fork it at event 8, or from step 'two'."),
        (("--at", "99"), "there is no 99"),
        (("--at", "1"), "nothing has started by event 1"),
        (("--from", "three"), "has not reached step 'three'"),
        (("--from", "two", "--visit", "2"), "has not reached visit 2 of step 'two'"),
        (("--visit", "2"), "--visit says which visit of the step that --from names"),
        (("--at", "8", "--program", "none.yaml"), "cannot read none.yaml"),
        (("--at", "8", "--set", "x"), "is not of the form name=value"),
    ],
)
def test_what_cannot_be_done_is_one_clear_line(
    desk: Desk, failed: str, words: tuple[str, ...], told: str
) -> None:
    refused = desk.call("fork", failed, *words)
    assert refused.status == 2
    assert refused.is_one_clear_line(), refused.err
    assert told in refused.err


def test_the_same_key_is_the_same_run(desk: Desk, failed: str) -> None:
    first = desk.call("fork", failed, "--at", "8", "--key", "k", "--json")
    again = desk.call("fork", failed, "--at", "8", "--key", "k", "--json")
    assert first.json["run"] == again.json["run"]
    (row,) = (row for row in desk.runs() if row["run"] == first.json["run"])
    assert row["labels"] == {"fork_of": failed}


def test_a_key_that_has_its_run_is_no_reason_to_plan_again(desk: Desk) -> None:
    waits = "metadata: {name: w}\nworkflow: [{step: w, tool: {kind: wait, signal: go}}]"
    old = desk.call("run", desk.write("waits.yaml", waits), "--json").json["run"]
    words = ("fork", old, "--cancel", "--key", "kk")
    new = desk.call(*words, "--json").json["run"]
    again = desk.call(*words)
    assert again.status == 3
    assert again.err.startswith(f"run {new} is this fork of run {old} already (--key)\n")
    assert {row["run"]: row["status"] for row in desk.runs()} == {old: "cancelled", new: "waiting"}
    assert desk.call(*words, "--dry-run", "--json").json == {"run": new}
    other = desk.call("fork", new, "--key", "kk", "--dry-run")
    assert other.status == 2
    assert other.is_one_clear_line(), other.err
    assert "which is not a fork of run" in other.err


def test_a_run_that_moves_on_after_the_preview_is_not_moved(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = "metadata: {name: w}\nworkflow: [{step: w, tool: {kind: wait, signal: go}}]"
    old = desk.call("run", desk.write("waits.yaml", waits), "--json").json["run"]

    def told_and_changed(found: PreparedFork, asked: Namespace) -> int | None:
        desk.call("signal", old, "news")
        return tell(found, asked)

    monkeypatch.setattr(fork, "tell", told_and_changed)
    refused = desk.call("fork", old, "--cancel", "--quiet")
    assert refused.status == 2
    assert refused.is_one_clear_line(), refused.err
    assert "has moved on meanwhile, from event 6 to event 7" in refused.err
    assert [row["status"] for row in desk.runs()] == ["waiting"]


def test_a_moved_run_is_forked_before_it_was_moved(desk: Desk) -> None:
    first = desk.write("first.yaml", MENDED)
    second = desk.write("second.yaml", STEPS.replace("step: two", "step: deux"))
    old = desk.call("run", first, "--json").json["run"]
    moved = desk.call("fork", old, "--from", "three", "--program", second, "--json").json["run"]
    refused = desk.call("fork", moved, "--at", "8", "--quiet")
    assert refused.status == 2
    told = "second.yaml:1:1: step 'two' is next, which is not there"
    assert refused.err.splitlines()[0].endswith(told)
    again = desk.call("fork", moved, "--at", "8", "--program", first, "--json")
    assert (again.status, desk.done()) == (0, ["one", "two", "two"])
    retried = desk.call("retry", moved, "--from", "two", "--dry-run")
    assert retried.status == 2
    assert "step 'two' is next, which is not there" in retried.err


def test_a_folder_of_that_name_does_not_hide_a_registered_program(desk: Desk, failed: str) -> None:
    desk.call("register", desk.write("mended.yaml", MENDED))
    (desk.folder / "steps").mkdir()
    assert desk.call("fork", failed, "--from", "two", "--program", "steps").status == 0


@pytest.mark.parametrize("digits", [10, 26, 5_000])
def test_a_version_beyond_all_versions_is_not_registered(
    desk: Desk, failed: str, digits: int
) -> None:
    refused = desk.call("fork", failed, "--at", "8", "--program", f"steps@{'9' * digits}")
    assert refused.status == 2
    assert refused.is_one_clear_line(), refused.err


def test_a_run_that_another_terminal_works_on_is_moved_to_a_new_version(
    desk: Desk, held: Held
) -> None:
    newer = desk.write("newer.yaml", HELD.replace("gate;", "gate2;").replace('{word: "', '{got: "'))
    registered = desk.call("register", newer)
    assert registered.out.splitlines()[:2] == [
        "held version 1",
        "1 of 1 unfinished run could be moved to version 1",
    ]
    old = desk.runs()[0]["run"]
    assert f"`anew fork {old} --program held --cancel`" in registered.out
    gate = desk.pipe("gate2")
    gate.write("moved")
    forked = desk.call("fork", old, "--program", "held", "--cancel", "--json")
    assert (forked.status, forked.json["result"]) == (0, {"got": "moved"})
    assert held.terminal.wait().status == 130
    assert desk.done() == ["first", "hold", "hold"]
    effect = forked.json["preview"]["effects"][0]
    assert (effect["task"], effect["is_certain"]) == ("hold", True)


def test_a_run_that_cannot_be_moved_is_told_at_register(desk: Desk, held: Held) -> None:
    other = desk.write("other.yaml", HELD.replace("hold: {kind", "wait: {kind"))
    told = desk.call("register", other).out
    old = desk.runs()[0]["run"]
    reason = "it is at task 'hold' of step 'hold', which is not there (other.yaml:6:11)"
    assert f"  run {old} cannot: {reason}\n" in told
    held.gate.write("go")
    assert held.terminal.wait().status == 0


def test_a_retry_tells_what_it_will_do_first(desk: Desk, failed: str) -> None:
    told = desk.call("retry", failed, "--dry-run")
    assert (told.status, told.out) == (0, "")
    assert "  continues  two starts\n" in told.err
    assert len(desk.runs()) == 1
    again = desk.call("retry", failed, "--json")
    assert [row["step"] for row in again.json["preview"]["reused"]] == ["one"]
