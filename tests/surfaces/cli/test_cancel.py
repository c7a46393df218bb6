"""`anew cancel`, from a second terminal and alone."""

from __future__ import annotations

from tests.surfaces.cli.terminals import (  # noqa: F401
    HELD,
    HELLO,
    Desk,
    Held,
    Second,
    a_desk,
    a_held_run,
    is_alive,
    wait_until_gone,
)

PARENT = """\
metadata: {name: parent}
workflow:
  - step: call
    tool: {kind: playbook, file: held.yaml}
"""


def test_a_second_terminal_ends_a_run_and_the_process_it_has_at_work(
    desk: Desk, held: Held
) -> None:
    assert is_alive(held.shell)
    cancelled = desk.call("cancel", "last", "--reason", "wrong region")
    assert (cancelled.status, cancelled.out, cancelled.err) == (0, "cancelled\n", "")
    first = held.terminal.wait()
    assert (first.status, first.err) == (130, "")
    assert "wrong region" in first.out
    assert not is_alive(held.shell)
    assert desk.runs()[0]["status"] == "cancelled"
    assert desk.names()[-1] == "run.cancelled"


def test_a_cancelled_call_is_stopped_while_its_worker_goes_on(desk: Desk, held: Held) -> None:
    second = Second(desk)
    run = next(row["run"] for row in desk.runs() if row["program"] == "second")
    assert desk.call("cancel", run).out == "cancelled\n"
    wait_until_gone(second.shell)
    assert second.terminal.wait().status == 130
    assert held.terminal.process.poll() is None
    assert is_alive(held.shell)


def test_the_children_of_a_run_end_with_it(desk: Desk) -> None:
    bell, _ = desk.pipe("bell"), desk.pipe("gate")
    desk.write("held.yaml", HELD)
    terminal = desk.open("run", desk.write("parent.yaml", PARENT), "--json")
    shell = int(bell.read())
    # `last` is the run that was started, not the newest child.
    assert desk.call("cancel", "last").out == "cancelled\n"
    ended = terminal.wait()
    assert (ended.status, ended.json["status"]) == (130, "cancelled")
    assert not is_alive(shell)
    assert {row["program"]: row["status"] for row in desk.runs()} == {
        "parent": "cancelled",
        "held": "cancelled",
    }


def test_a_run_nobody_works_on_is_cancelled_too_and_not_resumed(desk: Desk, held: Held) -> None:
    held.terminal.stop()
    assert desk.call("cancel", "last").out == "cancelled\n"
    assert "nothing to resume" in desk.call("resume").err
    resumed = desk.call("resume", "last", "--json")
    assert (resumed.status, resumed.json["status"]) == (130, "cancelled")
    assert desk.done() == ["first", "hold"]


def test_a_run_that_has_ended_stays_as_it_is(desk: Desk) -> None:
    desk.call("run", desk.write("hello.yaml", HELLO))
    cancelled = desk.call("cancel", "last")
    assert (cancelled.status, cancelled.out) == (0, "the run had ended already\n")
    assert desk.runs()[0]["status"] == "done"
