"""`anew retry`: a new run that begins where a step of an old one began."""

from __future__ import annotations

import pytest

from tests.surfaces.cli.terminals import HELLO, Desk, a_desk  # noqa: F401

# Each step leaves a line; the second fails until `mended` exists.
STEPS = """\
metadata: {name: steps}
workflow:
  - step: one
    tool: {kind: shell, command: "echo one >> done.txt; echo from one"}
    next: [{step: two}]
  - step: two
    tool: {kind: shell, command: "echo two >> done.txt; test -e mended"}
    next: [{step: three}]
  - step: three
    tool: {kind: noop, result: "{{ one.stdout | trim }}"}
"""


@pytest.fixture
def failed(desk: Desk) -> str:
    ran = desk.call("run", desk.write("steps.yaml", STEPS), "--json")
    assert ran.status == 1
    return str(ran.json["run"])


def test_a_run_goes_on_from_the_step_that_failed(desk: Desk, failed: str) -> None:
    desk.write("mended", "")
    again = desk.call("retry", failed, "--json")
    assert (again.status, again.err) == (0, "")
    assert again.json["run"] != failed
    # What the first step gave is known, though it was not done again.
    assert again.json["result"] == "from one"
    assert desk.done() == ["one", "two", "two"]
    statuses = {row["run"]: row["status"] for row in desk.runs()}
    assert statuses == {failed: "failed", again.json["run"]: "done"}


def test_what_was_not_mended_fails_again(desk: Desk, failed: str) -> None:
    again = desk.call("retry", "last")
    assert again.status == 1
    assert "Failed in step two" in again.out


ALERT = """\
metadata: {name: alert}
workflow:
  - step: load
    loop: {in: [1, 2], iterator: n}
    tool: {kind: shell, command: "echo load >> done.txt; test -e mended"}
    next: [{step: alert, when: "{{ event.name == 'loop.done' and event.failed > 0 }}"}]
  - step: alert
    tool: {kind: noop, eval: [{else: {do: fail, message: "the load is incomplete"}}]}
"""


def test_after_an_alert_the_step_that_it_was_about_is_done_again(desk: Desk) -> None:
    ran = desk.call("run", desk.write("alert.yaml", ALERT))
    assert "--from load`" in ran.out
    desk.write("mended", "")
    again = desk.call("retry", "last", "--json")
    assert (again.status, again.json["status"]) == (0, "done")
    assert desk.done() == ["load"] * 4


def test_from_names_an_earlier_step(desk: Desk, failed: str) -> None:
    desk.write("mended", "")
    assert desk.call("retry", failed, "--from", "one", "--json").status == 0
    assert desk.done() == ["one", "two", "one", "two"]


def test_a_run_that_went_well_can_be_run_again_from_a_step(desk: Desk, failed: str) -> None:
    desk.write("mended", "")
    desk.call("retry", failed, "--json")
    assert desk.call("retry", "last", "--from", "two", "--json").status == 0
    assert desk.done() == ["one", "two", "two", "two"]


@pytest.mark.parametrize(
    ("step", "told"),
    [("nine", "the program has no step 'nine'"), ("three", "has not reached step 'three'")],
)
def test_a_step_there_was_not_is_one_clear_line(
    desk: Desk, failed: str, step: str, told: str
) -> None:
    again = desk.call("retry", failed, "--from", step)
    assert again.status == 2
    assert again.is_one_clear_line(), again.err
    assert told in again.err


def test_a_run_without_a_failure_needs_a_step(desk: Desk) -> None:
    desk.call("run", desk.write("hello.yaml", HELLO))
    again = desk.call("retry", "last")
    assert again.status == 2
    assert again.is_one_clear_line(), again.err
    assert "Name the step to retry from" in again.err


def test_what_was_retried_is_not_retried_in_bulk(desk: Desk, failed: str) -> None:
    again = desk.call("retry", failed, "--json").json["run"]
    desk.write("mended", "")
    told = desk.call("bulk", "retry", failed, "--dry-run")
    assert told.out == "retry can change 0 of 1 run\n"
    told = desk.call("bulk", "retry", failed, "--yes", "--json")
    assert (told.status, told.json["changed"]) == (1, [])
    assert [one["retried_as"] for one in told.json["refused"]] == [again]
    assert len(desk.runs()) == 2
