"""`anew pause`, from a second terminal, and going on from there."""

from __future__ import annotations

from tests.surfaces.cli.terminals import HELLO, Desk, Held, a_desk, a_held_run  # noqa: F401


def test_a_paused_run_ends_its_call_begins_nothing_and_goes_on_when_resumed(
    desk: Desk, held: Held
) -> None:
    paused = desk.call("pause", "last", "--reason", "the API is down")
    assert (paused.status, paused.out, paused.err) == (0, "paused\n", "")
    held.gate.write("go")
    while "task.processed" not in [x["name"] for x in desk.log() if x["step"] == "hold"]:
        assert held.terminal.process.poll() is None
    assert desk.runs()[0]["status"] == "paused"
    assert "the API is down" in desk.call("show", "last").out

    resumed = desk.open("resume", "last", "--json").wait()
    assert (resumed.status, resumed.err) == (0, "")
    assert resumed.json["result"] == {"word": "go"}
    first = held.terminal.wait()
    assert (first.status, first.err) == (0, "")
    assert "paused: the API is down" in first.out
    assert desk.done() == ["first", "hold"]


def test_a_paused_run_stays_paused_through_a_restart(desk: Desk, held: Held) -> None:
    desk.call("pause", "last")
    held.terminal.stop()
    assert desk.runs()[0]["status"] == "paused"
    held.gate.write("on")
    assert desk.call("resume", "last", "--json").json["result"] == {"word": "on"}


def test_a_run_that_has_ended_is_not_paused(desk: Desk) -> None:
    desk.call("run", desk.write("hello.yaml", HELLO))
    paused = desk.call("pause", "last")
    assert (paused.status, paused.out) == (0, "the run is not running\n")
    assert desk.runs()[0]["status"] == "done"
